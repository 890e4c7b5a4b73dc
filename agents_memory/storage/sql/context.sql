-- name: list_with_previous
-- Messages and the clear turn said just before each in the same session, or in the same place within
-- half an hour.
SELECT m.id, m.message, coalesce(m.occurred_at, m.created_at) AS said_at, m.occurred_at IS NOT NULL AS dated,
       before.id AS previous_id, before.message AS previous
FROM messages m
LEFT JOIN LATERAL (
    SELECT p.id, p.message FROM messages p JOIN message_state s ON s.message_id = p.id
    WHERE p.user_id = m.user_id AND s.screening = 'clear' AND NOT s.private
      AND p.session IS NOT DISTINCT FROM m.session AND p.venue IS NOT DISTINCT FROM m.venue
      AND p.platform = m.platform AND p.device IS NOT DISTINCT FROM m.device
      AND (coalesce(p.occurred_at, p.created_at), p.id) < (coalesce(m.occurred_at, m.created_at), m.id)
      AND coalesce(p.occurred_at, p.created_at) >= coalesce(m.occurred_at, m.created_at) - interval '30 minutes'
    ORDER BY coalesce(p.occurred_at, p.created_at) DESC, p.id DESC LIMIT 1
) AS before ON true
WHERE m.id = ANY ($1::bigint[])

-- name: find_successor
-- The message whose context was built without knowing this one, if there is one.
SELECT n.id FROM messages m
JOIN LATERAL (
    SELECT p.id FROM messages p JOIN message_state s ON s.message_id = p.id
    WHERE p.user_id = m.user_id AND s.screening = 'clear'
      AND p.session IS NOT DISTINCT FROM m.session AND p.venue IS NOT DISTINCT FROM m.venue
      AND p.platform = m.platform AND p.device IS NOT DISTINCT FROM m.device
      AND (coalesce(p.occurred_at, p.created_at), p.id) > (coalesce(m.occurred_at, m.created_at), m.id)
      AND coalesce(p.occurred_at, p.created_at) <= coalesce(m.occurred_at, m.created_at) + interval '30 minutes'
    ORDER BY coalesce(p.occurred_at, p.created_at), p.id LIMIT 1
) AS n ON true
JOIN message_context c ON c.message_id = n.id AND c.previous_id IS DISTINCT FROM m.id
WHERE m.id = $1

-- name: write_context
-- The context of a message, in the place of an older one.
INSERT INTO message_context (message_id, previous_id, lexemes, lexeme_count)
VALUES ($1, $2, $3::text::tsvector, $4)
ON CONFLICT (message_id) DO UPDATE SET previous_id = excluded.previous_id, lexemes = excluded.lexemes,
    lexeme_count = excluded.lexeme_count

-- name: find_by_context
-- Ids of the newest messages whose context holds any lexeme of the query and that match the filters.
SELECT m.id
FROM message_context c JOIN messages m ON m.id = c.message_id JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND s.screening <> 'quarantined' AND c.lexemes @@ $11::text::tsquery
  AND ($2::text[] IS NULL OR s.p_tag = ANY (ARRAY(SELECT id FROM project_tags WHERE name = ANY ($2))))
  AND ($3::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) >= $3)
  AND ($4::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) < $4)
  AND ($5::text IS NULL OR m.role = $5)
  AND ($6::text IS NULL OR m.platform = $6)
  AND ($7::text IS NULL OR m.device = $7 OR s.pinned)
  AND ($8::text IS NULL OR m.venue = $8 OR starts_with(m.venue, $8 || ':'))
  AND ($9 OR s.archived_at IS NULL)
ORDER BY m.id DESC
LIMIT $10

-- name: count_context_lexemes
-- For each context and each lexeme asked for, how often it occurs (0 when not), and the length.
-- Read from the rank, as taking each tsvector apart costs five times as much.
SELECT c.message_id AS id, c.lexeme_count,
       ARRAY(SELECT width_bucket(ts_rank('{1,1,1,1}', c.lexemes, asked)::float8, $3::float8[])
             FROM unnest($2::text[]::tsquery[]) AS asked) AS counts
FROM message_context c WHERE c.message_id = ANY ($1::bigint[])

