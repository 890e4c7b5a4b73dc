-- name: begin_term
-- Whatever the daemon read before is of older words: it waits until this is done, is not let to settle
-- it, and reads again.
UPDATE leader SET epoch = epoch + 1

-- name: lock_changing
-- Nobody changes what is believed before the transaction ends, and whoever was at it has committed.
-- Messages need no lock: one that comes in meanwhile is unscreened, and screened only afterwards.
LOCK TABLE memories, profiles, captures IN EXCLUSIVE MODE

-- name: list_messages
-- What is left of some messages.
SELECT id, message FROM messages WHERE id = ANY ($1::bigint[])

-- name: write_lexemes
-- The lexemes of a message that was changed.
UPDATE messages SET lexemes = $2::text::tsvector, lexeme_count = $3 WHERE id = $1

-- name: find_message
-- A message that is to go as a whole.
SELECT id, message FROM messages WHERE id = $1

-- name: list_same_text
-- Other messages that say the very same.
SELECT o.id FROM messages m JOIN messages o ON o.message = m.message AND o.id <> m.id WHERE m.id = $1 ORDER BY o.id

-- name: bury_message
-- Of a message only its place is left: feeding nothing, shown nowhere.
WITH state AS (
    UPDATE message_state SET d_tags = '{}', importance = NULL, valence = NULL, intensity = NULL,
        pinned = false, screening = 'quarantined' WHERE message_id = $1
), results AS (
    UPDATE message_results SET detail = '{}' WHERE message_id = $1
), quotes AS (
    UPDATE sources SET quote = NULL WHERE message_id = $1
), waiting AS (
    DELETE FROM work WHERE item_id = $1
)
UPDATE messages SET message = $2, raw_message = NULL, lexemes = '', lexeme_count = 0 WHERE id = $1

-- name: drop_contexts
-- The contexts that hold words of these messages: their own, and those of the turns after them.
DELETE FROM message_context WHERE message_id = ANY ($1::bigint[]) OR previous_id = ANY ($1::bigint[])
RETURNING message_id

-- name: queue_clear
-- A stage again for those of some messages that may feed anything.
INSERT INTO work (item_id, stage)
SELECT message_id, $2 FROM message_state WHERE message_id = ANY ($1::bigint[]) AND screening = 'clear'
ON CONFLICT DO NOTHING

-- name: queue_memories
-- The vectors of some memories again.
INSERT INTO work (item_id, stage) SELECT unnest($1::bigint[]), 'embed_memory' ON CONFLICT DO NOTHING

-- name: drop_lexemes
-- Of the lexemes that some rows lost, those that now occur nowhere.
DELETE FROM lexeme_stats s USING unnest($1::text[], $2::text[]) AS lost (lexeme, query)
WHERE s.lexeme = lost.lexeme
  AND NOT EXISTS (SELECT FROM messages m WHERE m.lexemes @@ lost.query::tsquery)
  AND NOT EXISTS (SELECT FROM message_context c WHERE c.lexemes @@ lost.query::tsquery)

-- name: list_kin
-- The newest messages and memories that hold the lexemes of erased words still: other forms of them.
SELECT id FROM messages WHERE lexemes @@ $1::text::tsquery
UNION SELECT id FROM memories WHERE lexemes @@ $1::text::tsquery
ORDER BY id DESC LIMIT $2

-- name: list_resting
-- Versions of memories and documents that rest on a message, and whether on it alone: what was erased holds
-- nothing, nor does what says the very same and was not screened yet, which strikes it.
SELECT s.item_id, s.item_version, k.id IS NOT NULL AS memory,
    NOT EXISTS (SELECT FROM sources o JOIN messages b ON b.id = o.message_id
                JOIN message_state t ON t.message_id = b.id
                WHERE o.item_id = s.item_id AND o.item_version = s.item_version AND b.id <> m.id
                  AND b.message <> $2 AND NOT (b.message = m.message AND t.screening = 'unscreened')) AS alone
FROM sources s JOIN messages m ON m.id = s.message_id
LEFT JOIN memories k ON k.id = s.item_id LEFT JOIN profiles p ON p.id = s.item_id
WHERE s.message_id = $1 AND (k.id IS NOT NULL OR p.id IS NOT NULL)
ORDER BY s.item_id, s.item_version

-- name: list_told_for
-- What was told for the sake of one memory, and what else it rests on.
SELECT DISTINCT m.id, coalesce(m.source = 'manage_knowledge', false)
    AND NOT EXISTS (SELECT FROM sources o WHERE o.message_id = m.id AND o.item_id <> $1
                    AND EXISTS (SELECT FROM memories k WHERE k.id = o.item_id)) AS only_for_it
FROM sources s JOIN messages m ON m.id = s.message_id WHERE s.item_id = $1 ORDER BY m.id

-- name: bury_proposals
-- What was proposed for the persona from some messages: nothing is left but that it was.
UPDATE persona_proposals SET content = $2, status = CASE status WHEN 'pending' THEN 'withdrawn' ELSE status END,
    decided_at = coalesce(decided_at, now())
WHERE id IN (SELECT item_id FROM sources WHERE message_id = ANY ($1::bigint[])) AND content <> $2
RETURNING id

-- name: bury_versions
-- Of some versions of memories nothing is left but that they were.
UPDATE memory_versions v SET subject = $3, attribute = CASE WHEN attribute IS NULL THEN NULL ELSE $3 END,
    content = $3, tags = '{}'
FROM unnest($1::bigint[], $2::integer[]) AS gone (id, version)
WHERE v.memory_id = gone.id AND v.version = gone.version

-- name: bury_current
-- The same of the memories whose current version is one of them.
UPDATE memories m SET subject = $3, attribute = CASE WHEN attribute IS NULL THEN NULL ELSE $3 END,
    content = $3, tags = '{}'
FROM unnest($1::bigint[], $2::integer[]) AS gone (id, version)
WHERE m.id = gone.id AND m.version = gone.version

-- name: bury_quotes
-- The words that some versions were taken from.
UPDATE sources s SET quote = NULL FROM unnest($1::bigint[], $2::integer[]) AS gone (id, version)
WHERE s.item_id = gone.id AND s.item_version = gone.version

-- name: bury_reasons_for
-- Why a memory was changed, in patches that changed nothing else.
UPDATE patches p SET reason = $2
WHERE EXISTS (SELECT FROM patch_operations o WHERE o.patch_id = p.id AND o.item_id = $1)
  AND NOT EXISTS (SELECT FROM patch_operations o WHERE o.patch_id = p.id AND o.item_id <> $1)

-- name: list_all_versions
-- The versions of a memory.
SELECT memory_id, version FROM memory_versions WHERE memory_id = $1

-- name: list_statements
-- What some versions of memories say still.
SELECT v.subject, v.content FROM memory_versions v
JOIN unnest($1::bigint[], $2::integer[]) AS asked (id, version) ON v.memory_id = asked.id AND v.version = asked.version
WHERE v.content <> $3

-- name: list_reasons_beside
-- Patches of a memory, or that cite a message, and did something else too: their reasons stay.
SELECT DISTINCT o.patch_id AS id FROM patch_operations o JOIN patches p ON p.id = o.patch_id
WHERE (o.item_id = $1 OR $1 = ANY (o.evidence)) AND p.reason <> $2
ORDER BY o.patch_id

-- name: bury_reasons
-- Why a patch was made, where it cites nothing but this message.
UPDATE patches p SET reason = $2
WHERE EXISTS (SELECT FROM patch_operations o WHERE o.patch_id = p.id AND o.evidence = ARRAY[$1::bigint])
  AND NOT EXISTS (SELECT FROM patch_operations o WHERE o.patch_id = p.id AND o.evidence <> ARRAY[$1::bigint])

-- name: list_memories
-- What is left of some memories.
SELECT id, user_id, scope, subject, content, content_key, status FROM memories WHERE id = ANY ($1::bigint[]) ORDER BY id

-- name: find_same
-- An active memory that says the same.
SELECT id FROM memories WHERE user_id = $1 AND scope = $2 AND content_key = $3 AND status = 'active' AND id <> $4

-- name: write_memory_key
-- What is derived from the words of a memory.
UPDATE memories SET content_key = $2, lexemes = $3::text::tsvector, lexeme_count = $4 WHERE id = $1

-- name: retire_memory
-- A memory that says nothing any more, or what another one says, is removed by a patch of its own.
WITH gone AS (
    UPDATE memories SET status = 'removed', pinned = false, version = version + 1, updated_at = now()
    WHERE id = $1 AND status = 'active' RETURNING *
), head AS (
    INSERT INTO patches (user_id, actor, tool, reason) SELECT user_id, 'owner', 'redact', $2 FROM gone
    RETURNING id
), kept AS (
    INSERT INTO memory_versions (memory_id, version, patch_id, subject, attribute, content, kind, importance,
        valence, intensity, trust, status, pinned, tags, resolved_at, superseded_by)
    SELECT g.id, g.version, head.id, subject, attribute, content, kind, importance, valence, intensity, trust,
        status, pinned, tags, resolved_at, superseded_by
    FROM gone g CROSS JOIN head
), cited AS (
    INSERT INTO sources (item_id, item_version, message_id, quote)
    SELECT s.item_id, g.version, s.message_id, s.quote FROM gone g
    JOIN sources s ON s.item_id = g.id AND s.item_version = g.version - 1
)
INSERT INTO patch_operations (patch_id, position, operation, item_id, from_version, to_version, diff)
SELECT head.id, 0, 'remove', g.id, g.version - 1, g.version, '' FROM gone g CROSS JOIN head
RETURNING item_id

-- name: list_operations
-- All operations of the patches that touched some items.
SELECT o.patch_id, o.position, o.item_id, o.from_version, o.to_version, o.diff AS own, p.diff AS whole
FROM patch_operations o JOIN patches p ON p.id = o.patch_id
WHERE o.patch_id IN (SELECT patch_id FROM patch_operations WHERE item_id = ANY ($1::bigint[]))
ORDER BY o.patch_id, o.position

-- name: list_states
-- Every version of some memories.
SELECT v.memory_id AS id, v.version, v.subject, v.attribute, v.content, v.kind, v.importance, v.valence,
    v.intensity, v.trust, v.status, v.pinned, v.tags, v.resolved_at, v.superseded_by, m.scope
FROM memory_versions v JOIN memories m ON m.id = v.memory_id WHERE v.memory_id = ANY ($1::bigint[])

-- name: list_documents
-- Every version of some documents about a user.
SELECT v.profile_id AS id, v.version, v.content, p.kind
FROM profile_versions v JOIN profiles p ON p.id = v.profile_id WHERE v.profile_id = ANY ($1::bigint[])

-- name: write_operation_diff
-- What an operation changed, as its versions say it now.
UPDATE patch_operations SET diff = $3 WHERE patch_id = $1 AND position = $2

-- name: write_patch_diff
-- The same of a patch that has its diff in one.
UPDATE patches SET diff = $2 WHERE id = $1
