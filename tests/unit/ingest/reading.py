"""Reads transcripts as the tests need them."""

from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path, PurePath

from ingest.backfilling import Survey
from ingest.backfilling import read as read_store
from ingest.beside import Beside
from ingest.records import Record
from ingest.tail import Tail
from ingest.transcripts import CLIENTS
from ingest.transcripts.claude_code import ClaudeCode, ClaudeCodeReader
from ingest.transcripts.protocol import FileFacts
from tests.fixtures.transcripts.stores import Store

ROOT = (
    Path(__file__).parents[2] / "fixtures" / "transcripts" / "claude_code" / "projects"
).resolve()
FOLDER = "-home-mara-code-harbor"
MAIN = f"{FOLDER}/5f0c1a52-0d0e-4a57-9a86-6a7f0e0c1b11.jsonl"
SUBAGENT = f"{FOLDER}/5f0c1a52-0d0e-4a57-9a86-6a7f0e0c1b11/subagents/agent-b7d1e2f3a4c5d6e7f.jsonl"
FORK = f"{FOLDER}/c3a8f5de-3a0f-4d8e-8f7e-2f1f6f6d9a22.jsonl"
EDGE = f"{FOLDER}/e1b2c3d4-5e6f-4a7b-8c9d-0e1f2a3b4c5d.jsonl"

MAIN_TURNS = [
    ("user", "The berth planner double-books pier 4 on Sundays. Why?"),
    ("assistant", "Let me read the calendar code."),
    ("assistant", "Sunday is 6, and the planner asks for 7."),
    ("user", "Also cover the Easter weekend."),
    ("assistant", "Fixed, with a test for Easter. Decision: weekdays are ISO numbers everywhere."),
    ("user", "Gut so. 明日デプロイして 🚢 Grüße\u2028Mara"),
    ("assistant", "Tomorrow it is."),
]

CLIENT = ClaudeCode()
FACTS = FileFacts("5f0c1a52-0d0e-4a57-9a86-6a7f0e0c1b11")


def reader(facts: FileFacts = FACTS) -> ClaudeCodeReader:
    return CLIENT.reader(facts, Beside(ROOT, PurePath(MAIN)))


def read(data: bytes, into: ClaudeCodeReader | None = None) -> list[Record]:
    """All records of whole lines, and of what is open at their end."""
    into = into or reader()
    records, start = [], 0
    for line in data.split(b"\n")[:-1]:
        records += into.feed(line + b"\n", start)
        start += len(line) + 1
    return records + into.settle(quiet=True)


def read_file(path: str, root: Path = ROOT) -> list[Record]:
    """The records of one file of the fixtures, to its end."""
    facts = CLIENT.facts(Path(path))
    assert facts is not None
    tail = Tail(root, path, CLIENT, facts)
    return [*tail.read().records, *tail.read(quiet=True).records]


def everything(store: Store, root: Path, into: Survey | None = None) -> list[Record]:
    """All that a backfill would find below a root."""
    found = Survey() if into is None else into
    return list(read_store(CLIENTS[store.client], [root], found, datetime(2027, 1, 1, tzinfo=UTC)))


def of_session(store: Store, records: Sequence[Record]) -> Iterator[Record]:
    """What was said in the conversation itself, by nobody's sub-agent."""
    return (r for r in records if r.session == store.session and not r.subagent)


def words(records: Sequence[Record]) -> list[tuple[str, str]]:
    return [(record.role.value, record.text) for record in records]


def texts(records: Sequence[Record]) -> list[str]:
    return [record.text for record in records]
