"""The answer as text: the same facts as the structure."""

from agents_memory.domain.fencing import fence
from hot.present import named, plain
from hot.toolsets.tags.answers import Suggested, Tag, TagsAnswer


def render_tags(answer: TagsAnswer) -> str:
    """What was done, or the lines of a list, fenced as data."""
    if answer.tag is not None:
        facts = named(
            ("for", answer.target_tag),
            ("suggestion", answer.suggestion_id),
            ("changed", answer.changed),
            ("filing", answer.filing),
        )
        return " · ".join([f"{answer.action}: {plain(answer.tag)}", *facts])
    lines = [*map(_tag, answer.tags or ()), *map(_suggested, answer.suggestions or ())]
    head = " · ".join(
        [f"{answer.action}: {answer.count or 0}", *named(("left out", answer.left_out))]
    )
    return "\n".join([head, fence("\n".join(lines), "tags") if lines else answer.notice])


def _tag(tag: Tag) -> str:
    facts = named(
        ("messages", tag.messages),
        ("stands for", tag.alias_of),
        ("also", ", ".join(tag.aliases) if tag.aliases else None),
        ("about", tag.description),
    )
    return " · ".join([plain(tag.name), *facts])


def _suggested(one: Suggested) -> str:
    what = f"[{one.suggestion_id}] {one.kind} {plain(one.tag)}"
    facts = named(
        ("for", one.target_tag),
        ("about", one.description),
        ("confidence", one.confidence),
        ("reasons", one.reasons),
        ("judged by", one.judged_by),
        ("status", one.status),
    )
    return " · ".join([what, *facts])
