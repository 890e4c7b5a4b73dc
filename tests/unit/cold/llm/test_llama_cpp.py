"""A language model in this process: over a stand-in, and the real library where it is there."""

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from cold.llm.llama_cpp import LlamaCpp
from cold.llm.port import Failure, Why
from tests.fixtures.llama_rules import *  # noqa: F403 (the rules are tests)
from tests.fixtures.llama_rules import failure, question
from tests.fixtures.llama_stand_in import Llama, stand_in

LIBRARIES = ["stand-in", *(["llama_cpp"] if find_spec("llama_cpp") else [])]


@pytest.fixture(params=LIBRARIES)
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Any:
    if request.param == "stand-in":
        module, chat = stand_in()
        monkeypatch.setitem(sys.modules, "llama_cpp", module)
        monkeypatch.setitem(sys.modules, "llama_cpp.llama_chat_format", chat)
    return sys.modules.get("llama_cpp") or __import__("llama_cpp")


@pytest.fixture
def modules(monkeypatch: pytest.MonkeyPatch) -> type[Llama]:
    """The stand-in alone, for faults that the real library cannot be brought to."""
    module, chat = stand_in()
    monkeypatch.setitem(sys.modules, "llama_cpp", module)
    monkeypatch.setitem(sys.modules, "llama_cpp.llama_chat_format", chat)
    return Llama


PATH = Path("/models/qwen3-4b.gguf")


async def asked(**options: Any) -> Failure:
    backend = LlamaCpp(PATH, context=2048, threads=3)
    result = await backend.generate(question("Hello.", **options))
    await backend.close()
    assert isinstance(result, Failure)
    return result


async def test_the_model_is_loaded_once_at_its_first_use(modules: type[Llama]) -> None:
    backend = LlamaCpp(PATH, context=2048, threads=3)
    assert modules.made == []
    assert backend.model == "qwen3-4b.gguf"
    await backend.generate(question("Hello."))
    await backend.generate(question("Hello."))
    await backend.close()
    [options] = modules.made
    assert options["model_path"] == str(PATH)
    assert (options["n_ctx"], options["n_threads"], options["verbose"]) == (2048, 3, False)


async def test_a_file_that_cannot_be_loaded_is_named_and_tried_again(modules: type[Llama]) -> None:
    modules.fails = ValueError("bad magic")
    backend = LlamaCpp(PATH, context=2048, threads=1)
    result = await backend.generate(question("Hello."))
    assert isinstance(result, Failure)
    assert str(PATH) in result.reason
    assert "LOCAL_LLM_MODEL_PATH" in result.reason
    modules.fails = None
    assert not isinstance(await backend.generate(question("Hello.")), Failure)
    await backend.close()


async def test_a_file_without_a_chat_template_is_no_model_for_this(modules: type[Llama]) -> None:
    modules.metadata = {}
    assert "Instruct" in (await asked()).reason


async def test_a_template_that_takes_no_such_conversation_is_a_failure(
    modules: type[Llama],
) -> None:
    modules.metadata = {"tokenizer.chat_template": "{{ raise_exception('no') }}"}
    assert (await asked()).why is Why.REJECTED


async def test_without_the_library_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "llama_cpp", None)
    result = await asked()
    assert result.why is Why.UNAVAILABLE
    assert "pip install 'mcp-agents-memory[local]'" in result.reason


async def test_a_call_that_is_cancelled_while_its_prompt_is_read_ends(
    modules: type[Llama],
) -> None:
    """There are no tokens to stop between then; the library asks whether to go on."""
    modules.evaluates_forever = True
    backend = LlamaCpp(PATH, context=2048, threads=1)
    call = asyncio.create_task(backend.generate(question("Hello.")))
    await asyncio.to_thread(modules.evaluating.wait)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    later = asyncio.create_task(backend.generate(question("Hello.")))
    await asyncio.sleep(0)
    modules.evaluates_forever = False
    assert not isinstance(await later, Failure)
    await backend.close()


async def test_an_evaluation_that_fails_is_a_model_that_is_down(
    modules: type[Llama], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(self: Llama, prompt: list[int], **options: Any) -> Any:
        raise RuntimeError("llama_decode returned -3")

    monkeypatch.setattr(modules, "create_completion", broken)
    backend = LlamaCpp(PATH, context=2048, threads=1)
    assert failure(await backend.generate(question("Hello."))) is Why.UNAVAILABLE
    await backend.close()
