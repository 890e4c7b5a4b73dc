-- What the daemon proposes for the documents of the persona, and what became of it. The messages that a
-- proposal rests on are its `sources`, as version 1.

CREATE TABLE persona_proposals (
    id            bigint PRIMARY KEY DEFAULT nextval('item_id'),
    user_id       bigint NOT NULL REFERENCES users (id),
    kind          text NOT NULL CHECK (kind IN ('persona.agent', 'persona.user', 'persona.shared')),
    -- The version of the document that it was written for; 0 before the first.
    base          integer NOT NULL CHECK (base >= 0),
    content       text NOT NULL,
    -- The lowest of what it rests on.
    trust         text NOT NULL CHECK (trust IN ('owner', 'agent', 'other', 'tool')),
    backend       text NOT NULL,
    -- replaced: by a newer one; withdrawn: what it rests on was erased.
    status        text NOT NULL DEFAULT 'pending'
        CHECK (status IN ('pending', 'accepted', 'rejected', 'replaced', 'withdrawn')),
    patch_id      bigint REFERENCES patches (id),
    proposed_at   timestamptz NOT NULL DEFAULT now(),
    decided_at    timestamptz,
    decided_by    text,
    CHECK ((status = 'accepted') = (patch_id IS NOT NULL)),
    CHECK ((status = 'pending') = (decided_at IS NULL))
);
CREATE UNIQUE INDEX persona_proposals_pending ON persona_proposals (user_id, kind) WHERE status = 'pending';
CREATE INDEX persona_proposals_user ON persona_proposals (user_id, kind, status);
