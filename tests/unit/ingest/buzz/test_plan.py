"""What a run does with what it read (F80, F81)."""

from dataclasses import replace

from agents_memory.domain.messages import Trust
from agents_memory.storage.withdrawals import Standing
from ingest.buzz.plan import Placed, make
from ingest.buzz.shapes import DELETE, EDIT, MODERATE, Event, Room

OWNER, OTHER = "a" * 64, "b" * 64
OWNERS = (OWNER,)
HALL = Room("hall", "Hall", private=False)


def said(number: int, content: str = "words", at: int = 0, author: str = OWNER) -> Placed:
    return Placed(Event(f"{number:064x}", author, 9, content, at or number, ()), HALL)


def change(
    number: int, of: Placed, content: str = "", *, kind: int = EDIT, author: str = OWNER
) -> Placed:
    return Placed(Event(f"{number:064x}", author, kind, content, number, (of.event.id,)), HALL)


def row(number: int, raw: str | None = "words", trust: Trust = Trust.OWNER) -> Standing:
    return Standing(number, HALL.id, trust, raw, None, pinned=False, gone=False)


def test_what_is_new_comes_in_by_time_and_ties_by_id() -> None:
    plan = make([said(3, at=5), said(2, at=5), said(9, at=1)], [], {}, OWNERS)
    assert [int(i.said.event.id, 16) for i in plan.inserts] == [9, 2, 3]
    assert len(plan.within(2).inserts) == 2


def test_changes_come_before_what_is_new() -> None:
    old, new = said(1), said(2)
    plan = make([old, new], [change(5, old, "other")], {old.event.id: row(7)}, OWNERS)
    first = plan.within(1)
    assert (len(first.edits), len(first.inserts)) == (1, 0)
    assert first.authors == {OWNER}


def test_the_latest_edit_counts_and_ties_go_by_id() -> None:
    old = said(1)
    tied = [
        replace(
            change(n, old, f"wording {n}"),
            event=replace(change(n, old, f"wording {n}").event, at=50),
        )
        for n in (8, 6)
    ]
    [edit] = make([], tied, {old.event.id: row(7)}, OWNERS).edits
    assert edit.change.event.content == "wording 8"
    [insert] = make([old], tied, {}, OWNERS).inserts
    assert insert.content == "wording 8"


def test_a_row_that_says_so_already_was_erased_or_is_gone_stays() -> None:
    old = said(1)
    edit = change(5, old, "other")
    for standing in (row(7, "other"), row(7, None), replace(row(7), gone=True)):
        plan = make([old], [edit], {old.event.id: standing}, OWNERS)
        assert (plan.edits, plan.inserts, plan.hides) == ((), (), ())


def test_a_pinned_row_stays_as_it_is() -> None:
    old = said(1)
    standing = {old.event.id: replace(row(7), pinned=True)}
    for one in (change(5, old, "other"), change(5, old, kind=DELETE)):
        plan = make([old], [one], standing, OWNERS)
        assert (plan.edits, plan.hides, plan.pinned) == ((), (), 1)


def test_only_the_author_changes_what_was_said() -> None:
    """Nobody else's words come under the owner's name, also where the author is not known."""
    old = said(1)
    standing = {old.event.id: row(7)}
    for kind in (EDIT, DELETE):
        foreign = change(5, old, "planted", kind=kind, author=OTHER)
        for messages in ([old], []):
            plan = make(messages, [foreign], standing, OWNERS)
            assert (plan.edits, plan.hides, plan.ignored) == ((), (), 1)
    assert make([], [change(5, old, kind=MODERATE, author=OTHER)], standing, OWNERS).hides
    theirs = {old.event.id: row(7, trust=Trust.OTHER)}
    assert make([], [change(5, old, "planted")], theirs, OWNERS).ignored == 1


def test_a_change_from_another_room_is_ignored() -> None:
    old = said(1)
    foreign = replace(change(5, old, "other"), room=Room("den", "Den", private=False))
    assert make([old], [foreign], {old.event.id: row(7)}, OWNERS).ignored == 1


def test_a_revision_that_was_stored_takes_its_place() -> None:
    old = said(1)
    edit = change(5, old, "other")
    standing = {old.event.id: row(7), edit.event.id: row(9, "other")}
    [step] = make([old], [edit], standing, OWNERS).edits
    assert step.stored == 9


def test_a_change_of_something_unknown_is_nothing() -> None:
    plan = make([], [change(5, said(1), "other")], {}, OWNERS)
    assert (plan.edits, plan.inserts, plan.ignored) == ((), (), 0)


def test_without_words_there_is_no_message() -> None:
    plan = make([said(1, " \n")], [], {}, OWNERS)
    assert (plan.inserts, plan.blank) == ((), 1)


def test_a_private_room_called_dm_has_a_venue_of_its_own() -> None:
    assert Room("x", "DM", private=True).venue == "buzz:dm"
    assert Room("x", "DM", private=False).venue == "buzz:DM"
    assert Room("x", "Hall", private=True).venue == "buzz:Hall"
