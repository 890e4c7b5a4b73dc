"""How often a model's answers can be used, by schema and by the way it is run.

    python -m bench.llm_quality [--gguf FILE] [--calls N] [--max-tokens N] [--backend NAME]

Every question is one that the daemon would ask about the example conversations, and goes the whole
way: booked, worded, bound to its schema, read, validated, guarded. Without a file the model is the
one that the tests write, which knows the alphabet and nothing else: it shows that form is kept,
whatever a model says. `unguarded` counts answers handed out that the guard would refuse; it must
be 0, and valid answers and failures must add up to the calls.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agents_memory.clock import SystemClock
from agents_memory.embedding.profiles import HASHING
from agents_memory.settings import Settings
from agents_memory.storage import model_calls
from agents_memory.storage.connections import Database
from bench import report
from bench.llama_server import serving
from bench.llm_questions import Asked, questions
from bench.measure import machine
from bench.pool import fresh_pool
from cold.llm.guard import refused
from cold.llm.opening import open_models
from cold.llm.port import Failure, LanguageModel, Why
from cold.llm.wording import legible
from tests.fixtures.tiny_gguf import write_tiny_gguf

BACKENDS = ("llama_cpp", "openai_compatible", "rules")
SCHEMAS = ("Filed", "Revised", "Revisited", "Judged", "Summed", "Verified", "Digested")
# Answers without the form that was asked for.
MISSHAPEN = (Why.EMPTY, Why.MALFORMED, Why.INVALID, Why.CUT)
# One thread: threads of llama.cpp spin while they wait for each other, ruinous on a busy machine.
CONTEXT, THREADS = 8192, 1
# The tiny model has a token for each byte.
TINY_CONTEXT = 32_768
PLENTY = "10000000000"


@dataclass(slots=True)
class Rates:
    """What became of the calls of one schema at one backend; `tries` counts second tries too."""

    calls: int = 0
    valid: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    unguarded: int = 0
    tries: int = 0
    misshapen: int = 0
    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0

    def figures(self) -> dict[str, Any]:
        return {
            "calls": self.calls,
            "valid": self.valid,
            "failures": dict(self.failures),
            "unguarded": self.unguarded,
            "misshapen_rate": round(self.misshapen / max(1, self.tries), 3),
            "tokens_in": self.tokens_in,
            "tokens_out": self.tokens_out,
            "seconds": round(self.seconds, 1),
        }


async def rate(models: LanguageModel, database: Database, asked: Sequence[Asked]) -> Rates:
    """Asks everything, one after the other."""
    clock = SystemClock()
    rates, since, began = Rates(), clock.now(), time.perf_counter()
    for each in asked:
        result = await models.complete(each.role, each.turns, each.schema)
        rates.calls += 1
        if isinstance(result, Failure):
            rates.failures[result.why.value] += 1
            continue
        sources = [legible(turn.text) for turn in each.turns if turn.source]
        # As it would be stored: from its own words, strictly, and looked through once more.
        value = each.schema.model_validate_json(result.value.model_dump_json(), strict=True)
        rates.valid += 1
        rates.unguarded += refused(value, sources) is not None
    rates.seconds = time.perf_counter() - began
    for count in await database.run(lambda c: model_calls.count_calls(c, since)):
        rates.tries += count.calls
        rates.misshapen += count.calls if count.outcome in MISSHAPEN else 0
        rates.tokens_in += count.tokens_in
        rates.tokens_out += count.tokens_out
    return rates


@contextmanager
def settings_of(backend: str, path: Path, context: int, max_tokens: int) -> Iterator[Settings]:
    """What a daemon with that backend is told; its server runs as long."""
    told = {
        "HOME": "/nonexistent",
        "LLM_MAX_TOKENS": str(max_tokens),
        "LOCAL_LLM_CONTEXT": str(context),
        "LOCAL_LLM_THREADS": str(THREADS),
        **{
            f"LOCAL_LLM_{what}_PER_{span}": PLENTY
            for what in ("REQUESTS", "TOKENS")
            for span in ("HOUR", "DAY")
        },
    }
    match backend:
        case "llama_cpp":
            yield Settings.load({**told, "LOCAL_LLM_MODEL_PATH": str(path)})
        case "openai_compatible":
            with serving(path, context=context, threads=THREADS) as url:
                yield Settings.load({**told, "LOCAL_LLM_BASE_URL": url})
        case _:
            yield Settings.load(told)


async def rate_backend(
    database: Database, settings: Settings, asked: dict[str, list[Asked]]
) -> dict[str, Rates]:
    """The rates by schema."""
    models = open_models(settings, database, SystemClock())
    try:
        return {name: await rate(models, database, each) for name, each in asked.items()}
    finally:
        await models.close()


async def run(
    path: Path,
    context: int,
    calls: int,
    max_tokens: int,
    backends: Sequence[str],
    schemas: Sequence[str],
) -> bool:
    """Prints table and line; whether every call was valid or a counted failure."""
    asked = {name: each for name, each in questions(calls).items() if name in schemas}
    found: dict[str, dict[str, Rates]] = {}
    async with fresh_pool(HASHING) as pool:
        database = pool.database("cold")
        for backend in backends:
            report.note(backend)
            with settings_of(backend, path, context, max_tokens) as settings:
                found[backend] = await rate_backend(database, settings, asked)
        await database.close()
    rows = [(backend, name, rates) for backend in found for name, rates in found[backend].items()]
    report.table(
        ["backend", "schema", *Rates().figures()],
        [(backend, name, *map(_shown, rates.figures().values())) for backend, name, rates in rows],
    )
    report.result(
        {
            "model": path.name,
            **{
                backend: {name: rates.figures() for name, rates in by.items()}
                for backend, by in found.items()
            },
            **machine(),
        }
    )
    return all(
        rates.valid + rates.failures.total() == rates.calls and not rates.unguarded
        for _, _, rates in rows
    )


def _shown(value: object) -> object:
    if isinstance(value, dict):
        return ", ".join(f"{number} {why}" for why, number in value.items()) or "none"
    return value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--gguf", type=Path, help="a model (one made here)")
    parser.add_argument("--calls", type=int, default=200, help="for each schema (200)")
    parser.add_argument("--max-tokens", type=int, default=2048, help="of one answer (2048)")
    parser.add_argument("--backend", choices=BACKENDS, action="append", help="only this one")
    parser.add_argument("--schema", choices=SCHEMAS, action="append", help="only this one")
    told = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path, context = told.gguf and told.gguf.expanduser().resolve(), CONTEXT
        if path is None:
            path, context = Path(folder) / "tiny.gguf", TINY_CONTEXT
            write_tiny_gguf(path, context=context)
        backends = told.backend or BACKENDS
        schemas = told.schema or SCHEMAS
        whole = asyncio.run(run(path, context, told.calls, told.max_tokens, backends, schemas))
    sys.exit(0 if whole else 1)


if __name__ == "__main__":
    main()
