-- name: find_same
-- An active memory that says the same as one of those asked for.
SELECT k.id FROM unnest($2::text[], $3::bytea[], $4::bigint[]) AS asked (scope, content_key, id)
JOIN memories k ON k.user_id = $1 AND k.scope = asked.scope AND k.content_key = asked.content_key
    AND k.status = 'active' AND k.id <> asked.id
WHERE k.scope = ANY ($2) AND k.content_key = ANY ($3)
ORDER BY k.id LIMIT 1

-- name: lock_memories
-- The current states of memories, locked until the patch commits, in the order of their ids; private ones only if
-- asked for ($3).
SELECT id, version, subject, attribute, content, kind, importance, valence, intensity, trust, status, pinned,
    tags, resolved_at, superseded_by, scope
FROM memories m WHERE id = ANY ($1::bigint[]) AND user_id = $2 AND ($3 OR
-- include: open
) ORDER BY id FOR UPDATE OF m

-- name: list_states
-- Earlier states of memories, as their versions kept them.
SELECT m.id, v.version, v.subject, v.attribute, v.content, v.kind, v.importance, v.valence, v.intensity, v.trust,
    v.status, v.pinned, v.tags, v.resolved_at, v.superseded_by, m.scope
FROM unnest($1::bigint[], $2::integer[]) AS asked (id, version)
JOIN memories m ON m.id = asked.id
JOIN memory_versions v ON v.memory_id = asked.id AND v.version = asked.version

-- name: list_versions
-- Every version of a memory, the oldest first, with the patch that made it and the operation that ended it; unless
-- asked for ($3) without those that rest on private messages alone, nor what a diff tells of them.
SELECT v.version, v.patch_id, v.subject, v.content, v.kind, v.importance, v.trust, v.status, v.pinned, v.tags,
    v.resolved_at, v.superseded_by, v.created_at, p.actor, p.tool, p.reason, o.operation, o.evidence,
    CASE WHEN $3 OR NOT EXISTS (SELECT FROM memory_versions v WHERE v.memory_id = o.item_id
        AND v.version = o.from_version AND NOT
-- include: open_version
    ) THEN o.diff END AS diff,
    e.operation AS ended_by,
    ARRAY(SELECT s.message_id FROM sources s WHERE s.item_id = v.memory_id AND s.item_version = v.version
          ORDER BY s.message_id) AS sources
FROM memory_versions v
JOIN memories m ON m.id = v.memory_id
JOIN patches p ON p.id = v.patch_id
JOIN patch_operations o ON o.patch_id = v.patch_id AND o.item_id = v.memory_id AND o.to_version = v.version
LEFT JOIN patch_operations e ON e.item_id = v.memory_id AND e.to_version = v.version + 1
WHERE v.memory_id = $1 AND m.user_id = $2 AND ($3 OR (
-- include: open
 AND
-- include: open_version
)) ORDER BY v.version

-- name: search_memories
-- Memories that hold every term of a query, the best first; removed ones only when asked for.
SELECT m.id FROM memories m
WHERE m.user_id = $1 AND m.lexemes @@ $2::text::tsquery AND (m.status = 'active' OR $3)
  AND ($4::text IS NULL OR lower(m.subject) = lower($4)) AND ($6 OR NOT m.private)
ORDER BY ts_rank('{1,1,1,1}', m.lexemes, $2::text::tsquery) DESC, m.id DESC LIMIT $5

-- name: list_memories
-- Memories in the order of the ids asked for; if asked for ($3) without those whose evidence is all held back, and
-- unless asked for ($4) without private ones.
SELECT m.id, m.version, m.subject, m.attribute, m.content, m.kind, m.importance, m.trust, m.status,
    m.pinned, m.tags, m.platform, m.occurred_at, m.created_at, m.resolved_at, m.superseded_by, t.name AS p_tag
FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (id, position)
JOIN memories m ON m.id = asked.id
LEFT JOIN project_tags t ON t.id = m.p_tag
WHERE m.user_id = $2 AND (NOT $3 OR
-- include: grounded
) AND ($4 OR
-- include: open
)
ORDER BY asked.position

-- name: list_recent_memories
-- The newest active memories of a user that match the filters.
SELECT m.id FROM memories m
WHERE
-- include: memory_filters
ORDER BY coalesce(m.occurred_at, m.created_at) DESC, m.id DESC
LIMIT $8

-- name: list_pinned_memories
-- Pinned memories that may be shown, the weightiest first; pins are always active.
SELECT id FROM memories m WHERE user_id = $1 AND pinned AND
-- include: shown
ORDER BY importance DESC, id DESC LIMIT $2

-- name: list_open_promises
-- Promises that nobody resolved and that may be shown.
SELECT id FROM memories m
WHERE user_id = $1 AND kind = 'promise' AND status = 'active' AND resolved_at IS NULL AND
-- include: shown
ORDER BY coalesce(occurred_at, created_at) DESC, id DESC LIMIT $2

-- name: list_memories_for_pass
-- What a pass needs of the memories it works on.
SELECT id, subject, content, status, affect = 'told' AS affect_told FROM memories WHERE id = ANY ($1::bigint[])

-- name: lock_memory_for_pass
-- A memory as it is now; no patch can change it before the transaction ends.
SELECT id, subject, content, status, affect = 'told' AS affect_told FROM memories WHERE id = $1 FOR SHARE

-- name: record_affect
-- How a memory felt, as estimated; the versions keep what was known when they were made.
UPDATE memories SET valence = $2, intensity = $3, affect = 'estimated' WHERE id = $1 AND affect <> 'told'

-- name: count_memories
-- How many active memories the pool holds that may be shown.
SELECT count(*) FROM memories m WHERE m.status = 'active' AND
-- include: shown
