-- name: list_fading
-- The memories that are least present, as last computed; pins, milestones and open promises do not fade.
SELECT m.id, a.value, a.touched_at FROM memories m JOIN activations a ON a.item_id = m.id
WHERE m.user_id = $1 AND m.status = 'active' AND NOT m.pinned AND m.kind <> 'milestone'
    AND NOT (m.kind = 'promise' AND m.resolved_at IS NULL) AND
-- include: shown
ORDER BY a.value, m.id LIMIT $2

-- name: list_faded
-- Those of them below a value.
SELECT m.id FROM memories m JOIN activations a ON a.item_id = m.id
WHERE m.user_id = $1 AND m.status = 'active' AND NOT m.pinned AND m.kind <> 'milestone'
    AND NOT (m.kind = 'promise' AND m.resolved_at IS NULL) AND a.value < $2 AND
-- include: shown

-- name: count_items
-- How much one user has of each sort that may be shown.
SELECT
    (SELECT count(*) FROM messages m JOIN message_state s ON s.message_id = m.id
     WHERE m.user_id = $1 AND s.screening NOT IN ('quarantined', 'withdrawn') AND NOT s.private) AS messages,
    (SELECT count(*) FROM tag_summaries WHERE user_id = $1 AND status = 'active' AND NOT private) AS summaries,
    count(*) FILTER (WHERE status = 'active') AS memories,
    count(*) FILTER (WHERE status = 'superseded') AS superseded,
    count(*) FILTER (WHERE status = 'archived') AS archived,
    count(*) FILTER (WHERE status = 'removed') AS removed,
    count(*) FILTER (WHERE pinned) AS pinned,
    count(*) FILTER (WHERE kind = 'promise' AND status = 'active' AND resolved_at IS NULL) AS unresolved
FROM memories m WHERE user_id = $1 AND
-- include: shown

-- name: count_kinds
-- Active memories of a user that may be shown, by kind.
SELECT kind, count(*) FROM memories m WHERE user_id = $1 AND status = 'active' AND
-- include: shown
GROUP BY kind ORDER BY kind

-- name: count_events
-- How often items of a user were used as somebody said, were used as only a reply shows, and were shown.
SELECT count(*) FILTER (WHERE t.kind = 'used' AND NOT t.inferred) AS used,
    count(*) FILTER (WHERE t.inferred) - count(t.completes) AS inferred,
    count(*) FILTER (WHERE t.kind = 'surfaced') AS surfaced
FROM traces t
WHERE t.kind IN ('used', 'surfaced') AND (
    EXISTS (SELECT FROM memories m WHERE m.id = t.item_id AND m.user_id = $1)
    OR EXISTS (SELECT FROM messages m WHERE m.id = t.item_id AND m.user_id = $1)
    OR EXISTS (SELECT FROM tag_summaries s WHERE s.id = t.item_id AND s.user_id = $1))

-- name: list_newest
-- Active memories of a user that may be shown, below an id, the newest first.
SELECT id FROM memories m WHERE user_id = $1 AND status = 'active' AND ($2::bigint IS NULL OR id < $2) AND
-- include: shown
ORDER BY id DESC LIMIT $3

-- name: list_similar_memories (template)
-- For each of some memories the nearest older ones of the same scope, from a cosine on.
SELECT mine.memory_id AS id, near.id AS other, near.cosine
FROM {table} mine JOIN memories k ON k.id = mine.memory_id, LATERAL (
    SELECT v.memory_id AS id, 1 - (v.embedding <=> mine.embedding) AS cosine
    FROM {table} v JOIN memories o ON o.id = v.memory_id
    WHERE v.chunk = 0 AND v.searchable AND v.user_id = $1 AND v.memory_id < mine.memory_id
        AND o.status = 'active' AND o.scope = k.scope
    ORDER BY v.embedding <=> mine.embedding, v.memory_id LIMIT $3
) AS near
WHERE mine.memory_id = ANY ($2::bigint[]) AND mine.chunk = 0 AND mine.searchable AND near.cosine >= $4
ORDER BY near.cosine DESC, mine.memory_id, near.id
