"""Every client tells the same conversation: who said what, and nothing else."""

import json
import os
from pathlib import Path

import pytest

from agents_memory.domain.messages import Role
from ingest.backfilling import Survey
from ingest.transcripts import CLIENTS
from tests.fixtures.transcripts.stores import STORES, Store
from tests.fixtures.transcripts.talk import CWD, NEVER, REPORT, SAID, TASK
from tests.unit.ingest.reading import everything, of_session, texts, words

SAMPLES = "TRANSCRIPT_SAMPLES"
"""Names a folder of more samples: a folder for each of `STORES`, and their `expected.json`."""


@pytest.fixture(params=STORES)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def store(name: str) -> Store:
    return STORES[name]


def test_the_conversation_is_what_was_typed_and_answered(store: Store, tmp_path: Path) -> None:
    """F74, B3: the same turns in the same order, whoever wrote them down."""
    store.write(tmp_path)
    found = Survey()
    records = everything(store, tmp_path, found)
    said = list(of_session(store, records))
    assert found.problems == []
    assert words(said) == SAID
    assert all(r.human is (r.role is Role.USER) for r in said)
    assert {r.cwd for r in said} == {CWD if store.cwd else None}
    times = [r.occurred_at for r in said if r.occurred_at is not None]
    assert len(times) == (len(said) if store.times else 0)
    assert times == sorted(times)
    for text in texts(records):
        assert not [never for never in NEVER if never in text]
    ids = {r.native_id for r in records}
    assert len(ids) == len(records)


def test_a_sub_agent_belongs_to_its_parent_and_is_no_person(store: Store, tmp_path: Path) -> None:
    """F78, C9: its task is its parent's word, and what it copied of it is said once."""
    store.write(tmp_path)
    records = [r for r in everything(store, tmp_path) if r.subagent]
    if not store.subagent:
        assert records == []
        return
    told = [REPORT] if store.client == "copilot-cli" else [TASK, REPORT]
    assert texts(records) == told
    assert {(r.role, r.human, r.session, r.venue) for r in records} == {
        (Role.ASSISTANT, False, store.session, "subagent")
    }


def test_reading_it_again_gives_the_same_turns(store: Store, tmp_path: Path) -> None:
    """F75: on any machine, under any folder."""
    store.write(tmp_path / "one")
    store.write(tmp_path / "two")
    assert everything(store, tmp_path / "one") == everything(store, tmp_path / "two")


def test_a_store_of_somebody_elses_is_nothing(store: Store, tmp_path: Path) -> None:
    store.write(tmp_path)
    for other in CLIENTS.values():
        if other.name != store.client:
            found = Survey()
            stranger = Store(other.name, store.write, "", "")
            assert everything(stranger, tmp_path, found) == []
            assert found.problems == []


def test_cursors_three_stores_know_each_others_turns(tmp_path: Path) -> None:
    """F75: the same conversation in all of them is stored once."""
    ids = []
    for name in ("cursor", "cursor_export", "cursor_chat"):
        STORES[name].write(tmp_path / name)
        records = everything(STORES[name], tmp_path / name)
        ids.append([r.native_id for r in of_session(STORES[name], records)])
    assert ids[0] == ids[1] == ids[2]


def test_opencodes_tree_and_database_know_each_others_turns(tmp_path: Path) -> None:
    """F75: what moved into the database is still on the disk."""
    for name in ("opencode", "opencode_json"):
        STORES[name].write(tmp_path)
    records = everything(STORES["opencode"], tmp_path)
    said = list(of_session(STORES["opencode"], records))
    assert len(said) == 2 * len(SAID)
    assert len({r.native_id for r in said}) == len(SAID)


def test_samples_give_what_is_expected(tmp_path: Path) -> None:
    """F74: ours, or those of the folder that TRANSCRIPT_SAMPLES names."""
    root = Path(os.environ.get(SAMPLES) or _written(tmp_path))
    turns = json.loads((root / "expected.json").read_text("utf-8"))["turns"]
    expected = [(turn["role"], turn["text"]) for turn in turns if turn["role"] != "tool"]
    checked = 0
    for name, store in STORES.items():
        sessions: dict[str | None, dict[str, tuple[str, str]]] = {}
        if not (root / name).is_dir():
            # One folder may hold all the stores of a client.
            continue
        for record in everything(store, root / name):
            if not record.subagent:
                said = sessions.setdefault(record.session, {})
                said.setdefault(record.native_id, (record.role.value, record.text))
        assert expected in [list(said.values()) for said in sessions.values()], name
        checked += 1
    assert checked >= 12


def _written(root: Path) -> Path:
    for name, store in STORES.items():
        store.write(root / name)
    turns = [{"role": role, "text": text} for role, text in SAID]
    (root / "expected.json").write_text(json.dumps({"turns": turns}), "utf-8")
    return root
