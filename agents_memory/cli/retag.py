"""`tags retag`: count first, then file messages anew, go on, or take it back."""

import asyncio
from collections.abc import Callable

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.domain.errors import Refusal
from agents_memory.services.retagging import Outcome, Plan, Request, Retagging, Undoing
from agents_memory.settings import Settings

MAX_SAMPLE = 100

_run_id = click.IntRange(1, 2**63 - 1)


@click.command(
    "retag",
    epilog="Examples: mcp-agents-memory tags retag --from sandbox --to harbor\n\n"
    "mcp-agents-memory tags retag --untagged --by-rules --run\n\n"
    f"mcp-agents-memory tags retag --rollback 4711 --run\n\n{EPILOG}",
)
@click.option("--to", metavar="TAG", help="File under this tag.")
@click.option("--by-rules", is_flag=True, help="File by the folder and the writer's hint.")
@click.option("--from", "of", metavar="TAG", help="Only what is filed under exactly this tag.")
@click.option("--untagged", is_flag=True, help="Only what has no project.")
@click.option("--d-tag", metavar="TAG", help="Only what carries this free tag.")
@click.option("--include-pinned", is_flag=True, help="Pinned messages too.")
@click.option("--limit", type=click.IntRange(1), help="Stop after so many; --resume goes on.")
@click.option("--sample", type=click.IntRange(0, MAX_SAMPLE), default=5, show_default=True)
@click.option("--run", "do", is_flag=True, help="Do it; without, it is only counted and shown.")
@click.option("--resume", type=_run_id, metavar="RUN_ID", help="Go on with a run.")
@click.option("--rollback", type=_run_id, metavar="RUN_ID", help="Take a run back.")
@as_json
def retag(
    *,
    to: str | None,
    by_rules: bool,
    of: str | None,
    untagged: bool,
    d_tag: str | None,
    include_pinned: bool,
    limit: int | None,
    sample: int,
    do: bool,
    resume: int | None,
    rollback: int | None,
    as_json: bool,
) -> int:
    """File messages anew, into a tag or by the rules as they are now.

    Without --run nothing changes: what would is counted, with a sample. A run says its number; it
    works in small batches, may be interrupted at any time, and every change is kept, so that
    --resume goes on and --rollback takes back what nobody changed since. What you file into a tag
    the daemon leaves there. By the rules, messages stay that you filed, and those the rules know
    nothing of. Signs in as the daemon does (COLD_DATABASE_URL, else DATABASE_URL), who may change
    where a message is filed and nothing it says.
    """
    request = Request(to, of, untagged, d_tag, include_pinned)
    _check(request, by_rules=by_rules, resume=resume, rollback=rollback)
    settings = load_settings()
    command = _Command(settings, limit, sample, do=do)
    outcome = asyncio.run(command.go(request, resume, rollback))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json(_document(outcome))
    else:
        emit_text(_told(outcome))
    if not isinstance(outcome, Outcome):
        say("nothing was changed; add --run to do it")
    elif not outcome.finished:
        say(f"there is more; `tags retag --resume {outcome.run_id}` goes on")
    return EXIT_OK


class _Command:
    def __init__(self, settings: Settings, limit: int | None, sample: int, *, do: bool) -> None:
        self._settings = settings
        self._limit = limit
        self._sample = sample
        self._do = do

    async def go(
        self, request: Request, resume: int | None, rollback: int | None
    ) -> Plan | Undoing | Outcome | Refusal:
        settings = self._settings
        async with open_for(settings, "tags retag", role="cold") as pool:
            retagging = Retagging(
                pool.database, actor=settings.user_name, device=settings.device_name
            )
            if resume is not None:
                run = await retagging.resume(resume)
                return run if isinstance(run, Refusal) else await self._work(retagging, run.id)
            if rollback is not None and not self._do:
                return await retagging.undoing(rollback)
            if rollback is None and not self._do:
                return await retagging.plan(request, self._sample)
            begun = await (
                retagging.begin(request) if rollback is None else retagging.begin_rollback(rollback)
            )
            return begun if isinstance(begun, Refusal) else await self._work(retagging, begun)

    async def _work(self, retagging: Retagging, run_id: int) -> Outcome:
        say(f"run {run_id} (--resume {run_id} goes on if it is interrupted)")
        return await retagging.work(run_id, limit=self._limit, advance=_counting())


def _counting() -> Callable[[int], None]:
    moved = 0

    def advance(steps: int) -> None:
        nonlocal moved
        moved += steps
        if steps:
            say(f"{moved} messages filed anew")

    return advance


def _check(request: Request, *, by_rules: bool, resume: int | None, rollback: int | None) -> None:
    selected = request.of is not None or request.untagged or request.d_tag is not None
    asked = request.to is not None or by_rules
    if resume is not None or rollback is not None:
        if asked or selected or request.include_pinned or None not in (resume, rollback):
            raise click.UsageError(
                "--resume and --rollback stand alone: the run knows what it was asked for"
            )
        return
    if (request.to is not None) == by_rules:
        raise click.UsageError("say whither: --to TAG, or --by-rules")
    if request.to is not None and not selected:
        raise click.UsageError("say which messages: --from TAG, --untagged or --d-tag TAG")
    if request.of is not None and request.untagged:
        raise click.UsageError("--from and --untagged exclude each other")


def _document(outcome: Plan | Undoing | Outcome) -> dict[str, object]:
    match outcome:
        case Plan():
            moves = [
                {"from": before, "to": after, "messages": messages}
                for (before, after), messages in sorted(
                    outcome.moves.items(), key=lambda move: -move[1]
                )
            ]
            return {
                "ok": True,
                "dry_run": True,
                "looked_at": outcome.looked_at,
                "would_move": outcome.total,
                "moves": moves,
                "left": {"pinned": outcome.pinned, "filed_by_hand": outcome.kept},
                "sample": outcome.sample,
            }
        case Undoing():
            return {"ok": True, "dry_run": True, "rollback": outcome}
        case Outcome():
            return {"ok": True, "dry_run": False, "run": outcome}


def _told(outcome: Plan | Undoing | Outcome) -> str:
    match outcome:
        case Undoing():
            return (
                f"run {outcome.run_id} filed {outcome.changed} messages; "
                f"{outcome.changed - outcome.since} would go back, {outcome.since} changed since"
            )
        case Outcome():
            stay = f", {outcome.since} had changed since and stay" if outcome.since else ""
            end = "" if outcome.finished else ", more is left"
            return f"run {outcome.run_id}: {outcome.moved} messages filed anew{stay}{end}"
    lines = [f"{outcome.total} of {outcome.looked_at} messages would be filed anew"]
    for (before, after), messages in sorted(outcome.moves.items(), key=lambda move: -move[1]):
        lines.append(f"{messages:>8}  {before or '(none)'} → {after}")
    if outcome.pinned:
        lines.append(f"{outcome.pinned:>8}  stay: they are pinned (--include-pinned)")
    if outcome.kept:
        lines.append(f"{outcome.kept:>8}  stay: a person filed them")
    for one in outcome.sample:
        lines.append(f"{one.id:>8}  {one.before or '(none)'} → {one.after}  │ {_line(one.text)}")
    return "\n".join(lines)


def _line(text: str) -> str:
    return " ".join(text.split())
