-- name: find_ground
-- What a patch needs before it is written: fresh ids, which of the cited messages of this user exist and
-- are not quarantined (nor private, unless asked for by $6), the text of those that may never have been screened, and an active memory that says what
-- is to be added.
SELECT now() AS now, fresh.ids, same.id AS same_id, m.id, m.role, m.trust,
    CASE WHEN s.screening IN ('unscreened', 'withdrawn') THEN m.message END AS unscreened
FROM (SELECT ARRAY(SELECT nextval('item_id') FROM generate_series(1, $3)) AS ids) AS fresh
LEFT JOIN (messages m JOIN message_state s ON s.message_id = m.id AND s.screening <> 'quarantined'
           AND ($6 OR NOT s.private))
    ON m.id = ANY ($1::bigint[]) AND m.user_id = $2
LEFT JOIN LATERAL (
    SELECT k.id FROM memories k
    WHERE k.user_id = $2 AND k.scope = ANY ($4::text[]) AND k.content_key = ANY ($5::bytea[])
      AND k.status = 'active'
      AND (k.scope, k.content_key) IN (SELECT * FROM unnest($4::text[], $5::bytea[]))
    ORDER BY k.id LIMIT 1) AS same ON true

-- name: find_earlier
-- The patch that this key made before, and the secret that its payload digest was keyed with.
SELECT p.id, p.payload_hmac, k.hmac_key FROM pool k
LEFT JOIN patches p ON p.user_id = $1 AND p.actor = $2 AND p.idempotency_key = $3

-- name: write_patch
-- A patch with all it does to memories, in one statement: states, versions, evidence, and the work that
-- follows. Rows that others may wait for are written in one order; what gives a statement free is
-- written before what takes it.
WITH made AS MATERIALIZED (
    SELECT * FROM jsonb_to_recordset($8::jsonb) AS (
        position smallint, operation text, is_new boolean, is_last boolean, diff text, evidence bigint[],
        id bigint, version integer, subject text, attribute text, content text, kind text,
        importance smallint, valence real, intensity real, affect text, trust text, status text, pinned boolean,
        tags text[], resolved_at timestamptz, superseded_by bigint, scope text, platform text,
        p_tag bigint, occurred_at timestamptz, content_key text, lexemes text, lexeme_count integer)
), changed AS (
    UPDATE memories m SET version = n.version, subject = n.subject, attribute = n.attribute,
        content = n.content, content_key = decode(n.content_key, 'hex'), kind = n.kind,
        importance = n.importance, valence = n.valence, intensity = n.intensity, trust = n.trust,
        status = n.status, pinned = n.pinned, tags = n.tags, resolved_at = n.resolved_at,
        superseded_by = n.superseded_by, lexemes = coalesce(n.lexemes::tsvector, m.lexemes),
        lexeme_count = coalesce(n.lexeme_count, m.lexeme_count), updated_at = now()
    FROM made n WHERE m.id = n.id AND n.is_last AND NOT n.is_new
    RETURNING m.id
), head AS (
    INSERT INTO patches (id, user_id, actor, tool, reason, idempotency_key, payload_hmac, rollback_of)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $9)
), added AS (
    INSERT INTO memories (id, version, user_id, scope, platform, p_tag, subject, attribute, content,
        content_key, kind, importance, valence, intensity, affect, trust, pinned, tags, occurred_at, lexemes,
        lexeme_count)
    SELECT id, version, $2, scope, platform, p_tag, subject, attribute, content,
        decode(content_key, 'hex'), kind, importance, valence, intensity, affect, trust, pinned, tags,
        occurred_at, lexemes::tsvector, lexeme_count
    FROM made WHERE is_new AND (SELECT count(*) FROM changed) >= 0 ORDER BY content_key
), kept AS (
    INSERT INTO memory_versions (memory_id, version, patch_id, subject, attribute, content, kind, importance,
        valence, intensity, trust, status, pinned, tags, resolved_at, superseded_by)
    SELECT id, version, $1, subject, attribute, content, kind, importance, valence, intensity, trust,
        status, pinned, tags, resolved_at, superseded_by
    FROM made
), done AS (
    INSERT INTO patch_operations (patch_id, position, operation, item_id, from_version, to_version, diff, evidence)
    SELECT $1, position, operation, id, nullif(version - 1, 0), version, diff, evidence FROM made
), cited AS (
    INSERT INTO sources (item_id, item_version, message_id)
    SELECT * FROM unnest($10::bigint[], $11::integer[], $12::bigint[]) ON CONFLICT DO NOTHING
), born AS (
    INSERT INTO traces (item_id, kind, weight, hour)
    SELECT id, 'created', $13, floor(extract(epoch FROM now()) / 3600) FROM made WHERE is_new ORDER BY id
)
INSERT INTO work (item_id, stage) SELECT id, $14 FROM made WHERE is_last ORDER BY id
ON CONFLICT DO NOTHING

-- name: copy_sources
-- A version rests on what another one, of this item or another, rested on.
INSERT INTO sources (item_id, item_version, message_id, quote)
SELECT c.item_id, c.version, s.message_id, s.quote
FROM unnest($1::bigint[], $2::integer[], $3::bigint[], $4::integer[]) AS c (item_id, version, of_item, of_version)
JOIN sources s ON s.item_id = c.of_item AND s.item_version = c.of_version
ON CONFLICT DO NOTHING

-- name: lock_profiles
-- Documents about the user, locked until the patch commits.
SELECT id, kind, version, content FROM profiles WHERE user_id = $1 AND kind = ANY ($2::text[])
ORDER BY id FOR UPDATE

-- name: write_profile
-- The next version of a document: its state, its history, and what the patch did to it.
WITH written AS (
    INSERT INTO profiles (id, user_id, kind, version, content) VALUES ($1, $2, $3, $4, $5)
    ON CONFLICT (id) DO UPDATE SET version = excluded.version, content = excluded.content, updated_at = now()
), kept AS (
    INSERT INTO profile_versions (profile_id, version, patch_id, content) VALUES ($1, $4, $6, $5)
), cited AS (
    INSERT INTO sources (item_id, item_version, message_id) SELECT $1, $4, unnest($10::bigint[])
)
INSERT INTO patch_operations (patch_id, position, operation, item_id, from_version, to_version, diff, evidence)
VALUES ($6, $7, $8, $1, nullif($4 - 1, 0), $4, $9, $10)

-- name: find_patch
-- The head of a patch, what rolled it back, and its diff: its own, or those of its operations. One that says what a
-- private memory says only if asked for ($3).
SELECT p.id, p.actor, p.tool, p.reason, p.created_at, p.rollback_of, b.id AS rolled_back_by,
    coalesce(p.diff, (SELECT string_agg(o.diff, '' ORDER BY o.position) FROM patch_operations o
                      WHERE o.patch_id = p.id), '') AS diff
FROM patches p LEFT JOIN patches b ON b.rollback_of = p.id
WHERE p.id = $1 AND p.user_id = $2 AND ($3 OR
-- include: public_patch
)

-- name: list_operations
-- What a patch did, in order.
SELECT o.position, o.operation, o.item_id, o.from_version, o.to_version, o.evidence, o.diff,
    CASE WHEN EXISTS (SELECT FROM memories m WHERE m.id = o.item_id) THEN 'memory' ELSE 'profile' END AS item_kind
FROM patch_operations o WHERE o.patch_id = $1 ORDER BY o.position

-- name: list_patches
-- The newest patches of a user, of one memory or of all, below an id; those of private memories only if asked for ($5).
SELECT p.id, p.actor, p.tool, p.reason, p.created_at, p.rollback_of, b.id AS rolled_back_by,
    ARRAY(SELECT o.operation || ' ' || o.item_id FROM patch_operations o
          WHERE o.patch_id = p.id ORDER BY o.position) AS operations
FROM patches p LEFT JOIN patches b ON b.rollback_of = p.id
WHERE p.user_id = $1 AND ($3::bigint IS NULL OR p.id < $3) AND ($5 OR
-- include: public_patch
)
  AND ($2::bigint IS NULL OR p.id IN (SELECT o.patch_id FROM patch_operations o WHERE o.item_id = $2))
ORDER BY p.id DESC LIMIT $4

-- name: list_later
-- Patches that made versions of these items after the versions given, the oldest first.
SELECT DISTINCT p.id, p.rollback_of FROM unnest($1::bigint[], $2::integer[]) AS asked (item_id, version)
JOIN patch_operations o ON o.item_id = asked.item_id AND o.to_version > asked.version
JOIN patches p ON p.id = o.patch_id
ORDER BY p.id

-- name: list_profile_versions
-- Earlier versions of documents.
SELECT v.profile_id, v.version, v.content FROM unnest($1::bigint[], $2::integer[]) AS asked (id, version)
JOIN profile_versions v ON v.profile_id = asked.id AND v.version = asked.version

-- name: lock_profiles_by_id
-- Documents that a rollback restores, locked until it commits.
SELECT id, kind, version, content FROM profiles WHERE user_id = $1 AND id = ANY ($2::bigint[])
ORDER BY id FOR UPDATE

-- name: insert_source
-- A message that a version of an item rests on.
INSERT INTO sources (item_id, item_version, message_id, quote) VALUES ($1, $2, $3, $4)
ON CONFLICT DO NOTHING

-- name: list_sources
-- The evidence of one version of an item.
SELECT message_id, quote FROM sources WHERE item_id = $1 AND item_version = $2 ORDER BY message_id
