-- name: take_lead
-- A new term begins; every write of an older term is refused from here on.
UPDATE leader SET epoch = epoch + 1, holder = $1, pid = $2, since = now() RETURNING epoch

-- name: end_blockers
-- Writes of an older term that keep the holder of the lock waiting are undone with their sessions.
SELECT pg_terminate_backend(a.pid) FROM pg_locks l
CROSS JOIN LATERAL unnest(pg_blocking_pids(l.pid)) AS blocker (pid)
JOIN pg_stat_activity a ON a.pid = blocker.pid AND a.usename = current_user
WHERE l.locktype = 'advisory' AND l.granted
  AND l.classid = ($1::bigint >> 32)::oid AND l.objid = ($1::bigint & 4294967295)::oid
  AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: hold_epoch
-- The fence: a row only while this term leads, and no other can begin before the transaction ends;
-- a holder that freezes in the middle of it gives way after ten seconds.
SELECT epoch, set_config('idle_in_transaction_session_timeout', '10s', true)
FROM leader WHERE epoch = $1 FOR SHARE

-- name: resign_lead
-- The term ended in order.
UPDATE leader SET holder = NULL, pid = NULL, since = NULL WHERE epoch = $1

-- name: find_leader
-- Who leads.
SELECT epoch, holder, pid, since FROM leader

-- name: try_lock
-- The lock of the pool, if it is free.
SELECT pg_try_advisory_lock($1)

-- name: wait_lock
-- The lock of the pool, however long it takes.
SELECT pg_advisory_lock($1)

-- name: beat
-- Shows the server that whoever holds the lock, or listens, is alive; what the server's clock shows.
SELECT clock_timestamp()

-- name: find_lock_holder
-- The server process that holds the lock, if any does.
SELECT pid FROM pg_locks WHERE locktype = 'advisory' AND granted
  AND classid = ($1::bigint >> 32)::oid AND objid = ($1::bigint & 4294967295)::oid
  AND database = (SELECT oid FROM pg_database WHERE datname = current_database())

-- name: send_hint
-- Wakes listeners; says nothing, or that what was held is to be tried at once.
SELECT pg_notify($1, $2)

-- name: show_beat
-- The leader looks at the queue now, and will again within some time.
UPDATE leader_beat SET epoch = $1, beat_at = now(), next_by = now() + $2::interval

-- name: find_beat
-- When the leader last looked at the queue (never in this term: NULL), and whether it should have again.
SELECT CASE WHEN b.epoch = l.epoch THEN b.beat_at END AS beat_at,
       coalesce(CASE WHEN b.epoch = l.epoch THEN b.next_by < now() ELSE l.since < now() - $1::interval END,
                false) AS late
FROM leader l CROSS JOIN leader_beat b
