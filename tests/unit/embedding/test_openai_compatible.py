"""An endpoint may misbehave in every way: each text gets its own vector, or there is an error."""

import asyncio
import logging
import math
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from email.utils import format_datetime
from hashlib import blake2b

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding import openai_compatible
from agents_memory.embedding.chunking import estimate_tokens
from agents_memory.embedding.endpoint import OPENAI_URL, Endpoint
from agents_memory.embedding.naming import Prefixes, read_name
from agents_memory.embedding.openai_compatible import OpenAICompatibleEmbedder
from agents_memory.embedding.opening import Access, open_embedder
from agents_memory.settings import Secret
from tests.fakes import ManualClock
from tests.fixtures.endpoint import (
    Answer,
    HangUp,
    Request,
    Script,
    ScriptedEndpoint,
    embeddings,
    in_base64,
    scripted_endpoint,
)

DIMS = 8
NAMED = read_name(f"http:test-model@{DIMS}")
KEY = "sk-very-secret-words"


def vector_of(text: str, dims: int = DIMS) -> NDArray[np.float64]:
    """What the endpoint has for a text; no two texts have the same."""
    seed = int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "little")
    return np.random.default_rng(seed).standard_normal(dims)


def well_behaved(request: Request) -> Answer:
    return embeddings([vector_of(text).tolist() for text in request.texts])


def in_turn(
    *answers: Answer | Callable[[Request], Answer],
) -> Script:
    """The answers one after the other, then good ones."""
    left = list(answers)

    async def script(request: Request) -> Answer:
        answer = left.pop(0) if left else well_behaved
        return answer if isinstance(answer, Answer) else answer(request)

    return script


def always(answer: Callable[[Request], Answer]) -> Script:
    async def script(request: Request) -> Answer:
        return answer(request)

    return script


class Pauses(list[float]):
    """Waits between two tries, noted and not waited for."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


@asynccontextmanager
async def asked(
    script: Script,
    *,
    pauses: Pauses | None = None,
    timeout_s: float = 30.0,
    prefixes: Prefixes | None = None,
    key: str | None = None,
    name: str = f"http:test-model@{DIMS}",
) -> AsyncIterator[tuple[OpenAICompatibleEmbedder, ScriptedEndpoint]]:
    named = read_name(name, prefixes)
    async with scripted_endpoint(script) as endpoint:
        embedder = OpenAICompatibleEmbedder(
            named.profile,
            named.model,
            Endpoint(endpoint.url, None if key is None else Secret(key)),
            timeout_s=timeout_s,
            clock=ManualClock(),
            sleep=Pauses() if pauses is None else pauses,
        )
        try:
            yield embedder, endpoint
        finally:
            await embedder.close()


def same_direction(vector: NDArray[np.floating], text: str) -> bool:
    wanted = vector_of(text)
    return bool(vector @ wanted / np.linalg.norm(wanted) > 0.9999)


async def test_every_text_gets_its_own_vector_at_length_one() -> None:
    async with asked(always(well_behaved)) as (embedder, endpoint):
        texts = ["one", "two", "three"]
        vectors = await embedder.embed(texts)
    assert all(same_direction(v, t) for v, t in zip(vectors, texts, strict=True))
    assert all(v.dtype == np.float32 and abs(np.linalg.norm(v) - 1) < 1e-6 for v in vectors)
    [request] = endpoint.requests
    assert request.path == "/v1/embeddings"
    assert request.body == {"model": "test-model", "input": texts, "encoding_format": "float"}


async def test_questions_and_documents_get_their_own_prefix() -> None:
    prefixes = Prefixes("ask: ", "say: ")
    async with asked(always(well_behaved), prefixes=prefixes) as (embedder, endpoint):
        await embedder.embed(["a", "b"])
        await embedder.embed_query("c")
    assert [request.texts for request in endpoint.requests] == [["say: a", "say: b"], ["ask: c"]]


async def test_vectors_in_another_order_are_put_in_order_by_their_index() -> None:
    def reversed_(request: Request) -> Answer:
        places = list(range(len(request.texts)))[::-1]
        return embeddings([vector_of(request.texts[p]).tolist() for p in places], places)

    async with asked(always(reversed_)) as (embedder, _):
        texts = ["one", "two", "three"]
        vectors = await embedder.embed(texts)
    assert all(same_direction(v, t) for v, t in zip(vectors, texts, strict=True))


async def test_vectors_without_an_index_are_in_the_order_of_the_texts() -> None:
    def bare(request: Request) -> Answer:
        return Answer({"data": [{"embedding": vector_of(t).tolist()} for t in request.texts]})

    async with asked(always(bare)) as (embedder, _):
        [one, two] = await embedder.embed(["one", "two"])
    assert same_direction(one, "one")
    assert same_direction(two, "two")


async def test_base64_is_understood_whether_asked_for_or_not() -> None:
    def packed(request: Request) -> Answer:
        return embeddings([in_base64(vector_of(text)) for text in request.texts])

    async with asked(always(packed)) as (embedder, _):
        [vector] = await embedder.embed(["one"])
    assert same_direction(vector, "one")


@pytest.mark.parametrize("indexes", [[0, 0, 1], [1, 2, 3], [0, 1, None], [0, "x", 2], [[], {}, 1]])
async def test_indexes_that_name_no_order_are_refused(indexes: Sequence[object]) -> None:
    async with asked(always(lambda _: embeddings([[1.0] * DIMS] * 3, indexes))) as (embedder, _):
        with pytest.raises(EmbedderUnavailable, match="unclear which vector"):
            await embedder.embed(["one", "two", "three"])


@pytest.mark.parametrize("count", [0, 1, 3])
async def test_another_number_of_vectors_than_texts_is_no_success(count: int) -> None:
    """A1: what comes back short is an error, and none of it is used."""
    async with asked(always(lambda _: embeddings([[1.0] * DIMS] * count))) as (embedder, endpoint):
        with pytest.raises(EmbedderUnavailable, match=f"answered {count} vectors for 2 texts"):
            await embedder.embed(["one", "two"])
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize(
    "vector",
    [
        [1.0] * (DIMS - 1),
        [1.0] * (DIMS + 1),
        [],
        [0.0] * DIMS,
        [math.nan] * DIMS,
        [math.inf] + [0.0] * (DIMS - 1),
        [[1.0] * DIMS],
        ["x"] * DIMS,
        None,
        {"a": 1},
        "no base64!",
        in_base64(np.ones(DIMS - 1)),
        "AAA=",
    ],
    ids=repr,
)
async def test_one_bad_vector_refuses_the_whole_answer(vector: object) -> None:
    """A1: a hole in an answer never becomes a message without a vector."""
    good = [1.0] * DIMS
    async with asked(always(lambda _: embeddings([good, vector, good]))) as (embedder, _):
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed(["one", "two", "three"])


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"<html>", headers={"Content-Type": "text/html"}),
        Answer(b"{"),
        Answer(b""),
        Answer([]),
        Answer("text"),
        Answer(None),
        Answer({"data": None}),
        Answer({"data": {"0": 1}}),
        Answer({"data": [None, 7]}),
        Answer({"error": {"message": KEY}}),
        Answer(b"\xff\xfe"),
    ],
    ids=lambda a: repr(a.body),
)
async def test_what_is_no_answer_is_called_so(answer: Answer) -> None:
    async with asked(always(lambda _: answer)) as (embedder, _):
        with pytest.raises(EmbedderUnavailable) as failed:
            await embedder.embed(["one", "two"])
    assert "endpoint of OpenAI's kind" in str(failed.value)
    assert KEY not in str(failed.value)


async def test_a_busy_endpoint_is_asked_again_when_it_said() -> None:
    pauses = Pauses()
    busy = Answer({}, 429, {"Retry-After": "7"})
    async with asked(in_turn(busy, busy), pauses=pauses) as (embedder, endpoint):
        [vector] = await embedder.embed(["one"])
    assert same_direction(vector, "one")
    assert pauses == [7.0, 7.0]
    assert len(endpoint.requests) == 3


async def test_a_date_to_come_back_at_is_understood() -> None:
    pauses = Pauses()
    date = format_datetime(ManualClock().now() + timedelta(seconds=12), usegmt=True)
    busy = Answer({}, 503, {"Retry-After": date})
    async with asked(in_turn(busy), pauses=pauses) as (embedder, _):
        await embedder.embed(["one"])
    assert pauses == [12.0]


@pytest.mark.parametrize("header", ["nan", "inf", "soon", "", "Mon, 99 Foo"])
async def test_a_date_that_means_nothing_is_none(header: str) -> None:
    pauses = Pauses()
    async with asked(in_turn(Answer({}, 429, {"Retry-After": header})), pauses=pauses) as (it, _):
        await it.embed(["one"])
    assert len(pauses) == 1
    assert 0 <= pauses[0] <= 4


async def test_a_long_pause_is_reported_and_not_waited_for() -> None:
    pauses = Pauses()
    busy = Answer({}, 429, {"Retry-After": "3600"})
    async with asked(always(lambda _: busy), pauses=pauses) as (embedder, endpoint):
        with pytest.raises(EmbedderUnavailable, match="HTTP 429"):
            await embedder.embed(["one"])
    assert pauses == []
    assert len(endpoint.requests) == 1


@pytest.mark.parametrize("status", [408, 409, 429, 500, 502, 503, 504])
async def test_a_passing_failure_is_tried_again_and_then_given_up(status: int) -> None:
    pauses = Pauses()
    async with asked(in_turn(Answer({}, status)), pauses=pauses) as (embedder, _):
        assert len(await embedder.embed(["one"])) == 1
    assert len(pauses) == 1
    async with asked(always(lambda _: Answer({}, status)), pauses=Pauses()) as (embedder, endpoint):
        with pytest.raises(EmbedderUnavailable, match=f"HTTP {status}"):
            await embedder.embed(["one"])
    assert len(endpoint.requests) == openai_compatible.ATTEMPTS


async def test_a_cut_connection_is_tried_again() -> None:
    def hang_up(_: Request) -> Answer:
        raise HangUp

    async with asked(in_turn(hang_up)) as (embedder, endpoint):
        [vector] = await embedder.embed(["one"])
    assert same_direction(vector, "one")
    assert len(endpoint.requests) == 2
    async with asked(always(hang_up)) as (embedder, _):
        with pytest.raises(EmbedderUnavailable, match="cannot be reached"):
            await embedder.embed(["one"])


async def test_an_endpoint_that_is_away_is_named() -> None:
    async with asked(always(well_behaved)) as (_, endpoint):
        url = endpoint.url
    named = read_name("http:bge-m3")
    embedder = OpenAICompatibleEmbedder(
        named.profile, named.model, Endpoint(url, None), sleep=Pauses()
    )
    with pytest.raises(EmbedderUnavailable, match=f"{url} cannot be reached; start it"):
        await embedder.embed_query("one")
    await embedder.close()


@pytest.mark.parametrize(
    ("status", "body", "advice"),
    [
        (401, {"error": {"message": KEY}}, "correct EMBEDDING_API_KEY"),
        (403, {}, "correct EMBEDDING_API_KEY"),
        (404, {}, "ollama pull test-model"),
        (429, {"error": {"code": "insufficient_quota", "message": KEY}}, "no quota left"),
        (400, {"error": {"message": KEY}}, "refuses a request"),
        (418, {}, "refuses a request"),
    ],
)
async def test_what_stays_wrong_is_said_once_with_what_to_do(
    status: int, body: object, advice: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Neither the key nor what the endpoint answered is in an error or a log."""
    caplog.set_level(logging.DEBUG)
    async with asked(always(lambda _: Answer(body, status)), key=KEY) as (embedder, endpoint):
        with pytest.raises(EmbedderUnavailable) as failed:
            await embedder.embed(["one"])
    assert advice in str(failed.value)
    assert KEY not in f"{failed.value!r} {failed.value.__cause__!r} {caplog.text}"
    assert len(endpoint.requests) == 1


async def test_an_endpoint_that_hangs_is_given_up() -> None:
    async def hang(_: Request) -> Answer:
        await asyncio.Event().wait()
        raise AssertionError

    async with asked(hang, timeout_s=0.05) as (embedder, endpoint):
        with pytest.raises(EmbedderUnavailable, match="did not answer in time"):
            await embedder.embed(["one"])
        await endpoint.left.wait()
    assert len(endpoint.requests) == 1


async def test_cancelling_leaves_the_endpoint_at_once() -> None:
    reached = asyncio.Event()

    async def hang(_: Request) -> Answer:
        reached.set()
        await asyncio.Event().wait()
        raise AssertionError

    async with asked(hang) as (embedder, endpoint):
        call = asyncio.create_task(embedder.embed(["one"]))
        await reached.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        await endpoint.left.wait()


async def test_cancelling_ends_a_wait_between_two_tries() -> None:
    waiting = asyncio.Event()

    class Endless(Pauses):
        async def __call__(self, seconds: float) -> None:
            waiting.set()
            await asyncio.Event().wait()

    async with asked(always(lambda _: Answer({}, 500)), pauses=Endless()) as (embedder, endpoint):
        call = asyncio.create_task(embedder.embed(["one"]))
        await waiting.wait()
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
    assert len(endpoint.requests) == 1


async def test_a_closed_embedder_refuses_and_sends_nothing() -> None:
    async with asked(always(well_behaved)) as (embedder, endpoint):
        await embedder.embed(["one"])
        await embedder.close()
        await embedder.close()
        with pytest.raises(EmbedderUnavailable, match="closed; open a new one"):
            await embedder.embed(["two"])
    assert len(endpoint.requests) == 1


async def test_nothing_is_sent_for_texts_that_show_nothing() -> None:
    """C2: an endpoint refuses an empty text; it is never asked about one."""
    async with asked(always(well_behaved)) as (embedder, endpoint):
        assert await embedder.embed([]) == []
        blank = await embedder.embed(["", " \n", "\u200b"])
        mixed = await embedder.embed(["", "one", " "])
    assert all(np.linalg.norm(vector) == 1 for vector in [*blank, *mixed])
    assert same_direction(mixed[1], "one")
    assert [request.texts for request in endpoint.requests] == [["one"]]


async def test_many_texts_go_out_in_bounded_batches() -> None:
    texts = [f"{number} " + "word " * 300 for number in range(70)]
    async with asked(always(well_behaved)) as (embedder, endpoint):
        vectors = await embedder.embed(texts)
    assert all(same_direction(v, t) for v, t in zip(vectors, texts, strict=True))
    sent = [request.texts for request in endpoint.requests]
    assert [text for batch in sent for text in batch] == texts
    assert all(len(batch) <= openai_compatible.BATCH_TEXTS for batch in sent)
    assert all(sum(map(estimate_tokens, b)) <= openai_compatible.BATCH_TOKENS for b in sent)
    assert len(sent) < 6


async def test_a_model_whose_vectors_depend_on_their_batch_is_asked_for_one_at_a_time() -> None:
    async with asked(always(well_behaved)) as (embedder, endpoint):
        embedder.profile = replace(embedder.profile, batch="single")
        await embedder.embed(["one", "two"])
    assert [request.texts for request in endpoint.requests] == [["one"], ["two"]]


async def test_a_megabyte_is_cut_at_what_the_model_takes() -> None:
    async with asked(always(well_behaved), prefixes=Prefixes("ask: ", "say: ")) as (it, endpoint):
        await it.embed(["The bridge was closed. " * 50_000])
    [request] = endpoint.requests
    assert request.texts[0].startswith("say: The bridge")
    assert NAMED.profile.max_tokens - 5 < estimate_tokens(request.texts[0]) <= 512


async def test_a_text_with_more_tokens_than_estimated_is_cut_further() -> None:
    def strict(request: Request) -> Answer:
        if any(len(text) > 700 for text in request.texts):
            return Answer({"error": {"message": "too large"}}, 400)
        return well_behaved(request)

    async with asked(always(strict)) as (embedder, endpoint):
        vectors = await embedder.embed(["0123456789abcdef" * 200, "short"])
    assert len(vectors) == 2
    first, second = (request.texts for request in endpoint.requests)
    assert first[0].startswith(second[0])
    assert second[1] == "short"


@settings(deadline=None, max_examples=25, suppress_health_check=[HealthCheck.too_slow])
@given(texts=st.lists(st.text(max_size=40), max_size=5))
def test_any_string_is_legal(texts: list[str]) -> None:
    async def embed() -> int:
        async with asked(always(well_behaved)) as (embedder, _):
            return len(await embedder.embed([*texts, "\ud800\0x"]))

    assert asyncio.run(embed()) == len(texts) + 1


async def test_the_beginning_of_a_longer_vector_is_kept_where_the_model_allows_it() -> None:
    def long(request: Request) -> Answer:
        return embeddings([vector_of(text, 768).tolist() for text in request.texts])

    async with asked(always(long), name="http:embeddinggemma@256") as (embedder, endpoint):
        [vector] = await embedder.embed(["one"])
    wanted = vector_of("title: none | text: one", 768)[:256]
    assert vector.shape == (256,)
    assert float(vector @ wanted) / np.linalg.norm(wanted) > 0.9999
    assert "dimensions" not in endpoint.requests[0].body


async def test_a_key_is_sent_as_bearer_and_nothing_of_the_environment_goes_along(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A local endpoint never gets the headers that are meant for OpenAI."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-openai")
    monkeypatch.setenv("OPENAI_ORG_ID", "org-of-openai")
    monkeypatch.setenv("OPENAI_PROJECT_ID", "project-of-openai")
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "X-Gateway: of-openai")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://of-openai.invalid/v1")
    async with asked(always(well_behaved), key=KEY) as (embedder, endpoint):
        await embedder.embed(["one"])
    async with asked(always(well_behaved)) as (keyless, open_endpoint):
        await keyless.embed(["one"])
    assert endpoint.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert "authorization" not in open_endpoint.requests[0].headers
    assert "of-openai" not in repr([endpoint.requests, open_endpoint.requests])


async def test_what_is_not_set_is_said_at_the_first_use() -> None:
    """D4: a server starts without its model, and says what it lacks."""
    openai = open_embedder("openai:text-embedding-3-large")
    assert openai.profile.dims == 3072
    with pytest.raises(EmbedderUnavailable, match="OPENAI_API_KEY is not set"):
        await openai.embed(["one"])
    elsewhere = open_embedder("http:bge-m3", access=Access(openai_api_key=Secret(KEY)))
    with pytest.raises(EmbedderUnavailable, match="EMBEDDING_BASE_URL is not set"):
        await elsewhere.embed(["one"])


def test_openai_is_asked_at_its_own_address_with_its_own_key() -> None:
    access = Access("http://localhost:1/v1", Secret("other"), Secret(KEY))
    embedder = open_embedder("text-embedding-3-large@1024", access=access)
    assert isinstance(embedder, OpenAICompatibleEmbedder)
    endpoint = embedder._endpoint
    assert (endpoint.base_url, endpoint.key) == (OPENAI_URL, Secret(KEY))
    assert (embedder.profile.dims, embedder.profile.native_dims) == (1024, 3072)
    assert KEY not in repr(endpoint)
