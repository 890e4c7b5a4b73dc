-- What its owner keeps to himself: found by himself, and audited.

CREATE INDEX message_state_private ON message_state (message_id) WHERE private;
CREATE INDEX memories_private ON memories (id) WHERE private;

ALTER TABLE audit_log DROP CONSTRAINT audit_log_action_check;
ALTER TABLE audit_log ADD CONSTRAINT audit_log_action_check
    CHECK (action IN ('quarantine_release', 'quarantine_keep', 'private_make', 'private_undo'));
