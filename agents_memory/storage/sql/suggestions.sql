-- name: list_suggestions
-- Suggestions in one state, the surest first.
SELECT s.id, s.kind, coalesce(s.name, t.name) AS name, o.name AS target, s.score, s.confidence, s.reasons, s.judged_by,
       s.description, s.status, s.suggested_at, s.decided_at, s.decided_by, s.filed, s.filed_at
FROM tag_suggestions s LEFT JOIN project_tags t ON t.id = s.tag LEFT JOIN project_tags o ON o.id = s.target
WHERE s.status = $1 ORDER BY s.kind, s.score DESC, s.id LIMIT $2

-- name: find_suggestion
-- One suggestion.
SELECT s.id, s.kind, s.status, coalesce(s.name, t.name) AS name, o.name AS target, s.tag AS tag_id,
       s.target AS target_id, t.alias_of AS tag_alias_of, s.description
FROM tag_suggestions s LEFT JOIN project_tags t ON t.id = s.tag LEFT JOIN project_tags o ON o.id = s.target
WHERE s.id = $1

-- name: decide_suggestion
-- A pending suggestion is confirmed or rejected; no row when it was decided before.
UPDATE tag_suggestions SET status = $2, decided_at = now(), decided_by = $3
WHERE id = $1 AND status = 'pending' RETURNING id

-- name: find_pending_name
-- The open suggestion of a name.
SELECT id FROM tag_suggestions WHERE name = $1 AND status = 'pending'

-- name: find_pending_pair
-- The open suggestion about two tags, whichever stands for the other.
SELECT id, tag FROM tag_suggestions WHERE status = 'pending' AND kind = 'alias'
  AND ((tag = $1 AND target = $2) OR (tag = $2 AND target = $1))

-- name: list_frequent_d_tags
-- Free tags that clear messages of late carry often, that are no project and were never suggested.
SELECT d.name, count(*) AS uses, count(*) FILTER (WHERE s.p_tag IS NULL) AS unfiled,
       count(DISTINCT m.session) AS sessions
FROM messages m JOIN message_state s ON s.message_id = m.id CROSS JOIN LATERAL unnest(s.d_tags) AS d (name)
WHERE m.created_at >= $1 AND coalesce(m.occurred_at, m.created_at) >= $1
  AND s.screening = 'clear' AND NOT s.private
  AND NOT EXISTS (SELECT FROM project_tags t WHERE t.name = d.name)
  AND NOT EXISTS (SELECT FROM tag_suggestions g WHERE g.name = d.name)
GROUP BY d.name HAVING count(*) >= $2 ORDER BY count(*) DESC, d.name LIMIT $3

-- name: count_pending
-- Open suggestions of a kind.
SELECT count(*) FROM tag_suggestions WHERE kind = $1 AND status = 'pending'

-- name: suggest_name
-- A name for the registry; nothing when it is known, or was suggested before.
INSERT INTO tag_suggestions (kind, name, score, reasons, judged_by)
SELECT 'new', $1, $2, $3, 'rules' WHERE NOT EXISTS (SELECT FROM project_tags WHERE name = $1)
ON CONFLICT DO NOTHING RETURNING id

-- name: find_named
-- What was suggested under a name, and what became of it.
SELECT id, status FROM tag_suggestions WHERE name = $1

-- name: propose_name
-- A name that an agent would have in the registry, and what it is about; the owner decides.
SELECT propose_tag($1, $2, $3, $4, $5)

-- name: count_proposed
-- Open proposals of agents.
SELECT count(*) FROM tag_suggestions WHERE judged_by = 'agent' AND status = 'pending'

-- name: count_carrying
-- How many clear messages of a user, and memories, carry a free tag.
SELECT (SELECT count(*) FROM messages m JOIN message_state s ON s.message_id = m.id
        WHERE m.user_id = $1 AND s.d_tags @> ARRAY[$2::text] AND s.screening = 'clear' AND NOT s.private) AS messages,
    (SELECT count(*) FROM memories WHERE user_id = $1 AND tags @> ARRAY[$2::text] AND status = 'active' AND NOT private)
        AS memories

-- name: suggest_alias
-- A pair that was judged; what was decided, or is open in either direction, stays.
INSERT INTO tag_suggestions (kind, tag, target, score, confidence, reasons, judged_by, status)
VALUES ('alias', $1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (tag, target) DO UPDATE SET score = excluded.score, confidence = excluded.confidence,
    reasons = excluded.reasons, judged_by = excluded.judged_by, status = excluded.status, suggested_at = now()
    WHERE tag_suggestions.status = 'unlikely'
RETURNING id

-- name: list_judged_pairs
-- Directions that were rejected, or given up after they held; pairs that are open or confirmed, and those
-- found unlikely since a time.
SELECT tag, target, status FROM tag_suggestions
WHERE kind = 'alias' AND (status <> 'unlikely' OR suggested_at >= $1)
UNION ALL
SELECT tag, target, 'rejected' FROM tag_changes WHERE action = 'unalias'

-- name: list_candidates
-- Tags that stand for themselves, with their clear messages that are not private, the fullest first; not those of
-- which only others know.
SELECT t.id, t.name, t.description, count(s.message_id) FILTER (WHERE s.screening = 'clear' AND NOT s.private) AS messages
FROM project_tags t LEFT JOIN message_state s ON s.p_tag = t.id
WHERE t.alias_of IS NULL
GROUP BY t.id
HAVING count(s.message_id) = 0 OR count(s.message_id) FILTER (WHERE s.screening = 'clear' AND NOT s.private) > 0
ORDER BY messages DESC, t.id DESC LIMIT $1

-- name: list_d_tags_of
-- The most frequent free tags of each of some projects.
SELECT project, name FROM (
    SELECT s.p_tag AS project, d.name, row_number() OVER (PARTITION BY s.p_tag ORDER BY count(*) DESC, d.name) AS place
    FROM message_state s CROSS JOIN LATERAL unnest(s.d_tags) AS d (name)
    WHERE s.p_tag = ANY ($1::bigint[]) AND s.screening = 'clear' AND NOT s.private
    GROUP BY s.p_tag, d.name) ranked
WHERE place <= $2 ORDER BY project, place

-- name: list_centroids (template)
-- The mean of the newest vectors of each of some projects.
SELECT t.id, avg(v.embedding) AS centroid
FROM unnest($1::bigint[]) AS t (id)
CROSS JOIN LATERAL (SELECT embedding FROM {table} WHERE p_tag = t.id AND searchable
                    ORDER BY said_at DESC LIMIT $2) v
GROUP BY t.id

-- name: list_statements
-- What the owner said of late that may be about the name of a project, the newest first.
SELECT m.id, m.message FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.trust = 'owner' AND m.role = 'user' AND s.screening = 'clear' AND NOT s.private AND m.created_at >= $1
  AND length(m.message) <= $3
  AND m.message ~* '(renam|same|alias|now called|is called|formerly|umbenannt|heißt|dasselbe|früher)'
ORDER BY m.id DESC LIMIT $2

-- name: pairs_due
-- Whether pairs were not looked at between two times; a look in the future is none.
SELECT pairs_at IS NULL OR pairs_at < $1 OR pairs_at > $2 FROM tag_upkeep

-- name: note_pairs
-- Pairs are looked at now.
UPDATE tag_upkeep SET pairs_at = $1

-- name: list_unfiled
-- Confirmed names whose messages are not all filed yet.
SELECT s.id, s.name, t.id AS tag_id FROM tag_suggestions s JOIN project_tags t ON t.name = s.name
WHERE s.kind = 'new' AND s.status = 'confirmed' AND s.filed_at IS NULL ORDER BY s.id

-- name: file_messages
-- Some messages without a project that carry a name as a free tag come under the project of that name.
UPDATE message_state SET p_tag = $1, p_tag_kept = true
WHERE message_id IN (
    SELECT message_id FROM message_state
    WHERE p_tag IS NULL AND d_tags <> '{}' AND d_tags @> ARRAY[$2::text] AND screening NOT IN ('quarantined', 'withdrawn')
      AND NOT p_tag_kept
    ORDER BY message_id LIMIT $3 FOR UPDATE)
RETURNING message_id

-- name: note_filed
-- So many more were filed; with the last of them the suggestion is done.
UPDATE tag_suggestions SET filed = filed + $2, filed_at = CASE WHEN $3 THEN now() END WHERE id = $1
