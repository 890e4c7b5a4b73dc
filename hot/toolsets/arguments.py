"""Arguments that several tools take. Bounds and defaults stand in the words too: Codex strips them
from the schema."""

import json
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

# The largest whole number that a JavaScript client can hold.
MAX_ID = 2**53 - 1


def _no_truth_value(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("should be a whole number, not true or false")
    return value


def _from_json(value: Any) -> Any:
    """Claude Desktop passes lists and objects as JSON text."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value


ItemId = Annotated[int, BeforeValidator(_no_truth_value), Field(ge=1, le=MAX_ID)]
FromJson = BeforeValidator(_from_json)
ItemIds = Annotated[list[ItemId], FromJson]
Count = Annotated[int, BeforeValidator(_no_truth_value)]

AgentModel = Annotated[
    str | None,
    Field(description='The model you are, such as "claude-sonnet-5". Default: the set-up\'s.'),
]
AgentPlatform = Annotated[
    str | None,
    Field(
        description='The client you run in, such as "claude-code" or "codex". Default: what the '
        "client calls itself."
    ),
]
Subagent = Annotated[bool, Field(description="true when a sub-agent says this. Default false.")]
SubagentModel = Annotated[str | None, Field(description="The sub-agent's model, if it differs.")]
SubagentRole = Annotated[
    str | None, Field(description='The sub-agent\'s task, such as "reviewer".')
]
