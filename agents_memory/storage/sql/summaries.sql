-- name: list_archivable
-- The oldest messages of everyday search that may be summarised and that no summary stands for: cleared,
-- not pinned, learned before a time, and with nothing waiting that says where they belong.
SELECT m.id, m.user_id, s.p_tag, m.platform, s.private, m.trust, coalesce(m.occurred_at, m.created_at) AS said_at,
    octet_length(m.message) AS bytes
FROM message_state s JOIN messages m ON m.id = s.message_id
WHERE s.archived_at IS NULL AND NOT s.pinned AND s.screening = 'clear' AND m.created_at < $1
  AND NOT EXISTS (SELECT FROM work w WHERE w.item_id = m.id AND w.stage IN ('screen', 'embed', 'tag')
      AND w.parked_reason IS NULL)
  AND NOT EXISTS (SELECT FROM sources c JOIN tag_summaries t ON t.id = c.item_id AND t.version = c.item_version
      WHERE c.message_id = m.id AND t.kind = 'archive' AND t.status <> 'withdrawn')
ORDER BY s.message_id LIMIT $2

-- name: insert_summary
-- A summary is planned: its messages are linked in the same transaction.
INSERT INTO tag_summaries (user_id, p_tag, platform, private, trust, began_at, ended_at, kind, session)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id

-- name: list_spans
-- Summaries that are to be written, for the first time or anew.
SELECT t.id, t.version, t.kind, t.user_id, t.private, t.trust, t.status, t.provisional,
    coalesce((SELECT attempts FROM work w WHERE w.item_id = t.id AND w.stage = 'summarise'), 0) + 1 AS attempts
FROM tag_summaries t WHERE t.id = ANY ($1::bigint[]) AND (t.status = 'planned' OR t.provisional)

-- name: lock_summary
-- A summary that is about to be written, kept so until the end of the transaction.
SELECT version, status FROM tag_summaries WHERE id = $1 FOR UPDATE

-- name: list_span_messages
-- The messages of a summary in the order in which they were said, and whether each may still be part of it.
SELECT m.id, m.role, m.message AS text, coalesce(m.occurred_at, m.created_at) AS said_at, s.d_tags AS tags,
    s.screening = 'clear' AND s.private = t.private AND m.platform = t.platform AND m.user_id = t.user_id
        AND CASE t.kind WHEN 'session' THEN s.archived_at IS NULL ELSE
            NOT s.pinned AND s.p_tag IS NOT DISTINCT FROM t.p_tag
            AND (t.status <> 'active' OR s.archived_at IS NOT NULL) END AS fits
FROM tag_summaries t JOIN sources c ON c.item_id = t.id AND c.item_version = t.version
JOIN messages m ON m.id = c.message_id JOIN message_state s ON s.message_id = m.id
WHERE t.id = $1 ORDER BY coalesce(m.occurred_at, m.created_at), m.id

-- name: lock_states
-- The state of messages stays as it is until the end of the transaction.
SELECT message_id FROM message_state WHERE message_id = ANY ($1::bigint[]) ORDER BY message_id FOR UPDATE

-- name: write_summary
-- What a summary says, from whom; it now stands for its messages.
UPDATE tag_summaries SET version = $2, content = $3, backend = $4, provisional = $5, lexemes = $6::text::tsvector,
    lexeme_count = $7, status = 'active', unanswered = NULL, updated_at = now()
WHERE id = $1

-- name: record_asked
-- A model was asked in vain to write it; who and why.
UPDATE tag_summaries SET asked_times = asked_times + 1, asked_at = now(), asked = $2, unanswered = $3 WHERE id = $1

-- name: archive_messages
-- Messages leave everyday search.
UPDATE message_state SET archived_at = now() WHERE message_id = ANY ($1::bigint[]) AND archived_at IS NULL

-- name: archive_vectors (template)
-- The same of their vectors.
UPDATE {table} SET archived = $2 WHERE message_id = ANY ($1::bigint[]) AND archived <> $2

-- name: list_misfits
-- Summaries of which a message is held back, or belongs elsewhere by now; of a part of a session also those
-- whose messages were archived or filed under other projects, all of them.
SELECT t.id FROM tag_summaries t
WHERE t.status <> 'withdrawn' AND (EXISTS (
    SELECT FROM sources c JOIN message_state s ON s.message_id = c.message_id
    JOIN messages m ON m.id = c.message_id
    WHERE c.item_id = t.id AND c.item_version = t.version
      AND (s.screening <> 'clear' OR s.private <> t.private OR m.platform <> t.platform
           OR CASE t.kind WHEN 'session' THEN s.archived_at IS NOT NULL ELSE
               s.pinned OR s.p_tag IS DISTINCT FROM t.p_tag OR (t.status = 'active' AND s.archived_at IS NULL) END))
  OR t.kind = 'session' AND NOT EXISTS (
    SELECT FROM sources c JOIN message_state s ON s.message_id = c.message_id
    WHERE c.item_id = t.id AND c.item_version = t.version AND s.p_tag IS NOT DISTINCT FROM t.p_tag))
ORDER BY t.id LIMIT $1

-- name: list_resting
-- Summaries that rest on some messages.
SELECT DISTINCT t.id FROM sources c JOIN tag_summaries t ON t.id = c.item_id AND t.version = c.item_version
WHERE c.message_id = ANY ($1::bigint[]) AND t.status <> 'withdrawn' ORDER BY t.id

-- name: list_retold
-- Summaries of parts of sessions that rest on some messages, which another summary will stand for.
SELECT DISTINCT t.id FROM sources c JOIN tag_summaries t ON t.id = c.item_id AND t.version = c.item_version
WHERE c.message_id = ANY ($1::bigint[]) AND t.kind = 'session' AND t.status <> 'withdrawn' ORDER BY t.id

-- name: withdraw_summaries
-- Summaries that nothing is left of.
UPDATE tag_summaries SET status = 'withdrawn', content = '', backend = NULL, provisional = false, lexemes = '',
    lexeme_count = 0, unanswered = NULL, updated_at = now()
WHERE id = ANY ($1::bigint[]) AND status <> 'withdrawn'

-- name: list_covered
-- The messages that left everyday search for some summaries.
SELECT c.message_id FROM tag_summaries t JOIN sources c ON c.item_id = t.id AND c.item_version = t.version
WHERE t.id = ANY ($1::bigint[]) AND t.kind = 'archive' ORDER BY c.message_id

-- name: restore_messages
-- Messages come back into everyday search.
UPDATE message_state SET archived_at = NULL WHERE message_id = ANY ($1::bigint[]) AND archived_at IS NOT NULL

-- name: queue_provisional
-- What rules wrote, for a model that is there by now. Where one was asked in vain, for another one ($2, whose name
-- may not be known yet), or for any after some time ($3), and no more than so often ($4).
INSERT INTO work (item_id, stage)
SELECT t.id, 'summarise' FROM tag_summaries t
WHERE t.provisional AND (t.asked_times = 0 OR (t.asked_times < $4
        AND (t.asked <> $2::text OR t.asked IS NULL AND $2 IS NOT NULL OR t.asked_at < now() - $3::interval)))
  AND NOT EXISTS (SELECT FROM work w WHERE w.item_id = t.id AND w.stage = 'summarise')
ORDER BY t.id DESC LIMIT $1
ON CONFLICT DO NOTHING

-- name: queue_unanswered_summary
-- Work for one summary that rules wrote because a model could not.
INSERT INTO work (item_id, stage)
SELECT t.id, 'summarise' FROM tag_summaries t WHERE t.id = $1 AND t.provisional AND t.unanswered IS NOT NULL
ON CONFLICT DO NOTHING
RETURNING item_id

-- name: queue_rejected_summaries
-- Work for all summaries that rules wrote because a provider took no question about them.
INSERT INTO work (item_id, stage)
SELECT t.id, 'summarise' FROM tag_summaries t WHERE t.provisional AND t.unanswered = 'rejected'
ON CONFLICT DO NOTHING

-- name: list_summaries
-- Summaries in the order of the ids asked for, each with its messages; none of which one is held back.
SELECT t.id, t.version, t.kind, t.session, t.content, t.platform, t.trust, t.backend, t.private, p.name AS project,
    t.began_at, t.ended_at, t.created_at, covered.ids AS messages
FROM unnest($1::bigint[]) WITH ORDINALITY AS asked (id, position)
JOIN tag_summaries t ON t.id = asked.id
LEFT JOIN project_tags p ON p.id = t.p_tag
CROSS JOIN LATERAL (
    SELECT array_agg(c.message_id ORDER BY c.message_id) AS ids,
        bool_and(s.screening = 'clear' AND s.private = t.private) AS clear
    FROM sources c JOIN message_state s ON s.message_id = c.message_id
    WHERE c.item_id = t.id AND c.item_version = t.version) covered
WHERE t.user_id = $2 AND t.status = 'active' AND covered.clear
ORDER BY asked.position

-- name: list_newest_summaries
-- The newest summaries of a user.
SELECT id FROM tag_summaries WHERE user_id = $1 AND status = 'active' ORDER BY ended_at DESC, id DESC LIMIT $2

-- name: find_covering
-- The summary that stands for a message, if one does.
SELECT t.id FROM sources c JOIN tag_summaries t ON t.id = c.item_id AND t.version = c.item_version
WHERE c.message_id = $1 AND t.kind = 'archive' AND t.status = 'active'

-- name: list_sessions_among
-- Which of some summaries are of parts of sessions.
SELECT id FROM tag_summaries WHERE id = ANY ($1::bigint[]) AND kind = 'session'

-- name: list_summaries_for_pass
-- What a pass needs of summaries.
SELECT id, version, status, content, backend, updated_at, unanswered, asked FROM tag_summaries WHERE id = ANY ($1::bigint[])

-- name: count_summaries
-- How many summaries stand for archived messages, and for how many.
SELECT (SELECT count(*) FROM tag_summaries WHERE status = 'active' AND kind = 'archive') AS summaries,
    (SELECT count(*) FROM message_state WHERE archived_at IS NOT NULL) AS archived
