"""Under which project a tool files what it is given."""

from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.tags import normalise_tag
from agents_memory.domain.text import repair
from hot.app import App
from hot.services import Services


async def project_for(app: App, services: Services, p_tag: str | None) -> str | Refusal | None:
    """The project that is meant: a known one, else that of the working directory."""
    if p_tag is None:
        return app.session.project
    # With the service itself, which a start does without.
    from agents_memory.storage.tags import find_project

    name = normalise_tag(p_tag) or repair(p_tag).text
    if await services.database.run(lambda c: find_project(c, name)) is None:
        return Refusal(
            Code.UNKNOWN_ITEM,
            "no project of this name is known; leave p_tag out, or have the user add it",
        )
    return name
