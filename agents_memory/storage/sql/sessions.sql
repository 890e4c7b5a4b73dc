-- name: find_session
-- What serves us now: the process, whether it took our settings, and the schema of pgvector.
SELECT pg_backend_pid() AS pid, current_setting('search_path') AS search_path,
       (SELECT n.nspname::text FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE t.typname = 'halfvec' LIMIT 1) AS vector_home

-- name: find_backend
-- Whether the server still has the session of another connection of ours, and works for it: a statement that goes on for so
-- many seconds although it may not be long (`allow_long` says so in the name) is stuck.
SELECT 1 FROM pg_stat_activity WHERE pid = $1 AND NOT coalesce(state = 'active'
    AND query_start < clock_timestamp() - make_interval(secs => $2) AND application_name NOT LIKE '% (long)', false)

-- name: allow_long
-- For this transaction: a statement may take so long, '0' for as long as it takes; others see it by the session's name.
SELECT set_config('statement_timeout', $1, true),
    set_config('application_name', left(current_setting('application_name'), 56) || ' (long)', true)
