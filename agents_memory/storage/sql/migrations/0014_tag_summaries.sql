-- Old messages leave everyday search for a summary of them; logs end; a provider's hold outlives its daemon.

-- A summary of what was said in one project, on one client, on one day. Its messages are those that
-- `sources` names for its version; they are archived while it is active, and only then.
CREATE TABLE tag_summaries (
    id            bigint PRIMARY KEY DEFAULT nextval('item_id'),
    version       integer NOT NULL DEFAULT 1,
    user_id       bigint NOT NULL REFERENCES users (id),
    p_tag         bigint REFERENCES project_tags (id),
    platform      text NOT NULL,
    private       boolean NOT NULL,
    -- The lowest of its messages.
    trust         text NOT NULL CHECK (trust IN ('owner', 'agent', 'other', 'tool')),
    -- planned: its messages are chosen and still in everyday search; withdrawn: they are again.
    status        text NOT NULL DEFAULT 'planned' CHECK (status IN ('planned', 'active', 'withdrawn')),
    content       text NOT NULL DEFAULT '',
    backend       text,
    -- Rules wrote it, and a model that comes may write it better.
    provisional   boolean NOT NULL DEFAULT false,
    began_at      timestamptz NOT NULL,
    ended_at      timestamptz NOT NULL CHECK (ended_at >= began_at),
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    lexemes       tsvector NOT NULL DEFAULT '',
    lexeme_count  integer NOT NULL DEFAULT 0,
    CHECK ((status = 'active') = (content <> '')),
    CHECK ((status = 'active') = (backend IS NOT NULL))
);
CREATE INDEX tag_summaries_lexemes ON tag_summaries USING gin (lexemes) WITH (fastupdate = off);
CREATE INDEX tag_summaries_user ON tag_summaries (user_id, ended_at) WHERE status = 'active';
CREATE INDEX tag_summaries_provisional ON tag_summaries (id) WHERE provisional;

-- The messages of everyday search, the oldest first: those to be summarised are at its beginning.
CREATE INDEX message_state_live ON message_state (message_id) WHERE archived_at IS NULL;

DO $$
DECLARE model record;
BEGIN
    FOR model IN SELECT id, dims FROM embedding_models LOOP
        EXECUTE format('CREATE TABLE %I (
            summary_id    bigint NOT NULL REFERENCES tag_summaries (id) ON DELETE CASCADE,
            chunk         smallint NOT NULL,
            content_hash  bytea NOT NULL,
            embedding     halfvec(%s) NOT NULL CHECK (l2_norm(embedding) > 0),
            PRIMARY KEY (summary_id, chunk))', 'summary_vectors_' || model.id, model.dims);
        EXECUTE format('ALTER TABLE %I ALTER embedding SET STORAGE PLAIN', 'summary_vectors_' || model.id);
        EXECUTE format('ALTER TABLE %I SET (autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160)',
            'summary_vectors_' || model.id);
    END LOOP;
END $$;

-- A provider that did not answer is left alone until then, whichever daemon found out; `times` in a row.
CREATE TABLE provider_holds (
    provider      text PRIMARY KEY CHECK (provider IN ('local', 'openai', 'xai')),
    times         integer NOT NULL CHECK (times > 0),
    held_until    timestamptz NOT NULL,
    since         timestamptz NOT NULL DEFAULT now()
);

-- Only the owner deletes; the daemon asks here for the end of logs, and of nothing else. What is younger
-- than a week stays, whatever is asked for. At most `most` rows of each log, so that no lock lasts.
CREATE FUNCTION prune_logs(before timestamptz, most integer) RETURNS TABLE (log text, pruned bigint)
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
BEGIN
    before := least(before, now() - interval '7 days');
    WITH gone AS (DELETE FROM model_calls WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM model_calls WHERE began_at < before LIMIT most)) RETURNING 1)
    SELECT 'model_calls', count(*) FROM gone INTO log, pruned;
    RETURN NEXT;
    WITH gone AS (DELETE FROM budgets WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM budgets WHERE hour < before LIMIT most)) RETURNING 1)
    SELECT 'budgets', count(*) FROM gone INTO log, pruned;
    RETURN NEXT;
    -- Signs of life: who beats again makes a new row.
    WITH gone AS (DELETE FROM captures WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM captures WHERE beat_at < before LIMIT most)) RETURNING 1)
    SELECT 'captures', count(*) FROM gone INTO log, pruned;
    RETURN NEXT;
END
$$;
REVOKE ALL ON FUNCTION prune_logs(timestamptz, integer) FROM PUBLIC;
