"""memory_apply: the one way to change what is believed."""

from typing import TYPE_CHECKING, Annotated

from mcp.server.mcpserver import Context
from mcp.server.mcpserver.tools import Tool
from pydantic import Field

from agents_memory.domain.errors import Code, Refusal
from hot.app import App
from hot.hints import CHANGES
from hot.toolkit import client_name, make_tool
from hot.toolsets.arguments import FromJson
from hot.toolsets.conflicts import shown_refusal
from hot.toolsets.patch.answers import AppliedAnswer, Done
from hot.toolsets.patch.arguments import ApplyRequest
from hot.toolsets.patch.present import render_applied
from hot.toolsets.patch.views import shortened

if TYPE_CHECKING:
    from agents_memory.domain.patches import Applied

DESCRIPTION = """\
Change memories: one patch of typed operations, applied whole or not at all.

Call it after memory_search (is it there already?) and memory_read (what does it say now?), citing \
the messages you read. UPDATE: a better wording, the old one was not wrong. SUPERSEDE: the old one \
is outdated. REMOVE: it holds no longer; the history keeps it.

Example: {"request": {"reason": "Mara said so", "operations": [{"type": "SUPERSEDE", "memory_id": \
17, "expected_version": 2, "new_content": "Mara lives in Lisbon.", "evidence_event_ids": [41]}]}}.

Returns patch_id, the memory_id and version of each operation, and the `diff`. VERSION_CONFLICT: \
nothing was changed; the error shows the current state: decide again. DUPLICATE_MEMORY: that \
memory says it already."""

HIDDEN = Refusal(
    Code.DUPLICATE_MEMORY,
    "a memory that is not shown already says this; nothing was written, and there is nothing to do",
    {"memory_id": None},
)


def tool(app: App) -> Tool:
    """The tool over `Patching.apply`."""

    async def memory_apply(
        context: Context,
        request: Annotated[ApplyRequest, FromJson, Field(description="The patch.")],
    ) -> AppliedAnswer | Refusal:
        services = await app.services()
        # With the service itself, which a start does without.
        from hot.toolsets.patch.operations import patch_of

        patch = patch_of(
            request,
            services.user_id,
            app.settings.time_zone,
            platform=app.session.platform(client_name(context)),
            project=app.session.project,
        )
        applied = await services.patching.apply(patch)
        if isinstance(applied, Refusal):
            same = applied.details.get("memory_id")
            if applied.code is Code.DUPLICATE_MEMORY and same is not None:
                known = await services.knowledge.find(same, services.user_id)
                return applied if known is not None else HIDDEN
            return shown_refusal(app.session, applied)
        if not applied.replayed:
            app.session.show((change.item_id, change.version) for change in applied.changes)
        return _answer(applied)

    return make_tool(
        memory_apply,
        answer=AppliedAnswer,
        render=render_applied,
        title="Change memories by a patch",
        description=DESCRIPTION,
        annotations=CHANGES,
    )


def _answer(applied: "Applied") -> AppliedAnswer:
    done = [
        Done(type=change.operation.upper(), memory_id=change.item_id, version=change.version)
        for change in applied.changes
    ]
    only = done[0] if len(done) == 1 else None
    diff, cut = shortened(applied.diff)
    return AppliedAnswer(
        patch_id=applied.patch_id,
        memory_id=None if only is None else only.memory_id,
        version=None if only is None else only.version,
        operations=done,
        replayed=applied.replayed or None,
        diff=diff,
        diff_cut=cut,
    )
