-- name: find_session
-- What serves us now: the process, whether it took our settings, and the schema of pgvector.
SELECT pg_backend_pid() AS pid, current_setting('search_path') AS search_path,
       (SELECT n.nspname::text FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
        WHERE t.typname = 'halfvec' LIMIT 1) AS vector_home

-- name: find_backend
-- Whether the server still knows the session of another connection of ours.
SELECT 1 FROM pg_stat_activity WHERE pid = $1
