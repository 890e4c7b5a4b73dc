"""`redact`: words, a message, a memory or old secrets taken out of everything that is stored."""

import asyncio
import sys

import click

from agents_memory.cli.options import EPILOG, as_json
from agents_memory.cli.output import EXIT_OK, emit_json, emit_text, refused
from agents_memory.cli.pool import load_settings, open_for, say
from agents_memory.domain.errors import Code, Refusal
from agents_memory.services.erasure import Report
from agents_memory.services.redacting import Redacting
from agents_memory.settings import Settings

EXAMPLE = "Example: mcp-agents-memory redact --words < phrase.txt"


@click.command("redact", epilog=f"{EXAMPLE}\n\n{EPILOG}")
@click.option("--words", is_flag=True, help="A phrase, asked for or read from stdin.")
@click.option("--message", "message_id", type=int, metavar="ID", help="The whole of a message.")
@click.option("--memory", "memory_id", type=int, metavar="ID", help="A memory, all its versions.")
@click.option(
    "--scan", is_flag=True, help="Secrets that were stored before there were rules for them."
)
@click.option("--run", is_flag=True, help="Do it; else only count what would be changed.")
@as_json
def command(
    *,
    words: bool,
    message_id: int | None,
    memory_id: int | None,
    scan: bool,
    run: bool,
    as_json: bool,
) -> int:
    """Erase something for good: [redacted] stands where it was, and it is kept out from now on.

    The phrase is never an argument, so that it gets into no shell history and no list of processes.
    Signs in as OWNER_DATABASE_URL (else DATABASE_URL). Backups, replicas, the server's own log of
    changes and the transcripts of other programs are not reached: see docs/security.md.
    """
    if [words, message_id is not None, memory_id is not None, scan].count(True) != 1:
        raise click.UsageError(
            "say what to erase: one of --words, --message ID, --memory ID, --scan"
        )
    settings = load_settings()
    phrase = _phrase() if words else None
    if isinstance(phrase, Refusal):
        return refused(phrase, as_json=as_json)
    outcome = asyncio.run(_redact(settings, phrase, message_id, memory_id, run=run))
    if isinstance(outcome, Refusal):
        return refused(outcome, as_json=as_json)
    if as_json:
        emit_json({"ok": True, "report": outcome})
    else:
        emit_text(render(outcome))
    if not run:
        say("nothing was changed; add --run to erase")
    return EXIT_OK


def render(report: Report) -> str:
    """Counts by column, and what is left to do by hand."""
    width = max(map(len, [*report.changed, *report.left]), default=0)
    lines = [f"{name:<{width}}  {rows}" for name, rows in report.changed.items()]
    if not lines:
        lines = ["it is erased already" if report.already else "nothing to erase"]
    lines += [
        f"{name:<{width}}  {rows} left: others refer to it by this name; rename it by hand"
        for name, rows in report.left.items()
    ]
    if report.kinds:
        kinds = ", ".join(f"{kind} {number}" for kind, number in report.kinds.items())
        lines.append(f"secrets in these rows, by kind: {kinds}")
    if report.removed:
        lines.append(
            f"removed, as nothing or a repetition was left of them: {_ids(report.removed)}"
        )
    if report.documents:
        shown = ", ".join(f"{item} (version {version})" for item, version in report.documents)
        lines.append(f"profiles that rest on it, to be looked at: {shown}")
    if report.messages:
        lines.append(f"messages that say the same or that it rests on: {_ids(report.messages)}")
    if report.kin:
        lines.append(f"hold other forms of these words, which are left: {_ids(report.kin)}")
    if report.reasons:
        lines.append(
            "patches that did something else too, whose reasons are left (see `patch show`; erase "
            f"words in them with --words): {_ids(report.reasons)}"
        )
    if not report.kept_out:
        lines.append("too short to be known again by its words: erase those with --words as well")
    return "\n".join(lines)


def _ids(numbers: tuple[int, ...]) -> str:
    return ", ".join(map(str, numbers))


def _phrase() -> str | Refusal:
    if sys.stdin.isatty():
        return str(click.prompt("Words to erase", hide_input=True, err=True))
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError:
        return Refusal(
            Code.INVALID_INPUT,
            "the phrase is not UTF-8 text, so it would match nothing; convert it first (iconv)",
        )


async def _redact(
    settings: Settings,
    phrase: str | None,
    message_id: int | None,
    memory_id: int | None,
    *,
    run: bool,
) -> Report | Refusal:
    async with open_for(settings, "redact", role="owner") as pool:
        redacting = Redacting(pool.database)
        if phrase is not None:
            return await redacting.erase_words(phrase, run=run)
        if message_id is not None:
            return await redacting.erase_message(message_id, run=run)
        if memory_id is not None:
            return await redacting.erase_memory(memory_id, run=run)
        return await redacting.erase_secrets(run=run)
