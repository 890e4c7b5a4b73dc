-- name: count_everything
-- How much there is to look at.
SELECT (SELECT count(*) FROM messages) AS messages, (SELECT count(*) FROM memories) AS memories,
    (SELECT count(*) FROM patches) AS patches, (SELECT count(*) FROM patch_operations) AS operations,
    (SELECT count(*) FROM sources) AS sources, (SELECT count(*) FROM message_context) AS contexts,
    (SELECT count(*) FROM memories WHERE superseded_by IS NOT NULL) AS superseded,
    (SELECT count(*) FROM tag_summaries WHERE status = 'active') AS summaries,
    (SELECT count(*) FROM edges) AS edges

-- name: list_messages_without_state
-- Messages that no search can find, since their state is missing.
SELECT m.id FROM messages m LEFT JOIN message_state s ON s.message_id = m.id WHERE s.message_id IS NULL ORDER BY m.id

-- name: list_memories_with_gaps
-- Memories whose versions are not 1 to the current one.
SELECT m.id FROM memories m
LEFT JOIN (SELECT memory_id, count(*) AS versions, min(version) AS first, max(version) AS last
           FROM memory_versions GROUP BY memory_id) v ON v.memory_id = m.id
WHERE (v.versions, v.first, v.last) IS DISTINCT FROM (m.version::bigint, 1, m.version) ORDER BY m.id

-- name: list_memories_unlike_their_version
-- Memories that say something else than their last version.
SELECT m.id FROM memories m JOIN memory_versions v ON v.memory_id = m.id AND v.version = m.version
WHERE (m.subject, m.attribute, m.content, m.kind, m.importance, m.trust, m.status, m.pinned, m.tags, m.resolved_at,
        m.superseded_by)
    IS DISTINCT FROM (v.subject, v.attribute, v.content, v.kind, v.importance, v.trust, v.status, v.pinned, v.tags,
        v.resolved_at, v.superseded_by)
    -- What was estimated follows the vectors, and no version.
    OR m.affect = 'told' AND (m.valence, m.intensity) IS DISTINCT FROM (v.valence, v.intensity)
ORDER BY m.id

-- name: list_versions_without_operation
-- Memories and documents with a version that no patch says to have made.
SELECT DISTINCT v.id FROM (
    SELECT memory_id AS id, version, patch_id FROM memory_versions
    UNION ALL SELECT profile_id, version, patch_id FROM profile_versions) v
LEFT JOIN patch_operations o ON o.item_id = v.id AND o.to_version = v.version AND o.patch_id = v.patch_id
WHERE o.patch_id IS NULL ORDER BY v.id

-- name: list_operations_without_version
-- Patches with an operation whose version is not there, or that follows another than the one before.
SELECT DISTINCT o.patch_id AS id FROM patch_operations o
LEFT JOIN memory_versions v ON v.memory_id = o.item_id AND v.version = o.to_version
LEFT JOIN profile_versions d ON d.profile_id = o.item_id AND d.version = o.to_version
WHERE (v.version IS NULL AND d.version IS NULL) OR coalesce(o.from_version, 0) <> o.to_version - 1 ORDER BY id

-- name: list_patches_without_operation
-- Patches that did nothing.
SELECT p.id FROM patches p WHERE NOT EXISTS (SELECT FROM patch_operations o WHERE o.patch_id = p.id) ORDER BY p.id

-- name: list_profiles_with_gaps
-- Documents whose versions are not 1 to the current one, or that say something else than the last.
SELECT d.id FROM profiles d
LEFT JOIN (SELECT profile_id, count(*) AS versions, min(version) AS first, max(version) AS last
           FROM profile_versions GROUP BY profile_id) n ON n.profile_id = d.id
LEFT JOIN profile_versions v ON v.profile_id = d.id AND v.version = d.version
WHERE (n.versions, n.first, n.last) IS DISTINCT FROM (d.version::bigint, 1, d.version)
    OR v.content IS DISTINCT FROM d.content
ORDER BY d.id

-- name: list_patches_with_lost_evidence
-- Patches that cite a message which is not there, or is another user's.
SELECT DISTINCT p.id FROM patches p
JOIN patch_operations o ON o.patch_id = p.id CROSS JOIN unnest(o.evidence) AS cited (id)
LEFT JOIN messages m ON m.id = cited.id
WHERE m.user_id IS DISTINCT FROM p.user_id ORDER BY p.id

-- name: list_items_with_lost_sources
-- Items that rest on a message which is not there, or is another user's.
SELECT DISTINCT s.item_id AS id FROM sources s LEFT JOIN messages m ON m.id = s.message_id
LEFT JOIN memories k ON k.id = s.item_id LEFT JOIN profiles d ON d.id = s.item_id
LEFT JOIN messages c ON c.id = s.item_id LEFT JOIN tag_summaries t ON t.id = s.item_id
LEFT JOIN persona_proposals p ON p.id = s.item_id
WHERE m.id IS NULL OR m.user_id <> coalesce(k.user_id, d.user_id, c.user_id, t.user_id, p.user_id) ORDER BY s.item_id

-- name: list_contexts_without_message
-- Contexts of nothing, or of a turn before that is not there.
SELECT c.message_id AS id FROM message_context c LEFT JOIN messages m ON m.id = c.message_id
LEFT JOIN messages p ON p.id = c.previous_id
WHERE m.id IS NULL OR (c.previous_id IS NOT NULL AND p.id IS NULL) ORDER BY c.message_id

-- name: list_memories_superseded_by_nothing
-- Memories that gave way to one that is not there, or is another user's.
SELECT m.id FROM memories m LEFT JOIN memories o ON o.id = m.superseded_by
WHERE (m.superseded_by IS NOT NULL AND o.user_id IS DISTINCT FROM m.user_id)
    OR (m.status = 'superseded' AND m.superseded_by IS NULL)
ORDER BY m.id

-- name: list_memories_superseded_in_circles
-- Memories that gave way, in the end, to themselves.
WITH RECURSIVE reached (id, other) AS (
    SELECT id, superseded_by FROM memories WHERE superseded_by IS NOT NULL
    UNION SELECT r.id, m.superseded_by FROM reached r JOIN memories m ON m.id = r.other
    WHERE m.superseded_by IS NOT NULL)
SELECT id FROM reached WHERE id = other ORDER BY id

-- name: list_archived_without_summary
-- Messages that everyday search does not show, although no summary stands for them.
SELECT s.message_id AS id FROM message_state s
WHERE s.archived_at IS NOT NULL AND NOT EXISTS (
    SELECT FROM sources c JOIN tag_summaries t ON t.id = c.item_id AND t.version = c.item_version
    WHERE c.message_id = s.message_id AND t.kind = 'archive' AND t.status = 'active')
ORDER BY id

-- name: list_edges_of_nothing
-- Items that are linked, of which one end is not there or is another user's.
SELECT DISTINCT e.from_id AS id FROM edges e
CROSS JOIN LATERAL (VALUES (e.from_id), (e.to_id)) AS item (id)
LEFT JOIN memories k ON k.id = item.id LEFT JOIN messages m ON m.id = item.id
LEFT JOIN tag_summaries t ON t.id = item.id
WHERE coalesce(k.user_id, m.user_id, t.user_id) IS DISTINCT FROM e.user_id ORDER BY id

-- name: list_hidden_summary_vectors (template)
-- Summaries that were withdrawn and have vectors.
SELECT DISTINCT v.summary_id AS id FROM {table} v JOIN tag_summaries t ON t.id = v.summary_id
WHERE t.status <> 'active' ORDER BY id

-- name: list_hidden_message_vectors (template)
-- Quarantined, withdrawn or private messages that a search by meaning would still find.
SELECT DISTINCT v.message_id AS id FROM {table} v JOIN message_state s ON s.message_id = v.message_id
WHERE v.searchable AND (s.private OR s.screening IN ('quarantined', 'withdrawn')) ORDER BY id

-- name: list_hidden_memory_vectors (template)
-- Memories that no longer hold, or are private, and are found by their vectors, although nothing waits that would take
-- them away.
SELECT DISTINCT v.memory_id AS id FROM {table} v JOIN memories m ON m.id = v.memory_id
WHERE v.searchable AND (m.private OR m.status <> 'active') AND NOT EXISTS (SELECT FROM work w
    WHERE w.item_id = m.id AND w.stage IN ('embed_memory', 'embed_memory_other'))
ORDER BY id

-- name: find_column_dims
-- The dimensions that a table of vectors takes.
SELECT atttypmod FROM pg_attribute WHERE attrelid = to_regclass($1) AND attname = 'embedding' AND NOT attisdropped

-- name: read_memory_versions
-- Every version with its diff, memory after memory, and the key of what the memory says now.
SELECT v.memory_id AS id, v.version, v.subject, v.attribute, v.content, v.kind, v.importance, v.valence, v.intensity,
    v.trust, v.status, v.pinned, v.tags, v.resolved_at, v.superseded_by, m.scope, o.diff,
    CASE WHEN v.version = m.version THEN m.content_key END AS content_key
FROM memory_versions v JOIN memories m ON m.id = v.memory_id
LEFT JOIN patch_operations o ON o.item_id = v.memory_id AND o.to_version = v.version
ORDER BY v.memory_id, v.version

-- name: read_profile_versions
-- The same of the documents about users.
SELECT v.profile_id AS id, v.version, v.content, o.diff FROM profile_versions v
LEFT JOIN patch_operations o ON o.item_id = v.profile_id AND o.to_version = v.version
ORDER BY v.profile_id, v.version

-- name: read_message_chunks (template)
-- Messages with the digests of their vectors; those that wait to be embedded anew are left out.
SELECT m.id, m.message AS text, v.digests FROM messages m
JOIN LATERAL (SELECT array_agg(content_hash ORDER BY chunk) AS digests FROM {table}
              WHERE message_id = m.id) v ON v.digests IS NOT NULL
WHERE NOT EXISTS (SELECT FROM work w WHERE w.item_id = m.id AND w.stage IN ('screen', 'embed', 'embed_other'))
ORDER BY m.id

-- name: read_memory_chunks (template)
-- The same of memories that hold.
SELECT m.id, m.subject || chr(10) || m.content AS text, v.digests FROM memories m
JOIN LATERAL (SELECT array_agg(content_hash ORDER BY chunk) AS digests FROM {table}
              WHERE memory_id = m.id) v ON v.digests IS NOT NULL
WHERE m.status = 'active' AND NOT EXISTS (SELECT FROM work w
    WHERE w.item_id = m.id AND w.stage IN ('embed_memory', 'embed_memory_other'))
ORDER BY m.id

-- name: read_summary_chunks (template)
-- The same of summaries.
SELECT t.id, t.content AS text, v.digests FROM tag_summaries t
JOIN LATERAL (SELECT array_agg(content_hash ORDER BY chunk) AS digests FROM {table}
              WHERE summary_id = t.id) v ON v.digests IS NOT NULL
WHERE t.status = 'active' AND NOT EXISTS (SELECT FROM work w WHERE w.item_id = t.id AND w.stage = 'embed_summary')
ORDER BY t.id
