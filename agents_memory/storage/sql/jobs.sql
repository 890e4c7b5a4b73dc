-- name: draw_job
-- An id for a job, so that asking again after a lost answer asks for nothing twice.
SELECT nextval('item_id')

-- name: insert_job
-- A job and the work it is; nothing when it is there already.
WITH added AS (
    INSERT INTO jobs (id, user_id, kind, request) VALUES ($1, $2, $3, $4) ON CONFLICT DO NOTHING RETURNING id, kind
)
INSERT INTO work (item_id, stage) SELECT id, kind FROM added

-- name: find_job
-- A job, of a user or of anybody, and how its work stands; `tried` without an attempt that goes on now.
SELECT j.id, j.kind, j.result, j.created_at, j.settled_at, w.parked_reason, w.last_error,
    w.attempts AS tried,
    coalesce(w.claimed_epoch = (SELECT epoch FROM leader), false) AS claimed
FROM jobs j LEFT JOIN work w ON w.item_id = j.id AND w.stage = j.kind
WHERE j.id = $1 AND ($2::bigint IS NULL OR j.user_id = $2)

-- name: list_unsettled
-- What a pass needs of the jobs it works on; those that are done are left out.
SELECT j.id, j.user_id, j.kind, j.request, coalesce(w.attempts, 0) + 1 AS attempts, j.created_at
FROM jobs j LEFT JOIN work w ON w.item_id = j.id AND w.stage = j.kind
WHERE j.id = ANY ($1::bigint[]) AND j.kind = $2 AND j.settled_at IS NULL ORDER BY j.id

-- name: settle_job
-- What came of a job, once.
UPDATE jobs SET result = $2, settled_at = now() WHERE id = $1 AND settled_at IS NULL RETURNING id
