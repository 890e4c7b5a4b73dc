"""What `redact` tells of an erasure: numbers, and what is left to do."""

from agents_memory.cli.redact import render
from agents_memory.services.erasure import Report


def test_everything_is_told_and_each_thing_that_is_left_to_do() -> None:
    report = Report(
        ran=True,
        changed={"messages.message": 3},
        left={"project_tags.name": 1},
        removed=(7, 9),
        documents=((4, 2),),
        messages=(11,),
        kin=(13,),
        reasons=(15,),
        kept_out=False,
    )
    assert render(report).splitlines() == [
        "messages.message   3",
        "project_tags.name  1 left: others refer to it by this name; rename it by hand",
        "removed, as nothing or a repetition was left of them: 7, 9",
        "profiles that rest on it, to be looked at: 4 (version 2)",
        "messages that say the same or that it rests on: 11",
        "hold other forms of these words, which are left: 13",
        "patches that did something else too, whose reasons are left (see `patch show`; erase "
        "words in them with --words): 15",
        "too short to be known again by its words: erase those with --words as well",
    ]


def test_nothing_found_is_said() -> None:
    assert render(Report(ran=False, changed={}, left={})) == "nothing to erase"
    assert render(Report(ran=True, changed={}, left={}, already=True)) == "it is erased already"


def test_secrets_are_told_by_kind() -> None:
    report = Report(
        ran=False,
        changed={"messages.message": 3},
        left={},
        kinds={"github_token": 2, "password": 4},
    )
    assert render(report).splitlines() == [
        "messages.message  3",
        "secrets in these rows, by kind: github_token 2, password 4",
    ]
