-- name: list_proposals
-- Proposals in one state, or one of them in any, the newest first; with the messages they rest on, and those of
-- them that may not be rested on any more.
SELECT p.id, p.kind, p.base, p.content, p.trust, p.backend, p.status, p.patch_id, p.proposed_at, p.decided_at,
    p.decided_by, coalesce(c.evidence, '{}') AS evidence, coalesce(c.lost, '{}') AS lost
FROM persona_proposals p
LEFT JOIN LATERAL (
    SELECT array_agg(s.message_id ORDER BY s.message_id) AS evidence,
        array_agg(s.message_id ORDER BY s.message_id) FILTER (WHERE t.screening <> 'clear' OR t.private) AS lost
    FROM sources s JOIN message_state t ON t.message_id = s.message_id
    WHERE s.item_id = p.id AND s.item_version = 1) c ON true
WHERE p.user_id = $1 AND ($2::text IS NULL OR p.status = $2) AND ($3::bigint IS NULL OR p.id = $3)
ORDER BY p.id DESC LIMIT $4

-- name: lock_proposal
-- Where a proposal stands, kept so until the end of the transaction.
SELECT status FROM persona_proposals WHERE id = $1 AND user_id = $2 FOR UPDATE

-- name: decide_proposal
-- What becomes of a pending proposal.
UPDATE persona_proposals SET status = $2, patch_id = $3, decided_by = $4, decided_at = now()
WHERE id = $1 AND status = 'pending'

-- name: find_pending
-- The open proposal for a document.
SELECT id, base, content FROM persona_proposals WHERE user_id = $1 AND kind = $2 AND status = 'pending' FOR UPDATE

-- name: insert_proposal
-- A proposal with what it rests on.
WITH added AS (
    INSERT INTO persona_proposals (user_id, kind, base, content, trust, backend) VALUES ($1, $2, $3, $4, $5, $6)
    RETURNING id
), cited AS (
    INSERT INTO sources (item_id, item_version, message_id)
    SELECT added.id, 1, c.id FROM added CROSS JOIN unnest($7::bigint[]) AS c (id)
)
SELECT id FROM added

-- name: list_declined
-- What a document said once and does not any more, and what was proposed for it and rejected.
SELECT v.content FROM profiles p JOIN profile_versions v ON v.profile_id = p.id AND v.version < p.version
WHERE p.user_id = $1 AND p.kind = $2 AND v.version >= p.version - $3
UNION ALL
SELECT * FROM (SELECT content FROM persona_proposals WHERE user_id = $1 AND kind = $2 AND status = 'rejected'
               ORDER BY id DESC LIMIT $3) r

-- name: list_statements
-- Lasting memories that a document may rest on, the weightiest first: all their evidence is clear and open.
SELECT m.id, left(m.content, $8) AS text, coalesce(m.occurred_at, m.created_at) AS said_at, m.trust, c.evidence
FROM memories m JOIN users u ON u.id = m.user_id
CROSS JOIN LATERAL (
    SELECT array_agg(s.message_id ORDER BY s.message_id) AS evidence,
        bool_and(t.screening = 'clear' AND NOT t.private) AS usable
    FROM sources s JOIN message_state t ON t.message_id = s.message_id
    WHERE s.item_id = m.id AND s.item_version = m.version) c
WHERE m.user_id = $1 AND m.status = 'active' AND NOT m.private AND m.resolved_at IS NULL
  AND m.trust IN ('owner', 'agent') AND c.usable
  AND (m.pinned OR m.importance >= $6) AND (m.pinned OR m.kind <> 'note')
  AND ($2::text[] IS NULL OR m.kind = ANY ($2))
  AND ($3::text[] IS NULL OR lower(m.subject) = ANY ($3) OR ($5 AND lower(m.subject) = lower(u.name)))
  AND lower(m.subject) <> ALL ($4::text[])
ORDER BY m.trust = 'owner' DESC, m.pinned DESC, m.importance DESC, coalesce(m.occurred_at, m.created_at) DESC, m.id DESC
LIMIT $7

-- name: list_usable
-- Which of some messages a document may rest on now, and whose word they are.
SELECT m.id, m.trust FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND m.id = ANY ($2::bigint[]) AND s.screening = 'clear' AND NOT s.private
