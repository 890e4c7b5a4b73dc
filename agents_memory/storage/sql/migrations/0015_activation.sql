-- Traces folded by age, and the activation that is computed from them.

-- Made once, in the transaction that makes the memory.
CREATE UNIQUE INDEX traces_created_once ON traces (item_id) WHERE kind = 'created';

CREATE TABLE trace_bins (
    item_id       bigint NOT NULL,
    -- Kept apart, so that what use and exposure add can be told from what was there from the beginning.
    creation      boolean NOT NULL,
    -- A bin of level n is 2^n quarters of an hour long; slots count from 1970.
    level         smallint NOT NULL CHECK (level BETWEEN 0 AND 40),
    slot          bigint NOT NULL,
    weight        double precision NOT NULL CHECK (weight > 0),
    -- The mean time of what is in it, by weight.
    at            timestamptz NOT NULL,
    PRIMARY KEY (item_id, creation, level, slot)
);

CREATE TABLE activation_upkeep (
    only_one      boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    -- Every trace up to this id is in a bin, too.
    folded_id     bigint NOT NULL DEFAULT 0,
    -- No trace up to this id can still come.
    settled_id    bigint NOT NULL DEFAULT 0,
    -- All activations were last computed at this time; those of items with a trace up to counted_id later.
    recomputed_at timestamptz,
    counted_id    bigint NOT NULL DEFAULT 0
);
INSERT INTO activation_upkeep DEFAULT VALUES;

CREATE TABLE activations (
    item_id       bigint PRIMARY KEY,
    value         real NOT NULL CHECK (value >= 0),
    -- The part of it that is not from creation: what use and exposure tell.
    evidence      real NOT NULL CHECK (evidence >= 0),
    -- About when it was last used or shown; NULL when it never was.
    touched_at    timestamptz,
    computed_at   timestamptz NOT NULL
) WITH (fillfactor = 50);

-- The longest bin for an age: at most a quarter of it, so that a sum over bins errs by less than 2 %
-- while the exponent is at most 1.
CREATE FUNCTION trace_bin_level(age_s double precision) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN age_s < 7200 THEN 0 ELSE floor(ln(age_s / 3600) / ln(2.0::double precision)) END::smallint;

-- Ids are given before their rows are committed: this waits for whoever is writing, three seconds at
-- most, and holds up others only until its transaction ends.
CREATE FUNCTION settle_traces() RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET lock_timeout = '3s'
AS $$
BEGIN
    LOCK TABLE traces IN SHARE MODE;
    UPDATE activation_upkeep SET settled_id = coalesce((SELECT max(id) FROM traces), settled_id);
END
$$;
REVOKE ALL ON FUNCTION settle_traces() FROM PUBLIC;

-- Adds the next settled traces to their bins; how many they were. The traces themselves stay.
CREATE FUNCTION fold_traces(most integer, as_of timestamptz) RETURNS integer
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    since  bigint;
    until  bigint;
    folded integer;
BEGIN
    SELECT folded_id, settled_id INTO since, until FROM activation_upkeep FOR UPDATE;
    SELECT max(id), count(*) INTO until, folded
    FROM (SELECT id FROM traces WHERE id > since AND id <= until ORDER BY id LIMIT most) AS next;
    IF folded = 0 THEN
        RETURN 0;
    END IF;
    INSERT INTO trace_bins (item_id, creation, level, slot, weight, at)
    SELECT item_id, creation, level, floor(s / (900 * 2.0 ^ level)), sum(weight),
        to_timestamp(sum(weight * s) / sum(weight))
    FROM (
        SELECT item_id, kind = 'created' AS creation, weight::double precision, date_part('epoch', at) AS s,
            trace_bin_level(date_part('epoch', as_of) - date_part('epoch', at)) AS level
        FROM traces WHERE id > since AND id <= until
    ) AS next
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (item_id, creation, level, slot) DO UPDATE SET weight = trace_bins.weight + excluded.weight,
        at = to_timestamp((trace_bins.weight * date_part('epoch', trace_bins.at)
            + excluded.weight * date_part('epoch', excluded.at)) / (trace_bins.weight + excluded.weight));
    UPDATE activation_upkeep SET folded_id = until;
    RETURN folded;
END
$$;
REVOKE ALL ON FUNCTION fold_traces(integer, timestamptz) FROM PUBLIC;

-- Joins bins that grew old enough for longer ones, over about `most` bins of the items after one;
-- the last item looked at, NULL when there is none.
CREATE FUNCTION join_trace_bins(after bigint, most integer, as_of timestamptz) RETURNS bigint
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
AS $$
DECLARE
    until     bigint;
    items     bigint[];
    creations boolean[];
    levels    smallint[];
    slots     bigint[];
    weights   double precision[];
    times     timestamptz[];
BEGIN
    SELECT max(item_id) INTO until FROM (
        SELECT item_id FROM trace_bins WHERE item_id > after
        ORDER BY item_id, creation, level, slot LIMIT most
    ) AS next;
    IF until IS NULL THEN
        RETURN NULL;
    END IF;
    -- Nobody else changes bins while this is held.
    PERFORM 1 FROM activation_upkeep FOR UPDATE;
    WITH old AS (
        DELETE FROM trace_bins
        WHERE item_id > after AND item_id <= until
            AND level < trace_bin_level(date_part('epoch', as_of) - date_part('epoch', at))
        RETURNING *
    )
    SELECT array_agg(item_id), array_agg(creation), array_agg(level), array_agg(slot),
        array_agg(weight), array_agg(at)
    INTO items, creations, levels, slots, weights, times FROM old;
    INSERT INTO trace_bins (item_id, creation, level, slot, weight, at)
    SELECT item_id, creation, longer, slot >> (longer - level), sum(weight),
        to_timestamp(sum(weight * s) / sum(weight))
    FROM (
        SELECT item_id, creation, level, slot, weight, date_part('epoch', at) AS s,
            trace_bin_level(date_part('epoch', as_of) - date_part('epoch', at)) AS longer
        FROM unnest(items, creations, levels, slots, weights, times)
            AS old (item_id, creation, level, slot, weight, at)
    ) AS next
    GROUP BY 1, 2, 3, 4 ORDER BY 1, 2, 3, 4
    ON CONFLICT (item_id, creation, level, slot) DO UPDATE SET weight = trace_bins.weight + excluded.weight,
        at = to_timestamp((trace_bins.weight * date_part('epoch', trace_bins.at)
            + excluded.weight * date_part('epoch', excluded.at)) / (trace_bins.weight + excluded.weight));
    RETURN until;
END
$$;
REVOKE ALL ON FUNCTION join_trace_bins(bigint, integer, timestamptz) FROM PUBLIC;
