-- name: read_memories_to_compare
-- Active memories with when their words were last said: by their evidence, or else when they were written.
SELECT m.id, m.user_id, m.version, m.subject, m.attribute, m.content, m.trust, m.kind, m.pinned, m.resolved_at, m.occurred_at,
    coalesce(
        (SELECT max(coalesce(e.occurred_at, e.created_at)) FROM sources s JOIN messages e ON e.id = s.message_id
         WHERE s.item_id = m.id AND s.item_version = m.version),
        m.occurred_at,
        (SELECT max(v.created_at) FROM memory_versions v JOIN patch_operations o
             ON o.item_id = v.memory_id AND o.to_version = v.version
         WHERE v.memory_id = m.id AND o.operation IN ('add', 'update', 'supersede')),
        m.created_at) AS said_at
FROM memories m WHERE m.id = ANY ($1::bigint[]) AND m.status = 'active' ORDER BY m.id

-- name: list_near_memories (template)
-- The nearest memories about the same subject that stand where this one stands, with their cosine.
SELECT m.id, 1 - (v.embedding <=> mine.embedding) AS cosine
FROM memories k JOIN {table} mine ON mine.memory_id = k.id AND mine.chunk = 0
JOIN memories m ON m.user_id = k.user_id AND m.scope = k.scope AND m.status = 'active' AND m.id <> k.id
    AND lower(m.subject) = lower(k.subject) AND m.p_tag IS NOT DISTINCT FROM k.p_tag AND m.private = k.private
JOIN {table} v ON v.memory_id = m.id AND v.chunk = 0 AND v.searchable
WHERE k.id = $1 ORDER BY v.embedding <=> mine.embedding, m.id LIMIT $2

-- name: list_memories_of_same_attribute
-- Memories about the same attribute of the same subject, as their authors named both; the newest first.
SELECT m.id FROM memories k
JOIN memories m ON m.user_id = k.user_id AND m.scope = k.scope AND m.status = 'active' AND m.id <> k.id
    AND m.attribute IS NOT NULL AND lower(m.subject) = lower(k.subject) AND lower(m.attribute) = lower(k.attribute)
    AND m.p_tag IS NOT DISTINCT FROM k.p_tag AND m.private = k.private
WHERE k.id = $1 ORDER BY m.id DESC LIMIT $2

-- name: list_memories_of_attribute
-- The same for a statement that is still to be stored.
SELECT m.id FROM memories m
WHERE m.user_id = $1 AND m.scope = $2 AND m.status = 'active' AND m.attribute IS NOT NULL
    AND lower(m.subject) = lower($3) AND lower(m.attribute) = lower($4) AND m.p_tag IS NOT DISTINCT FROM $5
    AND NOT m.private
ORDER BY m.id DESC LIMIT $6

-- name: list_memories_with_words
-- Memories about a subject that hold every lexeme asked for, private ones too; the newest first.
SELECT m.id FROM memories m
WHERE m.user_id = $1 AND m.scope = $2 AND m.status = 'active' AND lower(m.subject) = lower($3)
    AND m.p_tag IS NOT DISTINCT FROM $4 AND m.lexemes @@ $5::text::tsquery
ORDER BY m.id DESC LIMIT $6
