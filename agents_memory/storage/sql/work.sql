-- name: claim_work
-- Takes for this term one due row of a stage that has to be worked on alone, where $4 allows it, else the oldest due
-- ones; none of these while such a row is due. No attempt is counted. A row without an item when nothing is taken,
-- and no row at all when the term is over.
WITH term AS MATERIALIZED (SELECT epoch FROM leader WHERE epoch = $3 FOR SHARE), lone AS MATERIALIZED (
    SELECT item_id, stage FROM work
    WHERE EXISTS (SELECT FROM term) AND alone AND stage = $1 AND parked_reason IS NULL AND run_after <= now()
      AND (claimed_epoch IS NULL OR claimed_epoch <> $3)
    ORDER BY attempts, run_after, item_id
    LIMIT 1
    FOR UPDATE), others AS MATERIALIZED (
    SELECT item_id, stage FROM work
    WHERE EXISTS (SELECT FROM term) AND NOT EXISTS (SELECT FROM lone)
      AND NOT alone AND stage = $1 AND parked_reason IS NULL AND run_after <= now()
      AND (claimed_epoch IS NULL OR claimed_epoch <> $3)
    ORDER BY run_after, item_id
    LIMIT $2
    FOR UPDATE SKIP LOCKED), taken AS (
UPDATE work SET claimed_epoch = $3
WHERE (item_id, stage) IN (SELECT item_id, stage FROM lone WHERE $4 UNION ALL SELECT item_id, stage FROM others)
RETURNING item_id, attempts + 1 AS attempts, alone)
SELECT taken.item_id, taken.attempts, taken.alone FROM term LEFT JOIN taken ON true

-- name: suspect_lost
-- What another term claimed and never handed back is worked on alone from now on; where it was alone already, the end
-- of that daemon counts as its attempt, and it waits as after a failure ($3): a minute, four, at most an hour; after
-- $4 attempts it is parked. Gives back those that are.
WITH lost AS (
UPDATE work SET claimed_epoch = NULL, alone = true, attempts = attempts + alone::int,
    last_error = CASE WHEN alone THEN $3 ELSE last_error END,
    parked_reason = CASE WHEN alone AND attempts + 1 >= $4 THEN $3 END,
    run_after = CASE WHEN alone THEN now() + interval '1 minute' * least(60, 4 ^ least(attempts, 3)) * (1 - random() / 2)
        ELSE run_after END
WHERE claimed_epoch <> $1 AND stage = ANY ($2::text[])
RETURNING item_id, stage, parked_reason)
SELECT item_id, stage FROM lost WHERE parked_reason IS NOT NULL

-- name: list_due_stages
-- Those of some stages that have rows which a term may take, and whether it leads still.
SELECT epoch = $1 AS leads, ARRAY(
    SELECT s.stage FROM unnest($2::text[]) AS s (stage)
    WHERE EXISTS (SELECT FROM work w WHERE w.stage = s.stage AND w.parked_reason IS NULL
        AND w.run_after <= now() AND (w.claimed_epoch IS NULL OR w.claimed_epoch <> $1))) AS due
FROM leader

-- name: queue_work
-- Work for some items; an earlier request for the same stage stays as it is.
INSERT INTO work (item_id, stage) SELECT unnest($1::bigint[]), $2 ON CONFLICT DO NOTHING

-- name: settle_work
-- A stage ($1) is done for some items, and those of them that go on ($3) wait for the stages after it ($4).
WITH settled AS (DELETE FROM work WHERE stage = $1 AND item_id = ANY ($2::bigint[]))
INSERT INTO work (item_id, stage)
SELECT item_id, stage FROM unnest($3::bigint[]) AS item_id, unnest($4::text[]) AS stage
ON CONFLICT DO NOTHING

-- name: defer_work
-- The stage failed and is tried again later; what raised an error did not end the daemon.
UPDATE work SET claimed_epoch = NULL, alone = false, attempts = attempts + 1, last_error = $3, run_after = now() + $4::interval
WHERE item_id = $1 AND stage = $2

-- name: park_work
-- The stage failed for good; the reason stays visible until somebody retries it.
UPDATE work SET claimed_epoch = NULL, attempts = attempts + 1, last_error = $3, parked_reason = $3
WHERE item_id = $1 AND stage = $2

-- name: release_term
-- Hands back untried whatever a term still holds of some stages, as at a stop.
UPDATE work SET claimed_epoch = NULL
WHERE claimed_epoch = $1 AND stage = ANY ($2::text[])

-- name: hold_stage
-- Hands back untried what a term holds of one stage that cannot be worked on now, and says why.
UPDATE work SET claimed_epoch = NULL, last_error = $3
WHERE stage = $1 AND claimed_epoch = $2

-- name: queue_unembedded_messages
-- Work for clear messages that a version of an embedding model never settled and nothing waits for.
INSERT INTO work (item_id, stage)
SELECT s.message_id, $4::text FROM message_state s
WHERE s.screening = 'clear'
  AND NOT EXISTS (SELECT FROM message_results r WHERE r.message_id = s.message_id
      AND r.stage = 'embed' AND r.backend = $1 AND r.version = $2)
  AND NOT EXISTS (SELECT FROM work w WHERE w.item_id = s.message_id
      AND (w.stage = $4 OR (w.stage = ANY ($5::text[]) AND w.parked_reason IS NULL)))
ORDER BY s.message_id LIMIT $3
ON CONFLICT DO NOTHING

-- name: queue_unembedded_memories (template)
-- Work for active memories without a vector of a model that nothing waits for.
INSERT INTO work (item_id, stage)
SELECT m.id, $2::text FROM memories m
WHERE m.status = 'active'
  AND NOT EXISTS (SELECT FROM {table} v WHERE v.memory_id = m.id)
  AND NOT EXISTS (SELECT FROM work w WHERE w.item_id = m.id
      AND (w.stage = $2 OR (w.stage = ANY ($3::text[]) AND w.parked_reason IS NULL)))
ORDER BY m.id LIMIT $1
ON CONFLICT DO NOTHING

-- name: queue_unembedded_summaries (template)
-- Work for active summaries without a vector of a model that nothing waits for.
INSERT INTO work (item_id, stage)
SELECT t.id, 'embed_summary' FROM tag_summaries t
WHERE t.status = 'active' AND NOT EXISTS (SELECT FROM {table} v WHERE v.summary_id = t.id)
  AND NOT EXISTS (SELECT FROM work w WHERE w.item_id = t.id AND w.stage = 'embed_summary')
ORDER BY t.id LIMIT $1
ON CONFLICT DO NOTHING

-- name: summarise_work
-- Per stage: waiting, held (handed back untried, as a model or the like is away), failed at least once,
-- parked, the age of the oldest waiting row, how long one has been due, and why one waits or is parked.
SELECT stage,
       count(*) FILTER (WHERE parked_reason IS NULL) AS pending,
       count(*) FILTER (WHERE parked_reason IS NULL AND last_error IS NOT NULL AND attempts = 0) AS held,
       count(*) FILTER (WHERE parked_reason IS NULL AND last_error IS NOT NULL AND attempts > 0) AS failed,
       count(*) FILTER (WHERE parked_reason IS NOT NULL) AS parked,
       coalesce(extract(epoch FROM now() - min(queued_at) FILTER (WHERE parked_reason IS NULL)), 0)::float8
           AS oldest_age_s,
       greatest(coalesce(extract(epoch FROM now() - min(run_after) FILTER (WHERE parked_reason IS NULL)), 0), 0)::float8
           AS overdue_s,
       coalesce(max(last_error) FILTER (WHERE parked_reason IS NULL AND attempts = 0),
                max(last_error) FILTER (WHERE parked_reason IS NULL), max(parked_reason)) AS reason,
       bool_or(claimed_epoch IS NOT NULL AND last_error IS NOT NULL AND attempts = 0) AS trying
FROM work GROUP BY stage ORDER BY stage

-- name: list_work_of
-- What an item still waits for; `attempts` without one that goes on now. `held`: why the whole stage was
-- handed back untried the last time, `trying`: it is tried again now.
SELECT stage, attempts, run_after, last_error, parked_reason, queued_at, run_after > now() AS put_off,
    coalesce(claimed_epoch = (SELECT epoch FROM leader), false) AS claimed, h.held, coalesce(h.trying, false) AS trying
FROM work w LEFT JOIN LATERAL (
    SELECT max(o.last_error) AS held, bool_or(o.claimed_epoch IS NOT NULL) AS trying FROM work o
    WHERE o.stage = w.stage AND o.parked_reason IS NULL AND o.last_error IS NOT NULL
      AND o.attempts = 0) h ON true
WHERE item_id = $1 ORDER BY stage

-- name: list_work
-- Rows of the queue, the oldest first: of one stage or all ($1), in one state or any ($2).
SELECT item_id, stage, state, attempts, queued_at, run_after, coalesce(parked_reason, last_error) AS reason
FROM (SELECT *,
          CASE WHEN parked_reason IS NOT NULL THEN 'parked'
               WHEN last_error IS NOT NULL AND attempts > 0 THEN 'failed'
               ELSE 'waiting' END AS state
      FROM work) w
WHERE ($1::text IS NULL OR stage = $1) AND ($2::text IS NULL OR state = $2)
ORDER BY queued_at, item_id, stage LIMIT $3

-- name: retry_work
-- What failed or is parked is due now, as if it were new; what the daemon is at right now is left to it.
UPDATE work SET attempts = 0, run_after = now(), queued_at = now(), last_error = NULL, parked_reason = NULL
WHERE claimed_epoch IS NULL AND (parked_reason IS NOT NULL OR (last_error IS NOT NULL AND attempts > 0))
  AND ($1::bigint IS NULL OR item_id = $1) AND ($2::text IS NULL OR stage = $2)
RETURNING stage

-- name: count_held
-- Rows that were handed back untried, by stage; of one item or stage where given.
SELECT stage, count(*) AS rows FROM work
WHERE parked_reason IS NULL AND last_error IS NOT NULL AND attempts = 0
  AND ($1::bigint IS NULL OR item_id = $1) AND ($2::text IS NULL OR stage = $2)
GROUP BY stage

-- name: next_due
-- Seconds until the next row of some stages is due; NULL when nothing waits.
SELECT extract(epoch FROM min(run_after) - now())::float8 FROM work
WHERE stage = ANY ($2::text[]) AND parked_reason IS NULL
  AND (claimed_epoch IS NULL OR claimed_epoch <> $1)
