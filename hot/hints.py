"""What clients are told that a tool may do; none reaches beyond the pool."""

from mcp.types import ToolAnnotations


def _hints(*, reads: bool = False, destroys: bool = False, repeatable: bool) -> ToolAnnotations:
    return ToolAnnotations(
        read_only_hint=reads,
        destructive_hint=destroys,
        idempotent_hint=repeatable,
        open_world_hint=False,
    )


READS = _hints(reads=True, repeatable=True)
ADDS = _hints(repeatable=False)
SETS = _hints(repeatable=True)
"""It adds or replaces, and a second time changes nothing."""
CHANGES = _hints(destroys=True, repeatable=False)
REMOVES = _hints(destroys=True, repeatable=True)
