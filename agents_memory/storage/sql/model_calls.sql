-- name: hold_budget
-- The hour's budget, locked to the end of the transaction.
INSERT INTO budgets (provider, hour, requests, tokens) VALUES ($1, $2, 0, 0)
ON CONFLICT (provider, hour) DO UPDATE SET requests = budgets.requests
RETURNING requests, tokens

-- name: sum_budget
-- What was spent since a time.
SELECT coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(tokens), 0)::bigint AS tokens
FROM budgets WHERE provider = $1 AND hour >= $2 AND hour <= $3

-- name: spend_budget
-- More (or, once a call has ended, less) was spent in an hour.
UPDATE budgets SET requests = greatest(0, requests + $3), tokens = greatest(0, tokens + $4)
WHERE provider = $1 AND hour = $2

-- name: begin_call
-- A call is about to be made.
INSERT INTO model_calls (provider, model, role, began_at, requests, tokens_in, tokens_out)
VALUES ($1, $2, $3, $4, 1, $5, $6)
RETURNING id

-- name: end_call
-- A call has ended; what was booked for it before.
WITH booked AS MATERIALIZED (
    SELECT id, provider, began_at, requests, tokens_in, tokens_out FROM model_calls WHERE id = $1 FOR UPDATE
)
UPDATE model_calls c SET model = $2, requests = $3, tokens_in = $4, tokens_out = $5, seconds = $6,
    outcome = $7
FROM booked b WHERE c.id = b.id
RETURNING b.provider, b.began_at, b.requests, b.tokens_in + b.tokens_out AS tokens

-- name: count_calls
-- How the calls since a time ended.
SELECT provider, role, coalesce(outcome, 'open') AS outcome, count(*) AS calls, sum(requests) AS requests,
    sum(tokens_in)::bigint AS tokens_in, sum(tokens_out)::bigint AS tokens_out
FROM model_calls WHERE began_at >= $1
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
