"""Everything that a dump of a pool would hold, and what the server notes of it, as text."""

from io import BytesIO

from agents_memory.storage.connections import Database


async def dump(owner: Database) -> str:
    """Each row of each table as COPY writes it, under the name of its table."""
    connection = await owner.connect()
    try:
        tables = await connection.fetch(
            "SELECT tablename FROM pg_tables WHERE schemaname = $1 ORDER BY 1", owner.schema
        )
        out = BytesIO()
        for [table] in tables:
            out.write(f"\n== {table}\n".encode())
            await connection.copy_from_table(
                table, schema_name=owner.schema, output=out, encoding="utf8"
            )
        return out.getvalue().decode()
    finally:
        await connection.close()


async def quoted(owner: Database) -> str:
    """What the planner's statistics quote of the rows of every table and index."""
    rows = await owner.run(
        lambda c: c.fetch(
            "SELECT tablename, attname, most_common_vals::text, histogram_bounds::text, "
            "most_common_elems::text FROM pg_stats WHERE schemaname = $1",
            owner.schema,
        )
    )
    return "\n".join(str(dict(row)) for row in rows)
