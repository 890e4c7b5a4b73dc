-- name: insert_retag
-- A run begins.
INSERT INTO retags (actor, device, way, target, of_tag, untagged, d_tag, include_pinned, rollback_of)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id

-- name: find_retag
-- A run, and the one that takes it back, if any.
SELECT r.id, r.way, r.target, t.name AS target_name, r.of_tag, r.untagged, r.d_tag, r.include_pinned, r.rollback_of,
       r.reached, r.finished_at IS NOT NULL AS finished, b.id AS taken_back_by
FROM retags r LEFT JOIN project_tags t ON t.id = r.target LEFT JOIN retags b ON b.rollback_of = r.id WHERE r.id = $1

-- name: lock_retag
-- How far a run has come, kept so until the end of the transaction; no row when it is over or taken back.
SELECT reached FROM retags r WHERE id = $1 AND finished_at IS NULL
  AND NOT EXISTS (SELECT FROM retags b WHERE b.rollback_of = r.id) FOR UPDATE OF r

-- name: note_reached
-- A run came so far; it may be over.
UPDATE retags SET reached = $2, finished_at = CASE WHEN $3 THEN now() END WHERE id = $1

-- name: list_groups
-- What a run would look at, by all that decides about it: how many messages, and one of them.
SELECT s.p_tag, m.project_hint, m.cwd, s.pinned, s.p_tag_kept AS kept, count(*) AS messages, max(s.message_id) AS example
FROM message_state s JOIN messages m ON m.id = s.message_id
WHERE s.screening <> 'quarantined' AND ($1::bigint IS NULL OR s.p_tag = $1) AND (NOT $2 OR s.p_tag IS NULL)
  AND ($3::text IS NULL OR s.d_tags @> ARRAY[$3::text])
GROUP BY s.p_tag, m.project_hint, m.cwd, s.pinned, s.p_tag_kept

-- name: list_batch
-- The next messages of a run, held until the end of the transaction.
SELECT s.message_id AS id, s.p_tag, m.project_hint, m.cwd, s.pinned, s.p_tag_kept AS kept
FROM message_state s JOIN messages m ON m.id = s.message_id
WHERE s.screening <> 'quarantined' AND ($1::bigint IS NULL OR s.p_tag = $1) AND (NOT $2 OR s.p_tag IS NULL)
  AND ($3::text IS NULL OR s.d_tags @> ARRAY[$3::text]) AND s.message_id > $4
ORDER BY s.message_id LIMIT $5 FOR UPDATE OF s

-- name: list_entries
-- The next changes of a run that is taken back, with where their messages stand now.
SELECT e.message_id AS id, e.before, e.before_kept, e.after, e.after_kept, s.p_tag, s.p_tag_kept AS kept
FROM retag_entries e JOIN message_state s ON s.message_id = e.message_id
WHERE e.retag_id = $1 AND e.message_id > $2 ORDER BY e.message_id LIMIT $3 FOR UPDATE OF s

-- name: count_entries
-- How many messages a run changed, and how many of them still stand as it left them.
SELECT count(*) AS changed,
       count(*) FILTER (WHERE s.p_tag IS NOT DISTINCT FROM e.after AND s.p_tag_kept = e.after_kept) AS standing
FROM retag_entries e JOIN message_state s ON s.message_id = e.message_id WHERE e.retag_id = $1

-- name: write_projects
-- Messages come under other projects.
UPDATE message_state s SET p_tag = n.p_tag, p_tag_kept = n.kept
FROM unnest($1::bigint[], $2::bigint[], $3::boolean[]) AS n (id, p_tag, kept) WHERE s.message_id = n.id

-- name: insert_entries
-- What was changed; only added to.
INSERT INTO retag_entries (retag_id, message_id, before, before_kept, after, after_kept)
SELECT $1, n.* FROM unnest($2::bigint[], $3::bigint[], $4::boolean[], $5::bigint[], $6::boolean[]) AS n

-- name: sync_projects (template)
-- The vectors of some messages learn of their projects.
UPDATE {table} v SET p_tag = s.p_tag FROM message_state s
WHERE s.message_id = v.message_id AND v.message_id = ANY ($1::bigint[]) AND v.p_tag IS DISTINCT FROM s.p_tag

-- name: list_samples
-- The beginnings of some messages.
SELECT id, left(message, $2) AS text FROM messages WHERE id = ANY ($1::bigint[]) ORDER BY id
