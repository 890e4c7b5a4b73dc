"""What `embedding list` shows of a model."""

from dataclasses import replace

from agents_memory.cli.embedding import render
from agents_memory.services.embedding_models import ModelState

USED = ModelState(
    profile="hashing:256",
    dims=256,
    active=True,
    here=False,
    messages=12,
    messages_missing=0,
    memories=3,
    memories_missing=1,
    indexed=True,
    index_recall=0.987,
    measured=False,
)
COMING = replace(
    USED,
    profile="text-embedding-3-large@3072",
    active=False,
    here=True,
    messages_missing=5,
    indexed=False,
)


def test_the_model_in_use_is_marked_and_what_is_missing_is_told() -> None:
    assert render([USED, COMING]) == (
        "* hashing:256                  messages 12 of 12  memories 2 of 3  index finds 99%\n"
        "  text-embedding-3-large@3072  messages 7 of 12  memories 2 of 3  no index  set up here"
    )


def test_an_index_that_was_not_measured_yet_is_an_index() -> None:
    assert render([replace(USED, index_recall=None)]).endswith("indexed")


def test_no_model_is_nothing() -> None:
    assert render([]) == ""
