"""The settings decide who serves which role; nothing is loaded or asked yet."""

import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field

from agents_memory.domain.errors import ConfigurationError
from agents_memory.settings import Settings
from agents_memory.storage.connections import Database
from cold.llm.answering import Answering
from cold.llm.falling_back import FallingBack
from cold.llm.llama_cpp import LlamaCpp
from cold.llm.openai_compatible import OpenAICompatible
from cold.llm.opening import XAI_MODEL, ByRole, open_models
from cold.llm.port import Failure, LanguageModel, Provider, Role, Rules, Turn, Why
from tests.fakes import ManualClock

SERVER = "http://localhost:11434/v1"
NOWHERE = "postgresql://memory_cold@127.0.0.1:9/memory?sslmode=disable"


def opened(home: Path, **environ: str) -> dict[Role, LanguageModel]:
    settings = Settings.load(environ, home=home)
    database = Database(NOWHERE, schema="agents_memory", application="test")
    models = open_models(settings, database, ManualClock())
    assert isinstance(models, ByRole)
    return dict(models._models)


def who(model: Any) -> tuple[Provider, str]:
    assert isinstance(model, Answering)
    return model._provider, model._backend.model


def test_without_settings_rules_serve_every_role(tmp_path: Path) -> None:
    models = opened(tmp_path)
    assert set(models) == set(Role)
    assert all(isinstance(model, Rules) for model in models.values())


def test_one_server_serves_every_role(tmp_path: Path) -> None:
    models = opened(tmp_path, LOCAL_LLM_BASE_URL=SERVER, LOCAL_LLM_MODEL="qwen3:4b")
    assert len({id(model) for model in models.values()}) == 1
    assert who(models[Role.GATE]) == (Provider.LOCAL, "qwen3:4b")
    backend: Any = models[Role.GATE]
    assert isinstance(backend._backend, OpenAICompatible)


def test_all_that_ask_one_provider_take_turns(tmp_path: Path) -> None:
    models: Any = opened(
        tmp_path,
        LOCAL_LLM_BASE_URL=SERVER,
        LOCAL_LLM_MODEL="a",
        VERIFY_MODEL="b",
        LLM_CONCURRENCY="3",
    )
    [turns] = {model._turns for model in models.values()}
    assert turns._free == 3
    alone: Any = opened(tmp_path, LOCAL_LLM_MODEL_PATH="/models/a.gguf", LLM_CONCURRENCY="3")
    assert alone[Role.TAGGER]._turns._free == 1


def test_one_file_serves_every_role(tmp_path: Path) -> None:
    models = opened(tmp_path, LOCAL_LLM_MODEL_PATH="/models/qwen3-4b.gguf")
    backend: Any = models[Role.TAGGER]
    assert isinstance(backend._backend, LlamaCpp)
    assert who(models[Role.EXTRACT]) == (Provider.LOCAL, "qwen3-4b.gguf")


def test_a_role_may_have_a_provider_and_a_model_of_its_own(tmp_path: Path) -> None:
    models = opened(
        tmp_path,
        LOCAL_LLM_BASE_URL=SERVER,
        LOCAL_LLM_MODEL="qwen3:4b",
        LIBRARIAN_PROVIDER="openai",
        LIBRARIAN_MODEL="gpt-4.1-mini",
        OPENAI_API_KEY="sk-1",
        EXTRACT_PROVIDER="grok",
        XAI_API_KEY="xai-1",
        VERIFY_MODEL="qwen3:14b",
        ALIAS_PROVIDER="rules",
    )
    assert who(models[Role.TAGGER]) == (Provider.LOCAL, "qwen3:4b")
    assert who(models[Role.LIBRARIAN]) == (Provider.OPENAI, "gpt-4.1-mini")
    assert who(models[Role.EXTRACT]) == (Provider.XAI, XAI_MODEL)
    assert who(models[Role.VERIFY]) == (Provider.LOCAL, "qwen3:14b")
    assert isinstance(models[Role.ALIAS], Rules)
    local: Any = models[Role.TAGGER]
    other: Any = models[Role.VERIFY]
    assert local._budget is other._budget
    assert local._holding is other._holding


def test_grok_stands_in_for_a_local_model_only_when_allowed(tmp_path: Path) -> None:
    local = {"LOCAL_LLM_BASE_URL": SERVER, "XAI_API_KEY": "xai-1"}
    assert isinstance(opened(tmp_path, **local)[Role.GATE], Answering)
    model: Any = opened(tmp_path, **local, LOCAL_GROK_FALLBACK="on")[Role.GATE]
    assert isinstance(model, FallingBack)
    assert who(model._second) == (Provider.XAI, XAI_MODEL)


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"LOCAL_LLM_BASE_URL": SERVER, "LOCAL_LLM_MODEL_PATH": "/m.gguf"}, "keep one"),
        ({"LOCAL_GROK_FALLBACK": "on"}, "XAI_API_KEY"),
        ({"GATE_PROVIDER": "xai"}, "XAI_API_KEY"),
        ({"GATE_PROVIDER": "openai"}, "OPENAI_API_KEY"),
        ({"GATE_PROVIDER": "openai", "OPENAI_API_KEY": "sk-1"}, "GATE_MODEL"),
        ({"GATE_PROVIDER": "local"}, "LOCAL_LLM_BASE_URL"),
        ({"GATE_MODEL": "qwen3"}, "GATE_PROVIDER"),
        ({"LOCAL_LLM_MODEL_PATH": "/m.gguf", "GATE_MODEL": "qwen3"}, "one for all"),
    ],
)
def test_settings_that_cannot_be_meant_are_refused_with_what_to_set(
    tmp_path: Path, environ: dict[str, str], named: str
) -> None:
    with pytest.raises(ConfigurationError, match=named):
        opened(tmp_path, **environ)


class _Note(BaseModel):
    text: Annotated[str, Field(max_length=9)]


async def test_every_role_is_asked_and_closed_through_the_one_port(tmp_path: Path) -> None:
    settings = Settings.load({}, home=tmp_path)
    database = Database(NOWHERE, schema="agents_memory", application="test")
    models = open_models(settings, database, ManualClock())
    for role in Role:
        result = await models.complete(role, [Turn("user", "Hello.")], _Note)
        assert isinstance(result, Failure)
        assert result.why is Why.NO_MODEL
    await models.close()


def test_opening_loads_no_client_and_no_runtime() -> None:
    """The daemon starts light: what a model needs is loaded when it is first asked."""
    code = (
        "import sys, cold.llm.opening as o; "
        "print([n for n in ('openai', 'httpx2', 'tenacity', 'llama_cpp') if n in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({}, False),
        ({"XAI_API_KEY": "xai-1", "OPENAI_API_KEY": "sk-1"}, False),
        ({"LOCAL_LLM_BASE_URL": SERVER}, True),
        ({"LOCAL_LLM_MODEL_PATH": "/m.gguf"}, True),
        ({"LOCAL_GROK_FALLBACK": "on", "XAI_API_KEY": "xai-1"}, True),
        *(({f"{role.upper()}_PROVIDER": "rules"}, True) for role in Role),
        *(({f"{role.upper()}_MODEL": "qwen3"}, True) for role in Role),
    ],
)
def test_models_are_opened_where_anything_names_one(
    tmp_path: Path, environ: dict[str, str], named: bool
) -> None:
    """A key alone asks nobody, and nothing of ours is loaded for it."""
    assert Settings.load(environ, home=tmp_path).names_models is named


def test_a_role_is_served_where_it_has_a_model(tmp_path: Path) -> None:
    models = opened(tmp_path, LOCAL_LLM_BASE_URL=SERVER, GATE_PROVIDER="rules")
    assert {role for role in Role if not models[role].serves(role)} == {Role.GATE}
