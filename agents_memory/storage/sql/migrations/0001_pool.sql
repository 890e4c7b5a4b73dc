-- One pool: the schema every table below lives in (search_path names it).

CREATE TABLE pool (
    only_one      boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    -- Programs older than this cannot use the schema; the owner raises it with a breaking change.
    min_client    text NOT NULL DEFAULT '0.1.0',
    -- Keys the payload digests of idempotent requests, so that a digest tells nothing of the text.
    hmac_key      bytea NOT NULL DEFAULT sha256(convert_to(gen_random_uuid()::text || gen_random_uuid()::text, 'UTF8')),
    created_at    timestamptz NOT NULL DEFAULT now()
);
INSERT INTO pool DEFAULT VALUES;

-- Everything an agent can name takes its id from here, so an id alone tells what is meant.
CREATE SEQUENCE item_id AS bigint;

CREATE TABLE users (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE CHECK (name <> ''),
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE project_tags (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    name          text NOT NULL UNIQUE CHECK (name <> '' AND length(name) <= 50),
    description   text NOT NULL DEFAULT '' CHECK (length(description) <= 200),
    kind          text NOT NULL DEFAULT 'project' CHECK (kind IN ('project', 'category')),
    origin        text NOT NULL CHECK (origin IN ('directory', 'owner', 'model')),
    alias_of      bigint REFERENCES project_tags (id) CHECK (alias_of <> id),
    created_at    timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE messages (
    id             bigint PRIMARY KEY DEFAULT nextval('item_id'),
    intake_id      uuid NOT NULL UNIQUE,
    user_id        bigint NOT NULL REFERENCES users (id),
    platform       text NOT NULL,
    model          text,
    subagent       boolean NOT NULL DEFAULT false,
    subagent_model text,
    subagent_role  text,
    device         text,
    venue          text,
    session        text,
    role           text NOT NULL CHECK (role IN ('user', 'assistant', 'system', 'tool')),
    message        text NOT NULL,
    -- What the writer handed over before wrappers were removed; NULL when nothing was.
    raw_message    text,
    origin         text NOT NULL CHECK (origin IN ('captured', 'asserted', 'imported')),
    trust          text NOT NULL CHECK (trust IN ('owner', 'agent', 'other', 'tool')),
    cwd            text,
    project_hint   text,
    source         text,
    store_id       text,
    native_id      text,
    redactions     integer NOT NULL DEFAULT 0,
    occurred_at    timestamptz,
    created_at     timestamptz NOT NULL DEFAULT now(),
    lexemes        tsvector NOT NULL,
    -- Words of the message, counted with repetition: the length that BM25 asks for.
    lexeme_count   integer NOT NULL,
    CHECK (subagent OR (subagent_model IS NULL AND subagent_role IS NULL)),
    CHECK (num_nonnulls(source, store_id, native_id) IN (0, 3)),
    UNIQUE (user_id, source, store_id, native_id)
);
CREATE INDEX messages_said ON messages (user_id, (coalesce(occurred_at, created_at)) DESC, id DESC);
CREATE INDEX messages_created ON messages (created_at);
CREATE INDEX messages_lexemes ON messages USING gin (lexemes) WITH (fastupdate = off);

CREATE TABLE message_state (
    message_id    bigint PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    p_tag         bigint REFERENCES project_tags (id),
    d_tags        text[] NOT NULL DEFAULT '{}',
    importance    smallint CHECK (importance BETWEEN 1 AND 10),
    valence       real CHECK (valence BETWEEN -1 AND 1),
    intensity     real CHECK (intensity BETWEEN 0 AND 1),
    pinned        boolean NOT NULL DEFAULT false,
    archived_at   timestamptz,
    private       boolean NOT NULL DEFAULT false,
    screening     text NOT NULL DEFAULT 'unscreened' CHECK (screening IN ('unscreened', 'clear', 'quarantined')),
    CHECK (NOT (pinned AND archived_at IS NOT NULL))
);
CREATE INDEX message_state_p_tag ON message_state (p_tag) WHERE p_tag IS NOT NULL;
CREATE INDEX message_state_pinned ON message_state (message_id) WHERE pinned;

-- One row for each time a stage was settled, so that "done by rules, redo with a model" can be asked.
CREATE TABLE message_results (
    message_id    bigint NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    stage         text NOT NULL,
    backend       text NOT NULL,
    version       integer NOT NULL,
    detail        jsonb NOT NULL DEFAULT '{}',
    settled_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (message_id, stage, backend, version)
);

-- What is still to be done. Inserted in the statement that inserts the item, deleted when settled.
CREATE TABLE work (
    item_id       bigint NOT NULL,
    stage         text NOT NULL,
    run_after     timestamptz NOT NULL DEFAULT now(),
    attempts      smallint NOT NULL DEFAULT 0,
    -- The term of the daemon that holds the row; a later term may take it at once.
    claimed_epoch bigint,
    last_error    text,
    parked_reason text,
    queued_at     timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (item_id, stage)
);
CREATE INDEX work_ready ON work (stage, run_after, item_id) WHERE parked_reason IS NULL;

CREATE TABLE embedding_models (
    id            smallint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    profile       text NOT NULL UNIQUE,
    dims          integer NOT NULL CHECK (dims BETWEEN 1 AND 4000),
    active        boolean NOT NULL DEFAULT false,
    created_at    timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX embedding_models_active ON embedding_models (active) WHERE active;

-- In how many messages a lexeme occurs; lexemes of one message alone are not kept.
CREATE TABLE lexeme_stats (
    lexeme        text PRIMARY KEY,
    documents     integer NOT NULL
);
CREATE TABLE lexeme_totals (
    only_one      boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    documents     bigint NOT NULL DEFAULT 0,
    words         bigint NOT NULL DEFAULT 0,
    counted_at    timestamptz
);
INSERT INTO lexeme_totals DEFAULT VALUES;

CREATE TABLE patches (
    id              bigint PRIMARY KEY DEFAULT nextval('item_id'),
    user_id         bigint NOT NULL REFERENCES users (id),
    actor           text NOT NULL,
    tool            text NOT NULL,
    reason          text NOT NULL,
    idempotency_key text,
    payload_hmac    bytea NOT NULL,
    diff            text NOT NULL,
    rollback_of     bigint REFERENCES patches (id),
    created_at      timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, actor, idempotency_key)
);

CREATE TABLE memories (
    id            bigint PRIMARY KEY DEFAULT nextval('item_id'),
    version       integer NOT NULL DEFAULT 1,
    user_id       bigint NOT NULL REFERENCES users (id),
    scope         text NOT NULL DEFAULT 'default',
    platform      text,
    p_tag         bigint REFERENCES project_tags (id),
    private       boolean NOT NULL DEFAULT false,
    subject       text NOT NULL,
    attribute     text,
    content       text NOT NULL,
    -- Digest of the normalised subject and content: what makes two memories the same.
    content_key   bytea NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('fact', 'preference', 'decision', 'promise', 'milestone', 'pattern', 'note')),
    importance    smallint NOT NULL CHECK (importance BETWEEN 1 AND 10),
    valence       real NOT NULL CHECK (valence BETWEEN -1 AND 1),
    intensity     real NOT NULL CHECK (intensity BETWEEN 0 AND 1),
    trust         text NOT NULL CHECK (trust IN ('owner', 'agent', 'other', 'tool')),
    status        text NOT NULL DEFAULT 'active' CHECK (status IN ('active', 'superseded', 'removed')),
    pinned        boolean NOT NULL DEFAULT false,
    tags          text[] NOT NULL DEFAULT '{}',
    resolved_at   timestamptz,
    superseded_by bigint REFERENCES memories (id),
    occurred_at   timestamptz,
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    lexemes       tsvector NOT NULL,
    lexeme_count  integer NOT NULL,
    CHECK (NOT (pinned AND status <> 'active'))
);
CREATE UNIQUE INDEX memories_same ON memories (user_id, scope, content_key) WHERE status = 'active';
CREATE INDEX memories_said ON memories (user_id, (coalesce(occurred_at, created_at)) DESC, id DESC) WHERE status = 'active';
CREATE INDEX memories_pinned ON memories (user_id) WHERE pinned;
CREATE INDEX memories_lexemes ON memories USING gin (lexemes) WITH (fastupdate = off);

CREATE TABLE memory_versions (
    memory_id     bigint NOT NULL REFERENCES memories (id),
    version       integer NOT NULL,
    -- The head of a patch is written last, when its diff is known.
    patch_id      bigint NOT NULL REFERENCES patches (id) DEFERRABLE INITIALLY DEFERRED,
    subject       text NOT NULL,
    attribute     text,
    content       text NOT NULL,
    kind          text NOT NULL,
    importance    smallint NOT NULL,
    valence       real NOT NULL,
    intensity     real NOT NULL,
    trust         text NOT NULL,
    status        text NOT NULL,
    pinned        boolean NOT NULL,
    tags          text[] NOT NULL,
    resolved_at   timestamptz,
    superseded_by bigint,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (memory_id, version)
);

CREATE TABLE profiles (
    id            bigint PRIMARY KEY DEFAULT nextval('item_id'),
    user_id       bigint NOT NULL REFERENCES users (id),
    kind          text NOT NULL CHECK (kind IN ('core', 'sub', 'persona.agent', 'persona.user', 'persona.shared')),
    version       integer NOT NULL,
    content       text NOT NULL,
    updated_at    timestamptz NOT NULL DEFAULT now(),
    UNIQUE (user_id, kind)
);
CREATE TABLE profile_versions (
    profile_id    bigint NOT NULL REFERENCES profiles (id),
    version       integer NOT NULL,
    patch_id      bigint NOT NULL REFERENCES patches (id) DEFERRABLE INITIALLY DEFERRED,
    content       text NOT NULL,
    created_at    timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (profile_id, version)
);

CREATE TABLE patch_operations (
    patch_id      bigint NOT NULL REFERENCES patches (id),
    position      smallint NOT NULL,
    operation     text NOT NULL,
    item_id       bigint NOT NULL,
    from_version  integer,
    to_version    integer NOT NULL,
    PRIMARY KEY (patch_id, position)
);
CREATE INDEX patch_operations_item ON patch_operations (item_id);

-- From which words every derived item came.
CREATE TABLE sources (
    item_id       bigint NOT NULL,
    item_version  integer NOT NULL,
    message_id    bigint NOT NULL REFERENCES messages (id),
    quote         text,
    PRIMARY KEY (item_id, item_version, message_id)
);
CREATE INDEX sources_message ON sources (message_id);

CREATE TABLE traces (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    item_id       bigint NOT NULL,
    kind          text NOT NULL CHECK (kind IN ('created', 'surfaced', 'used')),
    weight        real NOT NULL CHECK (weight > 0),
    inferred      boolean NOT NULL DEFAULT false,
    session       text,
    -- The hour since the epoch; a surfaced trace is written once an item and hour.
    hour          bigint NOT NULL,
    at            timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX traces_surfaced_hourly ON traces (item_id, hour) WHERE kind = 'surfaced';
CREATE INDEX traces_item ON traces (item_id, at);

CREATE TABLE leader (
    only_one      boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    epoch         bigint NOT NULL DEFAULT 0,
    holder        text,
    pid           integer,
    since         timestamptz
);
INSERT INTO leader DEFAULT VALUES;
