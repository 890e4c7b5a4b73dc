-- The registry of project tags in its users' hands: what the daemon suggests, who decided what, and
-- messages filed anew.

-- One row for each suggestion there ever was, so that none is made twice and a rejection stays final.
CREATE TABLE tag_suggestions (
    id            bigint PRIMARY KEY DEFAULT nextval('item_id'),
    kind          text NOT NULL CHECK (kind IN ('new', 'alias')),
    -- A name for the registry; or two of its tags, the first to be an alias of the second.
    name          text UNIQUE CHECK (name <> ''),
    tag           bigint REFERENCES project_tags (id),
    target        bigint REFERENCES project_tags (id),
    score         real NOT NULL,
    confidence    real CHECK (confidence BETWEEN 0 AND 1),
    -- Numbers, ids and labels of ours; never words of anybody's.
    reasons       jsonb NOT NULL DEFAULT '{}',
    judged_by     text NOT NULL,
    -- `unlikely`: looked at and not worth asking about; it may be looked at again.
    status        text NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'confirmed', 'rejected', 'unlikely')),
    suggested_at  timestamptz NOT NULL DEFAULT now(),
    decided_at    timestamptz,
    decided_by    text,
    -- Of a confirmed name: messages the daemon has filed under it, and when it was through.
    filed         integer NOT NULL DEFAULT 0,
    filed_at      timestamptz,
    CHECK ((kind = 'new') = (name IS NOT NULL)),
    CHECK ((kind = 'alias') = (tag IS NOT NULL AND target IS NOT NULL)),
    CHECK (tag <> target),
    UNIQUE (tag, target)
);
CREATE UNIQUE INDEX tag_suggestions_pair ON tag_suggestions (least(tag, target), greatest(tag, target))
    WHERE status = 'pending' AND kind = 'alias';

-- Who changed the registry; only added to.
CREATE TABLE tag_changes (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at            timestamptz NOT NULL DEFAULT now(),
    actor         text NOT NULL,
    device        text NOT NULL,
    via           text NOT NULL CHECK (via IN ('cli', 'tool', 'daemon')),
    action        text NOT NULL CHECK (action IN ('add', 'describe', 'alias', 'unalias', 'confirm', 'reject')),
    tag           bigint REFERENCES project_tags (id),
    target        bigint REFERENCES project_tags (id),
    suggestion    bigint REFERENCES tag_suggestions (id)
);

-- When pairs of tags were last looked at, whichever daemon did.
CREATE TABLE tag_upkeep (
    only_one      boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    pairs_at      timestamptz
);
INSERT INTO tag_upkeep DEFAULT VALUES;

-- A person said where it belongs: the daemon leaves its project as it is.
ALTER TABLE message_state ADD COLUMN p_tag_kept boolean NOT NULL DEFAULT false;
-- A new message has no tags yet, so this costs its insert nothing.
CREATE INDEX message_state_unfiled ON message_state USING gin (d_tags) WHERE p_tag IS NULL AND d_tags <> '{}';

-- Messages filed anew by hand: what was asked for, how far it came, and each change.
CREATE TABLE retags (
    id             bigint PRIMARY KEY DEFAULT nextval('item_id'),
    at             timestamptz NOT NULL DEFAULT now(),
    actor          text NOT NULL,
    device         text NOT NULL,
    way            text NOT NULL CHECK (way IN ('tag', 'rules', 'rollback')),
    target         bigint REFERENCES project_tags (id),
    of_tag         bigint REFERENCES project_tags (id),
    untagged       boolean NOT NULL DEFAULT false,
    d_tag          text,
    include_pinned boolean NOT NULL DEFAULT false,
    rollback_of    bigint UNIQUE REFERENCES retags (id),
    -- The last message that was looked at.
    reached        bigint NOT NULL DEFAULT 0,
    finished_at    timestamptz,
    CHECK ((way = 'tag') = (target IS NOT NULL)),
    CHECK ((way = 'rollback') = (rollback_of IS NOT NULL))
);
CREATE TABLE retag_entries (
    retag_id       bigint NOT NULL REFERENCES retags (id),
    message_id     bigint NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    before         bigint REFERENCES project_tags (id),
    before_kept    boolean NOT NULL,
    after          bigint REFERENCES project_tags (id),
    after_kept     boolean NOT NULL,
    PRIMARY KEY (retag_id, message_id)
);
CREATE INDEX retag_entries_message ON retag_entries (message_id);
