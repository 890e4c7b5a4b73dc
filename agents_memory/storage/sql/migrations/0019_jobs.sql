-- What a tool asks the daemon for, and what came of it: a job's row in `work` is how it waits.

CREATE TABLE jobs (
    id            bigint PRIMARY KEY DEFAULT nextval('item_id'),
    user_id       bigint NOT NULL REFERENCES users (id),
    -- The stage of its work.
    kind          text NOT NULL CHECK (kind <> ''),
    request       jsonb NOT NULL,
    result        jsonb,
    created_at    timestamptz NOT NULL DEFAULT now(),
    settled_at    timestamptz,
    CHECK ((result IS NULL) = (settled_at IS NULL))
);
CREATE INDEX jobs_settled ON jobs (settled_at) WHERE settled_at IS NOT NULL;

-- As before, and jobs that are done; one that waits or is parked stays.
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
END
$$;
