-- Memories that are archived before they are removed, affect that was only estimated, and what a memory that
-- gave way leaves to the one in its place.

-- Which memories gave way to one: its edges are followed through to it.
CREATE INDEX memories_superseded_by ON memories (superseded_by) WHERE superseded_by IS NOT NULL;

-- An item and the memories that gave way to it, at one remove or many; rollbacks may have made a circle of them.
CREATE FUNCTION with_predecessors(item bigint) RETURNS SETOF bigint
LANGUAGE sql STABLE PARALLEL SAFE ROWS 2
BEGIN ATOMIC
    WITH RECURSIVE chain (id) AS (
        SELECT item
        UNION
        SELECT m.id FROM chain c JOIN memories m ON m.superseded_by = c.id
        WHERE m.status = 'superseded' AND NOT m.private
    )
    SELECT id FROM chain;
END;

-- The active memory that stands in the place of one that gave way; NULL when there is none.
CREATE FUNCTION successor_of(memory bigint) RETURNS bigint
LANGUAGE sql STABLE PARALLEL SAFE
BEGIN ATOMIC
    WITH RECURSIVE chain AS (
        SELECT m.id, m.superseded_by, m.status, m.private FROM memories m WHERE m.id = memory
        UNION
        SELECT m.id, m.superseded_by, m.status, m.private FROM chain c JOIN memories m ON m.id = c.superseded_by
        WHERE c.status = 'superseded' AND NOT c.private
    )
    SELECT id FROM chain WHERE status = 'active' AND NOT private;
END;

ALTER TABLE memories DROP CONSTRAINT memories_status_check;
ALTER TABLE memories ADD CONSTRAINT memories_status_check
    CHECK (status IN ('active', 'archived', 'superseded', 'removed'));
ALTER TABLE patch_operations DROP CONSTRAINT patch_operations_operation_check;
ALTER TABLE patch_operations ADD CHECK (operation IN ('add', 'update', 'supersede', 'replace', 'merge', 'support',
    'archive', 'remove', 'pin', 'unpin', 'resolve', 'retag', 'write_profile', 'restore'));

-- How valence and intensity came about. What nobody told is estimated by the daemon, from the vectors, and again
-- when the words change; the versions keep what was known when they were made.
ALTER TABLE memories ADD COLUMN affect text NOT NULL DEFAULT 'told' CHECK (affect IN ('told', 'unknown', 'estimated'));
UPDATE memories m SET affect = 'unknown'
WHERE m.valence = 0 AND m.intensity = 0 AND NOT EXISTS (SELECT FROM memory_versions v JOIN patches p ON p.id = v.patch_id
    WHERE v.memory_id = m.id AND v.version = 1 AND p.tool = 'remember');
INSERT INTO work (item_id, stage) SELECT id, 'embed_memory' FROM memories WHERE status = 'active' AND affect = 'unknown'
ORDER BY id ON CONFLICT DO NOTHING;

-- When somebody last asked for all activations; the daemon goes by its own time. What went of the exposures.
ALTER TABLE activation_upkeep ADD COLUMN forgotten_at timestamptz, ADD COLUMN pruned_id bigint NOT NULL DEFAULT 0;

-- Ids are given before their rows are committed: this waits for whoever is writing. Writers that come meanwhile
-- wait behind it, so it asks for a moment only, and again.
CREATE OR REPLACE FUNCTION settle_traces() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET lock_timeout = '200ms'
AS $$
BEGIN
    FOR attempt IN 1..5 LOOP
        BEGIN
            LOCK TABLE traces IN SHARE MODE;
            UPDATE activation_upkeep SET settled_id = coalesce((SELECT max(id) FROM traces), settled_id);
            RETURN;
        EXCEPTION WHEN lock_not_available THEN
            IF attempt = 5 THEN
                RAISE;
            END IF;
        END;
        PERFORM pg_sleep(0.2);
    END LOOP;
END
$$;

-- Deletes exposures from before a time that are in bins, among the next `most` traces; how many, NULL when none
-- is left to look at. Creation and use stay, and so does every exposure for 90 days.
CREATE FUNCTION prune_traces(before timestamptz, most integer) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    since bigint;
    until bigint;
    old   timestamptz := least(before, now() - interval '90 days');
    gone  integer;
BEGIN
    SELECT pruned_id, folded_id INTO since, until FROM activation_upkeep FOR UPDATE;
    SELECT max(id) INTO until FROM (SELECT id FROM traces WHERE id > since AND id <= until ORDER BY id LIMIT most) AS next;
    -- Up to the first that is too young; what a clock gone wrong wrote holds up nothing.
    SELECT least(until, min(id) - 1) INTO until FROM traces
    WHERE id > since AND id <= until AND kind = 'surfaced' AND at >= old AND at <= now();
    IF until IS NULL OR until <= since THEN
        RETURN NULL;
    END IF;
    DELETE FROM traces WHERE id > since AND id <= until AND kind = 'surfaced' AND at < old;
    GET DIAGNOSTICS gone = ROW_COUNT;
    UPDATE activation_upkeep SET pruned_id = until;
    RETURN gone;
END
$$;
REVOKE ALL ON FUNCTION prune_traces(timestamptz, integer) FROM PUBLIC;
