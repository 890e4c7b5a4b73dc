"""What is shown of a change."""

import difflib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from agents_memory.clients.plan import CONTEXT, Edit

LINES = st.lists(st.sampled_from(["{", "}", "same", "other", "@@ -1 +1 @@"]), max_size=12)


@given(LINES, LINES, LINES, LINES)
def test_the_diff_leads_from_before_to_after(
    head: list[str], gone: list[str], new: list[str], tail: list[str]
) -> None:
    """Although what is the same at both ends is not compared."""
    before, after = [*head, *gone, *tail], [*head, *new, *tail]
    shown = Edit(Path("settings.json"), "\n".join(before), "\n".join(after)).diff().splitlines()
    assert _applied(before, shown[2:]) == after


def test_the_diff_says_at_which_lines_one_is() -> None:
    before = [f"line {n}" for n in range(1000)]
    after = [*before[:700], "new", *before[700:]]
    edit = Edit(Path("settings.json"), "\n".join(before), "\n".join(after))
    names = ("settings.json", "settings.json")
    whole = difflib.unified_diff(before, after, *names, lineterm="", n=CONTEXT)
    assert edit.diff().splitlines() == list(whole)


def _applied(before: list[str], hunks: list[str]) -> list[str]:
    """What `patch` would make of it."""
    after: list[str] = []
    at = 0
    for line in hunks:
        if line.startswith("@@ "):
            start, _, count = line.split()[1].lstrip("-").partition(",")
            first = int(start) - (0 if count == "0" else 1)
            after += before[at:first]
            at = first
        elif line[0] == "+":
            after.append(line[1:])
        else:
            assert before[at] == line[1:]
            after += [line[1:]] if line[0] == " " else []
            at += 1
    return after + before[at:]
