"""What a check finds."""

from dataclasses import dataclass
from enum import StrEnum

# What more than one check asks for.
MIGRATE = "run `mcp-agents-memory migrate` as the owner of the pool (OWNER_DATABASE_URL)"


class Outcome(StrEnum):
    """How a check ended."""

    OK = "ok"
    FAILED = "failed"
    SKIPPED = "skipped"


@dataclass(frozen=True, slots=True)
class Check:
    """One thing that was looked at; a failed one names its fix."""

    name: str
    outcome: Outcome
    detail: str
    fix: str | None = None


def passed(name: str, detail: str) -> Check:
    """All is well."""
    return Check(name, Outcome.OK, detail)


def failed(name: str, detail: str, fix: str) -> Check:
    """Something is to be mended."""
    return Check(name, Outcome.FAILED, detail, fix)


def skipped(name: str, detail: str) -> Check:
    """There is nothing to look at."""
    return Check(name, Outcome.SKIPPED, detail)
