"""Everything that a dump of a pool would hold, as text."""

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
