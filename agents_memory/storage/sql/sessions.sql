-- name: find_vector_home
-- The schema that pgvector is installed in.
SELECT n.nspname FROM pg_type t JOIN pg_namespace n ON n.oid = t.typnamespace
WHERE t.typname = 'halfvec'

-- name: find_session
-- Which server process serves us, and whether it took our settings.
SELECT pg_backend_pid() AS pid, current_setting('search_path') AS search_path

-- name: find_backend
-- Whether the server still knows the session of another connection of ours.
SELECT 1 FROM pg_stat_activity WHERE pid = $1
