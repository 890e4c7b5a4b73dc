"""Pages of the mirror for tags: one for each, and an index of all."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import tzinfo
from itertools import groupby

from agents_memory.domain.memories import Kind
from agents_memory.domain.mirror import (
    Mirrored,
    Owner,
    Page,
    front_matter,
    in_order,
    line_of,
    plain,
)
from agents_memory.domain.mirror_names import file_stem
from agents_memory.domain.text import counted

PROJECTS, TAGS = "projects", "tags"
INDEX = "index.md"


@dataclass(frozen=True, slots=True)
class Project:
    """A tag that stands for itself, and the messages filed under it or its aliases."""

    name: str
    description: str
    aliases: tuple[str, ...]
    messages: int


@dataclass(frozen=True, slots=True)
class Entry:
    """A line of the index."""

    folder: str
    tag: str
    memories: int
    messages: int
    path: str
    description: str = ""


def project_path(project: str) -> str:
    """Where the page of a project is, below the folder of the mirror."""
    return f"{PROJECTS}/{file_stem(project)}.md"


def tag_pages(
    owner: Owner, projects: Sequence[Project], memories: Sequence[Mirrored], zone: tzinfo
) -> tuple[list[Page], list[Entry]]:
    """The pages in the order of their places, the index first, and its lines.

    A project has a page if a memory or a message is filed under it, a free tag if a memory has it.
    """
    known = {project.name: project for project in projects}
    by_project = _grouped(memories, lambda memory: (memory.project,) if memory.project else ())
    by_tag = _grouped(memories, lambda memory: memory.tags)
    pages: list[Page] = []
    entries: list[Entry] = []
    for name in sorted(known.keys() | by_project.keys()):
        project = known.get(name, Project(name, "", (), 0))
        found = by_project.get(name, [])
        if not found and not project.messages:
            continue
        facts = {"aliases": sorted(project.aliases), "messages": project.messages}
        page = _page(owner, PROJECTS, name, found, zone, project.description, facts)
        pages.append(page)
        entries.append(
            Entry(PROJECTS, name, len(found), project.messages, page.path, project.description)
        )
    for name in sorted(by_tag):
        page = _page(owner, TAGS, name, by_tag[name], zone, "", {})
        pages.append(page)
        entries.append(Entry(TAGS, name, len(by_tag[name]), 0, page.path))
    return [_index(owner, entries), *pages], entries


def _grouped(
    memories: Iterable[Mirrored], of: Callable[[Mirrored], Iterable[str]]
) -> Mapping[str, list[Mirrored]]:
    found: dict[str, list[Mirrored]] = {}
    for memory in memories:
        for name in dict.fromkeys(of(memory)):
            found.setdefault(name, []).append(memory)
    return found


def _page(
    owner: Owner,
    folder: str,
    tag: str,
    memories: Iterable[Mirrored],
    zone: tzinfo,
    description: str,
    facts: Mapping[str, object],
) -> Page:
    kind = "project" if folder == PROJECTS else "tag"
    head = front_matter(owner, kind, {kind: tag, **facts})
    lines = [f"# {plain(tag)}", ""]
    if description:
        lines += [plain(description), ""]
    kinds = list(Kind)
    ordered = sorted(in_order(memories), key=lambda memory: kinds.index(memory.kind))
    for of, group in groupby(ordered, key=lambda memory: memory.kind):
        lines += [f"## {of.capitalize()}", "", *(line_of(one, zone) for one in group), ""]
    return Page(folder, f"{file_stem(tag)}.md", "\n".join([head, *lines]))


def _index(owner: Owner, entries: Sequence[Entry]) -> Page:
    lines = [front_matter(owner, "index", {}), "# Index of tags", ""]
    for folder, title in ((PROJECTS, "Projects"), (TAGS, "Free tags")):
        found = [entry for entry in entries if entry.folder == folder]
        if found:
            lines += [f"## {title}", "", *map(_line, found), ""]
    return Page("", INDEX, "\n".join(lines))


def _line(entry: Entry) -> str:
    counts = counted(entry.memories, "memory", "memories")
    if entry.folder == PROJECTS:
        counts += f", {counted(entry.messages, 'message')}"
    about = f": {plain(entry.description)}" if entry.description else ""
    # Names of files may hold letters of any script; these brackets take them as they are.
    return f"- [{plain(entry.tag)}](<{entry.path}>) ({counts}){about}"
