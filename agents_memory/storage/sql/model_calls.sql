-- name: begin_call
-- A call is about to be made, and booked in its hour ($5), which is locked to the end of the transaction; what was
-- spent before it in that hour, and in the day ($6) up to it.
WITH spent AS (
    INSERT INTO budgets (provider, hour, requests, tokens) VALUES ($1, $5, 1, $7::bigint + $8::bigint)
    ON CONFLICT (provider, hour) DO UPDATE SET requests = budgets.requests + 1,
        tokens = budgets.tokens + excluded.tokens
    RETURNING requests - 1 AS requests, tokens - $7 - $8 AS tokens
), earlier AS (
    SELECT coalesce(sum(requests), 0)::bigint AS requests, coalesce(sum(tokens), 0)::bigint AS tokens
    FROM budgets WHERE provider = $1 AND hour >= $6 AND hour < $5
), called AS (
    INSERT INTO model_calls (provider, model, role, began_at, requests, tokens_in, tokens_out)
    VALUES ($1, $2, $3, $4, 1, $7, $8)
    RETURNING id
)
SELECT called.id, spent.requests, spent.tokens, spent.requests + earlier.requests AS day_requests,
    spent.tokens + earlier.tokens AS day_tokens
FROM called, spent, earlier

-- name: end_call
-- A call has ended; what was booked for it in its hour before is corrected.
WITH booked AS MATERIALIZED (
    SELECT id, provider, began_at, requests, tokens_in + tokens_out AS tokens FROM model_calls
    WHERE id = $1 FOR UPDATE
), ended AS (
    UPDATE model_calls c SET model = $2, requests = $3, tokens_in = $4, tokens_out = $5, seconds = $6,
        outcome = $7
    FROM booked WHERE c.id = booked.id
)
UPDATE budgets b SET requests = greatest(0, b.requests + $3 - booked.requests),
    tokens = greatest(0, b.tokens + $4 + $5 - booked.tokens)
FROM booked WHERE b.provider = booked.provider AND b.hour = date_trunc('hour', booked.began_at, 'UTC')

-- name: count_calls
-- How the calls since a time ended.
SELECT provider, role, coalesce(outcome, 'open') AS outcome, count(*) AS calls, sum(requests) AS requests,
    sum(tokens_in)::bigint AS tokens_in, sum(tokens_out)::bigint AS tokens_out
FROM model_calls WHERE began_at >= $1
GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
