-- name: list_profiles
-- All documents of a user, the emptied ones too: whoever writes next must know their version.
SELECT id, kind, version, content, updated_at FROM profiles WHERE user_id = $1
