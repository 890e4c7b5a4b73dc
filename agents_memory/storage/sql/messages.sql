-- name: insert_message
-- The message, its state and its first work in one statement; nothing when it is already there.
-- A time that the pool's own clock has not reached is unknown: the machine's clock was wrong, and the
-- message would stand before all others until then.
WITH added AS (
    INSERT INTO messages (
        intake_id, user_id, platform, model, subagent, subagent_model, subagent_role, device, venue,
        session, role, message, raw_message, origin, trust, cwd, project_hint, source, store_id,
        native_id, redactions, occurred_at, lexemes, lexeme_count)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19,
        $20, $21, CASE WHEN $22::timestamptz <= now() + interval '5 minutes' THEN $22 END,
        $23::text::tsvector, $24)
    ON CONFLICT DO NOTHING
    RETURNING id, intake_id, created_at
), state AS (
    INSERT INTO message_state (message_id) SELECT id FROM added
), queued AS (
    INSERT INTO work (item_id, stage) SELECT id, $25 FROM added
)
SELECT id, intake_id, created_at FROM added

-- name: insert_messages
-- Many messages in the order given, with their state and first work; those that are already there are left out.
WITH added AS (
    INSERT INTO messages (
        intake_id, user_id, platform, model, subagent, subagent_model, subagent_role, device, venue,
        session, role, message, raw_message, origin, trust, cwd, project_hint, source, store_id,
        native_id, redactions, occurred_at, lexemes, lexeme_count)
    SELECT intake_id, $2, platform, model, subagent, subagent_model, subagent_role, device, venue,
        session, role, message, raw_message, origin, trust, cwd, project_hint, source, store_id,
        native_id, redactions, CASE WHEN occurred_at <= now() + interval '5 minutes' THEN occurred_at END,
        lexemes::tsvector, lexeme_count
    FROM unnest($1::uuid[], $3::text[], $4::text[], $5::boolean[], $6::text[], $7::text[], $8::text[],
        $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[], $15::text[],
        $16::text[], $17::text[], $18::text[], $19::text[], $20::text[], $21::integer[],
        $22::timestamptz[], $23::text[], $24::integer[])
        AS given (intake_id, platform, model, subagent, subagent_model, subagent_role, device, venue,
            session, role, message, raw_message, origin, trust, cwd, project_hint, source, store_id,
            native_id, redactions, occurred_at, lexemes, lexeme_count)
    ON CONFLICT DO NOTHING
    RETURNING id, intake_id, created_at
), state AS (
    INSERT INTO message_state (message_id) SELECT id FROM added
), queued AS (
    INSERT INTO work (item_id, stage) SELECT id, $25 FROM added
)
SELECT id, intake_id, created_at FROM added

-- name: find_stored
-- The row that an insert ran into: the same intake, or the same turn of the same store; and whether it
-- says the same.
SELECT id, intake_id, created_at,
    role = $6 AND message = $7 AND (occurred_at IS NOT DISTINCT FROM $8
        OR occurred_at IS NULL AND $8 > created_at + interval '5 minutes') AS identical
FROM messages
WHERE intake_id = $1
   OR (user_id = $2 AND source = $3 AND store_id = $4 AND native_id = $5)
ORDER BY id LIMIT 1

-- name: list_messages
-- Messages with their state, in the order of the ids asked for, and the memory for whose sake they were told;
-- quarantined ones are left out, and, unless asked for, private ones ($4) and what was told for one that does not hold
-- any more (it was reworded, gave way or was taken away) or never came to be ($3).
SELECT m.id, m.role, m.message, m.platform, m.model, m.subagent, m.device, m.venue, m.session,
       m.origin, m.trust, m.occurred_at, m.created_at, s.d_tags, s.pinned, s.archived_at,
       s.private, s.screening, t.name AS p_tag, told.id AS told_for
FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (id, position)
JOIN messages m ON m.id = asked.id
JOIN message_state s ON s.message_id = m.id
LEFT JOIN project_tags t ON t.id = s.p_tag
LEFT JOIN LATERAL (
    SELECT k.id FROM sources c JOIN memories k ON k.id = c.item_id AND k.version = c.item_version
    WHERE m.source = 'manage_knowledge' AND c.message_id = m.id AND k.status = 'active'
    ORDER BY k.id LIMIT 1) AS told ON true
WHERE m.user_id = $2 AND s.screening <> 'quarantined' AND ($4 OR NOT s.private)
  AND ($3 OR m.source IS DISTINCT FROM 'manage_knowledge' OR told.id IS NOT NULL)
ORDER BY asked.position

-- name: list_recent
-- The newest messages of a user that match the filters, newest first.
SELECT m.id
FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE
-- include: message_filters
ORDER BY coalesce(m.occurred_at, m.created_at) DESC, m.id DESC
LIMIT $11

-- name: list_for_pass
-- What a pass needs of the messages it works on.
SELECT m.id, m.role, m.trust, m.cwd, m.project_hint, m.message, s.screening
FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.id = ANY ($1::bigint[])

-- name: settle_screening
-- The outcome of the screen pass, or the owner's word; what its source took back stays so.
UPDATE message_state SET screening = CASE
    WHEN $2 = 'clear' AND EXISTS (SELECT FROM withdrawals WHERE message_id = $1) THEN 'withdrawn' ELSE $2 END
WHERE message_id = $1

-- name: settle_tags
-- What the tag pass found; a pin or an archive mark is not touched, nor a project that a person chose, and a
-- known project stays where none is found now.
UPDATE message_state SET p_tag = CASE WHEN p_tag_kept THEN p_tag ELSE coalesce($2, p_tag) END, d_tags = $3, importance = $4, valence = $5, intensity = $6
WHERE message_id = $1

-- name: record_result
-- A stage was settled for a message by a backend; the newest settling of the same version stays.
INSERT INTO message_results (message_id, stage, backend, version, detail)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (message_id, stage, backend, version)
DO UPDATE SET detail = excluded.detail, settled_at = now()

-- name: list_results
-- How far a message has come.
SELECT stage, backend, version, detail, settled_at FROM message_results
WHERE message_id = $1 ORDER BY settled_at

-- name: count_messages
-- How many messages the pool holds.
SELECT count(*) FROM messages

-- name: list_active_projects
-- Projects with clear messages since a time, the liveliest first; an alias counts for what it stands for. What was
-- told for a memory keeps a project alive and is not counted.
WITH RECURSIVE known AS (
    SELECT id, name FROM project_tags WHERE alias_of IS NULL
    UNION ALL
    SELECT a.id, known.name FROM project_tags a JOIN known ON a.alias_of = known.id
)
SELECT t.name, count(*) FILTER (WHERE m.source IS DISTINCT FROM 'manage_knowledge') AS messages,
    max(coalesce(m.occurred_at, m.created_at)) AS last_said
FROM messages m
JOIN message_state s ON s.message_id = m.id
JOIN known t ON t.id = s.p_tag
WHERE m.user_id = $1 AND s.screening = 'clear' AND NOT s.private AND s.archived_at IS NULL
  AND coalesce(m.occurred_at, m.created_at) >= $2
GROUP BY t.name ORDER BY max(coalesce(m.occurred_at, m.created_at)) DESC LIMIT $3

-- name: list_for_brief
-- The newest clear turns since a time, of one platform and device or of any other platform; what was told for a
-- memory is none.
SELECT m.id
FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND s.screening = 'clear' AND NOT s.private AND s.archived_at IS NULL
  AND coalesce(m.occurred_at, m.created_at) >= $2
  AND m.role IN ('user', 'assistant') AND NOT m.subagent AND m.source IS DISTINCT FROM 'manage_knowledge'
  AND (CASE WHEN $5 THEN m.platform = $3 AND ($4::text IS NULL OR m.device = $4)
            ELSE m.platform <> $3 OR m.device IS DISTINCT FROM $4 END)
ORDER BY coalesce(m.occurred_at, m.created_at) DESC, m.id DESC
LIMIT $6

-- name: list_pinned
-- Pinned messages of a user; never a quarantined or private one.
SELECT m.id FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND s.pinned AND s.screening = 'clear' AND NOT s.private
ORDER BY m.id DESC LIMIT $2
