-- name: find_user
-- The id of a user.
SELECT id FROM users WHERE name = $1

-- name: insert_user
-- A user becomes known; nothing when another process was faster.
INSERT INTO users (name) VALUES ($1) ON CONFLICT (name) DO NOTHING RETURNING id
