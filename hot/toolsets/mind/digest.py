"""digest: a long text, as two to six memories."""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.text import is_blank
from hot.app import App
from hot.hints import ADDS
from hot.services import Services
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import Count, ItemId
from hot.toolsets.filing import project_for
from hot.toolsets.mind.arguments import (
    Intensity,
    Valence,
    Words,
    affect_problems,
)
from hot.toolsets.mind.digested import DigestAnswer, Digested, notes, render_digest
from hot.toolsets.mind.views import memory_of

if TYPE_CHECKING:
    from agents_memory.services.jobs import Asked

DESCRIPTION = """\
Make 2 to 6 separate memories of a long text: notes, a report, the end of a session.

Call it when a text holds several things worth keeping; for one statement, call remember. The text \
is stored as the evidence they rest on. A model chooses where one is set up, else the sentences \
that say most are taken.

Examples: {"text": "# Retro\\n- Deploys move to Tuesdays.\\n- Mara owns the pager."}; \
{"job_id": 812}.

Returns `memories` as remember does, and a `note` on what was left out. While state is not done \
(`reason`, `fix`), call again later with job_id alone."""


def tool(app: App) -> Tool:
    """The tool over `Digesting`."""

    async def digest(
        context: Context,
        text: Annotated[
            str | None, Field(description="At most 16 MiB. Without it, give job_id.")
        ] = None,
        valence: Annotated[
            Valence | None,
            Field(description="From -1 (bad) to 1 (good). Default: estimated."),
        ] = None,
        intensity: Annotated[
            Intensity | None,
            Field(description="From 0 (calm) to 1 (strong). Default: estimated."),
        ] = None,
        importance: Annotated[
            Count | None,
            Field(description="From 1 (trifle) to 10 (life). Default: estimated."),
        ] = None,
        tags: Annotated[
            Words | None, Field(description="At most 20. Default: made from the words.")
        ] = None,
        p_tag: Annotated[
            str | None, Field(description="The project. Default: that of the folder.")
        ] = None,
        subject: Annotated[
            str | None, Field(description='Whom or what it is about. Default "user".')
        ] = None,
        job_id: Annotated[
            ItemId | None,
            Field(description="Of a text handed over before. Default none."),
        ] = None,
    ) -> DigestAnswer | Refusal:
        wrong = _wrong(text, job_id, valence, intensity, importance)
        if wrong is not None:
            return wrong
        # With the service itself, which a start does without.
        from agents_memory.domain.messages import Role
        from agents_memory.services.digesting import Wanted
        from agents_memory.services.knowledge import SUBJECT

        services = await app.services()
        message_id: int | None = None
        if job_id is not None:
            outcome = await services.digesting.outcome(services.user_id, job_id)
        else:
            project = await project_for(app, services, p_tag)
            if isinstance(project, Refusal):
                return project
            said = app.session.draft(Role.ASSISTANT, text or "", client_name(context))
            wanted = Wanted(
                subject=subject or SUBJECT,
                importance=importance,
                valence=valence,
                intensity=intensity,
                tags=tuple(tags or ()),
                platform=said.platform,
                project=project,
            )
            done = await services.digesting.digest(said, services.user_id, wanted)
            if isinstance(done, Refusal):
                return done
            message_id, outcome = done
        if isinstance(outcome, Refusal):
            return outcome
        if outcome.result is None:
            return _receipt(outcome, message_id)
        return await _answer(app, services, outcome.id, outcome.result)

    return make_tool(
        digest,
        answer=DigestAnswer,
        render=render_digest,
        title="Digest a text",
        description=DESCRIPTION,
        annotations=ADDS,
    )


def _receipt(asked: "Asked", message_id: int | None) -> DigestAnswer:
    return DigestAnswer(
        job_id=asked.id,
        state=asked.state,
        reason=asked.reason,
        fix=asked.fix,
        message_id=message_id,
        count=0,
        memories=[],
    )


async def _answer(
    app: App, services: Services, job_id: int, result: Mapping[str, Any]
) -> DigestAnswer | Refusal:
    """What the daemon made of it, each memory as it is now."""
    made = {one["id"]: one for one in result.get("memories", ())}
    refusal = result.get("refusal")
    if not made and refusal:
        # An erased word may stand in the name of a code, too.
        code = next((code for code in Code if code == refusal["code"]), Code.INVALID_INPUT)
        return Refusal(code, refusal["message"], {"job_id": job_id})
    views = await services.knowledge.find_all(list(made), services.user_id)
    app.session.show((view.id, view.version) for view in views)
    memories = [
        Digested(
            **memory_of(app, view).model_dump(),
            outcome=made[view.id]["outcome"],
            patch_id=made[view.id]["patch_id"],
        )
        for view in views
    ]
    return DigestAnswer(
        job_id=job_id,
        state="done",
        message_id=result.get("message_id"),
        backend=result.get("backend"),
        affect=result.get("affect"),
        left_out_chars=result.get("left_out_chars") or None,
        note="; ".join(notes(result)) or None,
        count=len(memories),
        memories=memories,
    )


def _wrong(
    text: str | None,
    job_id: int | None,
    valence: float | None,
    intensity: float | None,
    importance: int | None,
) -> Refusal | None:
    """What keeps it from being asked for, before anything is stored."""
    problems = []
    if (text is None) == (job_id is None):
        problems.append("give text, or the job_id of a text that you handed over before")
    elif text is not None and is_blank(text):
        problems.append("text is empty: hand over what is to be digested")
    problems += affect_problems(valence, intensity)
    if importance is not None and not 1 <= importance <= 10:
        problems.append("importance goes from 1 to 10")
    if not problems:
        return None
    return Refusal(Code.INVALID_INPUT, f"nothing was written; {'; '.join(problems)}")
