-- What was shown to whom, so that the daemon can tell which of it a later reply draws on.

CREATE TABLE recall_log (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    user_id       bigint NOT NULL REFERENCES users (id),
    session       text NOT NULL,
    -- Whether the client itself calls it so, and its transcripts with it.
    named         boolean NOT NULL,
    platform      text NOT NULL,
    device        text NOT NULL,
    project       text,
    item_ids      bigint[] NOT NULL,
    at            timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX recall_log_at ON recall_log (at);

-- A use that was cited after the reply had shown it: its weight is what the inferred one lacks.
ALTER TABLE traces ADD COLUMN completes bigint;
CREATE UNIQUE INDEX traces_completes ON traces (completes) WHERE completes IS NOT NULL;

-- As before, and what was shown.
CREATE OR REPLACE FUNCTION prune_logs(before timestamptz, most integer) RETURNS TABLE (log text, pruned bigint)
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
    WITH gone AS (DELETE FROM captures WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM captures WHERE beat_at < before LIMIT most)) RETURNING 1)
    SELECT 'captures', count(*) FROM gone INTO log, pruned;
    RETURN NEXT;
    WITH gone AS (DELETE FROM jobs WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM jobs WHERE settled_at < before LIMIT most)) RETURNING 1)
    SELECT 'jobs', count(*) FROM gone INTO log, pruned;
    RETURN NEXT;
    WITH gone AS (DELETE FROM recall_log WHERE ctid = ANY (ARRAY(
        SELECT ctid FROM recall_log WHERE at < before LIMIT most)) RETURNING 1)
    SELECT 'recall_log', count(*) FROM gone INTO log, pruned;
    RETURN NEXT;
END
$$;
