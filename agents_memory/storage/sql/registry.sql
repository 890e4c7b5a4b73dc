-- name: lock_registry
-- Changes of the registry come one after the other, until the end of the transaction.
SELECT pg_advisory_xact_lock($1)

-- name: list_registry
-- The registry with the clear, public messages that are filed under each tag itself, the fullest first; what was told
-- for a memory is not counted.
SELECT t.id, t.name, t.description, t.kind, t.origin, a.name AS alias_of, coalesce(n.messages, 0) AS messages
FROM project_tags t
LEFT JOIN project_tags a ON a.id = t.alias_of
LEFT JOIN (SELECT s.p_tag, count(*) AS messages FROM message_state s JOIN messages m ON m.id = s.message_id
           WHERE s.p_tag IS NOT NULL AND s.screening = 'clear' AND NOT s.private
             AND m.source IS DISTINCT FROM 'manage_knowledge' GROUP BY s.p_tag) n ON n.p_tag = t.id
ORDER BY coalesce(n.messages, 0) DESC, t.name

-- name: list_aliases
-- Which tag stands for which other.
SELECT id, alias_of FROM project_tags WHERE alias_of IS NOT NULL

-- name: find_tag
-- One tag of the registry.
SELECT t.id, t.name, t.description, t.alias_of, a.name AS alias_name
FROM project_tags t LEFT JOIN project_tags a ON a.id = t.alias_of WHERE t.name = $1

-- name: insert_tag
-- A new tag; nothing when it is there.
INSERT INTO project_tags (name, description, origin) VALUES ($1, $2, 'owner') ON CONFLICT (name) DO NOTHING RETURNING id

-- name: write_description
-- What a tag is about.
UPDATE project_tags SET description = $2 WHERE id = $1

-- name: write_alias
-- A tag stands for another, or for itself again.
UPDATE project_tags SET alias_of = $2 WHERE id = $1

-- name: insert_change
-- Who changed what.
INSERT INTO tag_changes (actor, device, via, action, tag, target, suggestion) VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: list_changes
-- The newest changes of the registry.
SELECT c.at, c.actor, c.device, c.via, c.action, t.name AS tag, o.name AS target, c.suggestion
FROM tag_changes c LEFT JOIN project_tags t ON t.id = c.tag LEFT JOIN project_tags o ON o.id = c.target
ORDER BY c.id DESC LIMIT $1
