-- What a search reads lies together, and the graph is built with more care.

-- Lexemes lie in the row while a page holds it. Out of the row, each look at them (one a word asked for)
-- was a search of its own; the texts of a long message go first.
ALTER TABLE messages ALTER lexemes SET STORAGE MAIN;
ALTER TABLE message_context ALTER lexemes SET STORAGE MAIN;
ALTER TABLE message_context SET (toast_tuple_target = 8160);

-- With twice the candidates at building, half of the width at searching finds more (docs/decisions/0006).
CREATE OR REPLACE FUNCTION build_message_index(model smallint) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER
SET search_path FROM CURRENT
SET max_parallel_maintenance_workers = 0
AS $$
DECLARE
    vectors text := format('message_vectors_%s', model);
    bytes   bigint;
BEGIN
    -- A graph that does not fit into memory is built many times slower.
    EXECUTE format('SELECT count(*) FROM %I', vectors) INTO bytes;
    SELECT bytes * (dims * 2 + 400) INTO bytes FROM embedding_models WHERE id = model;
    PERFORM set_config('maintenance_work_mem',
        greatest(65536, least(bytes / 1024, 2097151))::text || 'kB', true);
    EXECUTE format('CREATE INDEX IF NOT EXISTS %I ON %I USING hnsw (embedding halfvec_cosine_ops) '
        'WITH (m = 16, ef_construction = 128) WHERE searchable', vectors || '_hnsw', vectors);
END
$$;

-- The daemon builds older graphs anew; searches scan until then.
DO $$
DECLARE
    id smallint;
BEGIN
    FOR id IN SELECT m.id FROM embedding_models m LOOP
        EXECUTE format('DROP INDEX IF EXISTS %I', format('message_vectors_%s_hnsw', id));
    END LOOP;
END
$$;
