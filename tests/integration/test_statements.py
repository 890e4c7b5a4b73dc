"""Every statement fits the schema, and every right is what it should be."""

import pytest

from agents_memory.domain.errors import ConfigurationError
from agents_memory.storage import queries, vectors
from agents_memory.storage.connections import Database
from agents_memory.storage.vectors import Model
from agents_memory.storage.vectors.models import Owner

# Their templates take more than a table: other tests prepare them.
DDL = {"schema", "vector_tables", "erasing_columns"}
# Tables whose rows are derived or queued, and may be taken away by the daemon.
DELETABLE_BY_COLD = {"work", "lexeme_stats", "message_context", "provider_holds"}
READ_ONLY_FOR_HOT = {"message_results", "lexeme_stats", "lexeme_totals", "leader", "project_tags"}


async def test_every_statement_is_prepared_on_the_migrated_schema(
    owner_database: Database,
) -> None:
    prepared = 0
    async with owner_database.acquire() as connection:
        model = await vectors.find_active_model(connection)
        assert model is not None
        for aggregate in queries.aggregates():
            if aggregate in DDL:
                continue
            for name, statement in queries.load(aggregate).items():
                sql = statement.sql
                if statement.template:
                    sql = statement.render(
                        table=_table_for(model, name), key=Owner.MESSAGE.key, model=model.id
                    )
                await connection.prepare(sql)
                prepared += 1
    assert prepared > 50


def test_a_template_takes_identifiers_only() -> None:
    """J10: a name with SQL in it never reaches a statement."""
    statement = queries.load("vectors")["search_message_vectors"]
    with pytest.raises(ConfigurationError):
        statement.render(table="x; DROP TABLE messages")


def _table_for(model: Model, statement: str) -> str:
    if "summar" in statement:
        return model.summary_table
    return model.memory_table if "memor" in statement else model.message_table


async def _rights(database: Database, role: str, right: str) -> set[str]:
    async with database.acquire() as connection:
        rows = await connection.fetch(
            "SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace "
            "WHERE n.nspname = $1 AND c.relkind = 'r' AND has_table_privilege($2, c.oid, $3)",
            database.schema,
            role,
            right,
        )
    return {row["relname"] for row in rows}


async def test_no_runtime_role_deletes_evidence(owner_database: Database) -> None:
    """F13, F94: what was said and what was believed cannot be deleted by a running process."""
    hot = await _rights(owner_database, "memory_hot", "DELETE")
    cold = await _rights(owner_database, "memory_cold", "DELETE")
    assert hot == set()
    assert {name for name in cold if "_vectors_" not in name} == DELETABLE_BY_COLD
    for role in ("memory_hot", "memory_cold"):
        assert await _rights(owner_database, role, "TRUNCATE") == set()


async def test_messages_and_versions_are_immutable_for_runtime_roles(
    owner_database: Database,
) -> None:
    immutable = {
        "messages",
        "memory_versions",
        "profile_versions",
        "patches",
        "patch_operations",
        "sources",
        "traces",
    }
    for role in ("memory_hot", "memory_cold"):
        assert await _rights(owner_database, role, "UPDATE") & immutable == set()
        assert await _rights(owner_database, role, "INSERT") >= immutable
        assert await _rights(owner_database, role, "SELECT") >= immutable


async def test_the_hot_role_changes_no_state_of_messages(owner_database: Database) -> None:
    changed = await _rights(owner_database, "memory_hot", "UPDATE")
    assert changed == {"memories", "profiles", "captures", "activations"}
    assert await _rights(owner_database, "memory_hot", "INSERT") & READ_ONLY_FOR_HOT == set()


@pytest.mark.parametrize("role", ["memory_hot", "memory_cold"])
async def test_a_runtime_role_is_refused_where_it_has_no_right(
    role: str, hot_database: Database, cold_database: Database
) -> None:
    """F13, F94: what was said, believed and changed stays, whatever a process of ours would do."""
    database = hot_database if role == "memory_hot" else cold_database
    for statement in (
        "DELETE FROM messages",
        "UPDATE messages SET message = 'x'",
        "DROP TABLE messages",
        "UPDATE memory_versions SET content = 'x'",
        "DELETE FROM memory_versions",
        "UPDATE profile_versions SET content = 'x'",
        "DELETE FROM profile_versions",
        "UPDATE patches SET reason = 'x'",
        "DELETE FROM patches",
        "UPDATE patch_operations SET diff = 'x'",
        "DELETE FROM patch_operations",
        "UPDATE sources SET quote = 'x'",
        "DELETE FROM sources",
        "DELETE FROM memories",
        "DELETE FROM model_calls",
        "DELETE FROM budgets",
        "DELETE FROM captures",
        "DELETE FROM jobs",
        "UPDATE jobs SET request = '{}'",
        "DELETE FROM tag_summaries",
        "TRUNCATE patches CASCADE",
    ):
        with pytest.raises(Exception, match=r"42501"):
            async with database.acquire() as connection:
                await connection.execute(statement)


async def test_no_process_of_ours_is_a_superuser(
    hot_database: Database, cold_database: Database, owner_database: Database
) -> None:
    for database in (hot_database, cold_database, owner_database):
        async with database.acquire() as connection:
            assert await connection.fetchval("SELECT current_setting('is_superuser')") == "off"
