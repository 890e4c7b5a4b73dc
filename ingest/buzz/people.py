"""Who is who: the identity's own key, and how the others call themselves."""

from collections.abc import Iterable

from ingest.buzz.cli import Buzz, unexpected
from ingest.buzz.shapes import names_of

_GROUP = 20
_NAME = "`buzz users get`"


async def find_self(buzz: Buzz) -> str:
    """The identity's own key. Raises MemoryFault where its profile is not the answer."""
    [key] = names_of(_NAME, await buzz.ask("users", "get"), None)
    return key


async def find_names(buzz: Buzz, keys: Iterable[str], own: str) -> dict[str, str]:
    """Names by key; those with a broken profile or none are left out.

    A relay that fails quietly answers with nothing, so each group asks for oneself too. Raises
    MemoryFault where that is missing.
    """
    asked = sorted({*keys} - {own})
    names: dict[str, str] = {}
    for start in range(0, max(len(asked), 1), _GROUP):
        group = [*asked[start : start + _GROUP], own]
        words = [word for key in group for word in ("--pubkey", key)]
        answer = names_of(_NAME, await buzz.ask("users", "get", *words), group)
        if own not in answer:
            raise unexpected(_NAME, "your own profile is not among them")
        names |= answer
    return names
