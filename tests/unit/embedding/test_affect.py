"""F113: affect without a language model, read off the vector and the marks of the text."""

from collections.abc import AsyncIterator

import numpy as np
import pytest
import pytest_asyncio

from agents_memory.domain.affect import Affect
from agents_memory.embedding.affect import AffectModel, emphasis
from agents_memory.embedding.anchors import ANCHORS
from agents_memory.embedding.protocol import Embedder
from tests.fixtures.feelings import FEELINGS, TECHNICAL


@pytest_asyncio.fixture(scope="session")
async def model(local: Embedder) -> AsyncIterator[AffectModel]:
    yield await AffectModel.fit(local)


async def scored(model: AffectModel, local: Embedder, texts: tuple[str, ...]) -> list[Affect]:
    vectors = await local.embed(texts)
    return [model.score(vector, text) for vector, text in zip(vectors, texts, strict=True)]


@pytest.mark.parametrize("language", FEELINGS)
async def test_happy_is_above_neutral_and_neutral_above_sad(
    model: AffectModel, local: Embedder, language: str
) -> None:
    happy, neutral, sad = [await scored(model, local, texts) for texts in FEELINGS[language]]
    assert min(each.valence for each in happy) > 0.2
    assert max(abs(each.valence) for each in neutral) < 0.2
    assert max(each.valence for each in sad) < -0.2


@pytest.mark.parametrize("language", FEELINGS)
async def test_feelings_are_more_intense_than_statements(
    model: AffectModel, local: Embedder, language: str
) -> None:
    happy, neutral, sad = [await scored(model, local, texts) for texts in FEELINGS[language]]
    assert min(each.intensity for each in happy + sad) > 0.3
    assert max(each.intensity for each in neutral) < 0.25


async def test_work_is_not_taken_for_a_catastrophe(model: AffectModel, local: Embedder) -> None:
    for text, affect in zip(TECHNICAL, await scored(model, local, TECHNICAL), strict=True):
        assert affect.intensity < 0.5, text
        assert affect.valence > -0.5, text


async def test_exclamation_marks_and_capitals_make_a_feeling_more_intense(
    model: AffectModel, local: Embedder
) -> None:
    vector = await local.embed_query("I hate this")
    calm = model.score(vector, "I hate this")
    assert calm.intensity < model.score(vector, "I hate this!").intensity
    assert model.score(vector, "I hate this!").intensity < (
        model.score(vector, "I HATE this!!").intensity
    )
    assert model.score(vector, "I HATE this!!").valence == calm.valence


async def test_marks_alone_do_not_make_a_statement_intense(
    model: AffectModel, local: Embedder
) -> None:
    text = "The file is in the JSON folder!!"
    vector = await local.embed_query("The file is in the JSON folder.")
    assert model.score(vector, text).intensity < 0.35


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Yes.", 0.0),
        ("Yes!", 0.13),
        ("Yes!!!", 0.23),
        ("C'est merveilleux !", 0.13),
        ("太好了！！", 0.23),
        ("what?!", 0.13),
        ("“Stop!” he said", 0.13),
        ("STOP it", 0.13),
        ("SCHÖN!!", 0.36),
        ("ЭТО ужасно", 0.0),
        ("ЭТОГО хватит", 0.13),
        ("a != b and !c", 0.0),
        ('println!("hi")', 0.0),
        ("#!/bin/sh", 0.0),
        ("use an API", 0.0),
        ("\ud800!\0!", 0.0),
        ("", 0.0),
    ],
)
def test_emphasis_counts_marks_of_prose(text: str, expected: float) -> None:
    assert emphasis(text) == pytest.approx(expected)


async def test_any_vector_gives_a_legal_affect(model: AffectModel) -> None:
    random = np.random.default_rng(3)
    for _ in range(50):
        vector = random.normal(size=384).astype(np.float32)
        model.score(vector / np.linalg.norm(vector), "WHAT!!!")
        model.score(vector * 100, "")


def test_anchors_are_legal_and_balanced() -> None:
    affects = [Affect(valence, intensity) for valence, intensity, _ in ANCHORS]
    assert abs(np.mean([each.valence for each in affects])) < 0.1
    assert len({text for _, _, text in ANCHORS}) == len(ANCHORS)
