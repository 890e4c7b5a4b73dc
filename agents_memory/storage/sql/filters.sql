-- fragment: message_filters
-- Conditions 1 to 10 on messages `m` with their state `s`.
m.user_id = $1 AND s.screening NOT IN ('quarantined', 'withdrawn')
  AND ($2::bigint[] IS NULL OR s.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) >= $3)
  AND ($4::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) < $4)
  AND ($5::text IS NULL OR m.role = $5)
  AND ($6::text IS NULL OR m.platform = $6)
  AND ($7::text IS NULL OR m.device = $7 OR s.pinned)
  AND ($8::text IS NULL OR m.venue = $8 OR starts_with(m.venue, $8 || ':'))
  AND ($9 OR s.archived_at IS NULL) AND ($10 OR NOT s.private)

-- fragment: vector_filters
-- Conditions 1 to 9 on vectors `v` of messages, which hold a copy of what is asked for.
v.user_id = $1
  AND ($2::bigint[] IS NULL OR v.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR v.said_at >= $3)
  AND ($4::timestamptz IS NULL OR v.said_at < $4)
  AND ($5::text IS NULL OR v.role = $5)
  AND ($6::text IS NULL OR v.platform = $6)
  AND ($7::text IS NULL OR v.device = $7 OR v.pinned)
  AND ($8::text IS NULL OR v.venue = $8 OR starts_with(v.venue, $8 || ':'))
  AND ($9 OR NOT v.archived)

-- fragment: memory_filters
-- Conditions 1 to 7 on memories `m`; of no device, so that one lets through what is pinned.
m.user_id = $1 AND m.status = 'active' AND ($7 OR NOT m.private)
  AND ($2::bigint[] IS NULL OR m.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) >= $3)
  AND ($4::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) < $4)
  AND ($5::text IS NULL OR m.platform = $5)
  AND ($6::text IS NULL OR m.pinned)

-- fragment: grounded
-- Memories `m` that rest on anything beside what is held back or erased; what was told for none rests on nothing.
coalesce((SELECT NOT bool_and(h.screening = 'quarantined') FROM sources c JOIN message_state h ON h.message_id = c.message_id
          WHERE c.item_id = m.id AND c.item_version = m.version), true)

-- fragment: open
-- Memories `m` that are not private, nor rest on private messages alone (what is held back beside them is nothing).
(NOT m.private AND coalesce((SELECT NOT (bool_or(h.private) AND bool_and(h.private OR h.screening = 'quarantined'))
    FROM sources c JOIN message_state h ON h.message_id = c.message_id
    WHERE c.item_id = m.id AND c.item_version = m.version), true))

-- fragment: told_privately
-- Messages `m` that were told for the sake of a memory that is private now, in any of its versions.
(m.source IS NOT DISTINCT FROM 'manage_knowledge' AND EXISTS (SELECT FROM sources c JOIN memories k ON k.id = c.item_id
    WHERE c.message_id = m.id AND k.private))

-- fragment: open_version
-- Versions `v` of memories that do not rest on private messages alone, whatever the current one rests on.
coalesce((SELECT NOT (bool_or(h.private) AND bool_and(h.private OR h.screening = 'quarantined'))
    FROM sources c JOIN message_state h ON h.message_id = c.message_id
    WHERE c.item_id = v.memory_id AND c.item_version = v.version), true)

-- fragment: open_page
-- Versions `v` of documents, made by the patch `a`, that are the owner's word or rest on nothing that is held back.
(a.actor = 'owner'
    OR NOT EXISTS (SELECT FROM sources c JOIN message_state h ON h.message_id = c.message_id
        WHERE c.item_id = v.profile_id AND c.item_version = v.version AND (h.private OR h.screening = 'quarantined'))
    OR a.actor <> 'agent' AND NOT EXISTS (SELECT FROM sources c JOIN messages h ON h.id = c.message_id
        WHERE c.item_id = v.profile_id AND c.item_version = v.version AND h.trust <> 'owner'))

-- fragment: private_items
-- Ids of what nobody but the owner is shown.
SELECT h.message_id FROM message_state h WHERE h.private
UNION ALL
SELECT m.id FROM memories m WHERE m.private
UNION ALL
SELECT m.id FROM memories m WHERE m.id IN (SELECT c.item_id FROM message_state h JOIN sources c ON c.message_id = h.message_id
    WHERE h.private) AND NOT
-- include: open
UNION ALL
SELECT t.id FROM tag_summaries t WHERE t.private

-- fragment: shown
-- Memories `m` that may be shown to agents.
-- include: grounded
AND
-- include: open

-- fragment: public_patch
-- Patches `p` that made no version of a memory that is private now, and no version, of a memory or of a page, from or
-- to one that nobody is told.
NOT EXISTS (SELECT FROM patch_operations o JOIN memories m ON m.id = o.item_id WHERE o.patch_id = p.id AND NOT
-- include: open
) AND NOT EXISTS (SELECT FROM patch_operations o
    JOIN memory_versions v ON v.memory_id = o.item_id AND v.version IN (o.from_version, o.to_version)
    WHERE o.patch_id = p.id AND NOT
-- include: open_version
) AND NOT EXISTS (SELECT FROM patch_operations o
    JOIN profile_versions v ON v.profile_id = o.item_id AND v.version IN (o.from_version, o.to_version)
    JOIN patches a ON a.id = v.patch_id
    WHERE o.patch_id = p.id AND NOT
-- include: open_page
)

-- fragment: summary_filters
-- The same conditions on summaries `t`: what was said then is among what they stand for.
t.user_id = $1 AND t.status = 'active' AND ($7 OR NOT t.private)
  AND ($2::bigint[] IS NULL OR t.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR t.ended_at >= $3)
  AND ($4::timestamptz IS NULL OR t.began_at < $4)
  AND ($5::text IS NULL OR t.platform = $5)
  AND $6::text IS NULL

-- fragment: owners_words
-- What the owner said, of messages `m` with their state `s`: all that a profile may rest on.
m.trust = 'owner' AND m.role = 'user' AND NOT m.subagent AND s.screening = 'clear' AND NOT s.private
  AND m.source IS DISTINCT FROM 'manage_knowledge'

-- fragment: mirrored
-- Memories with the project that their own tag stands for.
WITH RECURSIVE known AS (
    SELECT id, name FROM project_tags WHERE alias_of IS NULL
    UNION ALL
    SELECT a.id, known.name FROM project_tags a JOIN known ON a.alias_of = known.id
)
SELECT m.id, m.kind, m.subject, m.content, m.trust, m.status, m.pinned, m.tags, known.name AS project,
    coalesce(m.occurred_at, m.created_at) AS said_at, m.resolved_at, m.superseded_by
FROM memories m LEFT JOIN known ON known.id = m.p_tag
