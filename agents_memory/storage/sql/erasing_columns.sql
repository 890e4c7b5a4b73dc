-- name: list_values (template)
-- Every value of a column, where it stands, and what its row belongs to.
SELECT ctid::text AS place, {key} AS item, {column} AS value FROM {table} WHERE {column} IS NOT NULL

-- name: write_value (template)
-- A value in the place of an older one; places hold for as long as nobody else writes.
UPDATE {table} SET {column} = $2 WHERE ctid = $1::text::tid

-- name: drop_rows (template)
-- Rows that cannot stay.
DELETE FROM {table} WHERE ctid = ANY ($1::text[]::tid[])
