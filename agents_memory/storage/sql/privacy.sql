-- name: list_told
-- The messages that were told for the sake of some memories, in any of their versions.
SELECT DISTINCT c.message_id FROM sources c JOIN messages m ON m.id = c.message_id
WHERE c.item_id = ANY ($1::bigint[]) AND m.source = 'manage_knowledge'

-- name: mark_messages
-- Messages become private by themselves, or no more; those of which it is true already are left out.
UPDATE message_state s SET private_itself = $3, private = $3 OR
-- include: told_privately
FROM messages m
WHERE m.id = s.message_id AND m.user_id = $1 AND s.message_id = ANY ($2::bigint[])
  AND (s.private_itself <> $3 OR s.private <> ($3 OR
-- include: told_privately
))
RETURNING s.message_id AS id

-- name: follow_memories
-- Messages that were told for memories, as these and the owner want them by now; those that are so already are
-- left out.
UPDATE message_state s SET private = s.private_itself OR
-- include: told_privately
FROM messages m
WHERE m.id = s.message_id AND m.user_id = $1 AND s.message_id = ANY ($2::bigint[]) AND s.private <> (s.private_itself OR
-- include: told_privately
)
RETURNING s.message_id AS id

-- name: list_private
-- Those of some messages that are private.
SELECT message_id AS id FROM message_state WHERE message_id = ANY ($1::bigint[]) AND private ORDER BY message_id

-- name: mark_memories
-- The same of memories. Where something belongs is no part of its versions.
UPDATE memories SET private = $3 WHERE user_id = $1 AND id = ANY ($2::bigint[]) AND private <> $3 RETURNING id

-- name: drop_contexts
-- Whatever was read with the words of some messages.
DELETE FROM message_context WHERE previous_id = ANY ($1::bigint[]) RETURNING message_id AS id

-- name: list_hidden
-- Active memories that are hidden because they rest on some messages, and documents that still say what these say.
SELECT m.id, NULL AS document FROM memories m
WHERE m.status = 'active' AND NOT m.private AND m.id IN (SELECT c.item_id FROM sources c
    WHERE c.message_id = ANY ($1::bigint[]) AND c.item_version = m.version) AND NOT
-- include: open
UNION ALL
SELECT DISTINCT p.id, p.kind FROM profiles p JOIN sources c ON c.item_id = p.id AND c.item_version = p.version
WHERE c.message_id = ANY ($1::bigint[])
ORDER BY id
