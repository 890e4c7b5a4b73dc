"""A generated pool is like a real one where it matters."""

from itertools import pairwise

import numpy as np
import pytest

from agents_memory.domain.context import context_text
from agents_memory.domain.lexical import analyse
from bench.corpus import SESSION, Corpus, Message, zipf

TEXTS = (
    "the heron nests by the weir",
    "die Rechnung ist bezahlt, 12.50 €",
    "v1.2 of foo_bar/baz.py",
)


def _messages(count: int) -> list[Message]:
    vectors = np.eye(3, 16, dtype=np.float32)
    return [*Corpus(TEXTS, vectors, seed=1).messages(count)]


def test_the_same_seed_gives_the_same_pool() -> None:
    one, other = _messages(30), _messages(30)
    assert [m.text for m in one] == [m.text for m in other]
    assert all(np.array_equal(a.vectors, b.vectors) for a, b in zip(one, other, strict=True))


def test_lexemes_and_contexts_are_those_of_the_product() -> None:
    before = None
    for message in _messages(3 * SESSION):
        own = analyse(message.text)
        assert (message.lexemes.terms, message.lexemes.length) == (own.terms, own.length)
        text = context_text(message.text, before if message.follows else None, message.said_at)
        around = analyse(text)
        assert (message.context.terms, message.context.length) == (around.terms, around.length)
        before = message.text


def test_every_vector_has_length_one_and_no_two_are_the_same() -> None:
    vectors = np.concatenate([message.vectors for message in _messages(200)])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(len(vectors)), abs=1e-5)
    assert len(np.unique(vectors, axis=0)) == len(vectors)


def test_a_session_keeps_its_place_and_times_rise() -> None:
    messages = _messages(3 * SESSION)
    for one, other in pairwise(messages):
        assert one.said_at < other.said_at
        if other.follows:
            assert (one.session, one.platform, one.project) == (
                other.session,
                other.platform,
                other.project,
            )
    assert sum(not message.follows for message in messages) == 3


def test_shares_fall_by_rank_and_add_up() -> None:
    shares = zipf(1_000)
    assert (np.diff(shares) < 0).all()
    assert shares.sum() == pytest.approx(1)
