-- name: insert_patch
-- The head of a patch; its operations follow in the same transaction.
INSERT INTO patches (id, user_id, actor, tool, reason, idempotency_key, payload_hmac, diff)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)

-- name: next_item_id
-- The id of a patch before its diff is known.
SELECT nextval('item_id')

-- name: insert_operation
-- One operation of a patch.
INSERT INTO patch_operations (patch_id, position, operation, item_id, from_version, to_version)
VALUES ($1, $2, $3, $4, $5, $6)

-- name: insert_source
-- A message that a version of an item rests on.
INSERT INTO sources (item_id, item_version, message_id, quote) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING

-- name: copy_sources
-- The next version of an item rests on what the one before rested on.
INSERT INTO sources (item_id, item_version, message_id, quote)
SELECT item_id, $3, message_id, quote FROM sources WHERE item_id = $1 AND item_version = $2
ON CONFLICT DO NOTHING

-- name: list_sources
-- The evidence of one version of an item.
SELECT message_id, quote FROM sources WHERE item_id = $1 AND item_version = $2 ORDER BY message_id

-- name: list_evidence
-- The cited messages of this user that exist and are not quarantined.
SELECT m.id, m.role, m.trust, m.occurred_at FROM messages m
JOIN message_state s ON s.message_id = m.id
WHERE m.id = ANY ($1::bigint[]) AND m.user_id = $2 AND s.screening <> 'quarantined'

-- name: find_by_key
-- The patch that this key made before.
SELECT id, payload_hmac, diff FROM patches
WHERE user_id = $1 AND actor = $2 AND idempotency_key = $3

-- name: lock_key
-- Two requests with one key wait for each other.
SELECT pg_advisory_xact_lock($1)

-- name: list_operations
-- The operations of a patch, in order.
SELECT operation, item_id, from_version, to_version FROM patch_operations
WHERE patch_id = $1 ORDER BY position

-- name: find_hmac_key
-- The secret of the pool that keys payload digests.
SELECT hmac_key FROM pool

-- name: lock_profile
-- A document about the user, locked until the patch commits.
SELECT id, version, content FROM profiles WHERE user_id = $1 AND kind = $2 FOR UPDATE

-- name: insert_profile
-- The first version of a document; nothing when another request was faster.
INSERT INTO profiles (user_id, kind, version, content) VALUES ($1, $2, 1, $3)
ON CONFLICT (user_id, kind) DO NOTHING RETURNING id, version

-- name: write_profile
-- The next version of a document.
UPDATE profiles SET version = version + 1, content = $3, updated_at = now()
WHERE id = $1 AND version = $2 RETURNING version

-- name: keep_profile_version
-- The current state of a document becomes an immutable version.
INSERT INTO profile_versions (profile_id, version, patch_id, content)
SELECT id, version, $2, content FROM profiles WHERE id = $1

-- name: list_profiles
-- All documents of a user, the emptied ones too: whoever writes next must know their version.
SELECT id, kind, version, content, updated_at FROM profiles WHERE user_id = $1
