-- name: find_key
-- The secret that keys the digests.
SELECT hmac_key FROM pool

-- name: list_tombstones
-- Everything that was erased, in that order; few rows, most often none.
SELECT kind, digest, words FROM tombstones ORDER BY id

-- name: insert_tombstone
-- Something more was erased; nothing when it was before.
INSERT INTO tombstones (kind, digest, words) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING

-- name: list_fields
-- What a message holds beside its text.
SELECT id, platform, model, subagent_model, subagent_role, device, venue, session, cwd, project_hint,
    source, store_id, native_id, raw_message
FROM messages WHERE id = ANY ($1::bigint[])

-- name: strike_message
-- Takes words out of a message that nobody screened yet; the owner's function does it.
SELECT strike_message($1, $2, $3, $4, $5::text::tsvector, $6)
