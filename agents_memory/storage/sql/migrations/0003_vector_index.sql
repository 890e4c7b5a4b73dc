-- An index over the vectors of messages, built by the daemon when a scan would be too slow.

ALTER TABLE embedding_models
    -- Share of the true ten nearest that the index finds, as the daemon last compared.
    ADD COLUMN index_recall     real CHECK (index_recall BETWEEN 0 AND 1),
    ADD COLUMN index_checked_at timestamptz;

-- Only an owner may index; the daemon asks for it here. Writers of vectors wait meanwhile, and the
-- daemon is the only one. No parallel workers: their shared memory is too small in many containers.
CREATE FUNCTION build_message_index(model smallint) RETURNS void
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
        'WITH (m = 16, ef_construction = 64) WHERE searchable', vectors || '_hnsw', vectors);
END
$$;
REVOKE ALL ON FUNCTION build_message_index(smallint) FROM PUBLIC;
