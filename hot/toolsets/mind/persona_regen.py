"""persona_regen: what a page of the persona might say, for the user to decide on."""

from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Refusal
from agents_memory.domain.fencing import escape
from agents_memory.domain.persona import JOB
from hot.app import App
from hot.hints import ADDS
from hot.services import Services
from hot.toolkit import make_tool
from hot.toolsets.arguments import ItemId
from hot.toolsets.mind.persona import SIDES, Dimension, PersonaRegenAnswer, render_regen

if TYPE_CHECKING:
    from agents_memory.services.jobs import Asked

DESCRIPTION = """\
Propose what a page of the persona might say now: agent, user or shared. Changes nothing.

Call it when the user asks to bring the persona up to date, or when much has happened since it \
was written. The daemon reads lasting memories and what the user said of late, by its model or by \
rules, and every line it adds rests on messages. The user accepts or rejects a proposal on the \
command line; only then the page changes.

Examples: {"dimension": "user"}; later {"dimension": "user", "job_id": 812}.

Returns state: proposed (proposal_id, content, evidence), nothing_new, or where the request stands \
(waiting, working, failed, parked: `reason`, `fix`); call again with its job_id then."""


def tool(app: App) -> Tool:
    """The tool over `Jobs` and `Proposals`."""

    async def persona_regen(
        context: Context,
        dimension: Annotated[Dimension, Field(description=f"{SIDES}.")],
        job_id: Annotated[
            ItemId | None,
            Field(
                description="Of an earlier answer: asks for that request again. Default: a new one."
            ),
        ] = None,
    ) -> PersonaRegenAnswer | Refusal:
        services = await app.services()
        if job_id is None:
            request = {"kind": f"persona.{dimension}"}
            asked = await services.jobs.answer(services.user_id, JOB, request)
        else:
            found = await services.jobs.wait(services.user_id, JOB, job_id)
            if isinstance(found, Refusal):
                return found
            asked = found
        return await _answer(services, dimension, asked)

    return make_tool(
        persona_regen,
        answer=PersonaRegenAnswer,
        render=render_regen,
        title="Propose a page of the persona",
        description=DESCRIPTION,
        annotations=ADDS,
    )


async def _answer(
    services: Services, dimension: str, asked: "Asked"
) -> PersonaRegenAnswer | Refusal:
    if asked.result is None:
        return PersonaRegenAnswer(
            dimension=dimension,
            state=asked.state.value,
            job_id=asked.id,
            reason=asked.reason,
            fix=asked.fix or "ask again with this job_id in a while",
        )
    proposal_id = asked.result.get("proposal_id")
    if proposal_id is None:
        return PersonaRegenAnswer(
            dimension=dimension,
            state="nothing_new",
            job_id=asked.id,
            note="leave the page as it is; remember what is worth being on it",
        )
    found = await services.proposals.find(services.user_id, proposal_id)
    if isinstance(found, Refusal):
        return found
    return PersonaRegenAnswer(
        dimension=found.kind.removeprefix("persona."),
        state="proposed" if found.status == "pending" and not found.lost else "nothing_new",
        job_id=asked.id,
        proposal_id=found.id,
        for_version=found.base,
        content=None if found.lost else escape(found.content),
        evidence=[number for number in found.evidence if number not in found.lost],
        trust=found.trust,
        backend=found.backend,
        note=_note(found.id, found.status, lost=bool(found.lost)),
    )


def _note(proposal_id: int, status: str, *, lost: bool) -> str:
    if status != "pending":
        return f"it is {status}; ask anew if the page should be looked at again"
    if lost:
        return "what it rests on was held back since; ask anew"
    return (
        f"show it to the user, who decides: `mcp-agents-memory profile accept {proposal_id}` or "
        f"`profile reject {proposal_id}`"
    )
