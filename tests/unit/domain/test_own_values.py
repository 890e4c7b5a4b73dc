"""The values that no erasure changes are those that the program writes."""

from agents_memory.domain.own_values import CLIENTS, OWN_VALUES, is_own
from agents_memory.domain.patches import Add
from agents_memory.services import conversations, digesting, events, knowledge, profiles
from agents_memory.settings.capturing import CAPTURE_CLIENTS
from agents_memory.storage import erasing
from cold.passes import alias_suggestions, duplicates, librarian
from hot.session import PLATFORMS, UNKNOWN_PLATFORM
from hot.toolsets.mind import remember, revise
from hot.toolsets.patch import operations
from ingest import storing


def test_every_value_that_a_writer_of_ours_uses_is_listed() -> None:
    written = {
        "platform": {*PLATFORMS.values(), *CAPTURE_CLIENTS, UNKNOWN_PLATFORM},
        "client": {*CAPTURE_CLIENTS},
        "source": {*CAPTURE_CLIENTS, knowledge.TOOL, events.SOURCE, conversations.SOURCE},
        "store_id": {storing.STORE_ID, events.STORE, knowledge.ACTOR},
        "scope": {Add("s", "c").scope},
        "subject": {knowledge.SUBJECT},
        "actor": {
            knowledge.ACTOR, operations.ACTOR, duplicates.ACTOR, librarian.ACTOR,
            alias_suggestions.DAEMON, "owner",
        },
        "tool": {
            knowledge.TOOL, operations.TOOL, remember.TOOL, revise.TOOL, profiles.AGENT.tool,
            digesting.KIND, "cli", "redact", "compare_memory", "librarian",
        },
    }  # fmt: skip
    for field, values in written.items():
        assert values <= OWN_VALUES[field], field
    assert set(PLATFORMS.values()) <= CLIENTS
    assert written.keys() == OWN_VALUES.keys()


def test_a_column_that_is_shared_has_values_of_ours() -> None:
    shared = {
        column
        for table in erasing.TABLES.values()
        for column, known in table.columns.items()
        if known.shared
    }
    assert shared == OWN_VALUES.keys()


def test_what_others_write_is_not_ours() -> None:
    assert not is_own("platform", "claude code")
    assert not is_own("message", "agent")
    assert not is_own("platform", None)
    assert not is_own("source", ["any"])
