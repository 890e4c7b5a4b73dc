"""Diffs: minimal, and applied to the former text they give the new one, whatever its characters."""

import random
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from agents_memory.domain.diffs import (
    MAX_EDITS,
    DiffMismatch,
    apply_diff,
    projection,
    shown,
    unified,
)
from agents_memory.domain.memories import Kind, MemoryState, Status
from agents_memory.domain.messages import Trust

STATE = MemoryState(
    id=17,
    version=1,
    subject="tea",
    attribute=None,
    content="Green tea.",
    kind=Kind.PREFERENCE,
    importance=5,
    valence=0.0,
    intensity=0.0,
    trust=Trust.OWNER,
    status=Status.ACTIVE,
    pinned=False,
    tags=(),
    resolved_at=None,
    superseded_by=None,
    scope="default",
)
# What could be taken for an end of a line, or for a part of the diff itself.
PIECES = (
    "a", "b", "c", "\n", "\n", "\r\n", "\r", "\u2028", "\u2029", "\x85", "\x0b", "\x0c", "\x1c",
    "", "-", "+", " ", "@@ -1 +1 @@", "--- a", "+++ b", "\\ No newline at end of file", "茶", "\\",
)  # fmt: skip


def random_text(choose: random.Random, longest: int = 12) -> str:
    return "".join(choose.choice(PIECES) for _ in range(choose.randrange(longest)))


def edited(choose: random.Random, text: str) -> str:
    lines = text.split("\n")
    for _ in range(choose.randrange(1, 4)):
        at = choose.randrange(len(lines) + 1)
        lines[at : at + choose.randrange(2)] = [random_text(choose, 4)] * choose.randrange(2)
    return "\n".join(lines)


@pytest.mark.parametrize("seed", range(20))
def test_a_diff_applied_to_the_former_text_gives_the_new_one(seed: int) -> None:
    """F9: for any two texts, line ends of every sort included."""
    choose = random.Random(seed)
    for _ in range(150):
        before: str | None = random_text(choose, 30)
        after: str | None = (
            edited(choose, before or "") if choose.random() < 0.7 else random_text(choose, 30)
        )
        # An empty text is no active one.
        before = None if choose.random() < 0.1 or not before else before
        after = None if choose.random() < 0.1 or not after else after
        diff = unified("memory/1", before, after)
        assert apply_diff(before, diff) == after, (before, after, diff)
        assert (diff == "") == (before == after)


@pytest.mark.parametrize("seed", range(10))
def test_a_diff_changes_as_few_lines_as_possible(seed: int) -> None:
    """F9: minimal, checked against the longest common subsequence."""
    choose = random.Random(seed)
    for _ in range(60):
        a = [choose.choice("abc") for _ in range(choose.randrange(1, 14))]
        b = [choose.choice("abc") for _ in range(choose.randrange(1, 14))]
        lengths = [[0] * (len(b) + 1) for _ in range(len(a) + 1)]
        for i, x in enumerate(a):
            for j, y in enumerate(b):
                lengths[i + 1][j + 1] = (
                    lengths[i][j] + 1 if x == y else max(lengths[i][j + 1], lengths[i + 1][j])
                )
        diff = unified("m", "\n".join([*a, ""]), "\n".join([*b, ""]))
        changed = [line for line in diff.split("\n")[2:] if line[:1] in ("-", "+")]
        assert len(changed) == len(a) + len(b) - 2 * lengths[-1][-1]


def test_a_text_without_a_last_newline_says_so() -> None:
    assert unified("m", "a\nb", "a\nc\n") == (
        "--- a/m\n+++ b/m\n@@ -1,2 +1,2 @@\n a\n-b\n\\ No newline at end of file\n+c\n"
    )
    assert unified("m", "a\n", "a") == (
        "--- a/m\n+++ b/m\n@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n"
    )


def test_carriage_returns_and_line_separators_belong_to_their_lines() -> None:
    diff = unified("m", "a\r\nb\rc\u2028d\n", "a\r\nb\rc\u2028e\n")
    assert diff == "--- a/m\n+++ b/m\n@@ -1,2 +1,2 @@\n a\r\n-b\rc\u2028d\n+b\rc\u2028e\n"


def test_distant_changes_stand_in_hunks_of_their_own() -> None:
    before = "".join(f"{number}\n" for number in range(1, 21))
    diff = unified("m", before, before.replace("3\n", "x\n", 1).replace("18\n", "y\n"))
    assert diff.count("@@ -") == 2
    assert "@@ -2,3 +2,3 @@\n 2\n-3\n+x\n 4\n" in diff


def test_what_is_not_active_is_dev_null() -> None:
    """F9: removed = /dev/null, restored = from /dev/null."""
    removed = replace(STATE, status=Status.REMOVED)
    gone = unified("memory/17", shown(STATE), shown(removed))
    back = unified("memory/17", shown(removed), shown(STATE))
    assert gone.startswith("--- a/memory/17\n+++ /dev/null\n@@ -1,4 +0,0 @@\n-subject: tea\n")
    assert back.startswith("--- /dev/null\n+++ b/memory/17\n@@ -0,0 +1,4 @@\n+subject: tea\n")
    assert apply_diff(projection(STATE), gone) is None
    assert apply_diff(None, back) == projection(STATE)


def test_the_projection_shows_what_a_patch_can_change() -> None:
    full = replace(
        STATE, pinned=True, tags=("a", "b"), resolved_at=datetime(2026, 11, 20, 12, tzinfo=UTC)
    )
    assert projection(full) == (
        "subject: tea\ntags: a, b\npinned: yes\nresolved: 2026-11-20T12:00:00+00:00\n\nGreen tea.\n"
    )


@pytest.mark.parametrize(
    "diff",
    [
        "nonsense",
        "--- a/m\n+++ b/m\n",
        "--- a/m\n+++ b/m\n@@ -1 +1 @@\n-x\n+y\n",
        "--- a/m\n+++ b/m\n@@ -1 +1 @@\n-a\n",
        "--- a/m\n+++ b/m\n@@ -9 +9 @@\n-a\n+y\n",
        "--- a/m\n+++ b/m\n@@ -1 +1 @@\n?a\n+y\n",
        "--- a/m\n+++ b/m\n@@ x @@\n-a\n+y\n",
        "--- /dev/null\n+++ b/m\n@@ -0,0 +1 @@\n+y\n",
        "--- a/m\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n",
        "--- a/m\n+++ b/m\n@@ -1 +1 @@\n-a\n+y",
    ],
)
def test_a_diff_of_another_text_is_refused(diff: str) -> None:
    if diff == "--- a/m\n+++ b/m\n":
        assert apply_diff("a\nb\n", diff) == "a\nb\n"
        return
    with pytest.raises(DiffMismatch):
        apply_diff("a\nb\n", diff)


def test_texts_with_hardly_a_line_in_common_are_shown_as_replaced() -> None:
    """J5: the bound keeps a hostile pair of texts from taking minutes."""
    before = "".join(f"{number % 7}\n" for number in range(5_000))
    after = "".join(f"{number % 5}\n" for number in range(5_000))
    diff = unified("m", before, after)
    assert apply_diff(before, diff) == after
    assert diff.count("\n-") > MAX_EDITS
