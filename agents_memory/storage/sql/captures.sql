-- name: beat
-- These sessions are read to their end at this moment.
INSERT INTO captures (device, client, session, beat_at)
SELECT $1, $2, session, $4 FROM unnest($3::text[]) AS session ORDER BY session
ON CONFLICT (device, client, session) DO UPDATE SET beat_at = excluded.beat_at

-- name: find_beat
-- When a session was last known to be read to its end.
SELECT beat_at FROM captures WHERE device = $1 AND client = $2 AND session = $3

-- name: find_turn
-- The message that stands for a turn of a store: its own, or one that was handed over before.
SELECT id FROM messages WHERE user_id = $1 AND source = $2 AND store_id = $3 AND native_id = $4
UNION ALL
SELECT message_id FROM collapsed_turns
WHERE user_id = $1 AND source = $2 AND store_id = $3 AND native_id = $4
LIMIT 1

-- name: list_told
-- What agents handed over from a client on a device within spans of time that lie apart, and no captured turn
-- stands for; one that waited for the database was handed over before it was stored.
SELECT m.id, m.role, m.message, m.trust, coalesce(m.occurred_at, m.created_at) AS created_at
FROM unnest($4::timestamptz[], $5::timestamptz[]) AS span (since, until)
JOIN messages m ON coalesce(m.occurred_at, m.created_at) BETWEEN span.since AND span.until
WHERE m.user_id = $1 AND m.platform = $2 AND m.device = $3 AND m.origin = 'asserted'
  AND NOT EXISTS (SELECT FROM collapsed_turns c WHERE c.message_id = m.id)
ORDER BY coalesce(m.occurred_at, m.created_at), m.id

-- name: find_turns
-- Which of these turns of a store a message stands for.
SELECT native_id FROM messages
WHERE user_id = $1 AND source = $2 AND store_id = $3 AND native_id = ANY ($4::text[])
UNION
SELECT native_id FROM collapsed_turns
WHERE user_id = $1 AND source = $2 AND store_id = $3 AND native_id = ANY ($4::text[])

-- name: collapse_turn
-- A captured turn is the same as a message; nothing when another turn took that message meanwhile.
INSERT INTO collapsed_turns (user_id, source, store_id, native_id, message_id)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT DO NOTHING RETURNING message_id
