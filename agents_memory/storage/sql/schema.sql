-- name: find_schema
-- Whether the schema of the pool exists.
SELECT 1 FROM pg_namespace WHERE nspname = $1

-- name: create_schema (template)
-- The schema of the pool, owned by whoever migrates.
CREATE SCHEMA {schema}

-- name: find_pgvector
-- The installed version of pgvector.
SELECT extversion FROM pg_extension WHERE extname = 'vector'

-- name: create_pgvector
-- Works for a superuser, or where the provider trusts the extension.
CREATE EXTENSION IF NOT EXISTS vector

-- name: create_migrations
-- The steps that were applied.
CREATE TABLE IF NOT EXISTS schema_migrations (
    version    integer PRIMARY KEY,
    name       text NOT NULL,
    checksum   text NOT NULL,
    applied_at timestamptz NOT NULL DEFAULT now()
)

-- name: list_migrations
-- What was applied, in order.
SELECT version, checksum FROM schema_migrations ORDER BY version

-- name: record_migration
-- One more step was applied.
INSERT INTO schema_migrations (version, name, checksum) VALUES ($1, $2, $3)

-- name: find_migrations
-- Whether the pool was ever migrated; asked with the pool's search path.
SELECT to_regclass('schema_migrations')::text

-- name: find_progress
-- Whether migrating the pool has begun, and whether it ever came to its end, where the tables of vectors are made. The
-- catalogue tells also a role that may not look into the schema, which is the first one of the search path.
SELECT count(*) FILTER (WHERE relname = 'schema_migrations') > 0 AS begun,
    count(*) FILTER (WHERE relname LIKE 'message\_vectors\_%') > 0 AS finished
FROM pg_class
WHERE relkind = 'r' AND relnamespace = to_regnamespace(split_part(current_setting('search_path'), ',', 1))

-- name: find_version
-- The newest applied step.
SELECT max(version) FROM schema_migrations

-- name: find_min_client
-- The oldest program that may use the pool.
SELECT min_client FROM pool

-- name: grant_runtime (template)
-- What both runtime roles may do. Nobody but the owner may delete or change evidence.
REVOKE ALL ON ALL TABLES IN SCHEMA {schema} FROM {role};
REVOKE ALL ON ALL SEQUENCES IN SCHEMA {schema} FROM {role};
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {role};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA {schema} TO {role};
GRANT INSERT ON {schema}.users, {schema}.messages, {schema}.work, {schema}.patches,
    {schema}.patch_operations, {schema}.memories, {schema}.memory_versions, {schema}.profiles,
    {schema}.profile_versions, {schema}.sources, {schema}.traces, {schema}.jobs TO {role};
GRANT UPDATE ON {schema}.memories, {schema}.profiles TO {role};
-- Everything else of it begins with its default.
GRANT INSERT (message_id) ON {schema}.message_state TO {role};
-- Derived, and whoever asks may have it derived now.
GRANT INSERT, UPDATE ON {schema}.activations TO {role};
GRANT UPDATE (forgotten_at) ON {schema}.activation_upkeep TO {role};

-- name: grant_hot (template)
-- The hot path adds and reads; it changes no state of a message. Capture runs as this role too.
GRANT USAGE ON SCHEMA {schema} TO {role};
GRANT INSERT ON {schema}.captures, {schema}.collapsed_turns, {schema}.recall_log TO {role};
-- What its source edited or deleted leaves everyday search, by the owner's function only.
GRANT EXECUTE ON FUNCTION {schema}.withdraw_message(bigint, bigint) TO {role};
GRANT UPDATE ON {schema}.captures TO {role};
-- The registry of projects is its users': they add to it and decide what the daemon suggests.
GRANT INSERT (name, description, origin), UPDATE (description, alias_of) ON {schema}.project_tags TO {role};
GRANT UPDATE (status, decided_at, decided_by) ON {schema}.tag_suggestions TO {role};
GRANT EXECUTE ON FUNCTION {schema}.propose_tag(text, text, text, bigint, bigint) TO {role};
GRANT INSERT ON {schema}.tag_changes TO {role};
-- The same of what is proposed for the persona.
GRANT UPDATE (status, patch_id, decided_at, decided_by) ON {schema}.persona_proposals TO {role};
-- Links are taken away, and never deleted.
GRANT INSERT, UPDATE (weight, updated_at, removed_at) ON {schema}.edges TO {role};

-- name: grant_cold (template)
-- The daemon also settles work, keeps what is derived, and books what models cost.
GRANT INSERT, UPDATE ON {schema}.model_calls, {schema}.budgets, {schema}.librarian_runs, {schema}.tag_summaries
    TO {role};
GRANT INSERT, UPDATE, DELETE ON {schema}.provider_holds TO {role};
GRANT EXECUTE ON FUNCTION {schema}.prune_logs(timestamptz, integer) TO {role};
GRANT INSERT ON {schema}.message_results, {schema}.project_tags, {schema}.lexeme_stats,
    {schema}.message_context TO {role};
GRANT UPDATE ON {schema}.message_state, {schema}.message_results, {schema}.work, {schema}.leader, {schema}.leader_beat,
    {schema}.lexeme_totals, {schema}.lexeme_stats, {schema}.message_context TO {role};
GRANT DELETE ON {schema}.work, {schema}.lexeme_stats, {schema}.message_context TO {role};
GRANT INSERT, UPDATE ON {schema}.tag_suggestions TO {role};
GRANT INSERT, UPDATE (status, patch_id, decided_at, decided_by) ON {schema}.persona_proposals TO {role};
GRANT INSERT ON {schema}.tag_changes, {schema}.retags, {schema}.retag_entries TO {role};
GRANT UPDATE (alias_of) ON {schema}.project_tags TO {role};
GRANT UPDATE (pairs_at) ON {schema}.tag_upkeep TO {role};
GRANT UPDATE (reached, finished_at) ON {schema}.retags TO {role};
GRANT UPDATE (result, settled_at) ON {schema}.jobs TO {role};
GRANT UPDATE (index_recall, index_checked_at, midpoint, scale) ON {schema}.embedding_models TO {role};
GRANT EXECUTE ON FUNCTION {schema}.build_message_index(smallint) TO {role};
GRANT UPDATE (recomputed_at, counted_id) ON {schema}.activation_upkeep TO {role};
GRANT EXECUTE ON FUNCTION {schema}.settle_traces(), {schema}.fold_traces(integer, timestamptz),
    {schema}.join_trace_bins(bigint, integer, timestamptz), {schema}.prune_traces(timestamptz, integer) TO {role};
GRANT EXECUTE ON FUNCTION {schema}.strike_message(bigint, integer[], integer[], text[], tsvector, integer)
    TO {role};

-- name: grant_vectors (template)
-- Vectors are derived: the daemon may make them anew.
GRANT SELECT, INSERT, UPDATE, DELETE ON {table} TO {role}

-- name: grant_memory_vectors (template)
-- What somebody asks to remember is found by its meaning at once: the hot path adds its first vectors.
GRANT INSERT ON {table} TO {role}
