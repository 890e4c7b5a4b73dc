-- fragment: message_filters
-- Conditions 1 to 9 on messages `m` with their state `s`.
m.user_id = $1 AND s.screening NOT IN ('quarantined', 'withdrawn')
  AND ($2::bigint[] IS NULL OR s.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) >= $3)
  AND ($4::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) < $4)
  AND ($5::text IS NULL OR m.role = $5)
  AND ($6::text IS NULL OR m.platform = $6)
  AND ($7::text IS NULL OR m.device = $7 OR s.pinned)
  AND ($8::text IS NULL OR m.venue = $8 OR starts_with(m.venue, $8 || ':'))
  AND ($9 OR s.archived_at IS NULL)

-- fragment: vector_filters
-- Conditions 1 to 9 on vectors `v` of messages, which hold a copy of what is asked for.
v.searchable AND v.user_id = $1
  AND ($2::bigint[] IS NULL OR v.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR v.said_at >= $3)
  AND ($4::timestamptz IS NULL OR v.said_at < $4)
  AND ($5::text IS NULL OR v.role = $5)
  AND ($6::text IS NULL OR v.platform = $6)
  AND ($7::text IS NULL OR v.device = $7 OR v.pinned)
  AND ($8::text IS NULL OR v.venue = $8 OR starts_with(v.venue, $8 || ':'))
  AND ($9 OR NOT v.archived)

-- fragment: memory_filters
-- Conditions 1 to 6 on memories `m`; of no device, so that one lets through what is pinned.
m.user_id = $1 AND m.status = 'active' AND NOT m.private
  AND ($2::bigint[] IS NULL OR m.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) >= $3)
  AND ($4::timestamptz IS NULL OR coalesce(m.occurred_at, m.created_at) < $4)
  AND ($5::text IS NULL OR m.platform = $5)
  AND ($6::text IS NULL OR m.pinned)

-- fragment: summary_filters
-- The same conditions on summaries `t`: what was said then is among what they stand for.
t.user_id = $1 AND t.status = 'active' AND NOT t.private
  AND ($2::bigint[] IS NULL OR t.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR t.ended_at >= $3)
  AND ($4::timestamptz IS NULL OR t.began_at < $4)
  AND ($5::text IS NULL OR t.platform = $5)
  AND $6::text IS NULL

-- fragment: owners_words
-- What the owner said, of messages `m` with their state `s`: all that a profile may rest on.
m.trust = 'owner' AND m.role = 'user' AND NOT m.subagent AND s.screening = 'clear' AND NOT s.private
