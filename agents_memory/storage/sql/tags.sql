-- name: find_or_add_project
-- The id of a project tag; made when nobody knows it yet.
WITH added AS (
    INSERT INTO project_tags (name, origin) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING id
)
SELECT id FROM added UNION ALL SELECT id FROM project_tags WHERE name = $1 LIMIT 1

-- name: find_project
-- The id of a project tag.
SELECT id FROM project_tags WHERE name = $1

-- name: resolve_projects
-- All tags that mean the same project as the name asked for, along aliases both ways.
WITH RECURSIVE up AS (
    SELECT id, alias_of, 1 AS depth FROM project_tags WHERE name = $1
    UNION ALL
    SELECT t.id, t.alias_of, up.depth + 1 FROM project_tags t JOIN up ON t.id = up.alias_of WHERE up.depth < 16
), root AS (
    SELECT id FROM up ORDER BY depth DESC LIMIT 1
), down AS (
    SELECT t.id, 1 AS depth FROM project_tags t JOIN root ON root.id = t.id
    UNION ALL
    SELECT t.id, down.depth + 1 FROM project_tags t JOIN down ON t.alias_of = down.id WHERE down.depth < 16
)
SELECT DISTINCT id FROM down ORDER BY id

-- name: list_project_names
-- The registry.
SELECT name FROM project_tags ORDER BY name
