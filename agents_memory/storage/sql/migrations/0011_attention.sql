-- What needs a person: a daemon that stands still, messages that were held back, and who decided on them.

-- When the leader last looked at the queue, and by when it said it would again. Not in `leader`: every
-- write of the daemon holds that row, and a sign of life must never wait for one.
CREATE TABLE leader_beat (
    only_one      boolean PRIMARY KEY DEFAULT true CHECK (only_one),
    epoch         bigint NOT NULL DEFAULT 0,
    beat_at       timestamptz,
    next_by       timestamptz
);
INSERT INTO leader_beat DEFAULT VALUES;

CREATE INDEX message_state_quarantined ON message_state (message_id) WHERE screening = 'quarantined';

-- What the owner decided by hand: only added to, and by the owner alone.
CREATE TABLE audit_log (
    id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    at            timestamptz NOT NULL DEFAULT now(),
    actor         text NOT NULL,
    device        text NOT NULL,
    action        text NOT NULL CHECK (action IN ('quarantine_release', 'quarantine_keep')),
    item_id       bigint NOT NULL
);
CREATE INDEX audit_log_item ON audit_log (item_id);
