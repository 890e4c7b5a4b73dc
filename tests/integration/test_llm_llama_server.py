"""The real engine of llama-server, in this process, with a model that the suite writes itself.

Where xllamacpp has no wheel there is no server, and nothing here to run.
"""

import asyncio
import json
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings

from agents_memory.clock import SystemClock
from cold.llm.backend import Generated, Request, Tally
from cold.llm.dialects import Dialect
from cold.llm.openai_compatible import Endpoint, OpenAICompatible
from cold.llm.port import Failure, Turn, Why
from cold.llm.schemas import Schema, canonical
from tests.fixtures.llama_rules import Long, Note, question
from tests.fixtures.tiny_gguf import write_tiny_gguf
from tests.unit.cold.llm.test_gbnf import SCHEMAS

CONTEXT = 2048

if find_spec("xllamacpp") is not None:

    @pytest.fixture(scope="module")
    def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
        """A server on a free port of this machine."""
        import xllamacpp

        path = tmp_path_factory.mktemp("model") / "tiny.gguf"
        write_tiny_gguf(path)
        parameters = xllamacpp.CommonParams()
        parameters.model.path = str(path)
        parameters.n_ctx, parameters.n_parallel, parameters.port = CONTEXT, 1, 0
        parameters.cpuparams.n_threads = parameters.n_threads_http = 2
        parameters.verbosity, parameters.warmup, parameters.ui = 0, False, False
        server = xllamacpp.Server(parameters)
        yield f"{server.listening_address}/v1"
        del server

    @pytest.fixture(params=[None, Dialect.LLAMA_SERVER, Dialect.GENERIC])
    def dialect(request: pytest.FixtureRequest) -> Dialect | None:
        """None: to be found out."""
        chosen: Dialect | None = request.param
        return chosen

    async def asked(
        url: str, *requests: Request, dialect: Dialect | None = None
    ) -> list[Generated | Failure]:
        backend = OpenAICompatible(Endpoint(url, None, None, dialect), SystemClock())
        try:
            return [await backend.generate(request) for request in requests]
        finally:
            await backend.close()

    async def test_every_answer_is_valid(url: str, dialect: Dialect | None) -> None:
        requests = [question(f"Say {n}.", temperature=n / 4) for n in range(8)]
        for result in await asked(url, *requests, dialect=dialect):
            assert isinstance(result, Generated)
            assert result.finish == "stop"
            jsonschema.validate(json.loads(result.text), canonical(Note))
        assert all(request.tally.tokens_out > 10 for request in requests)

    async def test_the_server_is_known_by_its_list_of_models(url: str) -> None:
        backend = OpenAICompatible(Endpoint(url), SystemClock())
        await backend.generate(question("Hello."))
        assert backend._dialect is Dialect.LLAMA_SERVER
        assert Path(backend.model).name == "tiny.gguf"
        await backend.close()

    async def test_a_prompt_that_does_not_fit_is_too_long(url: str) -> None:
        [result] = await asked(url, question("word " * CONTEXT))
        assert isinstance(result, Failure)
        assert result.why is Why.TOO_LONG

    async def test_an_answer_is_cut_at_its_limit_and_says_so(url: str) -> None:
        [result] = await asked(url, question("Hello.", schema=Long, max_tokens=5))
        assert isinstance(result, Generated)
        assert result.finish == "length"

    async def test_calls_at_the_same_time_are_all_answered(url: str) -> None:
        """Also after one of them was cancelled."""
        backend = OpenAICompatible(Endpoint(url), SystemClock())
        await backend.generate(question("Hello."))
        gone = asyncio.create_task(backend.generate(question("Hi.", schema=Long, max_tokens=1700)))
        calls = [asyncio.create_task(backend.generate(question("Hello."))) for _ in range(4)]
        gone.cancel()
        results: list[Any] = await asyncio.gather(*calls)
        assert all(isinstance(result, Generated) for result in results)
        await backend.close()

    def test_every_grammar_of_ours_is_read_and_kept(url: str) -> None:
        """Random schemas of the subset; what llama.cpp makes of their grammars fits them."""

        @settings(deadline=None, suppress_health_check=list(HealthCheck), max_examples=40)
        @given(SCHEMAS)
        def check(schema: Schema) -> None:
            turns = [Turn("user", "Hello.")]
            request = Request(turns, "random", schema, 400, 1.0, Tally())
            [result] = asyncio.run(asked(url, request, dialect=Dialect.LLAMA_SERVER))
            assert isinstance(result, Generated)
            if result.finish == "stop":
                jsonschema.validate(json.loads(result.text), schema)

        check()
