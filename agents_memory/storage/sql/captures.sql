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
-- stands for, with the session where capture knows one of that name; one that waited for the database was handed
-- over before it was stored. What is evidence for something has a source, and is no turn of a conversation.
SELECT m.id, m.role, m.message, m.trust, coalesce(m.occurred_at, m.created_at) AS created_at,
    (SELECT b.session FROM captures b WHERE b.device = m.device AND b.client = m.platform AND b.session = m.session)
        AS session
FROM unnest($4::timestamptz[], $5::timestamptz[]) AS span (since, until)
JOIN messages m ON coalesce(m.occurred_at, m.created_at) BETWEEN span.since AND span.until
WHERE m.user_id = $1 AND m.platform = $2 AND m.device = $3 AND m.origin = 'asserted'
  AND m.source IS NULL
  AND NOT EXISTS (SELECT FROM collapsed_turns c WHERE c.message_id = m.id)
  AND NOT EXISTS (SELECT FROM withdrawals w WHERE w.message_id = m.id)
ORDER BY coalesce(m.occurred_at, m.created_at), m.id

-- name: any_captured
-- Whether capture read anything that was said within a span of time, by the index of just that.
SELECT EXISTS (SELECT FROM messages
    WHERE user_id = $1 AND coalesce(occurred_at, created_at) BETWEEN $2 AND $3
      AND origin <> 'asserted' AND native_id IS NOT NULL)

-- name: list_told_twice
-- What agents handed over within spans of time that lie apart, each with the captured turns of those same words within
-- other spans, the nearest in time first, and whether a turn has its account: none of another session, nor of an unknown
-- one. Of a session that capture knows, turns of that session only. Each message is met once, by the index of times (OFFSET 0: a join in any other order reads the whole
-- pool), and none where nothing was told.
WITH told AS MATERIALIZED (
    SELECT m.* FROM unnest($2::timestamptz[], $3::timestamptz[]) AS span (since, until)
    CROSS JOIN LATERAL (
        SELECT id, platform, device, role, subagent, session, lexemes, lexeme_count, coalesce(occurred_at, created_at) AS at
        FROM messages
        WHERE user_id = $1 AND coalesce(occurred_at, created_at) BETWEEN span.since AND span.until
          AND origin = 'asserted' AND source IS NULL
          AND NOT EXISTS (SELECT FROM collapsed_turns o WHERE o.message_id = id)
          AND NOT EXISTS (SELECT FROM withdrawals w WHERE w.message_id = id)
        OFFSET 0) AS m
), said AS MATERIALIZED (
    SELECT m.* FROM unnest($4::timestamptz[], $5::timestamptz[]) AS span (since, until)
    CROSS JOIN LATERAL (
        SELECT id, platform, device, role, subagent, session, lexemes, lexeme_count, coalesce(occurred_at, created_at) AS at
        FROM messages
        WHERE user_id = $1 AND coalesce(occurred_at, created_at) BETWEEN span.since AND span.until
          AND origin <> 'asserted' AND native_id IS NOT NULL
        OFFSET 0) AS m
    WHERE EXISTS (SELECT FROM told)
)
SELECT t.id AS told_id, account.message AS told, account.trust AS told_trust, t.session, turn.id, turn.message,
    turn.trust, accounts.there AS has_account
FROM told t
JOIN said c ON c.lexeme_count = t.lexeme_count AND c.lexemes = t.lexemes
  AND (c.platform, c.device, c.role, c.subagent) = (t.platform, t.device, t.role, t.subagent)
  AND c.at BETWEEN t.at - $6::interval AND t.at + $6::interval
  AND (c.session = t.session OR NOT EXISTS (SELECT FROM captures b
       WHERE b.device = t.device AND b.client = t.platform AND b.session = t.session))
  AND NOT EXISTS (SELECT FROM withdrawals w WHERE w.message_id = c.id)
CROSS JOIN LATERAL (
    SELECT count(*) > 0 AS there, coalesce(bool_and((o.session = t.session) IS TRUE), true) AS of_session
    FROM withdrawals w JOIN messages o ON o.id = w.message_id
    WHERE w.replaced_by = c.id AND o.origin = 'asserted') accounts
JOIN messages account ON account.id = t.id JOIN messages turn ON turn.id = c.id
WHERE accounts.of_session
ORDER BY t.at, t.id, abs(extract(epoch FROM c.at - t.at)), c.id

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
