-- name: list_judged_items
-- What is known today of items with traces; what was taken back or held back is left out.
SELECT i.id, coalesce(m.kind, $1) AS kind, coalesce(m.importance, s.importance, $2::smallint) AS importance,
    coalesce(m.valence, s.valence, 0) AS valence, coalesce(m.intensity, s.intensity, 0) AS intensity,
    CASE WHEN isfinite(m.resolved_at) THEN m.resolved_at END AS resolved_at
FROM (SELECT id FROM memories WHERE status = 'active'
      UNION ALL SELECT message_id FROM message_state WHERE screening <> 'quarantined') AS i (id)
LEFT JOIN memories m ON m.id = i.id
LEFT JOIN message_state s ON s.message_id = i.id
WHERE EXISTS (SELECT 1 FROM traces t WHERE t.item_id = i.id)
ORDER BY i.id

-- name: list_traces
-- Every trace, in the order in which they came; those of a clock that was put back since would end the window too late,
-- and what was at no time tells nothing.
-- An inferred use that was cited later is told by the cited one.
SELECT item_id, kind, inferred, at FROM traces t
WHERE at <= now() AND isfinite(at) AND NOT (inferred AND EXISTS (SELECT FROM traces c WHERE c.completes = t.id))
ORDER BY id

-- name: list_felt
-- How messages felt, and when they were said.
SELECT coalesce(m.occurred_at, m.created_at) AS at, s.valence, s.intensity
FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE s.valence IS NOT NULL AND s.intensity > 0 AND s.screening <> 'quarantined'
  AND isfinite(coalesce(m.occurred_at, m.created_at))
ORDER BY m.id
