-- name: create_message_vectors (template)
-- One table a model: dims are fixed, the vector is stored plain, filters lie beside it.
CREATE TABLE IF NOT EXISTS {table} (
    message_id    bigint NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    chunk         smallint NOT NULL,
    content_hash  bytea NOT NULL,
    user_id       bigint NOT NULL,
    platform      text NOT NULL,
    role          text NOT NULL,
    device        text,
    venue         text,
    p_tag         bigint,
    pinned        boolean NOT NULL,
    archived      boolean NOT NULL,
    searchable    boolean NOT NULL,
    said_at       timestamptz NOT NULL,
    embedding     halfvec({dims}) NOT NULL CHECK (l2_norm(embedding) > 0),
    PRIMARY KEY (message_id, chunk)
);
ALTER TABLE {table} ALTER embedding SET STORAGE PLAIN;
-- A row is one vector and little else: nothing of it is to be kept elsewhere.
ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);
CREATE INDEX IF NOT EXISTS {table}_filter ON {table} (user_id, said_at) WHERE searchable;
CREATE INDEX IF NOT EXISTS {table}_p_tag ON {table} (p_tag) WHERE searchable;
CREATE INDEX IF NOT EXISTS {table}_platform ON {table} (user_id, platform) WHERE searchable;
CREATE INDEX IF NOT EXISTS {table}_device ON {table} (user_id, device) WHERE searchable AND device IS NOT NULL;
CREATE INDEX IF NOT EXISTS {table}_venue ON {table} (user_id, venue text_pattern_ops)
    WHERE searchable AND venue IS NOT NULL;
CREATE INDEX IF NOT EXISTS {table}_pinned ON {table} (user_id) WHERE searchable AND pinned;

-- name: create_memory_vectors (template)
-- The same for memories; a removed or superseded memory is not searchable.
CREATE TABLE IF NOT EXISTS {table} (
    memory_id     bigint NOT NULL REFERENCES memories (id) ON DELETE CASCADE,
    chunk         smallint NOT NULL,
    content_hash  bytea NOT NULL,
    user_id       bigint NOT NULL,
    platform      text,
    p_tag         bigint,
    pinned        boolean NOT NULL,
    searchable    boolean NOT NULL,
    said_at       timestamptz NOT NULL,
    embedding     halfvec({dims}) NOT NULL CHECK (l2_norm(embedding) > 0),
    PRIMARY KEY (memory_id, chunk)
);
ALTER TABLE {table} ALTER embedding SET STORAGE PLAIN;
ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);
CREATE INDEX IF NOT EXISTS {table}_filter ON {table} (user_id, said_at) WHERE searchable;

-- name: create_summary_vectors (template)
-- The same for summaries, which are few: their filters are read from the summary itself.
CREATE TABLE IF NOT EXISTS {table} (
    summary_id    bigint NOT NULL REFERENCES tag_summaries (id) ON DELETE CASCADE,
    chunk         smallint NOT NULL,
    content_hash  bytea NOT NULL,
    embedding     halfvec({dims}) NOT NULL CHECK (l2_norm(embedding) > 0),
    PRIMARY KEY (summary_id, chunk)
);
ALTER TABLE {table} ALTER embedding SET STORAGE PLAIN;
ALTER TABLE {table} SET (autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);

-- name: drop_vectors (template)
-- The vectors of a model that is given up.
DROP TABLE IF EXISTS {table}
