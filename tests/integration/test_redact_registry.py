"""No column that may hold text is out of the eraser's reach."""

from agents_memory.storage import erasing, queries
from agents_memory.storage.connections import Connection, Database
from agents_memory.storage.erasing import TABLES, Way

TEXT_TYPES = (
    "text", "text[]", "character varying", "character varying[]", "character", "name", "citext",
    "json", "jsonb", "jsonb[]", "xml", "bytea", "bytea[]", "tsvector", "tsquery",
    "vector", "halfvec", "sparsevec",
)  # fmt: skip


async def _text_columns(connection: Connection, schema: str) -> set[tuple[str, str]]:
    rows = await connection.fetch(
        """
        SELECT c.relname, a.attname, format_type(a.atttypid, NULL) AS type
        FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
        WHERE c.relnamespace = to_regnamespace($1) AND c.relkind IN ('r', 'p', 'm') AND a.attnum > 0
          AND NOT a.attisdropped
        """,
        schema,
    )
    return {(r["relname"], r["attname"]) for r in rows if r["type"] in TEXT_TYPES}


async def _unregistered(connection: Connection, schema: str) -> set[tuple[str, str]]:
    return {
        (table, column)
        for table, column in await _text_columns(connection, schema)
        if (known := erasing.table_of(table)) is None or column not in known.columns
    }


async def test_every_column_with_text_has_an_eraser_or_a_reason(owner_database: Database) -> None:
    """F109: register new columns in agents_memory/storage/erasing.py."""
    async with owner_database.acquire() as connection:
        found = await _text_columns(connection, owner_database.schema)
        assert ("messages", "message") in found
        assert ("message_vectors_1", "embedding") in found
        assert await _unregistered(connection, owner_database.schema) == set()


async def test_a_new_table_is_missed_until_it_is_registered(owner_database: Database) -> None:
    async with owner_database.acquire() as connection:
        await connection.execute(
            "CREATE TABLE brand_new "
            "(id int, notes text[], v halfvec(3), t tsvector, b bytea, at date)"
        )
        assert await _unregistered(connection, owner_database.schema) == {
            ("brand_new", column) for column in ("notes", "v", "t", "b")
        }


async def test_what_is_registered_exists_and_can_be_reached(owner_database: Database) -> None:
    sql = queries.load("erasing_columns")
    async with owner_database.acquire() as connection:
        found = await _text_columns(connection, owner_database.schema)
        for name, table in TABLES.items():
            known = f"{name}1" if name.endswith("_vectors_") else name
            assert {(known, column) for column in table.columns} <= found
            await connection.prepare(sql["drop_rows"].render(table=known))
            for column in table.of(Way.WORDS, Way.NAME, Way.REPORTED):
                names = {"table": known, "column": column}
                await connection.prepare(sql["list_values"].render(key=table.key, **names))
                await connection.prepare(sql["write_value"].render(**names))


def test_what_is_left_alone_has_a_reason() -> None:
    for table in TABLES.values():
        for column in table.columns.values():
            assert bool(column.why) == (column.way in (Way.EXEMPT, Way.REPORTED))
