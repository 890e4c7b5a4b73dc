"""`evaluate`: whether forgetting foretells what is used, on this pool or on made-up stores."""

import asyncio
from collections.abc import Mapping
from dataclasses import asdict
from datetime import tzinfo
from pathlib import Path
from typing import Any

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, progress
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.cli.private_file import private_file, require_free
from agents_memory.evaluation import chart, comparing, reporting
from agents_memory.evaluation.comparing import Suggestion
from agents_memory.evaluation.metrics import Estimate
from agents_memory.evaluation.reporting import Measured, Suggested
from agents_memory.evaluation.store import Store
from agents_memory.services.evaluating import moment, read_store
from agents_memory.settings import Settings

EXAMPLE = "Example: mcp-agents-memory evaluate --synthetic --seeds 10 --plot auc.svg"
TITLE = "AUC: is what is used next ranked first?"


@click.command("evaluate", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.option(
    "--horizon",
    type=click.IntRange(1, 365),
    help="Days after the holdout in which a use counts (14).",
)
@click.option("--synthetic", is_flag=True, help="Made-up stores instead of this pool.")
@click.option(
    "--seeds", type=click.IntRange(3, 1_000), help="How many stores of each sort to make up (10)."
)
@click.option(
    "--plot",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.svg",
    help="Draw the AUCs as SVG, the one format there is; an older file is replaced.",
)
@as_json
def command(
    *, horizon: int | None, synthetic: bool, seeds: int | None, plot: Path | None, as_json: bool
) -> int:
    """Measure whether activation foretells what is used, against simpler rules.

    Reads traces and changes nothing: suggested constants are never applied. docs/evaluation.md
    says how it is measured and what the made-up stores are.
    """
    if plot is not None and plot.suffix.lower() != ".svg":
        raise click.BadParameter("only SVG is drawn; end the name in .svg", param_hint="--plot")
    if plot is not None:
        # Before minutes of work.
        require_free(plot, force=True)
    if synthetic:
        if horizon is not None:
            raise click.UsageError("--horizon is for a pool; made-up stores have one of their own")
        return _synthetic(seeds or 10, plot, as_json=as_json)
    if seeds is not None:
        raise click.UsageError("--seeds makes up stores; add --synthetic")
    return _own(float(horizon or 14), plot, as_json=as_json)


def _synthetic(seeds: int, plot: Path | None, *, as_json: bool) -> int:
    with progress("stores", 2 * seeds) as step:
        found = reporting.report_synthetic(seeds, step=step)
    sorts = {"structured": found.structured, "structureless": found.structureless}
    if plot is not None:
        _draw(plot, {name: measured.auc for name, measured in sorts.items()})
    if as_json:
        emit_json(
            {
                "seeds": seeds,
                **asdict(found.structured),
                "of_oracle": found.of_oracle,
                "of_oracle_shipped": found.of_oracle_shipped,
                "suggestion": {**asdict(found.suggestion), "applied": False},
                "structureless": found.structureless,
            }
        )
        return EXIT_OK
    lines = [f"{seeds} stores of each sort; means with 95 % intervals"]
    for name, measured in sorts.items():
        lines += ["", f"{name}:", *_lines(measured)]
    lines += ["", f"{'activation / oracle':<32}  {_shown(found.of_oracle)}"]
    lines += [f"{'activation_shipped / oracle':<32}  {_shown(found.of_oracle_shipped)}", ""]
    emit_text("\n".join([*lines, *_suggested(found.suggestion)]))
    return EXIT_OK


def _own(horizon: float, plot: Path | None, *, as_json: bool) -> int:
    settings = load_settings()
    store = asyncio.run(_read(settings))
    seen = comparing.window(store, horizon)
    about: dict[str, Any] = {
        "traces": len(store.trace_at),
        "items": len(store.kinds),
        "since": None if seen is None else moment(seen.begin),
        "holdout_at": None if seen is None else moment(seen.holdout_at),
        "until": None if seen is None else moment(seen.end),
        "horizon_days": horizon,
    }
    lacking = comparing.too_little(store, seen, horizon)
    if seen is None or lacking is not None:
        if as_json:
            emit_json({"enough": False, "why": lacking, "window": about})
        else:
            emit_text(f"too little data: {lacking}")
        if plot is not None:
            say("note: nothing was drawn")
        return EXIT_OK
    found = reporting.report_own(store, seen, horizon)
    if plot is not None:
        _draw(plot, {"this pool": found.measured.auc})
    told = found.suggestion
    if as_json:
        suggestion = {**asdict(told), "holds": told.holds, "applied": False}
        measured = asdict(found.measured)
        emit_json({"enough": True, "window": about, **measured, "suggestion": suggestion})
        return EXIT_OK
    zone = settings.time_zone
    lines = [
        f"{about['traces']} traces of {about['items']} items, {_date(seen.begin, zone)} to "
        f"{_date(seen.end, zone)}; held out from {_date(seen.holdout_at, zone)}",
        *_lines(found.measured),
        "",
        *_suggested(told),
        f"on the last horizon this is {'more than' if told.holds else 'within'} noise",
    ]
    emit_text("\n".join(lines))
    return EXIT_OK


def _lines(measured: Measured) -> list[str]:
    lines = [
        f"{measured.items} items, {measured.used} of them used",
        "",
        f"{'':<32}  {'AUC':<21}  recall at a tenth",
    ]
    for name, estimate in measured.auc.items():
        lines.append(f"{name:<32}  {_shown(estimate):<21}  {measured.recall_at_tenth[name]:.3f}")
    lines += ["", "gap"]
    lines += [f"{name:<32}  {_signed(estimate)}" for name, estimate in measured.gaps.items()]
    lines += ["", "adds"]
    lines += [f"{name:<32}  {_signed(estimate)}" for name, estimate in measured.adds.items()]
    return lines


def _suggested(told: Suggestion | Suggested) -> list[str]:
    return [
        f"suggested, never applied: d {told.decay:.2f}, an exposure {told.surfaced:.2f}, "
        f"an inferred use {told.inferred:.2f}",
        f"gain in AUC: {_signed(told.gain)}; on horizons left out {told.gain_left_out:+.3f}",
    ]


def _shown(estimate: Estimate) -> str:
    return f"{estimate.mean:.3f} ({estimate.low:.3f}..{estimate.high:.3f})"


def _signed(estimate: Estimate) -> str:
    return f"{estimate.mean:+.3f} ({estimate.low:+.3f}..{estimate.high:+.3f})"


def _date(days: float, zone: tzinfo) -> str:
    return f"{moment(days).astimezone(zone):%Y-%m-%d}"


async def _read(settings: Settings) -> Store:
    async with open_for(settings, "evaluate") as pool:
        return await read_store(pool.database)


def _draw(path: Path, groups: Mapping[str, Mapping[str, Estimate]]) -> None:
    with private_file(path, force=True) as stream:
        stream.write(chart.bars(groups, TITLE))
    say(f"drawn: {path}")
