-- name: claim_work
-- Takes the oldest due rows of one stage for this term; attempts are counted now, not at the end.
UPDATE work SET attempts = attempts + 1, claimed_epoch = $3
WHERE (item_id, stage) IN (
    SELECT item_id, stage FROM work
    WHERE stage = $1 AND parked_reason IS NULL AND run_after <= now()
      AND (claimed_epoch IS NULL OR claimed_epoch <> $3)
    ORDER BY run_after, item_id
    LIMIT $2
    FOR UPDATE SKIP LOCKED)
RETURNING item_id, attempts

-- name: queue_work
-- Work for an item; an earlier request for the same stage stays as it is.
INSERT INTO work (item_id, stage) VALUES ($1, $2) ON CONFLICT DO NOTHING

-- name: settle_work
-- The stage is done for this item.
DELETE FROM work WHERE item_id = $1 AND stage = $2

-- name: defer_work
-- The stage failed and is tried again later.
UPDATE work SET claimed_epoch = NULL, last_error = $3, run_after = now() + $4::interval
WHERE item_id = $1 AND stage = $2

-- name: park_work
-- The stage failed for good; the reason stays visible until somebody retries it.
UPDATE work SET claimed_epoch = NULL, last_error = $3, parked_reason = $3
WHERE item_id = $1 AND stage = $2

-- name: release_work
-- Hands claimed rows back untried, as at a stop.
UPDATE work SET claimed_epoch = NULL, attempts = greatest(attempts - 1, 0)
WHERE stage = $1 AND item_id = ANY ($2::bigint[]) AND claimed_epoch = $3

-- name: summarise_work
-- Per stage: waiting, failed at least once, parked, and the age of the oldest waiting row.
SELECT stage,
       count(*) FILTER (WHERE parked_reason IS NULL) AS pending,
       count(*) FILTER (WHERE parked_reason IS NULL AND last_error IS NOT NULL) AS failed,
       count(*) FILTER (WHERE parked_reason IS NOT NULL) AS parked,
       coalesce(extract(epoch FROM now() - min(queued_at) FILTER (WHERE parked_reason IS NULL)), 0)::float8
           AS oldest_age_s
FROM work GROUP BY stage ORDER BY stage

-- name: list_work_of
-- What an item still waits for.
SELECT stage, attempts, run_after, last_error, parked_reason FROM work WHERE item_id = $1 ORDER BY stage

-- name: next_due
-- Seconds until the next row is due; NULL when nothing waits.
SELECT extract(epoch FROM min(run_after) - now())::float8 FROM work
WHERE parked_reason IS NULL AND (claimed_epoch IS NULL OR claimed_epoch <> $1)
