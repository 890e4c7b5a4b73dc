"""`embedding`: the models whose vectors a memory holds, and the change from one to another."""

import asyncio

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, never_made, nothing_there, open_for, say
from agents_memory.domain.errors import (
    ConfigurationError,
    EmbedderUnavailable,
    MemoryFault,
    Refusal,
)
from agents_memory.embedding.naming import setting_for
from agents_memory.embedding.opening import open_named, profile_of, profiles_of
from agents_memory.embedding.profiles import UNMEASURED, Calibration, Profile
from agents_memory.services import embedding_models
from agents_memory.services.embedding_models import ModelState
from agents_memory.services.opening import prepare_pool
from agents_memory.settings import Settings
from agents_memory.storage.vectors import Coverage, Model

name_of_model = click.argument("name", metavar="MODEL")


@click.group("embedding")
def command() -> None:
    """List, add, use or drop the embedding models of the memory.

    A change takes three steps: add the new model, wait until the daemon made its vectors (searches
    go on with the old ones), use it. All but list need the owner of the database.
    """


@command.command("list", epilog=f"Example: mcp-agents-memory embedding list --json\n\n{EPILOG}")
@as_json
def list_command(*, as_json: bool) -> None:
    """Show each model: which one searches use, and what has vectors of it."""
    settings = load_settings()
    states = asyncio.run(_list(settings))
    for profile in {p.id for p in profiles_of(settings)} - {state.profile for state in states}:
        say(f"note: {profile} is set up here and not in the memory; `embedding add` makes it known")
    if as_json:
        emit_json({"models": states})
    else:
        emit_text(render(states))


@command.command("add", epilog=f"Example: mcp-agents-memory embedding add http:bge-m3\n\n{EPILOG}")
@name_of_model
@as_json
def add(*, name: str, as_json: bool) -> None:
    """Try out a model, measure it and make its tables; searches go on with the one in use.

    MODEL is written as in EMBEDDING_MODEL. Safe to repeat.
    """
    settings = load_settings()
    profile = profile_of(settings, name)
    curve, state = asyncio.run(_add(settings, name, profile))
    if curve is None and profile.calibration is UNMEASURED:
        say("note: this model does not tell the same in other words from unrelated texts")
    if as_json:
        emit_json({"ok": True, "model": state, "calibration": curve})
        return
    emit_text(render([state]))
    if not state.active:
        emit_text(
            f"\nnext  set EMBEDDING_MODEL_NEXT={name} where the daemon runs, and restart it\n"
            f"then  mcp-agents-memory embedding use {profile.id}"
        )


@command.command("use", epilog=f"Example: mcp-agents-memory embedding use bge-m3@1024\n\n{EPILOG}")
@name_of_model
@click.option("--anyway", is_flag=True, help="Even if something has no vectors of it yet.")
@as_json
def use(*, name: str, anyway: bool, as_json: bool) -> int:
    """Let every search use a model from now on.

    MODEL is written as in EMBEDDING_MODEL, or as `embedding list` shows it. A client that does not
    have it searches by keyword and says so.
    """
    settings = load_settings()
    profile = _profile_id(settings, name)
    outcome = asyncio.run(_use(settings, profile, anyway=anyway))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "active_model": profile, "coverage": outcome})
        return EXIT_OK
    emit_text(f"searches use {profile} from now on")
    if profile not in {one.id for one in profiles_of(settings)}:
        say(f"note: set EMBEDDING_MODEL={setting_for(profile)} on every machine, this one too")
    return EXIT_OK


@command.command(
    "drop", epilog=f"Example: mcp-agents-memory embedding drop hashing:256\n\n{EPILOG}"
)
@name_of_model
@as_json
def drop(*, name: str, as_json: bool) -> int:
    """Give up a model that is not in use, with all its vectors.

    MODEL is written as in EMBEDDING_MODEL, or as `embedding list` shows it.
    """
    settings = load_settings()
    outcome = asyncio.run(_drop(settings, _profile_id(settings, name)))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "dropped": outcome.profile})
    else:
        emit_text(f"dropped {outcome.profile} and its vectors")
    return EXIT_OK


def render(states: list[ModelState]) -> str:
    """A line for each model; `*` marks the one in use."""
    width = max((len(state.profile) for state in states), default=0)
    return "\n".join(
        "  ".join(
            (
                f"{'*' if state.active else ' '} {state.profile:<{width}}",
                f"messages {_done(state.messages, state.messages_missing)}",
                f"memories {_done(state.memories, state.memories_missing)}",
                _index(state),
                *(["set up here"] if state.here else []),
            )
        )
        for state in states
    )


def _done(wanted: int, missing: int) -> str:
    return f"{wanted - missing} of {wanted}"


def _index(state: ModelState) -> str:
    if not state.indexed:
        return "no index"
    return "indexed" if state.index_recall is None else f"index finds {state.index_recall:.0%}"


def _profile_id(settings: Settings, name: str) -> str:
    try:
        return profile_of(settings, name).id
    except ConfigurationError:
        # It may still be what the pool calls it.
        return name


async def _list(settings: Settings) -> list[ModelState]:
    here = {profile.id for profile in profiles_of(settings)}
    async with open_for(settings, "embedding") as pool:
        return await embedding_models.list_states(pool.database, here)


async def _add(
    settings: Settings, name: str, profile: Profile
) -> tuple[Calibration | None, ModelState]:
    if never_made(settings):
        raise nothing_there(settings)
    embedder = open_named(settings, name)
    say(f"trying out {profile.id} …")
    try:
        curve = await embedding_models.try_out(embedder)
    except EmbedderUnavailable as fault:
        raise MemoryFault(f"the model does not work here, so it was not added: {fault}") from fault
    finally:
        await embedder.close()
    await prepare_pool(settings, profile)
    async with open_for(settings, "embedding", role="owner") as pool:
        await embedding_models.calibrate(pool.database, profile.id, curve)
    states = {state.profile: state for state in await _list(settings)}
    return curve, states[profile.id]


async def _use(settings: Settings, profile: str, *, anyway: bool) -> Coverage | Refusal:
    async with open_for(settings, "embedding", role="owner") as pool:
        return await embedding_models.use(pool.database, profile, anyway=anyway)


async def _drop(settings: Settings, profile: str) -> Model | Refusal:
    async with open_for(settings, "embedding", role="owner") as pool:
        return await embedding_models.drop(pool.database, profile)
