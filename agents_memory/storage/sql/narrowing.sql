-- name: list_matching
-- Which of some items are of a kind asked for, and carry a tag asked for.
SELECT i.id FROM unnest($1::bigint[]) AS i (id)
LEFT JOIN memories m ON m.id = i.id
LEFT JOIN message_state s ON s.message_id = i.id
WHERE (cardinality($2::text[]) = 0
       OR coalesce(m.kind, CASE WHEN s.message_id IS NULL THEN 'summary' ELSE 'message' END) = ANY ($2))
  AND (cardinality($3::text[]) = 0
       OR EXISTS (SELECT FROM unnest(coalesce(m.tags, s.d_tags)) AS t (tag) WHERE lower(t.tag) = ANY ($3)))
