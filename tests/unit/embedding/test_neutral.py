"""Vectors say what was said, not in which language."""

import numpy as np
import pytest

from agents_memory.embedding.local import BASIS_FILE
from agents_memory.embedding.neutral import fit_basis, neutralise
from agents_memory.embedding.protocol import Embedder
from tests.fixtures.parallel import PARALLEL, fitted_basis
from tests.fixtures.paraphrases import PARAPHRASES


def test_what_languages_add_to_the_same_meanings_is_taken_out() -> None:
    random = np.random.default_rng(7)
    meanings = random.normal(size=(30, 24))
    languages = random.normal(size=(4, 24)) * 5
    basis = fit_basis([meanings + language for language in languages])

    assert basis.shape == (4, 24)
    assert basis[1:] @ basis[1:].T == pytest.approx(np.eye(3), abs=1e-5)
    for meaning in meanings:
        in_each = [neutralise(meaning + language, basis) for language in languages]
        assert np.ptp(in_each, axis=0) == pytest.approx(0.0, abs=1e-4)


def test_the_basis_in_the_package_is_the_one_the_sentences_give() -> None:
    stored, fitted = np.load(BASIS_FILE), fitted_basis()
    assert stored.shape == (len(PARALLEL), 384)
    assert stored[0] == pytest.approx(fitted[0], abs=1e-3)
    # Single directions may turn or swap; the space they span may not.
    overlap = np.linalg.norm(stored[1:] @ fitted[1:].T) ** 2 / (len(PARALLEL) - 1)
    assert overlap == pytest.approx(1.0, abs=0.01)


async def test_a_translation_is_closer_than_what_else_was_said_in_the_language(
    local: Embedder,
) -> None:
    messages = {
        language: np.stack(await local.embed([meaning.message for meaning in meanings]))
        for language, meanings in PARAPHRASES.items()
    }
    pool = np.concatenate(list(messages.values()))
    meanings = len(pool) // len(messages)
    found = []
    for vectors in messages.values():
        nearest = np.argsort(-(vectors @ pool.T), axis=1)[:, : len(messages)]
        found.append(nearest % meanings == np.arange(meanings)[:, None])
    # The share of translations among the four nearest; .75 with the model's own vectors.
    assert np.mean(found) > 0.95
