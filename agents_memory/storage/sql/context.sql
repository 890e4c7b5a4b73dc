-- name: list_with_previous
-- Messages and the clear turn said just before each in the same session, or in the same place within
-- half an hour. What was told for the sake of a memory is no turn, and goes when the memory goes.
SELECT m.id, m.message, coalesce(m.occurred_at, m.created_at) AS said_at, m.occurred_at IS NOT NULL AS dated,
       before.id AS previous_id, before.message AS previous
FROM messages m
LEFT JOIN LATERAL (
    SELECT p.id, p.message FROM messages p JOIN message_state s ON s.message_id = p.id
    WHERE p.user_id = m.user_id AND s.screening = 'clear' AND NOT s.private
      AND p.source IS DISTINCT FROM 'manage_knowledge'
      AND p.session IS NOT DISTINCT FROM m.session AND p.venue IS NOT DISTINCT FROM m.venue
      AND p.platform = m.platform AND p.device IS NOT DISTINCT FROM m.device
      AND (coalesce(p.occurred_at, p.created_at), p.id) < (coalesce(m.occurred_at, m.created_at), m.id)
      AND coalesce(p.occurred_at, p.created_at) >= coalesce(m.occurred_at, m.created_at) - interval '30 minutes'
    ORDER BY coalesce(p.occurred_at, p.created_at) DESC, p.id DESC LIMIT 1
) AS before ON true
WHERE m.id = ANY ($1::bigint[])

-- name: list_successors
-- The messages whose contexts were built without knowing the one of these that was said just before each.
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
WHERE m.id = ANY ($1::bigint[]) AND m.source IS DISTINCT FROM 'manage_knowledge'

-- name: write_context
-- The context of a message, in the place of an older one.
INSERT INTO message_context (message_id, previous_id, lexemes, lexeme_count)
VALUES ($1, $2, $3::text::tsvector, $4)
ON CONFLICT (message_id) DO UPDATE SET previous_id = excluded.previous_id, lexemes = excluded.lexemes,
    lexeme_count = excluded.lexeme_count
