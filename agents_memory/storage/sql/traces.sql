-- name: insert_traces
-- One trace an item, in the order of ids, so that writers never wait on each other crosswise.
INSERT INTO traces (item_id, kind, weight, session, hour)
SELECT item_id, $2, $3, $4, floor(extract(epoch FROM now()) / 3600)
FROM unnest($1::bigint[]) AS item_id ORDER BY item_id
ON CONFLICT DO NOTHING

-- name: find_kinds
-- What each id names: a message, a memory, a summary, a patch or a profile.
SELECT asked.id, CASE
    WHEN EXISTS (SELECT 1 FROM messages m JOIN message_state s ON s.message_id = m.id
                 WHERE m.id = asked.id AND m.user_id = $2 AND s.screening <> 'quarantined') THEN 'message'
    WHEN EXISTS (SELECT 1 FROM memories m WHERE m.id = asked.id AND m.user_id = $2) THEN 'memory'
    WHEN EXISTS (SELECT 1 FROM tag_summaries t WHERE t.id = asked.id AND t.user_id = $2 AND t.status = 'active') THEN 'summary'
    WHEN EXISTS (SELECT 1 FROM patches p WHERE p.id = asked.id AND p.user_id = $2) THEN 'patch'
    WHEN EXISTS (SELECT 1 FROM profiles p WHERE p.id = asked.id AND p.user_id = $2) THEN 'profile'
    END AS kind
FROM unnest($1::bigint[]) AS asked (id)

-- name: find_citable
-- The same of what was shown to whoever says that it was of use: a message, a memory or a summary, none of it private.
SELECT asked.id, CASE
    WHEN EXISTS (SELECT FROM messages m JOIN message_state s ON s.message_id = m.id
                 WHERE m.id = asked.id AND m.user_id = $2 AND s.screening <> 'quarantined' AND NOT s.private) THEN 'message'
    WHEN EXISTS (SELECT FROM memories m WHERE m.id = asked.id AND m.user_id = $2 AND
-- include: open
                ) THEN 'memory'
    WHEN EXISTS (SELECT FROM tag_summaries t WHERE t.id = asked.id AND t.user_id = $2 AND t.status = 'active'
                 AND NOT t.private) THEN 'summary'
    END AS kind
FROM unnest($1::bigint[]) AS asked (id)

-- name: count_traces
-- How many events of each kind an item has; a use that was inferred and then cited is one.
SELECT kind, count(*) - count(completes) AS count FROM traces WHERE item_id = $1 GROUP BY kind ORDER BY kind
