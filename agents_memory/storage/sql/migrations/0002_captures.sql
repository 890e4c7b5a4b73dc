-- Capture: who is being captured now, and which captured turns were told to us before.

-- A sign of life for each session whose transcript is read to its end at this moment.
CREATE TABLE captures (
    device        text NOT NULL,
    client        text NOT NULL,
    session       text NOT NULL,
    beat_at       timestamptz NOT NULL,
    PRIMARY KEY (device, client, session)
);

-- A captured turn that an agent had handed over before: one message stands for both, once.
CREATE TABLE collapsed_turns (
    user_id       bigint NOT NULL REFERENCES users (id),
    source        text NOT NULL,
    store_id      text NOT NULL,
    native_id     text NOT NULL,
    message_id    bigint NOT NULL UNIQUE REFERENCES messages (id),
    collapsed_at  timestamptz NOT NULL DEFAULT now(),
    PRIMARY KEY (user_id, source, store_id, native_id)
);
