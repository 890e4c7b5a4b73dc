-- name: record_recall
-- What was shown, to whom and where.
INSERT INTO recall_log (user_id, session, named, platform, device, project, item_ids)
VALUES ($1, $2, $3, $4, $5, $6, $7)

-- name: queue_observations
-- Work for each reply that may draw on what was shown shortly before, by its session or at its place; once a reply.
INSERT INTO work (item_id, stage)
SELECT m.id, $2 FROM messages m
WHERE m.id = ANY ($1::bigint[]) AND m.role = 'assistant'
  AND NOT EXISTS (SELECT FROM message_results r WHERE r.message_id = m.id AND r.stage = $2)
  AND EXISTS (
    SELECT FROM recall_log r
    WHERE r.at > coalesce(m.occurred_at, m.created_at) - $3::interval
      AND r.at <= coalesce(m.occurred_at, m.created_at) + $4::interval AND r.user_id = m.user_id
      AND (r.session = m.session OR NOT r.named AND r.platform = m.platform AND r.device = m.device))
ON CONFLICT DO NOTHING

-- name: find_reply
-- A reply that may feed anything.
SELECT m.id, m.message AS text FROM messages m JOIN message_state s ON s.message_id = m.id
WHERE m.id = $1 AND m.role = 'assistant' AND s.screening = 'clear'

-- name: list_turns_before
-- The last turns of its session before a reply, those of the user in any case; the newest first. They only take
-- away from what it proves.
WITH turns AS (
    SELECT b.role, b.message AS text, row_number() OVER said AS place,
        row_number() OVER (PARTITION BY b.role ORDER BY coalesce(b.occurred_at, b.created_at) DESC, b.id DESC) AS of_role
    FROM messages m
    JOIN messages b ON b.user_id = m.user_id AND b.session = m.session AND b.id <> m.id
        AND coalesce(b.occurred_at, b.created_at) > coalesce(m.occurred_at, m.created_at) - $2::interval
        AND coalesce(b.occurred_at, b.created_at) <= coalesce(m.occurred_at, m.created_at)
    JOIN message_state s ON s.message_id = b.id
    WHERE m.id = $1 AND b.role IN ('user', 'assistant') AND s.screening IN ('unscreened', 'clear')
    WINDOW said AS (ORDER BY coalesce(b.occurred_at, b.created_at) DESC, b.id DESC)
)
SELECT role, text FROM turns WHERE place <= $3 OR (role = 'user' AND of_role <= $4) ORDER BY place

-- name: list_shown
-- What was shown to the session of a reply shortly before it, the latest first, and to which session. Turns of that very
-- session are left out. A client that doesn't name its session is known by user, platform, device and project, unless
-- another session spoke there since ten minutes before.
WITH reply AS (
    SELECT id, user_id, session, platform, device, project_hint, origin, coalesce(occurred_at, created_at) AS said
    FROM messages WHERE id = $1
), exposures AS (
    SELECT r.session, r.at, r.item_ids, m.session AS own, m.user_id FROM reply m JOIN recall_log r
        ON r.at > m.said - $2::interval AND r.at <= m.said + $3::interval AND r.user_id = m.user_id
    WHERE r.session = m.session
       OR NOT r.named AND m.origin = 'captured' AND m.session IS NOT NULL AND r.platform = m.platform
          AND r.device = m.device AND coalesce(r.project = m.project_hint, true)
          AND NOT EXISTS (
            SELECT FROM messages o
            WHERE o.user_id = m.user_id AND coalesce(o.occurred_at, o.created_at) > r.at - interval '10 minutes'
              AND coalesce(o.occurred_at, o.created_at) <= m.said AND o.origin = 'captured'
              AND o.platform = r.platform AND o.device = r.device AND o.session <> m.session
              AND coalesce(o.project_hint = r.project, true))
), shown AS (
    SELECT DISTINCT ON (i.id) i.id, e.session, e.own, e.user_id, e.at
    FROM exposures e, unnest(e.item_ids) AS i (id) ORDER BY i.id, e.at DESC
)
SELECT w.id, w.session, coalesce(k.content, said.message) AS text
FROM shown w
LEFT JOIN memories k ON k.id = w.id AND k.user_id = w.user_id AND k.status = 'active'
LEFT JOIN (messages said JOIN message_state s ON s.message_id = said.id AND s.screening = 'clear')
    ON said.id = w.id AND said.user_id = w.user_id AND said.id <> $1
        AND said.session IS DISTINCT FROM w.own AND said.session IS DISTINCT FROM w.session
WHERE k.id IS NOT NULL OR said.id IS NOT NULL
ORDER BY w.at DESC, w.id LIMIT $4

-- name: lock_use
-- One use after the other, so that none is counted twice.
SELECT pg_advisory_xact_lock($1)

-- name: insert_inferred
-- Uses that a reply shows, as of when it was said; none for an item that its session used shortly before.
INSERT INTO traces (item_id, kind, weight, session, inferred, hour, at)
SELECT u.item_id, 'used', $3, u.session, true, floor(extract(epoch FROM m.said) / 3600), m.said
FROM unnest($1::bigint[], $2::text[]) AS u (item_id, session),
    (SELECT least(coalesce(occurred_at, created_at), now()) AS said FROM messages WHERE id = $4) AS m
WHERE NOT EXISTS (
    SELECT FROM traces t WHERE t.item_id = u.item_id AND t.kind = 'used' AND t.session = u.session
        AND t.at > m.said - $5::interval)
ORDER BY u.item_id

-- name: insert_cited
-- A use of each item; the one that a reply of the same session showed shortly before becomes whole with it.
INSERT INTO traces (item_id, kind, weight, session, hour, completes)
SELECT c.item_id, 'used', $2::real - coalesce(i.weight, 0), $3, floor(extract(epoch FROM now()) / 3600), i.id
FROM unnest($1::bigint[]) AS c (item_id)
LEFT JOIN LATERAL (
    SELECT t.id, t.weight FROM traces t
    WHERE t.item_id = c.item_id AND t.kind = 'used' AND t.inferred AND t.session = $3 AND t.weight < $2::real
      AND t.at > now() - $4::interval
      AND NOT EXISTS (SELECT FROM traces done WHERE done.completes = t.id)
    ORDER BY t.id DESC LIMIT 1) AS i ON true
ORDER BY c.item_id

-- name: count_uses
-- How often anything that is not private was used: said to be by `cite`, and shown by a reply alone.
SELECT count(*) FILTER (WHERE NOT inferred) AS cited,
    count(*) FILTER (WHERE inferred) - count(completes) AS inferred
FROM traces WHERE kind = 'used' AND item_id NOT IN (
-- include: private_items
)
