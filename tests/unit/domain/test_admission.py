"""What a patch must be like before anything is read or locked for it."""

from typing import Any

import pytest

from agents_memory.domain.admission import admit
from agents_memory.domain.errors import Code, Refusal
from agents_memory.domain.patches import (
    Add,
    Operation,
    PatchRequest,
    Pin,
    Remove,
    Replace,
    Retag,
    Supersede,
    Update,
    WriteProfile,
)
from agents_memory.domain.policy import ActorClass, Policy


def admitted(*operations: Operation, **options: Any) -> PatchRequest | Refusal:
    options = {"evidence": (1,), "reason": "because", **options}
    request = PatchRequest(1, "agent", "test", operations=operations, **options)
    return admit(request, Policy())


def clean(*operations: Operation, **options: Any) -> PatchRequest:
    request = admitted(*operations, **options)
    assert isinstance(request, PatchRequest), request
    return request


TAGS = tuple(f"tag-{number}" for number in range(21))


@pytest.mark.parametrize(
    ("operation", "options"),
    [
        (Add("s", "x" * 20_001), {}),
        (Add("s", "x" * 5_000_000), {}),
        (Update(1, "x" * 20_001), {}),
        (Supersede(1, "x" * 20_001), {}),
        (WriteProfile("sub", "x" * 20_001), {}),
        (Add("s" * 201, "x"), {}),
        (Add("s", "x", tags=TAGS), {}),
        (Add("s", "x", tags=("t" * 51,)), {}),
        (Retag(1, TAGS), {}),
        (Retag(1, ("t" * 51,)), {}),
        (Add("s", "x", scope="s" * 201), {}),
        (Add("s", "x", attribute="s" * 201), {}),
        (Add("s", "x", evidence=tuple(range(1, 102))), {}),
        (Add("s", "x"), {"evidence": tuple(range(1, 102))}),
        (Add("s", "x"), {"reason": "r" * 1_001}),
        (Add("s", "x"), {"reason": "r" * 1_000_000}),
        (Add("s", "x"), {"idempotency_key": "k" * 201}),
    ],
)
def test_what_is_too_much_is_refused_and_not_cut(
    operation: Operation, options: dict[str, Any]
) -> None:
    refused = admitted(operation, **options)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.LIMIT_EXCEEDED
    assert refused.details["limit"] > 0


def test_what_just_fits_is_kept_whole() -> None:
    add = Add(
        "s" * 200, "x" * 20_000, tags=tuple(tag.ljust(50, "x") for tag in TAGS[:20]),
        evidence=tuple(range(1, 101)),
    )  # fmt: skip
    request = clean(add, reason="r" * 1_000, idempotency_key="k" * 200)
    assert request.operations == (add,)
    assert (len(request.reason), request.idempotency_key) == (1_000, "k" * 200)


@pytest.mark.parametrize("count", [0, 51])
def test_a_patch_holds_one_to_fifty_operations(count: int) -> None:
    refused = admitted(*[Pin(1)] * count)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.LIMIT_EXCEEDED


@pytest.mark.parametrize(
    ("operation", "options"),
    [
        (Add("s", " \n\u200b"), {}),
        (Add("  ", "x"), {}),
        (Add("s", "x", importance=0), {}),
        (Add("s", "x", importance=11), {}),
        (Add("s", "x", valence=float("nan")), {}),
        (Add("s", "x", valence=-1.1), {}),
        (Add("s", "x", intensity=float("inf")), {}),
        (Add("s", "x", tags=("",)), {}),
        (Add("s", "x", scope=" "), {}),
        (WriteProfile("other", "x"), {}),
        (Add("s", "x"), {"reason": " "}),
        (Add("s", "x"), {"idempotency_key": ""}),
        (Add("s", "x"), {"idempotency_key": " \t"}),
    ],
)
def test_what_has_no_meaning_is_refused(operation: Operation, options: dict[str, Any]) -> None:
    refused = admitted(operation, **options)
    assert isinstance(refused, Refusal)
    assert refused.code is Code.INVALID_INPUT


def test_evidence_of_the_request_stands_in_where_an_operation_has_none() -> None:
    """F6: each operation ends with its own evidence, each message once."""
    request = clean(Add("s", "x"), Add("s", "y", evidence=(3, 3, 2)), Remove(9), evidence=(1, 1))
    assert [op.evidence for op in request.operations] == [(1,), (3, 2), (1,)]


def test_a_claim_without_evidence_is_refused_and_a_pin_is_not() -> None:
    """F6: by the default policy."""
    for claim in (Add("s", "x"), Update(1, "x"), Supersede(1, "x")):
        refused = admitted(claim, evidence=())
        assert isinstance(refused, Refusal)
        assert refused.code is Code.MISSING_EVIDENCE
    clean(Pin(1), Remove(1), Retag(1, ()), evidence=())
    clean(Add("s", "x"), evidence=(), actor_class=ActorClass.OWNER)


def test_only_passes_and_the_owner_let_a_memory_give_way() -> None:
    refused = admitted(Replace(1, 2))
    assert isinstance(refused, Refusal)
    assert (refused.code, refused.details) == (
        Code.OPERATION_NOT_ALLOWED,
        {"operation": "replace"},
    )
    clean(Replace(1, 2), actor_class=ActorClass.DAEMON)
    clean(Replace(1, 2), actor_class=ActorClass.OWNER)


def test_texts_are_repaired_and_redacted_before_anything_is_stored() -> None:
    """F108, J1: in content, subject, tags and reason."""
    secret = "ghp_7Qm2VxHarborFakeT0kenZ9sLw4Rk8YbNc3D"
    request = clean(
        Add(f"the\n  {secret}", f"nul \0 lone \ud800 {secret}", tags=(f"t {secret}", "a", "a")),
        reason=f"he said {secret}",
    )
    [add] = request.operations
    assert isinstance(add, Add)
    assert secret not in str(request)
    assert add.content.startswith("nul \ufffd lone \ufffd ")
    assert "\n" not in add.subject
    assert add.tags[1:] == ("a",)


def test_two_keys_that_look_like_secrets_stay_two() -> None:
    """F8: being redacted must not make one key of them."""
    first = clean(Pin(1), idempotency_key="ghp_7Qm2VxHarborFakeT0kenZ9sLw4Rk8YbNc3D")
    second = clean(Pin(1), idempotency_key="ghp_2wKorea8FakeBusanT0ken5Hd7Xq1Zs9PmLv")
    assert first.idempotency_key != second.idempotency_key
    assert "ghp_" not in str(first)
    assert len(first.idempotency_key or "") <= 200
