-- name: list_tables
-- The tables of the pool.
SELECT c.relname AS name FROM pg_class c
WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r' ORDER BY c.relname

-- name: analyze (template)
-- Statistics of a table anew: the older ones quote what its rows said.
ANALYZE {table}

-- name: forget_statistics
-- Of what holds no row none are made, so the older ones would stay: a column forgets them when it gets its
-- type again, an index over expressions when it is made again.
DO $$
DECLARE
    one record;
    held boolean;
BEGIN
    FOR one IN
        SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod) AS type
        FROM pg_stats s JOIN pg_class c ON c.relname = s.tablename AND c.relnamespace = current_schema()::regnamespace
        JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = s.attname
        WHERE s.schemaname = current_schema() AND c.relkind = 'r'
          AND coalesce(s.most_common_vals::text, s.histogram_bounds::text, s.most_common_elems::text) IS NOT NULL
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %I)', one.relname) INTO held;
        IF NOT held THEN
            EXECUTE format('ALTER TABLE %I ALTER COLUMN %I TYPE %s', one.relname, one.attname, one.type);
        END IF;
    END LOOP;
    FOR one IN
        SELECT c.relname, i.indrelid::regclass AS holder, pg_get_indexdef(i.indexrelid) AS definition,
            coalesce(pg_get_expr(i.indpred, i.indrelid), 'true') AS condition
        FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
        WHERE c.relnamespace = current_schema()::regnamespace AND i.indexprs IS NOT NULL
          AND EXISTS (SELECT FROM pg_stats s WHERE s.schemaname = current_schema() AND s.tablename = c.relname)
    LOOP
        EXECUTE format('SELECT EXISTS (SELECT FROM %s WHERE %s)', one.holder, one.condition) INTO held;
        IF NOT held THEN
            EXECUTE format('DROP INDEX %I', one.relname);
            EXECUTE one.definition;
        END IF;
    END LOOP;
END
$$
