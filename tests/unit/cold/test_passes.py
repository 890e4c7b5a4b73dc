"""The rules inside the passes."""

from datetime import UTC, datetime

import numpy as np
import pytest

from agents_memory.domain.affect import Affect
from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.domain.messages import Role, Screening, Trust
from agents_memory.embedding.affect import AffectModel
from agents_memory.storage.lexemes import Totals
from agents_memory.storage.messages import PassItem
from agents_memory.storage.vectors import ChunkVector, digest
from cold.guard import ItemFault
from cold.passes.lexeme_statistics import is_due
from cold.passes.tag import Tag, Taggable, Tagged, importance, project_of
from cold.passes.vectorising import Vectoriser
from tests.integration.cold_daemons import FakeEmbedder

CALM, MOVED = Affect(0.0, 0.0), Affect(-0.8, 1.0)


def _message(text: str = "", **changes: object) -> PassItem:
    fields: dict[str, object] = {
        "id": 1,
        "role": Role.USER,
        "trust": Trust.OWNER,
        "text": text,
        "cwd": None,
        "project_hint": None,
        "screening": Screening.CLEAR,
    }
    return PassItem(**{**fields, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("hint", "cwd", "project"),
    [
        ("Blue Heron", "/home/mara/code/other", "blue-heron"),
        (None, "/home/mara/code/heron/src", "heron"),
        (None, "C:\\Users\\mara\\code\\heron", "heron"),
        ("///", "/home/mara/code/heron", "heron"),
        (None, "/tmp", None),
        (None, None, None),
        ("", "", None),
    ],
)
def test_a_project_is_what_its_writer_called_it_or_its_directory(
    hint: str | None, cwd: str | None, project: str | None
) -> None:
    assert project_of(_message(project_hint=hint, cwd=cwd)) == project


@pytest.mark.parametrize(
    ("role", "tags", "affect", "expected"),
    [
        (Role.USER, ("heron",), MOVED, 9),
        (Role.USER, ("heron",), CALM, 5),
        (Role.USER, (), None, 4),
        (Role.ASSISTANT, (), CALM, 3),
        (Role.TOOL, (), None, 1),
    ],
)
def test_importance_grows_with_subject_and_feeling(
    role: Role, tags: tuple[str, ...], affect: Affect | None, expected: int
) -> None:
    assert importance(role, tags, affect) == expected


async def test_affect_is_learned_once_and_only_where_there_are_vectors(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """F113: affect comes from the vector that exists anyway."""
    embedder = FakeEmbedder()
    tag = Tag(embedder)
    [without] = await tag.prepare([Taggable(_message("I am so happy!"), None)])
    assert isinstance(without, Tagged)
    assert without.affect is None
    assert embedder.asked == []
    [vector] = await embedder.embed(["I am so happy!"])
    learned = 0
    real = AffectModel.fit

    async def fit(*arguments: object) -> AffectModel:
        nonlocal learned
        learned += 1
        return await real(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(AffectModel, "fit", fit)
    for _ in range(2):
        [tagged] = await tag.prepare([Taggable(_message("I am so happy!"), vector)])
        assert isinstance(tagged, Tagged)
        assert tagged.affect is not None
    assert learned == 1


async def test_an_embedder_that_cannot_be_learned_from_holds_the_stage() -> None:
    embedder = FakeEmbedder()
    [vector] = await embedder.embed(["x"])
    embedder.loses_one = lambda texts: len(texts) > 1
    with pytest.raises(EmbedderUnavailable, match="doctor"):
        await Tag(embedder).prepare([Taggable(_message("x"), vector)])


async def test_no_chunk_is_embedded_twice() -> None:
    embedder = FakeEmbedder()
    [one, two] = await Vectoriser(embedder).vectorise(["same", "same"], [(), ()])
    assert embedder.asked == ["same"]
    assert one.chunks[0].content_hash == two.chunks[0].content_hash == digest("same")
    [again] = await Vectoriser(embedder).vectorise(["same"], [one.chunks])
    assert embedder.asked == ["same"]
    assert np.array_equal(again.chunks[0].vector, one.chunks[0].vector)


async def test_changed_words_are_embedded_anew() -> None:
    embedder = FakeEmbedder()
    old = ChunkVector(digest("old"), (await embedder.embed(["old"]))[0])
    [found] = await Vectoriser(embedder).vectorise(["new"], [(old,)])
    assert [chunk.content_hash for chunk in found.chunks] == [digest("new")]


async def test_a_bad_text_and_a_broken_embedder_are_told_apart() -> None:
    embedder = FakeEmbedder()
    embedder.refuses = lambda text: text == "bad"
    with pytest.raises(ItemFault):
        await Vectoriser(embedder).vectorise(["good", "bad"], [(), ()])
    embedder.refuses = lambda _: True
    with pytest.raises(EmbedderUnavailable, match=r"fails \(RuntimeError\)"):
        await Vectoriser(embedder).vectorise(["good"], [()])
    embedder.down = True
    with pytest.raises(EmbedderUnavailable, match="not installed"):
        await Vectoriser(embedder).vectorise(["good"], [()])


@pytest.mark.parametrize("text", ["", " \n", "\u200b\u2060", "\ufeff"])
async def test_what_shows_nothing_has_no_chunks(text: str) -> None:
    """C2: no model is asked about nothing."""
    embedder = FakeEmbedder()
    [found] = await Vectoriser(embedder).vectorise([text], [()])
    assert found.chunks == ()
    assert embedder.asked == []


def _totals(documents: int, *, counted: bool = True) -> Totals:
    return Totals(documents, 0, datetime(2026, 11, 29, tzinfo=UTC) if counted else None)


@pytest.mark.parametrize(
    ("counted", "now", "hourly", "due"),
    [
        (100, 104, False, False),
        (100, 105, False, True),
        (100_000, 100_049, False, False),
        (100_000, 100_050, False, True),
        (100, 101, True, True),
        (100, 100, True, False),
        (0, 1, False, True),
        (100, 40, False, True),
    ],
)
def test_statistics_are_counted_when_the_pool_grew(
    counted: int, now: int, hourly: bool, due: bool
) -> None:
    assert is_due(_totals(counted), now, hourly=hourly) is due


def test_statistics_are_counted_once_in_any_case() -> None:
    assert is_due(_totals(0, counted=False), 0, hourly=False)
