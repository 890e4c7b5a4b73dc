-- name: find_active_model
-- The model whose vectors searches use.
SELECT id, profile, dims, active, index_recall, midpoint, scale,
    coalesce((SELECT indisvalid FROM pg_index
              WHERE indexrelid = to_regclass('message_vectors_' || id || '_hnsw')), false) AS indexed
FROM embedding_models WHERE active

-- name: list_models
-- All models whose vectors the pool holds.
SELECT id, profile, dims, active, index_recall, midpoint, scale,
    coalesce((SELECT indisvalid FROM pg_index
              WHERE indexrelid = to_regclass('message_vectors_' || id || '_hnsw')), false) AS indexed
FROM embedding_models ORDER BY id

-- name: insert_model
-- A model becomes known; nothing when it already is.
INSERT INTO embedding_models (profile, dims) VALUES ($1, $2) ON CONFLICT (profile) DO NOTHING

-- name: find_model
-- A model by its profile.
SELECT id, profile, dims, active, index_recall, midpoint, scale,
    coalesce((SELECT indisvalid FROM pg_index
              WHERE indexrelid = to_regclass('message_vectors_' || id || '_hnsw')), false) AS indexed
FROM embedding_models WHERE profile = $1

-- name: deactivate_models
-- Searches use no model; the same transaction activates one.
UPDATE embedding_models SET active = false WHERE active

-- name: activate_model
-- Searches use this model from now on.
UPDATE embedding_models SET active = true WHERE id = $1

-- name: hold_model
-- Keeps a model from being dropped until the end of the transaction; nothing when it is gone.
SELECT active FROM embedding_models WHERE id = $1 FOR KEY SHARE

-- name: record_calibration
-- How the cosines of a model are to be read.
UPDATE embedding_models SET midpoint = $2, scale = $3 WHERE id = $1

-- name: count_missing_messages
-- How many messages should have vectors of a model, and how many of them it never settled.
SELECT count(*) AS wanted, count(*) FILTER (WHERE r.message_id IS NULL) AS missing
FROM message_state s LEFT JOIN (SELECT DISTINCT message_id FROM message_results
    WHERE stage = 'embed' AND backend = $1) r ON r.message_id = s.message_id
WHERE s.screening = 'clear'

-- name: count_missing_memories (template)
-- How many memories should have vectors of a model, and how many of them have none.
SELECT count(*) AS wanted, count(*) FILTER (WHERE v.memory_id IS NULL) AS missing
FROM memories m LEFT JOIN (SELECT DISTINCT memory_id FROM {table}) v ON v.memory_id = m.id
WHERE m.status = 'active'

-- name: wait_briefly
-- For this transaction: whoever uses a table is waited for, and everybody behind us, only so long.
SELECT set_config('lock_timeout', '5s', true)

-- name: delete_model
-- A model that searches don't use is known no more.
DELETE FROM embedding_models WHERE id = $1 AND NOT active RETURNING id

-- name: delete_embed_results
-- What a model settled is unsettled, since its vectors go too.
DELETE FROM message_results WHERE stage = 'embed' AND backend = $1

-- name: delete_vectors (template)
-- Old vectors of one owner, before new ones are put in their place.
DELETE FROM {table} WHERE {key} = $1

-- name: insert_message_vector (template)
-- One chunk of a message, with the filter columns its state has in this transaction.
INSERT INTO {table} (message_id, chunk, content_hash, user_id, platform, role, device, venue, p_tag,
    pinned, archived, searchable, said_at, embedding)
SELECT m.id, $2, $3, m.user_id, m.platform, m.role, m.device, m.venue, s.p_tag, s.pinned,
    s.archived_at IS NOT NULL, s.screening NOT IN ('quarantined', 'withdrawn') AND NOT s.private,
    coalesce(m.occurred_at, m.created_at), $4
FROM messages m JOIN message_state s ON s.message_id = m.id WHERE m.id = $1

-- name: sync_message_vectors (template)
-- Copies the filter columns again after the state of a message changed.
UPDATE {table} v SET p_tag = s.p_tag, pinned = s.pinned, archived = s.archived_at IS NOT NULL,
    searchable = s.screening NOT IN ('quarantined', 'withdrawn') AND NOT s.private
FROM message_state s WHERE s.message_id = v.message_id AND v.message_id = $1
  AND (v.p_tag, v.pinned, v.archived, v.searchable)
      IS DISTINCT FROM (s.p_tag, s.pinned, s.archived_at IS NOT NULL,
                        s.screening NOT IN ('quarantined', 'withdrawn') AND NOT s.private)

-- name: sync_memory_vectors (template)
-- Memories became private, or public again.
UPDATE {table} v SET searchable = m.status = 'active' AND NOT m.private
FROM memories m WHERE m.id = v.memory_id AND v.memory_id = ANY ($1::bigint[])

-- name: search_message_vectors (template)
-- The nearest messages by an exact scan of all rows that match the filters; the best chunk counts. Of the
-- nearest chunks only so many are grouped (NULL: all), which takes half as long; `chunks` says how many of a
-- message were. The 0 keeps the planner from the vector index, which would return too few.
WITH near AS MATERIALIZED (
    SELECT v.message_id, v.embedding <=> $12 AS distance FROM {table} v
    WHERE v.searchable AND
-- include: vector_filters
    ORDER BY (v.embedding <=> $12) + 0, v.message_id DESC LIMIT $11
)
SELECT message_id AS id, 1 - min(distance) AS cosine, count(*) AS chunks
FROM near GROUP BY message_id ORDER BY min(distance), message_id DESC LIMIT $10

-- name: search_private_vectors (template)
-- The same among private messages, which are few and in no index.
SELECT v.message_id AS id, 1 - min(v.embedding <=> $11) AS cosine
FROM message_state s JOIN {table} v ON v.message_id = s.message_id
WHERE s.private AND s.screening NOT IN ('quarantined', 'withdrawn') AND
-- include: vector_filters
GROUP BY v.message_id ORDER BY min(v.embedding <=> $11), v.message_id DESC LIMIT $10

-- name: estimate_matching_vectors (template)
-- How many chunks the filters leave, as the planner expects: counting them costs as much as a search.
EXPLAIN (FORMAT JSON) SELECT FROM {table} v WHERE v.searchable AND
-- include: vector_filters

-- name: allow_index
-- For this transaction: a wide search of the graph that goes on until enough rows pass the filters,
-- and no plan that sorts everything instead, for the values given.
SELECT set_config('plan_cache_mode', 'force_custom_plan', true), set_config('hnsw.ef_search', $1, true),
    set_config('hnsw.iterative_scan', 'relaxed_order', true), set_config('hnsw.max_scan_tuples', '100000', true),
    set_config('enable_seqscan', 'off', true), set_config('enable_bitmapscan', 'off', true),
    set_config('enable_sort', 'off', true)

-- name: search_message_index (template)
-- The nearest messages by the index: more chunks than are asked for, sorted again by their distance.
WITH near AS MATERIALIZED (
    SELECT v.message_id, v.embedding <=> $12 AS distance FROM {table} v
    WHERE v.searchable AND
-- include: vector_filters
    ORDER BY v.embedding <=> $12 LIMIT $11
)
SELECT message_id AS id, 1 - min(distance) AS cosine
FROM near GROUP BY message_id ORDER BY min(distance), message_id DESC LIMIT $10

-- name: build_index
-- Builds the index of a model; the owner's function does it.
SELECT build_message_index($1)

-- name: count_searchable (template)
-- How many chunks a search may look at.
SELECT count(*) FROM {table} WHERE searchable

-- name: list_random_vectors (template)
-- Some stored vectors to compare index and exact scan with.
SELECT embedding FROM {table} WHERE searchable ORDER BY random() LIMIT $1

-- name: list_nearest (template)
-- The chunks nearest to a vector, by whatever plan the transaction allows.
SELECT message_id, chunk FROM {table} WHERE searchable ORDER BY embedding <=> $1 LIMIT $2

-- name: forbid_index
-- For this transaction: every search is a scan.
SELECT set_config('enable_indexscan', 'off', true)

-- name: record_index_recall
-- What the comparison found.
UPDATE embedding_models SET index_recall = $2, index_checked_at = now() WHERE id = $1

-- name: compare_vectors (template)
-- The cosine of the query with given items; those without a vector are left out.
SELECT message_id AS id, 1 - min(embedding <=> $2) AS cosine
FROM message_vectors_{model} WHERE message_id = ANY ($1::bigint[]) GROUP BY message_id
UNION ALL SELECT memory_id, 1 - min(embedding <=> $2)
FROM memory_vectors_{model} WHERE memory_id = ANY ($1::bigint[]) GROUP BY memory_id
UNION ALL SELECT summary_id, 1 - min(embedding <=> $2)
FROM summary_vectors_{model} WHERE summary_id = ANY ($1::bigint[]) GROUP BY summary_id

-- name: list_chunks (template)
-- The chunks of some owners, in order.
SELECT {key} AS id, content_hash, embedding FROM {table}
WHERE {key} = ANY ($1::bigint[]) ORDER BY {key}, chunk

-- name: insert_memory_vector (template)
-- One chunk of a memory, with the filter columns it has in this transaction.
INSERT INTO {table} (memory_id, chunk, content_hash, user_id, platform, p_tag, pinned, searchable,
    said_at, embedding)
SELECT m.id, $2, $3, m.user_id, m.platform, m.p_tag, m.pinned, m.status = 'active' AND NOT m.private,
    coalesce(m.occurred_at, m.created_at), $4
FROM memories m WHERE m.id = $1

-- name: add_memory_vector (template)
-- One chunk of a new memory, from whoever is first; so that those who may only add can do it too.
INSERT INTO {table} (memory_id, chunk, content_hash, user_id, platform, p_tag, pinned, searchable,
    said_at, embedding)
SELECT m.id, $2, $3, m.user_id, m.platform, m.p_tag, m.pinned, m.status = 'active' AND NOT m.private,
    coalesce(m.occurred_at, m.created_at), $4
FROM memories m WHERE m.id = $1
ON CONFLICT DO NOTHING

-- name: search_derived_vectors (template)
-- The nearest active memories and the nearest summaries by an exact scan of all rows that match the filters.
(SELECT v.memory_id AS id, false AS summary, 1 - min(v.embedding <=> $9) AS cosine
FROM memory_vectors_{model} v JOIN memories m ON m.id = v.memory_id
WHERE (v.searchable OR $7 AND m.private) AND v.user_id = $1 AND m.status = 'active'
  AND ($2::bigint[] IS NULL OR v.p_tag = ANY ($2))
  AND ($3::timestamptz IS NULL OR v.said_at >= $3)
  AND ($4::timestamptz IS NULL OR v.said_at < $4)
  AND ($5::text IS NULL OR v.platform = $5)
  AND ($6::text IS NULL OR m.pinned)
GROUP BY v.memory_id ORDER BY min(v.embedding <=> $9), v.memory_id DESC LIMIT $8)
UNION ALL
(SELECT v.summary_id, true, 1 - min(v.embedding <=> $9)
FROM summary_vectors_{model} v JOIN tag_summaries t ON t.id = v.summary_id
WHERE
-- include: summary_filters
GROUP BY v.summary_id ORDER BY min(v.embedding <=> $9), v.summary_id DESC LIMIT $8)

-- name: insert_summary_vector (template)
-- One chunk of a summary.
INSERT INTO {table} (summary_id, chunk, content_hash, embedding) VALUES ($1, $2, $3, $4)

-- name: has_summary_vectors (template)
-- Whether a summary has vectors.
SELECT EXISTS (SELECT FROM {table} WHERE summary_id = $1)
