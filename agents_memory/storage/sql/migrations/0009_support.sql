-- The same said again: one memory, and all the messages that say it.

ALTER TABLE patch_operations DROP CONSTRAINT patch_operations_operation_check;
ALTER TABLE patch_operations ADD CHECK (operation IN ('add', 'update', 'supersede', 'replace', 'merge', 'support',
    'remove', 'pin', 'unpin', 'resolve', 'retag', 'write_profile', 'restore'));

-- Statements about one thing are found by what they are about.
CREATE INDEX memories_attribute ON memories (user_id, scope, lower(subject), lower(attribute))
    WHERE status = 'active' AND attribute IS NOT NULL;

-- What was believed before is compared once; what changes is compared when it is embedded anew.
INSERT INTO work (item_id, stage) SELECT id, 'compare_memory' FROM memories WHERE status = 'active'
ON CONFLICT DO NOTHING;
