"""A server may misbehave in every way: there is an answer, or a failure that names what to do."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from agents_memory.settings import Secret
from cold.llm.backend import Generated, Request
from cold.llm.dialects import Dialect
from cold.llm.openai_compatible import Endpoint, OpenAICompatible
from cold.llm.port import Failure, Turn, Why
from cold.llm.schemas import canonical
from tests.fakes import ManualClock
from tests.fixtures.completions import completion, error, in_turn, models, schema_of
from tests.fixtures.endpoint import Answer, HangUp, Script, ScriptedEndpoint, scripted_endpoint

KEY = "sk-very-secret-words"


class Note(BaseModel):
    text: Annotated[str, Field(min_length=1, max_length=40)]
    tags: Annotated[list[Annotated[str, Field(max_length=9)]], Field(max_length=3)]
    tone: Annotated[int, Field(ge=1, le=5)] | None


class Pauses(list[float]):
    """Waits between two tries, noted and not waited for."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


def question(text: str = "Hello.") -> Request:
    return Request([Turn("system", "Be brief."), Turn("user", text)], "Note", canonical(Note), 300)


@asynccontextmanager
async def asked(
    script: Script,
    *,
    dialect: Dialect | None = Dialect.GENERIC,
    model: str | None = "m",
    key: str | None = None,
    pauses: Pauses | None = None,
) -> AsyncIterator[tuple[OpenAICompatible, ScriptedEndpoint]]:
    async with scripted_endpoint(script) as server:
        secret = None if key is None else Secret(key)
        backend = OpenAICompatible(
            Endpoint(server.url, secret, model, dialect),
            ManualClock(),
            sleep=Pauses() if pauses is None else pauses,
        )
        try:
            yield backend, server
        finally:
            await backend.close()


async def body_for(dialect: Dialect) -> dict[str, Any]:
    async with asked(in_turn(completion("{}")), dialect=dialect) as (backend, server):
        assert isinstance(await backend.generate(question()), Generated)
    [request] = server.requests
    assert request.path == "/v1/chat/completions"
    return request.body


async def test_every_dialect_is_asked_for_the_whole_schema_in_the_nested_form() -> None:
    """The flat form means "any object" to llama-server."""
    for dialect in (Dialect.GENERIC, Dialect.OLLAMA, Dialect.VLLM):
        body = await body_for(dialect)
        assert body["response_format"]["type"] == "json_schema"
        assert body["response_format"]["json_schema"]["strict"] is True
        assert schema_of(body) == canonical(Note)
        assert (body["model"], body["temperature"], body["max_tokens"]) == ("m", 0.0, 300)


async def test_llama_server_is_given_our_own_grammar() -> None:
    body = await body_for(Dialect.LLAMA_SERVER)
    assert body["grammar"].startswith("root ::= ")
    assert "response_format" not in body


async def test_thinking_is_turned_off_where_there_is_a_word_for_it() -> None:
    off = {"enable_thinking": False}
    assert (await body_for(Dialect.LLAMA_SERVER))["chat_template_kwargs"] == off
    assert (await body_for(Dialect.VLLM))["chat_template_kwargs"] == off
    assert (await body_for(Dialect.OLLAMA))["reasoning_effort"] == "none"
    for dialect in (Dialect.OPENAI, Dialect.XAI, Dialect.GENERIC):
        assert not {"chat_template_kwargs", "reasoning_effort"} & (await body_for(dialect)).keys()


async def test_openai_and_xai_are_not_asked_for_bounds_they_refuse() -> None:
    openai, xai = await body_for(Dialect.OPENAI), await body_for(Dialect.XAI)
    assert "maxLength" not in str(schema_of(openai))
    assert schema_of(openai)["properties"]["tags"]["maxItems"] == 3
    assert "maxItems" not in str(schema_of(xai))
    assert schema_of(xai)["properties"]["tone"]["anyOf"][1] == {"type": "null"}
    assert openai["max_completion_tokens"] == 300
    assert "max_tokens" not in openai


@pytest.mark.parametrize(
    ("owner", "sign"),
    [("llamacpp", "grammar"), ("vllm", "chat_template_kwargs"), ("library", "reasoning_effort")],
)
async def test_what_a_server_is_and_which_model_it_has_are_found_out_once(
    owner: str, sign: str
) -> None:
    script = in_turn(completion("{}"), completion("{}"), listed=models("first", "b", owner=owner))
    async with asked(script, dialect=None, model=None) as (backend, server):
        await backend.generate(question())
        await backend.generate(question())
    paths = [request.path for request in server.requests]
    assert paths == ["/v1/models", "/v1/chat/completions", "/v1/chat/completions"]
    assert server.requests[1].body["model"] == backend.model == "first"
    assert sign in server.requests[1].body


async def test_a_server_without_a_list_of_models_is_asked_in_the_plain_way() -> None:
    script = in_turn(completion("{}"), listed=error(404, "no such page"))
    async with asked(script, dialect=None) as (backend, server):
        assert isinstance(await backend.generate(question()), Generated)
    assert "response_format" in server.requests[-1].body


async def test_a_server_without_a_model_is_named() -> None:
    async with asked(in_turn(listed=models()), dialect=None, model=None) as (backend, _):
        result = await backend.generate(question())
    assert isinstance(result, Failure)
    assert "LOCAL_LLM_MODEL" in result.reason


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        (completion("{}"), "{}"),
        (completion("", reasoning_content="{}"), "{}"),
        (completion(None, reasoning="{}"), "{}"),
        (completion("", reasoning_content=None), ""),
        (completion([{"type": "text"}]), ""),
    ],
)
async def test_the_answer_is_where_this_server_puts_it(answer: Answer, text: str) -> None:
    async with asked(in_turn(answer)) as (backend, _):
        assert await backend.generate(question()) == Generated(text, "stop")


async def test_tokens_and_requests_are_counted() -> None:
    request = question()
    async with asked(in_turn(error(503, "busy"), completion("{}"))) as (backend, _):
        await backend.generate(request)
    assert (request.tally.requests, request.tally.tokens_in, request.tally.tokens_out) == (
        2,
        40,
        10,
    )


@pytest.mark.parametrize(
    ("answer", "why"),
    [
        (completion("{}", refusal="I cannot."), Why.REFUSED),
        (completion("", finish="content_filter"), Why.REFUSED),
        (error(401, "no"), Why.UNAVAILABLE),
        (error(404, "no"), Why.UNAVAILABLE),
        (error(429, "insufficient_quota"), Why.UNAVAILABLE),
        (error(307, "elsewhere"), Why.UNAVAILABLE),
        (error(400, "no"), Why.REJECTED),
        (error(400, "exceed_context_size_error"), Why.TOO_LONG),
        (error(400, "context_length_exceeded"), Why.TOO_LONG),
        (Answer(b"<html>"), Why.UNAVAILABLE),
        (Answer(b"\xff\xfe\0"), Why.UNAVAILABLE),
        (Answer(b"[" * 100_000), Why.UNAVAILABLE),
        (Answer([]), Why.UNAVAILABLE),
        (Answer({"choices": []}), Why.UNAVAILABLE),
        (Answer({"choices": [{"message": "x"}]}), Why.UNAVAILABLE),
        (Answer(b" " * 9_000_000), Why.UNAVAILABLE),
    ],
)
async def test_what_stays_wrong_is_a_failure_at_once(answer: Answer, why: Why) -> None:
    pauses = Pauses()
    async with asked(in_turn(answer, then=completion("{}")), pauses=pauses) as (backend, server):
        result = await backend.generate(question())
    assert isinstance(result, Failure)
    assert result.why is why
    assert pauses == []
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "step", [error(500, "x"), error(503, "x"), error(408, "x"), error(429, "x"), HangUp()]
)
async def test_what_may_pass_is_tried_again_and_then_given_up(step: Any) -> None:
    pauses = Pauses()
    async with asked(in_turn(step, then=completion("{}")), pauses=pauses) as (backend, _):
        assert isinstance(await backend.generate(question()), Generated)
    assert len(pauses) == 1
    async with asked(in_turn(then=step)) as (backend, server):
        result = await backend.generate(question())
    assert isinstance(result, Failure)
    assert result.why is Why.UNAVAILABLE
    assert len(server.requests) == 3


async def test_the_server_says_how_long_to_wait() -> None:
    pauses = Pauses()
    steps = error(429, "slow down", retry_after="7"), error(429, "x", retry_after="inf")
    async with asked(in_turn(*steps, then=completion("{}")), pauses=pauses) as (backend, _):
        assert isinstance(await backend.generate(question()), Generated)
    assert pauses[0] == 7
    assert pauses[1] < 5


async def test_a_server_that_wants_a_long_rest_is_left_until_then() -> None:
    pauses = Pauses()
    script = in_turn(error(429, "slow down", retry_after="3600"))
    async with asked(script, pauses=pauses) as (backend, server):
        result = await backend.generate(question())
    assert isinstance(result, Failure)
    assert result.until is not None
    assert (result.until - ManualClock().now()).total_seconds() == 3600
    assert pauses == []
    assert len(server.requests) == 1


async def test_a_keyword_that_is_refused_is_left_out_once() -> None:
    refusal = error(400, "Invalid schema: 'maxLength' is not permitted")
    async with asked(in_turn(refusal, completion("{}"))) as (backend, server):
        assert isinstance(await backend.generate(question()), Generated)
    first, second = server.requests
    assert "maxLength" in str(schema_of(first.body))
    assert "maxLength" not in str(schema_of(second.body))
    assert "minLength" in str(schema_of(second.body))
    async with asked(in_turn(then=refusal)) as (backend, server):
        result = await backend.generate(question())
    assert isinstance(result, Failure)
    assert result.why is Why.REJECTED
    assert len(server.requests) == 2


async def test_a_temperature_that_is_refused_is_left_out() -> None:
    refusal = error(400, "Unsupported value: 'temperature' does not support 0 with this model")
    async with asked(in_turn(refusal, completion("{}"))) as (backend, server):
        assert isinstance(await backend.generate(question()), Generated)
    assert "temperature" not in server.requests[1].body


async def test_a_key_is_sent_where_there_is_one_and_never_shown() -> None:
    async with asked(in_turn(error(401, f"bad key {KEY}")), key=KEY) as (backend, server):
        result = await backend.generate(question())
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
    assert isinstance(result, Failure)
    assert KEY not in result.reason
    assert "LOCAL_LLM_API_KEY" in result.reason
    async with asked(in_turn(completion("{}"))) as (backend, server):
        await backend.generate(question())
    assert "authorization" not in server.requests[0].headers


async def test_no_reason_holds_what_was_said() -> None:
    for answer in (error(400, "secret words"), error(500, "secret words"), Answer(b"secret words")):
        async with asked(in_turn(then=answer)) as (backend, _):
            result = await backend.generate(question("secret words"))
        assert isinstance(result, Failure)
        assert "secret words" not in result.reason


async def test_nobody_there_is_a_failure() -> None:
    backend = OpenAICompatible(
        Endpoint("http://127.0.0.1:9/v1", None, "m", Dialect.GENERIC), ManualClock(), sleep=Pauses()
    )
    result = await backend.generate(question())
    assert isinstance(result, Failure)
    assert "cannot be reached" in result.reason
    await backend.close()
    assert isinstance(await backend.generate(question()), Failure)
