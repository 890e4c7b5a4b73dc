-- name: summarise_quarantine
-- How many messages are held back, how many of them nobody decided on, and since when; what was erased
-- is not among them.
SELECT count(*) AS held_back,
       count(*) FILTER (WHERE NOT EXISTS (SELECT FROM audit_log a WHERE a.item_id = s.message_id
                                            AND starts_with(a.action, 'quarantine_'))) AS undecided,
       min(r.at) AS since, max(r.at) AS latest
FROM message_state s JOIN messages m ON m.id = s.message_id
LEFT JOIN LATERAL (SELECT max(settled_at) AS at FROM message_results
                   WHERE message_id = s.message_id AND stage = 'screen') r ON true
WHERE s.screening = 'quarantined' AND m.message <> $1

-- name: list_quarantined
-- The messages held back, the newest first; what was erased is not among them. The text only when asked for.
SELECT m.id, m.role, m.trust, m.platform, m.device, m.session, m.created_at, r.settled_at AS held_at,
       coalesce(r.reasons, '{}') AS reasons, a.action, a.actor, a.at AS decided_at,
       CASE WHEN $2 THEN m.message END AS text
FROM message_state s JOIN messages m ON m.id = s.message_id
LEFT JOIN LATERAL (
    SELECT settled_at, ARRAY(SELECT jsonb_array_elements_text(detail -> 'reasons')) AS reasons
    FROM message_results WHERE message_id = s.message_id AND stage = 'screen'
    ORDER BY settled_at DESC LIMIT 1) r ON true
LEFT JOIN LATERAL (SELECT action, actor, at FROM audit_log
                   WHERE item_id = s.message_id AND starts_with(action, 'quarantine_')
                   ORDER BY id DESC LIMIT 1) a ON true
WHERE s.screening = 'quarantined' AND m.message <> $1
ORDER BY m.id DESC LIMIT $3

-- name: lock_screening
-- Where a message stands, kept so until the end of the transaction; and whether it was erased.
SELECT s.screening, m.message = $2 AS erased
FROM message_state s JOIN messages m ON m.id = s.message_id WHERE m.id = $1 FOR UPDATE OF s, m

-- name: insert_audit
-- Who decided what about an item.
INSERT INTO audit_log (actor, device, action, item_id) VALUES ($1, $2, $3, $4)

-- name: list_audit
-- What was decided about the quarantine of an item, the first decision first.
SELECT at, actor, device, action FROM audit_log WHERE item_id = $1 AND starts_with(action, 'quarantine_') ORDER BY id
