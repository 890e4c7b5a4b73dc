-- name: insert_memory
-- A new active memory; nothing when an active one says the same.
INSERT INTO memories (user_id, scope, platform, p_tag, subject, attribute, content, content_key, kind,
    importance, valence, intensity, trust, pinned, tags, occurred_at, lexemes, lexeme_count)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16,
    $17::text::tsvector, $18)
ON CONFLICT (user_id, scope, content_key) WHERE status = 'active' DO NOTHING
RETURNING id

-- name: find_same
-- The active memory that says the same.
SELECT id FROM memories
WHERE user_id = $1 AND scope = $2 AND content_key = $3 AND status = 'active'

-- name: lock_memory
-- The current state of a memory, locked until the patch commits.
SELECT id, version, subject, content, kind, trust, status, pinned, scope
FROM memories WHERE id = $1 AND user_id = $2 FOR UPDATE

-- name: write_memory
-- The next version of a memory; no row when it is no longer at the version expected.
UPDATE memories SET version = version + 1, content = $3, content_key = $4, status = $5, pinned = $6,
    lexemes = $7::text::tsvector, lexeme_count = $8, updated_at = now()
WHERE id = $1 AND version = $2
RETURNING version

-- name: keep_version
-- The current state of a memory becomes an immutable version of the patch that made it.
INSERT INTO memory_versions (memory_id, version, patch_id, subject, attribute, content, kind, importance,
    valence, intensity, trust, status, pinned, tags, resolved_at, superseded_by)
SELECT id, version, $2, subject, attribute, content, kind, importance, valence, intensity, trust, status,
    pinned, tags, resolved_at, superseded_by
FROM memories WHERE id = $1

-- name: list_versions
-- Every version of a memory, the oldest first.
SELECT version, patch_id, content, status, pinned, created_at FROM memory_versions
WHERE memory_id = $1 ORDER BY version

-- name: list_memories
-- Memories in the order of the ids asked for.
SELECT m.id, m.version, m.subject, m.attribute, m.content, m.kind, m.importance, m.trust, m.status,
    m.pinned, m.tags, m.platform, m.occurred_at, m.created_at, t.name AS p_tag
FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (id, position)
JOIN memories m ON m.id = asked.id
LEFT JOIN project_tags t ON t.id = m.p_tag
WHERE m.user_id = $2
ORDER BY asked.position

-- name: list_recent_memories
-- The newest active memories of a user that match the filters.
SELECT m.id FROM memories m
WHERE m.user_id = $1 AND m.status = 'active' AND NOT m.private
  AND ($2::text[] IS NULL OR m.p_tag = ANY (ARRAY(SELECT id FROM project_tags WHERE name = ANY ($2))))
  AND ($3::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) >= $3)
  AND ($4::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) < $4)
  AND ($5::text IS NULL OR m.platform = $5)
ORDER BY coalesce(m.occurred_at, m.created_at) DESC, m.id DESC
LIMIT $6

-- name: find_memories_by_lexemes
-- Ids of the newest active memories that hold any lexeme of the query and match the filters.
SELECT m.id FROM memories m
WHERE m.user_id = $1 AND m.status = 'active' AND NOT m.private AND m.lexemes @@ $7::text::tsquery
  AND ($2::text[] IS NULL OR m.p_tag = ANY (ARRAY(SELECT id FROM project_tags WHERE name = ANY ($2))))
  AND ($3::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) >= $3)
  AND ($4::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) < $4)
  AND ($5::text IS NULL OR m.platform = $5)
ORDER BY m.id DESC
LIMIT $6

-- name: count_memory_lexemes
-- For each memory and each lexeme asked for, how often it occurs (0 when not), and the length.
-- Read from the rank, as taking each tsvector apart costs five times as much.
SELECT m.id, m.lexeme_count,
       ARRAY(SELECT width_bucket(ts_rank('{1,1,1,1}', m.lexemes, asked)::float8, $3::float8[])
             FROM unnest($2::text[]::tsquery[]) AS asked) AS counts
FROM memories m WHERE m.id = ANY ($1::bigint[])

-- name: list_pinned_memories
-- Pinned memories, the weightiest first; pins are always active.
SELECT id FROM memories WHERE user_id = $1 AND pinned ORDER BY importance DESC, id DESC LIMIT $2

-- name: list_open_promises
-- Promises that nobody resolved.
SELECT id FROM memories
WHERE user_id = $1 AND kind = 'promise' AND status = 'active' AND resolved_at IS NULL
ORDER BY coalesce(occurred_at, created_at) DESC, id DESC LIMIT $2

-- name: list_memories_for_pass
-- What a pass needs of the memories it works on.
SELECT id, subject, content, status FROM memories WHERE id = ANY ($1::bigint[])

-- name: lock_memory_for_pass
-- A memory as it is now; no patch can change it before the transaction ends.
SELECT id, subject, content, status FROM memories WHERE id = $1 FOR SHARE

-- name: count_memories
-- How many active memories the pool holds.
SELECT count(*) FROM memories WHERE status = 'active'
