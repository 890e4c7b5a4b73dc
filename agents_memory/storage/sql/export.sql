-- name: allow_slow_reader
-- For this transaction: whoever takes what is read may pause.
SELECT set_config('idle_in_transaction_session_timeout', '1h', true)

-- name: find_moment
-- The moment a snapshot shows.
SELECT now()

-- name: export_message
-- Messages with their state.
SELECT m.id, m.intake_id, u.name AS user, m.role, m.message, m.raw_message, m.occurred_at, m.created_at, m.platform,
    m.model, m.subagent, m.subagent_model, m.subagent_role, m.device, m.venue, m.session, m.origin, m.trust, m.cwd,
    m.project_hint, m.source, m.store_id, m.native_id, m.redactions, t.name AS project, s.d_tags AS tags, s.importance,
    s.valence, s.intensity, s.pinned, s.archived_at, s.private, s.screening
FROM messages m JOIN users u ON u.id = m.user_id LEFT JOIN message_state s ON s.message_id = m.id
LEFT JOIN project_tags t ON t.id = s.p_tag
WHERE $1::timestamptz IS NULL OR m.created_at >= $1 ORDER BY m.id

-- name: export_memory
-- Memories as they are now.
SELECT m.id, m.version, u.name AS user, m.scope, m.subject, m.attribute, m.content, m.kind, m.importance, m.valence,
    m.intensity, m.affect, m.trust, m.status, m.pinned, m.tags, m.resolved_at, m.superseded_by, m.platform,
    t.name AS project, m.private, m.occurred_at, m.created_at, m.updated_at
FROM memories m JOIN users u ON u.id = m.user_id LEFT JOIN project_tags t ON t.id = m.p_tag
WHERE $1::timestamptz IS NULL OR m.updated_at >= $1 ORDER BY m.id

-- name: export_memory_version
-- Every version that memories ever had.
SELECT v.memory_id, v.version, v.patch_id, v.subject, v.attribute, v.content, v.kind, v.importance, v.valence,
    v.intensity, v.trust, v.status, v.pinned, v.tags, v.resolved_at, v.superseded_by, v.created_at
FROM memory_versions v WHERE $1::timestamptz IS NULL OR v.created_at >= $1 ORDER BY v.memory_id, v.version

-- name: export_patch
-- Patches: who changed what is believed, with which tool, why and when.
SELECT p.id, u.name AS user, p.actor, p.tool, p.reason, p.idempotency_key, p.rollback_of, p.created_at, p.diff
FROM patches p JOIN users u ON u.id = p.user_id
WHERE $1::timestamptz IS NULL OR p.created_at >= $1 ORDER BY p.id

-- name: export_operation
-- What patches did to each item.
SELECT o.patch_id, o.position, o.operation, o.item_id, o.from_version, o.to_version, o.evidence, o.diff
FROM patch_operations o JOIN patches p ON p.id = o.patch_id
WHERE $1::timestamptz IS NULL OR p.created_at >= $1 ORDER BY o.patch_id, o.position

-- name: export_source
-- On which messages each version of an item rests.
SELECT s.item_id, s.item_version, s.message_id, s.quote FROM sources s
LEFT JOIN memory_versions v ON v.memory_id = s.item_id AND v.version = s.item_version
LEFT JOIN profile_versions d ON d.profile_id = s.item_id AND d.version = s.item_version
LEFT JOIN messages m ON m.id = s.item_id LEFT JOIN persona_proposals p ON p.id = s.item_id
WHERE $1::timestamptz IS NULL OR coalesce(v.created_at, d.created_at, m.created_at, p.proposed_at) >= $1
ORDER BY s.item_id, s.item_version, s.message_id

-- name: export_profile
-- The documents about users as they are now.
SELECT d.id, d.version, u.name AS user, d.kind, d.content, d.updated_at
FROM profiles d JOIN users u ON u.id = d.user_id
WHERE $1::timestamptz IS NULL OR d.updated_at >= $1 ORDER BY d.id

-- name: export_profile_version
-- Every version that documents ever had.
SELECT v.profile_id, v.version, v.patch_id, v.content, v.created_at FROM profile_versions v
WHERE $1::timestamptz IS NULL OR v.created_at >= $1 ORDER BY v.profile_id, v.version

-- name: export_proposal
-- What was proposed for the persona, and what became of it; its evidence is among the sources, as version 1.
SELECT p.id, u.name AS user, p.kind, p.base, p.content, p.trust, p.backend, p.status, p.patch_id, p.proposed_at,
    p.decided_at, p.decided_by
FROM persona_proposals p JOIN users u ON u.id = p.user_id
WHERE $1::timestamptz IS NULL OR coalesce(p.decided_at, p.proposed_at) >= $1 ORDER BY p.id

-- name: export_summary
-- Summaries of archived messages and of parts of sessions; their messages are among the sources of their version.
SELECT t.id, t.version, t.kind, t.session, u.name AS user, p.name AS project, t.platform, t.private, t.trust, t.status,
    t.content, t.backend, t.began_at, t.ended_at, t.created_at, t.updated_at
FROM tag_summaries t JOIN users u ON u.id = t.user_id LEFT JOIN project_tags p ON p.id = t.p_tag
WHERE $1::timestamptz IS NULL OR t.updated_at >= $1 ORDER BY t.id

-- name: export_edge
-- Links between items, those that were taken away included.
SELECT u.name AS user, e.from_id, e.to_id, e.kind, e.weight, e.created_at, e.updated_at, e.removed_at
FROM edges e JOIN users u ON u.id = e.user_id
WHERE $1::timestamptz IS NULL OR e.updated_at >= $1 ORDER BY e.user_id, e.from_id, e.to_id, e.kind
