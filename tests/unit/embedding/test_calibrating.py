"""F32: one threshold means the same for every model, since each is measured before it is used."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.embedding.calibrating import LEAST_SEPARATION, UNRELATED, fit, measure
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.pairs import PAIRS
from agents_memory.embedding.profiles import Calibration
from agents_memory.embedding.protocol import Embedder
from tests.fixtures.paraphrases import PARAPHRASES

THRESHOLD = 0.3


@pytest.fixture(scope="module")
async def measured(local: Embedder) -> Calibration:
    found = await measure(local)
    assert found is not None
    return found


@pytest.mark.parametrize("language", PARAPHRASES)
async def test_a_measured_curve_is_as_good_as_one_made_by_hand(
    measured: Calibration, local: Embedder, language: str
) -> None:
    """On texts that it was not measured with, as the curve that comes with the offline model."""
    meanings = PARAPHRASES[language]
    messages, restatements, _ = [
        np.stack(await local.embed(texts)) for texts in zip(*meanings, strict=True)
    ]
    calibrated = np.vectorize(measured)(messages @ restatements.T)
    same = np.eye(len(meanings), dtype=bool)
    assert np.mean(calibrated[~same]) < 0.15
    assert (calibrated[same] > THRESHOLD).mean() >= 0.85
    assert np.mean(calibrated[same]) > 0.7


async def test_a_model_that_knows_no_meaning_has_no_curve() -> None:
    embedder = open_embedder("hashing", allow_hashing=True)
    assert await measure(embedder) is None
    await embedder.close()


@given(
    st.floats(-0.5, 0.9),
    st.floats(0.02, 0.5),
    st.floats(0.005, 0.2),
    st.integers(0, 2**32 - 1),
)
def test_unrelated_texts_are_far_below_the_threshold_whatever_the_model(
    base: float, distance: float, spread: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    unlike = random.normal(base, spread, 360)
    alike = random.normal(base + distance, spread, 40)
    curve = fit(alike, unlike)
    if curve is None:
        assert distance < 2 * LEAST_SEPARATION * spread
        return
    assert np.mean([curve(value) for value in unlike]) <= UNRELATED + 0.01
    assert curve.scale > 0
    if distance > 5 * spread:
        assert np.mean([curve(value) > THRESHOLD for value in alike]) > 0.9


def test_models_that_answer_the_same_for_everything_have_no_curve() -> None:
    assert fit(np.full(40, 0.5), np.full(360, 0.5)) is None
    assert fit(np.full(40, 0.5), np.full(360, 0.6)) is None
    assert fit(np.full(40, 0.9), np.full(360, 0.1)) is not None


def test_the_pairs_are_the_same_in_number_and_none_is_a_test_text() -> None:
    """What a curve is measured with is not what it is tested with."""
    texts = [text for pairs in PAIRS.values() for pair in pairs for text in pair]
    assert len(set(texts)) == 2 * sum(len(pairs) for pairs in PAIRS.values()) == 80
    tested = {text for meanings in PARAPHRASES.values() for each in meanings for text in each}
    assert not tested & set(texts)
