-- name: list_linkable
-- What each id names, of items that may be shown to a user; quarantined, withdrawn, removed and private ones are
-- none, nor are memories whose evidence is all held back.
SELECT asked.id, CASE
    WHEN EXISTS (SELECT FROM memories m WHERE m.id = asked.id AND m.user_id = $2 AND m.status = 'active'
                 AND
-- include: shown
                ) THEN 'memory'
    WHEN EXISTS (SELECT FROM messages m JOIN message_state s ON s.message_id = m.id WHERE m.id = asked.id
                 AND m.user_id = $2 AND s.screening NOT IN ('quarantined', 'withdrawn')
                 AND NOT s.private) THEN 'message'
    WHEN EXISTS (SELECT FROM tag_summaries t WHERE t.id = asked.id AND t.user_id = $2 AND t.status = 'active'
                 AND NOT t.private) THEN 'summary'
    END AS kind
FROM unnest($1::bigint[]) AS asked (id)

-- name: find_weight
-- The weight of an edge that stands, its own or that of memories which gave way to its ends.
SELECT max(weight) FROM edges WHERE user_id = $1 AND from_id IN (SELECT with_predecessors($2))
    AND to_id IN (SELECT with_predecessors($3)) AND kind = $4 AND removed_at IS NULL

-- name: write_edge
-- An edge with its weight, new or again.
INSERT INTO edges (user_id, from_id, to_id, kind, weight) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (user_id, from_id, to_id, kind)
DO UPDATE SET weight = excluded.weight, updated_at = now(), removed_at = NULL

-- name: remove_edges
-- Takes away the edges from one item to another, of one kind or of all, and of memories that gave way to them.
UPDATE edges SET removed_at = now(), updated_at = now()
WHERE user_id = $1 AND from_id IN (SELECT with_predecessors($2)) AND to_id IN (SELECT with_predecessors($3))
    AND ($4::text IS NULL OR kind = $4) AND removed_at IS NULL
RETURNING kind

-- name: list_neighbours
-- The strongest edges of each item, at most $3 in each direction, to what may be shown. Edges of a memory that
-- gave way count as those of the one in its place, at either end.
SELECT near, other, outward, kind, weight FROM (
    SELECT *, row_number() OVER (PARTITION BY near, outward ORDER BY weight DESC, other, kind) AS place FROM (
    SELECT DISTINCT ON (asked.id, e.other, e.outward, e.kind) asked.id AS near, e.other, e.outward, e.kind, e.weight
    FROM unnest($2::bigint[]) AS asked (id), with_predecessors(asked.id) AS ends (id), LATERAL (
    (SELECT coalesce((SELECT successor_of(m.id) FROM memories m WHERE m.id = o.to_id AND m.status = 'superseded'),
            o.to_id) AS other, true AS outward, o.kind, o.weight FROM edges o
     WHERE o.user_id = $1 AND o.from_id = ends.id AND o.removed_at IS NULL AND (
        EXISTS (SELECT FROM memories m WHERE m.id = o.to_id AND m.user_id = $1 AND m.status = 'active'
                AND NOT m.private)
        OR EXISTS (SELECT FROM messages m JOIN message_state s ON s.message_id = m.id WHERE m.id = o.to_id
                   AND m.user_id = $1 AND s.screening NOT IN ('quarantined', 'withdrawn') AND NOT s.private
                   AND ($4 OR s.archived_at IS NULL))
        OR EXISTS (SELECT FROM tag_summaries t WHERE t.id = o.to_id AND t.user_id = $1 AND t.status = 'active'
                   AND NOT t.private)
        OR EXISTS (SELECT FROM memories m WHERE m.id = o.to_id AND m.user_id = $1 AND m.status = 'superseded'
                   AND successor_of(m.id) <> asked.id))
     ORDER BY o.weight DESC, o.to_id LIMIT $3)
    UNION ALL
    (SELECT coalesce((SELECT successor_of(m.id) FROM memories m WHERE m.id = i.from_id AND m.status = 'superseded'),
            i.from_id) AS other, false AS outward, i.kind, i.weight FROM edges i
     WHERE i.user_id = $1 AND i.to_id = ends.id AND i.removed_at IS NULL AND (
        EXISTS (SELECT FROM memories m WHERE m.id = i.from_id AND m.user_id = $1 AND m.status = 'active'
                AND NOT m.private)
        OR EXISTS (SELECT FROM messages m JOIN message_state s ON s.message_id = m.id WHERE m.id = i.from_id
                   AND m.user_id = $1 AND s.screening NOT IN ('quarantined', 'withdrawn') AND NOT s.private
                   AND ($4 OR s.archived_at IS NULL))
        OR EXISTS (SELECT FROM tag_summaries t WHERE t.id = i.from_id AND t.user_id = $1 AND t.status = 'active'
                   AND NOT t.private)
        OR EXISTS (SELECT FROM memories m WHERE m.id = i.from_id AND m.user_id = $1 AND m.status = 'superseded'
                   AND successor_of(m.id) <> asked.id))
     ORDER BY i.weight DESC, i.from_id LIMIT $3)
    ) AS e
    WHERE e.other <> asked.id
    ORDER BY asked.id, e.other, e.outward, e.kind, e.weight DESC) AS each
) AS ranked
WHERE place <= $3
ORDER BY weight DESC, near, other, kind, outward DESC

-- name: count_edges
-- How many edges of a user stand, between what may be shown to others.
WITH hidden (id) AS (
-- include: private_items
)
SELECT count(*) FROM edges WHERE user_id = $1 AND removed_at IS NULL
    AND from_id NOT IN (SELECT id FROM hidden) AND to_id NOT IN (SELECT id FROM hidden)
