-- name: list_binned
-- Items with a bin of traces after one, in the order of ids: a jump in an index for each, however many it has.
WITH RECURSIVE binned (item_id) AS (
    (SELECT b.item_id FROM trace_bins b WHERE b.item_id > $1 ORDER BY b.item_id LIMIT 1)
    UNION ALL
    SELECT (SELECT b.item_id FROM trace_bins b WHERE b.item_id > binned.item_id ORDER BY b.item_id LIMIT 1)
    FROM binned WHERE binned.item_id IS NOT NULL
)
SELECT item_id FROM binned WHERE item_id IS NOT NULL LIMIT $2

-- name: list_unbinned
-- Items that have traces after $1, up to which all are in bins, and no bin yet; in the order of ids.
SELECT DISTINCT t.item_id FROM traces t
WHERE t.id > $1 AND NOT EXISTS (SELECT FROM trace_bins b WHERE b.item_id = t.item_id)
ORDER BY t.item_id

-- name: list_unbinned_of_many
-- The same where very many traces are in no bin: a jump in an index for each item that has traces.
WITH RECURSIVE traced (item_id) AS (
    (SELECT t.item_id FROM traces t ORDER BY t.item_id LIMIT 1)
    UNION ALL
    SELECT (SELECT t.item_id FROM traces t WHERE t.item_id > traced.item_id ORDER BY t.item_id LIMIT 1)
    FROM traced WHERE traced.item_id IS NOT NULL
)
SELECT item_id FROM traced
WHERE item_id IS NOT NULL AND NOT EXISTS (SELECT FROM trace_bins b WHERE b.item_id = traced.item_id)

-- name: list_touched
-- Items with a trace newer than one, and the newest trace.
SELECT item_id, max(id) AS newest FROM traces WHERE id > $1 GROUP BY item_id ORDER BY item_id

-- name: find_newest_trace
-- The newest trace.
SELECT coalesce(max(id), 0) FROM traces

-- name: compute_activations
-- importance · affect · Σ w·age^(−d) of each item, from bins and from the traces that are in none yet.
WITH asked AS MATERIALIZED (
    SELECT i.id,
        coalesce(m.importance, s.importance, $8::smallint)
            * (1 + $6 * coalesce(m.intensity, s.intensity, 0) + $7 * abs(coalesce(m.valence, s.valence, 0)))
            AS strength,
        CASE WHEN m.kind = 'promise' AND m.resolved_at IS NOT NULL THEN $5 ELSE coalesce(d.decay, $9) END AS decay
    FROM unnest($1::bigint[]) AS i (id)
    LEFT JOIN memories m ON m.id = i.id
    LEFT JOIN message_state s ON s.message_id = i.id
    LEFT JOIN unnest($3::text[], $4::double precision[]) AS d (kind, decay) ON d.kind = coalesce(m.kind, $11)
), parts AS (
    SELECT b.item_id, b.creation, b.weight, b.at FROM trace_bins b WHERE b.item_id = ANY ($1)
    UNION ALL
    SELECT t.item_id, t.kind = 'created', t.weight, t.at FROM traces t
    -- $12 was folded already: said apart, it tells the planner how few are left.
    WHERE t.id > $12 AND t.id > (SELECT folded_id FROM activation_upkeep) AND t.item_id = ANY ($1)
), sums AS (
    SELECT p.item_id, sum(w) AS whole, sum(w) FILTER (WHERE NOT p.creation) AS evidence,
        max(p.at) FILTER (WHERE NOT p.creation) AS touched_at
    FROM parts p JOIN asked a ON a.id = p.item_id,
        LATERAL (SELECT p.weight * power(greatest(date_part('epoch', $2::timestamptz - p.at) / 86400, $10),
            -a.decay) AS w) AS weighed
    GROUP BY p.item_id
), written AS (
    INSERT INTO activations AS was (item_id, value, evidence, touched_at, computed_at)
    SELECT a.id, a.strength * coalesce(s.whole, 0), a.strength * coalesce(s.evidence, 0), s.touched_at, $2
    FROM asked a LEFT JOIN sums s ON s.item_id = a.id ORDER BY a.id
    ON CONFLICT (item_id) DO UPDATE SET value = excluded.value, evidence = excluded.evidence,
        touched_at = excluded.touched_at, computed_at = excluded.computed_at
    -- Sums of the same numbers in another order may differ in their last digit.
    WHERE was.computed_at <> excluded.computed_at
        OR abs(was.value - excluded.value) > 1e-6 * excluded.value
        OR abs(was.evidence - excluded.evidence) > 1e-6 * excluded.evidence
    RETURNING item_id, value
)
-- As the statement found them, not as it left them.
SELECT count(*) FROM written w LEFT JOIN activations was ON was.item_id = w.item_id
WHERE was.item_id IS NULL OR abs(was.value - w.value) > $13 * was.value

-- name: settle_traces
-- From here on no older trace can come.
SELECT settle_traces()

-- name: fold_traces
-- Folds the next settled traces; how many.
SELECT fold_traces($1, $2)

-- name: join_trace_bins
-- Joins bins that grew old; the last item looked at.
SELECT join_trace_bins($1, $2, $3)

-- name: prune_traces
-- Deletes exposures that are in bins, from before a time, among the next traces.
SELECT prune_traces($1, $2)

-- name: find_upkeep
-- When all activations were last computed, by the daemon and by hand, up to which trace those of single items
-- were since, and which traces are in bins.
SELECT recomputed_at, forgotten_at, counted_id, folded_id FROM activation_upkeep

-- name: record_recomputed
-- All activations are those of this time, up to a trace.
UPDATE activation_upkeep SET recomputed_at = $1, counted_id = $2

-- name: record_forgotten
-- Somebody had all activations computed as of this time.
UPDATE activation_upkeep SET forgotten_at = $1

-- name: record_counted
-- Items with traces up to this one are computed.
UPDATE activation_upkeep SET counted_id = $1

-- name: list_standing
-- What is known of items beside what they say.
SELECT i.id, coalesce(a.evidence, 0) AS evidence, date_part('epoch', now() - a.touched_at) / 86400 AS age_days
FROM unnest($1::bigint[]) AS i (id) JOIN activations a ON a.item_id = i.id WHERE a.evidence > 0

-- name: list_valences
-- How items felt, where that is known; what was told for the sake of a memory felt as that one does.
SELECT i.id, coalesce(m.valence, told.valence, s.valence) AS valence
FROM unnest($1::bigint[]) AS i (id)
LEFT JOIN memories m ON m.id = i.id AND m.affect <> 'unknown'
LEFT JOIN message_state s ON s.message_id = i.id
LEFT JOIN LATERAL (
    SELECT k.valence FROM messages t JOIN sources c ON c.message_id = t.id
    JOIN memories k ON k.id = c.item_id AND k.version = c.item_version AND k.affect <> 'unknown'
    WHERE t.id = i.id AND t.source = 'manage_knowledge' ORDER BY k.id DESC LIMIT 1) AS told ON true
WHERE coalesce(m.valence, told.valence, s.valence) IS NOT NULL

-- name: find_recent_mood
-- The mean valence of the newest messages of a platform, the intense ones counting for more.
SELECT sum(valence * intensity) / nullif(sum(intensity), 0) FROM (
    SELECT s.valence, s.intensity
    FROM messages m JOIN message_state s ON s.message_id = m.id
    WHERE m.user_id = $1 AND m.platform = $2 AND s.screening NOT IN ('quarantined', 'withdrawn') AND NOT s.private
        AND s.valence IS NOT NULL
        AND coalesce(m.occurred_at, m.created_at) > now() - make_interval(hours => $4)
    ORDER BY coalesce(m.occurred_at, m.created_at) DESC, m.id DESC LIMIT $3
) AS newest
