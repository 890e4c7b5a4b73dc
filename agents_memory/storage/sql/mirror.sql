-- name: list_active
-- All active memories of a user; private ones only if asked for.
-- include: mirrored
WHERE m.user_id = $1 AND m.status = 'active' AND
-- include: grounded
    AND ($2 OR
-- include: open
)

-- name: list_said
-- Memories of a user that were said in some time; what gave way since is among them, what was removed is not.
-- include: mirrored
WHERE m.user_id = $1 AND m.status IN ('active', 'superseded')
  AND coalesce(m.occurred_at, m.created_at) >= $3 AND coalesce(m.occurred_at, m.created_at) < $4 AND
-- include: grounded
    AND ($2 OR
-- include: open
)

-- name: list_settled
-- Promises of a user that were settled in some time.
-- include: mirrored
WHERE m.user_id = $1 AND m.status = 'active' AND m.kind = 'promise'
  AND m.resolved_at >= $3 AND m.resolved_at < $4 AND
-- include: grounded
    AND ($2 OR
-- include: open
)

-- name: list_used
-- Active memories of a user that were used in some time, with how often.
-- include: mirrored
WHERE m.user_id = $1 AND m.status = 'active'
  AND EXISTS (SELECT FROM traces t WHERE t.item_id = m.id AND t.kind = 'used' AND t.at >= $3 AND t.at < $4) AND
-- include: grounded
    AND ($2 OR
-- include: open
)

-- name: count_uses
-- How often some memories were used in some time.
SELECT item_id, count(*) AS times FROM traces
WHERE item_id = ANY ($1::bigint[]) AND kind = 'used' AND at >= $2 AND at < $3 GROUP BY item_id

-- name: count_said
-- What was said in some time by a user and to them, by the project that its tag stands for.
WITH RECURSIVE known AS (
    SELECT id, name FROM project_tags WHERE alias_of IS NULL
    UNION ALL
    SELECT a.id, known.name FROM project_tags a JOIN known ON a.alias_of = known.id
)
SELECT known.name AS project, count(*) AS messages, count(DISTINCT (m.platform, m.session)) AS sessions
FROM messages m JOIN message_state s ON s.message_id = m.id LEFT JOIN known ON known.id = s.p_tag
WHERE m.user_id = $1 AND s.screening = 'clear' AND ($2 OR NOT s.private)
  AND m.source IS DISTINCT FROM 'manage_knowledge'
  AND coalesce(m.occurred_at, m.created_at) >= $3 AND coalesce(m.occurred_at, m.created_at) < $4
GROUP BY known.name

-- name: list_projects
-- Tags that stand for themselves, their aliases, and the messages of a user filed under any of these.
WITH RECURSIVE known AS (
    SELECT id, id AS root FROM project_tags WHERE alias_of IS NULL
    UNION ALL
    SELECT a.id, known.root FROM project_tags a JOIN known ON a.alias_of = known.id
), filed AS (
    SELECT known.root, count(*) AS messages
    FROM messages m JOIN message_state s ON s.message_id = m.id JOIN known ON known.id = s.p_tag
    WHERE m.user_id = $1 AND s.screening = 'clear' AND ($2 OR NOT s.private)
      AND m.source IS DISTINCT FROM 'manage_knowledge'
    GROUP BY known.root
)
SELECT t.name, t.description, coalesce(filed.messages, 0) AS messages,
    ARRAY(SELECT a.name FROM known JOIN project_tags a ON a.id = known.id
          WHERE known.root = t.id AND a.id <> t.id ORDER BY a.name) AS aliases
FROM project_tags t LEFT JOIN filed ON filed.root = t.id WHERE t.alias_of IS NULL ORDER BY t.name
