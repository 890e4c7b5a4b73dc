-- name: list_choices
-- The projects a message may be filed under, the fullest first; aliases are left out, and names of which only
-- messages know that no model may see.
SELECT t.name, t.description FROM project_tags t
LEFT JOIN (SELECT coalesce(a.alias_of, a.id) AS project,
                  count(*) FILTER (WHERE s.screening = 'clear' AND NOT s.private) AS messages
           FROM message_state s JOIN project_tags a ON a.id = s.p_tag GROUP BY 1) n ON n.project = t.id
WHERE t.alias_of IS NULL AND n.messages IS DISTINCT FROM 0
ORDER BY coalesce(n.messages, 0) DESC, t.name LIMIT $1

-- name: list_filings
-- Of messages that wait to be filed: at which attempt, for nobody else's eyes, filed by a model before.
SELECT s.message_id, coalesce(w.attempts, 0) + 1 AS attempts, s.private,
    EXISTS (SELECT FROM message_results r WHERE r.message_id = s.message_id
        AND r.stage = 'tag' AND r.backend <> 'rules' AND r.version >= $2) AS by_model
FROM message_state s LEFT JOIN work w ON w.item_id = s.message_id AND w.stage = 'tag'
WHERE s.message_id = ANY ($1::bigint[])

-- name: queue_filed_by_rules
-- Work for the newest messages below one that only rules have filed; where a model was asked in vain, only
-- once another one serves ($3, whose name may not be known yet) or a newer version of the pass ($4).
INSERT INTO work (item_id, stage)
SELECT s.message_id, 'tag' FROM message_state s
JOIN message_results r ON r.message_id = s.message_id AND r.stage = 'tag' AND r.backend = 'rules'
WHERE s.message_id < $1 AND s.screening = 'clear' AND NOT s.private
  AND NOT EXISTS (SELECT FROM message_results o WHERE o.message_id = s.message_id AND o.stage = 'tag'
      AND (o.backend <> 'rules' OR (o.detail ? 'unanswered'
          AND ($3::text IS NULL OR (o.detail->>'asked' = $3 AND o.version >= $4)))))
  AND NOT EXISTS (SELECT FROM work w WHERE w.item_id = s.message_id AND w.stage = 'tag')
ORDER BY s.message_id DESC LIMIT $2
ON CONFLICT DO NOTHING
RETURNING item_id

-- name: queue_unanswered
-- Work for one message that rules have filed because a model could not, and none has since.
INSERT INTO work (item_id, stage)
SELECT s.message_id, 'tag' FROM message_state s
JOIN message_results r ON r.message_id = s.message_id AND r.stage = 'tag' AND r.detail ? 'unanswered'
WHERE s.message_id = $1 AND s.screening = 'clear' AND NOT s.private
  AND NOT EXISTS (SELECT FROM message_results o WHERE o.message_id = s.message_id AND o.stage = 'tag'
      AND o.backend <> 'rules')
ON CONFLICT DO NOTHING
RETURNING item_id

-- name: queue_rejected
-- Work for all messages that rules have filed because a provider took no question about them, and no model since.
INSERT INTO work (item_id, stage)
SELECT s.message_id, 'tag' FROM message_state s
JOIN message_results r ON r.message_id = s.message_id AND r.stage = 'tag' AND r.detail->>'unanswered' = 'rejected'
WHERE s.screening = 'clear' AND NOT s.private
  AND NOT EXISTS (SELECT FROM message_results o WHERE o.message_id = s.message_id AND o.stage = 'tag'
      AND o.backend <> 'rules')
ON CONFLICT DO NOTHING

-- name: count_waiting
-- How many messages wait to be filed, counted up to a bound.
SELECT count(*) FROM (SELECT FROM work WHERE stage = 'tag' AND parked_reason IS NULL LIMIT $1) w
