-- name: withdraw_message
-- A message leaves everyday search in favour of another one, or of none; whether it did.
SELECT withdraw_message($1, $2)

-- name: list_standing
-- What stands today for turns of a store, by the ids they came with: the end of each chain of edits.
WITH RECURSIVE chain AS (
    SELECT m.native_id, m.id FROM messages m
    WHERE m.user_id = $1 AND m.source = $2 AND m.store_id = $3 AND m.native_id = ANY ($4::text[])
    UNION ALL
    SELECT c.native_id, w.replaced_by FROM chain c JOIN withdrawals w ON w.message_id = c.id
    WHERE w.replaced_by IS NOT NULL
)
SELECT c.native_id, m.id, m.session, m.trust, m.raw_message, m.occurred_at, s.pinned,
    w.message_id IS NOT NULL AS gone
FROM chain c JOIN messages m ON m.id = c.id JOIN message_state s ON s.message_id = m.id
LEFT JOIN withdrawals w ON w.message_id = m.id
WHERE w.replaced_by IS NULL

-- name: list_heard
-- When the newest turn of each session of a store was said, as far as it is known, and how many turns stand. A pinned
-- one stands also when it was deleted.
SELECT m.session, max(m.occurred_at) AS newest,
    count(*) FILTER (WHERE w.message_id IS NULL AND NOT s.pinned) AS standing
FROM messages m JOIN message_state s ON s.message_id = m.id LEFT JOIN withdrawals w ON w.message_id = m.id
WHERE m.user_id = $1 AND m.source = $2 AND m.store_id = $3 AND m.session IS NOT NULL AND m.occurred_at IS NOT NULL
GROUP BY m.session

-- name: list_wrapped
-- Turns of clients that are still in the wrapping of Buzz's bridge, the newest first; pinned ones stay.
SELECT m.id, m.message, m.role, m.trust, m.origin, m.platform, m.model, m.subagent, m.subagent_model,
    m.subagent_role, m.device, m.venue, m.session, m.cwd, m.project_hint, m.occurred_at, m.source, m.store_id,
    m.native_id
FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND (starts_with(m.message, '<base>') OR starts_with(m.message, E'<context>\nScope: ')
      AND m.message ~ '</(thread|conversation)-context>')
  AND m.origin <> 'asserted' AND m.native_id IS NOT NULL AND NOT s.pinned
  AND s.screening NOT IN ('quarantined', 'withdrawn')
ORDER BY m.id DESC LIMIT $2

-- name: list_said
-- What was said in a session of a store at some times, also what was edited or deleted since.
SELECT occurred_at, raw_message FROM messages
WHERE user_id = $1 AND source = $2 AND session = $3 AND raw_message IS NOT NULL
  AND coalesce(occurred_at, created_at) = ANY ($4::timestamptz[])

-- name: list_memories_resting
-- Active memories of which the current version rests on some messages.
SELECT DISTINCT k.id FROM sources c JOIN memories k ON k.id = c.item_id AND k.version = c.item_version
WHERE c.message_id = ANY ($1::bigint[]) AND k.status = 'active' ORDER BY k.id
