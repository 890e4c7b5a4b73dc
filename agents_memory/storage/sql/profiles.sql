-- name: list_profiles
-- All documents of a user, the emptied ones too: whoever writes next must know their version. With who wrote
-- them, whose word they rest on, and whether any of it was held back or made private since.
SELECT p.id, p.kind, p.version, p.content, p.updated_at, a.actor, coalesce(c.trusts, '{}') AS trusts,
    coalesce(c.held, false) AS held
FROM profiles p LEFT JOIN profile_versions v ON v.profile_id = p.id AND v.version = p.version
LEFT JOIN patches a ON a.id = v.patch_id
LEFT JOIN LATERAL (
    SELECT array_agg(DISTINCT m.trust) AS trusts, bool_or(t.screening = 'quarantined' OR t.private) AS held
    FROM sources s JOIN messages m ON m.id = s.message_id JOIN message_state t ON t.message_id = m.id
    WHERE s.item_id = p.id AND s.item_version = p.version) c ON true
WHERE p.user_id = $1

-- name: list_history
-- Every version of a document, the oldest first, with the patch that made it and the messages it rests on.
SELECT v.version, v.content, v.created_at, v.patch_id, a.actor, a.tool, a.reason,
    ARRAY(SELECT s.message_id FROM sources s WHERE s.item_id = v.profile_id AND s.item_version = v.version
          ORDER BY s.message_id) AS evidence
FROM profiles p JOIN profile_versions v ON v.profile_id = p.id JOIN patches a ON a.id = v.patch_id
WHERE p.user_id = $1 AND p.kind = $2 AND ($3::integer IS NULL OR v.version = $3)
ORDER BY v.version
