-- Typed, weighted edges between items: what an agent says belongs together.

CREATE TABLE edges (
    user_id       bigint NOT NULL REFERENCES users (id),
    from_id       bigint NOT NULL,
    to_id         bigint NOT NULL CHECK (to_id <> from_id),
    kind          text NOT NULL CHECK (kind IN ('related', 'supports', 'contradicts', 'causes', 'part_of', 'follows')),
    weight        real NOT NULL CHECK (weight > 0 AND weight <= 1),
    created_at    timestamptz NOT NULL DEFAULT now(),
    updated_at    timestamptz NOT NULL DEFAULT now(),
    -- Taken away again; the row stays, and the same link brings it back.
    removed_at    timestamptz,
    PRIMARY KEY (user_id, from_id, to_id, kind)
);
-- The strongest edges of an item, in each direction, without a look at the others.
CREATE INDEX edges_from ON edges (user_id, from_id, weight DESC, to_id) WHERE removed_at IS NULL;
CREATE INDEX edges_to ON edges (user_id, to_id, weight DESC, from_id) WHERE removed_at IS NULL;
