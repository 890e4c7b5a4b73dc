-- name: list_quiet_sessions
-- Sessions with messages learned since a time and above an id, of which the last was learned before another
-- time; those whose last message came first are first.
SELECT m.user_id, m.platform, m.session, min(m.created_at) AS since, max(m.created_at) AS until, max(m.id) AS last_id
FROM messages m
WHERE m.session IS NOT NULL AND m.created_at >= $1 AND m.id > $2
GROUP BY m.user_id, m.platform, m.session HAVING max(m.created_at) < $3
ORDER BY max(m.id) LIMIT $4

-- name: is_unsettled
-- Whether a message of a session is still to be screened, embedded or tagged.
SELECT EXISTS (
    SELECT FROM messages m JOIN work w ON w.item_id = m.id
    WHERE m.user_id = $1 AND m.platform = $2 AND m.session = $3 AND m.created_at BETWEEN $4 AND $5
      AND w.stage IN ('screen', 'embed', 'tag') AND w.parked_reason IS NULL)

-- name: list_lines
-- What the speakers of a session said that is clear, in everyday search and in no summary of the session, in the
-- order in which it was said; sub-agents and what was only told for a memory are left out.
SELECT m.id, m.role, s.p_tag, s.private, m.trust, coalesce(m.occurred_at, m.created_at) AS said_at,
    octet_length(m.message) AS bytes
FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.user_id = $1 AND m.platform = $2 AND m.session = $3 AND m.created_at BETWEEN $4 AND $5
  AND m.role IN ('user', 'assistant') AND NOT m.subagent AND m.source IS DISTINCT FROM 'manage_knowledge'
  AND s.screening = 'clear' AND s.archived_at IS NULL
  AND NOT EXISTS (SELECT FROM sources c JOIN tag_summaries t ON t.id = c.item_id AND t.version = c.item_version
      WHERE c.message_id = m.id AND t.kind = 'session' AND t.status <> 'withdrawn')
ORDER BY coalesce(m.occurred_at, m.created_at), m.id

-- name: list_written
-- When agents and owners wrote memories on a platform in some time, and of which project: not the daemon, and
-- nothing that was removed since.
SELECT k.created_at AS at, k.p_tag FROM memories k
JOIN memory_versions v ON v.memory_id = k.id AND v.version = 1 JOIN patches p ON p.id = v.patch_id
WHERE k.user_id = $1 AND k.platform = $2 AND k.created_at BETWEEN $3 AND $4 AND k.status <> 'removed'
  AND NOT starts_with(p.actor, 'cold/')

-- name: list_rested_on
-- Which of some messages a memory of agents or owners rests on.
SELECT DISTINCT c.message_id FROM sources c JOIN memories k ON k.id = c.item_id
JOIN memory_versions v ON v.memory_id = k.id AND v.version = 1 JOIN patches p ON p.id = v.patch_id
WHERE c.message_id = ANY ($1::bigint[]) AND k.status <> 'removed' AND NOT starts_with(p.actor, 'cold/')
