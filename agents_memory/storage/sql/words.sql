-- name: find_by_rare_words
-- Messages that match the filters and hold a word chosen; those with most of the words asked for, then the
-- newest. All that hold one, or the newest of these from an id on, are ranked first; then, in this order, it
-- is looked which match, until there are enough. OFFSET 0 keeps the planner from beginning with the filters,
-- or from reading the pool backwards.
SELECT m.id FROM (
    SELECT *, ts_rank(lexemes, $13::text::tsquery) AS rank
    FROM messages WHERE lexemes @@ $12::text::tsquery AND ($14::bigint IS NULL OR id >= $14)
    ORDER BY rank DESC, id DESC OFFSET 0
) AS m JOIN message_state s ON s.message_id = m.id
WHERE
-- include: message_filters
ORDER BY m.rank DESC, m.id DESC LIMIT $11

-- name: find_by_words_in_few
-- The same for filters that leave few messages and words that many hold: all that match are looked at, by
-- the index of words or of a filter, as the planner likes.
WITH holding AS MATERIALIZED (
    SELECT m.id, ts_rank(m.lexemes, $13::text::tsquery) AS rank
    FROM messages m JOIN message_state s ON s.message_id = m.id
    WHERE m.lexemes @@ $12::text::tsquery AND
-- include: message_filters
)
SELECT id FROM holding ORDER BY rank DESC, id DESC LIMIT $11

-- name: find_by_common_words
-- For words that very many matching messages hold: the newest, found before all are read.
SELECT m.id FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.lexemes @@ $12::text::tsquery AND
-- include: message_filters
ORDER BY m.id DESC LIMIT $11

-- name: find_by_rare_words_around
-- Messages that match the filters and whose context holds a word chosen, in the same order.
SELECT m.id FROM (
    SELECT message_id, ts_rank(lexemes, $13::text::tsquery) AS rank
    FROM message_context
    WHERE lexemes @@ $12::text::tsquery AND ($14::bigint IS NULL OR message_id >= $14)
    ORDER BY rank DESC, message_id DESC OFFSET 0
) AS holding
JOIN messages m ON m.id = holding.message_id JOIN message_state s ON s.message_id = holding.message_id
WHERE
-- include: message_filters
ORDER BY holding.rank DESC, holding.message_id DESC LIMIT $11

-- name: find_by_words_in_few_around
-- The same for filters that leave few messages, and words that stand around many.
WITH holding AS MATERIALIZED (
    SELECT m.id, ts_rank(c.lexemes, $13::text::tsquery) AS rank
    FROM message_context c
    JOIN messages m ON m.id = c.message_id JOIN message_state s ON s.message_id = c.message_id
    WHERE c.lexemes @@ $12::text::tsquery AND
-- include: message_filters
)
SELECT id FROM holding ORDER BY rank DESC, id DESC LIMIT $11

-- name: find_by_common_words_around
-- The same for words that stand around very many messages.
SELECT m.id FROM message_context c
JOIN messages m ON m.id = c.message_id JOIN message_state s ON s.message_id = c.message_id
WHERE c.lexemes @@ $12::text::tsquery AND
-- include: message_filters
ORDER BY m.id DESC LIMIT $11

-- name: find_newest_from
-- The id from which on the newest so many messages would lie if ids were evenly spread; $1 is their share.
SELECT max(id) - floor((max(id) - min(id)) * $1::float8)::bigint FROM messages

-- name: estimate_matching_messages
-- How many messages the filters leave, as the planner expects.
EXPLAIN (FORMAT JSON) SELECT FROM messages m JOIN message_state s ON s.message_id = m.id WHERE
-- include: message_filters

-- name: count_words
-- How often messages and their contexts hold which word asked for (no row for one they have not), and
-- their length. The count is read from the rank, as taking each tsvector apart costs five times as much;
-- OFFSET 0 keeps the planner from looking each word up in all messages instead of in these.
WITH asked AS MATERIALIZED (
    SELECT word, position FROM unnest($2::text[]::tsquery[]) WITH ORDINALITY AS a (word, position)
)
SELECT m.id, false AS context, m.lexeme_count AS length, held.position, held.count
FROM messages m CROSS JOIN LATERAL (
    SELECT a.position, width_bucket(ts_rank('{1,1,1,1}', m.lexemes, a.word)::float8, $3::float8[]) AS count
    FROM asked a WHERE m.lexemes @@ a.word OFFSET 0) AS held
WHERE m.id = ANY ($1::bigint[])
UNION ALL
SELECT c.message_id, true, c.lexeme_count, held.position, held.count
FROM message_context c CROSS JOIN LATERAL (
    SELECT a.position, width_bucket(ts_rank('{1,1,1,1}', c.lexemes, a.word)::float8, $3::float8[]) AS count
    FROM asked a WHERE c.lexemes @@ a.word OFFSET 0) AS held
WHERE c.message_id = ANY ($1::bigint[])

-- name: prefer_indexes
-- For this transaction: every statement is planned for its values, every join looks its few rows up, whatever
-- the planner makes of the filters, and no worker is started for them.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('enable_seqscan', 'off', true),
    set_config('enable_hashjoin', 'off', true), set_config('enable_mergejoin', 'off', true),
    set_config('max_parallel_workers_per_gather', '0', true)

-- name: find_derived_by_words
-- The newest active memories, and the newest summaries, that match the filters and hold a word that was
-- chosen, and some more given by id. For each, how often it holds which word asked for, and its length.
WITH asked AS MATERIALIZED (
    SELECT word, position FROM unnest($11::text[]::tsquery[]) WITH ORDINALITY AS a (word, position)
), told AS MATERIALIZED (
    (SELECT m.id FROM memories m WHERE m.lexemes @@ $9::text::tsquery AND
-- include: memory_filters
    ORDER BY m.id DESC LIMIT $8)
    UNION SELECT unnest($10::bigint[])
), summed AS MATERIALIZED (
    (SELECT t.id FROM tag_summaries t WHERE t.lexemes @@ $9::text::tsquery AND
-- include: summary_filters
    ORDER BY t.id DESC LIMIT $8)
    UNION SELECT unnest($10::bigint[])
)
SELECT m.id, false AS summary, m.lexeme_count AS length, held.position, held.count
FROM memories m CROSS JOIN LATERAL (
    SELECT a.position, width_bucket(ts_rank('{1,1,1,1}', m.lexemes, a.word)::float8, $12::float8[]) AS count
    FROM asked a WHERE m.lexemes @@ a.word OFFSET 0) AS held
WHERE m.id = ANY (ARRAY(SELECT id FROM told))
UNION ALL
SELECT t.id, true, t.lexeme_count, held.position, held.count
FROM tag_summaries t CROSS JOIN LATERAL (
    SELECT a.position, width_bucket(ts_rank('{1,1,1,1}', t.lexemes, a.word)::float8, $12::float8[]) AS count
    FROM asked a WHERE t.lexemes @@ a.word OFFSET 0) AS held
WHERE t.id = ANY (ARRAY(SELECT id FROM summed))
