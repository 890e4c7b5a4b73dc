-- name: list_due
-- Users who said enough since their profile was last written, and whom nobody tried lately; an attempt in the
-- future is none.
SELECT u.id AS user_id, r.attempted_at, coalesce(r.read_to, 0) AS read_to
FROM users u LEFT JOIN librarian_runs r ON r.user_id = u.id
WHERE (r.attempted_at IS NULL OR r.attempted_at <= $1 OR r.attempted_at > $3)
  AND (SELECT count(*) FROM (
      SELECT FROM messages m JOIN message_state s ON s.message_id = m.id
      WHERE m.user_id = u.id AND m.id > coalesce(r.read_to, 0) AND
-- include: owners_words
      LIMIT $2) n) >= $2
ORDER BY u.id

-- name: find_reach
-- The newest message that a profile could rest on.
SELECT coalesce(max(m.id), 0) FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND
-- include: owners_words

-- name: list_newest
-- The beginnings of what the owner said last.
SELECT m.id, left(m.message, $3) AS text, coalesce(m.occurred_at, m.created_at) AS said_at
FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND
-- include: owners_words
ORDER BY coalesce(m.occurred_at, m.created_at) DESC, m.id DESC LIMIT $2

-- name: list_oldest
-- The beginnings of what the owner said first.
SELECT m.id, left(m.message, $3) AS text, coalesce(m.occurred_at, m.created_at) AS said_at
FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND
-- include: owners_words
ORDER BY coalesce(m.occurred_at, m.created_at), m.id LIMIT $2

-- name: list_usable
-- Which of some messages a profile may rest on now.
SELECT m.id FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND m.id = ANY ($2::bigint[]) AND
-- include: owners_words

-- name: list_drafts
-- The newest versions of the two profiles that the daemon writes, the oldest of them first, and their authors.
SELECT p.kind, v.version, v.content, a.actor, v.patch_id
FROM profiles p JOIN profile_versions v ON v.profile_id = p.id AND v.version > p.version - $2
JOIN patches a ON a.id = v.patch_id
WHERE p.user_id = $1 AND p.kind IN ('core', 'sub')
ORDER BY p.kind, v.version

-- name: list_grounds
-- The messages that a profile rests on now and may still rest on, the newest first.
SELECT c.message_id FROM profiles p JOIN sources c ON c.item_id = p.id AND c.item_version = p.version
JOIN messages m ON m.id = c.message_id JOIN message_state s ON s.message_id = m.id
WHERE p.user_id = $1 AND p.kind = $2 AND
-- include: owners_words
ORDER BY c.message_id DESC

-- name: write_attempt
-- Somebody tries now, or did not try after all.
INSERT INTO librarian_runs (user_id, attempted_at) VALUES ($1, $2)
ON CONFLICT (user_id) DO UPDATE SET attempted_at = excluded.attempted_at

-- name: write_reach
-- All up to a message has been read.
UPDATE librarian_runs SET read_to = $2 WHERE user_id = $1
