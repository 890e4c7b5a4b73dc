-- Knowledge by patch: each operation has its own diff and evidence, and a patch can be rolled back.

ALTER TABLE patches
    -- The diff of a patch is that of its operations, one after the other. Patches of before keep theirs.
    ALTER COLUMN diff DROP NOT NULL,
    -- Only a key makes it worth telling two payloads apart.
    ALTER COLUMN payload_hmac DROP NOT NULL,
    ADD CHECK (idempotency_key IS NULL OR payload_hmac IS NOT NULL);
-- A patch is rolled back once.
CREATE UNIQUE INDEX patches_rollback_of ON patches (rollback_of) WHERE rollback_of IS NOT NULL;

ALTER TABLE patch_operations
    -- NULL: made before operations had diffs of their own.
    ADD COLUMN diff     text,
    -- The messages cited for this operation; `sources` says what the version rests on.
    ADD COLUMN evidence bigint[] NOT NULL DEFAULT '{}';
UPDATE patch_operations o SET evidence = coalesce((
    SELECT array_agg(s.message_id ORDER BY s.message_id) FROM sources s
    WHERE s.item_id = o.item_id AND s.item_version = o.to_version), '{}')
WHERE o.operation IN ('add', 'update');
-- Each version was made by one operation.
CREATE UNIQUE INDEX patch_operations_version ON patch_operations (item_id, to_version);
DROP INDEX patch_operations_item;
ALTER TABLE patch_operations ADD CHECK (operation IN ('add', 'update', 'supersede', 'replace', 'merge', 'remove', 'pin',
    'unpin', 'resolve', 'retag', 'write_profile', 'restore'));
