-- name: list_missing_rights
-- Which of the rights asked for the role of this session lacks; a missing table counts as lacking. Rows may be added
-- where only some of their columns may be given.
SELECT wanted.name, wanted.privilege
FROM unnest($2::text[], $3::text[]) AS wanted (name, privilege)
CROSS JOIN LATERAL to_regclass(format('%I.%I', $1::text, wanted.name)) AS found (id)
WHERE NOT coalesce(has_table_privilege(found.id, wanted.privilege)
    OR wanted.privilege = 'INSERT' AND has_any_column_privilege(found.id, 'INSERT'), false)
ORDER BY wanted.name, wanted.privilege

-- name: find_role
-- Who this session is, and whether it owns the messages.
SELECT current_user::text AS name, tableowner = current_user AS owner
FROM pg_tables WHERE schemaname = $1 AND tablename = 'messages'

-- name: list_parked_work
-- The work that was set aside longest ago, with its reason.
SELECT item_id, stage, parked_reason FROM work WHERE parked_reason IS NOT NULL
ORDER BY queued_at, item_id LIMIT $1
