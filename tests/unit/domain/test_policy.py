"""The policy: safe without a file, strict with one."""

from pathlib import Path

import pytest

from agents_memory.domain.errors import ConfigurationError
from agents_memory.domain.messages import Role, Trust
from agents_memory.domain.patches import Verb
from agents_memory.domain.policy import OPERATIONS, ActorClass, Policy, parse_policy
from agents_memory.services.policy import load_policy


def test_the_example_shows_the_defaults(repository: Path) -> None:
    """F6: what is written down is what holds without a file."""
    assert load_policy(repository / "docs" / "policy.example.toml") == Policy()
    assert parse_policy("") == Policy()
    assert load_policy(None) == Policy()


def test_every_operation_of_a_request_can_be_named() -> None:
    assert set(OPERATIONS) == set(Verb) - {Verb.MERGE, Verb.RESTORE}


def test_agents_cite_for_what_they_claim_and_the_owner_never() -> None:
    """F6: the default requires evidence."""
    policy = Policy()
    for actor in (ActorClass.AGENT, ActorClass.DAEMON):
        asked = {name for name in OPERATIONS if policy.must_cite(actor, name)}
        assert asked == {"add", "update", "supersede"}
    assert not any(policy.must_cite(ActorClass.OWNER, name) for name in OPERATIONS)
    assert not policy.may(ActorClass.AGENT, "replace")
    assert policy.may(ActorClass.DAEMON, "replace")


def test_a_system_prompt_is_no_evidence() -> None:
    policy = Policy()
    assert not policy.admits("add", Role.SYSTEM, Trust.OWNER)
    assert policy.admits("add", Role.TOOL, Trust.TOOL)


def test_a_file_changes_only_what_it_names() -> None:
    policy = parse_policy(
        '[agent]\nmust_cite = ["add", "remove"]\n'
        '[evidence]\ntrust = ["owner", "agent"]\n'
        '[evidence.supersede]\nroles = ["user"]\n'
    )
    assert policy.must_cite(ActorClass.AGENT, "remove")
    assert not policy.must_cite(ActorClass.AGENT, "update")
    assert policy.must_cite(ActorClass.DAEMON, "update")
    assert not policy.admits("add", Role.USER, Trust.TOOL)
    assert policy.admits("add", Role.ASSISTANT, Trust.AGENT)
    assert not policy.admits("supersede", Role.ASSISTANT, Trust.AGENT)
    assert not policy.admits("supersede", Role.USER, Trust.TOOL)
    assert policy.admits("supersede", Role.USER, Trust.OWNER)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("[agents]", "agents is no key.*agent, daemon, owner, evidence"),
        ("agent = 1", r"agent must be a table; write \[agent\]"),
        ("[agent]\nmust-cite = []", "agent.must-cite is no key.*may, must_cite"),
        ('[agent]\nmay = ["merge"]', "agent.may must be a list of these words only: add"),
        ('[agent]\nmay = "add"', "agent.may must be a list"),
        ("[agent]\nmay = [[1]]", "agent.may must be a list"),
        ('[evidence]\nroles = ["owner"]', "evidence.roles must be .* user, assistant"),
        ('[evidence.pin]\ntrusts = ["owner"]', "evidence.pin.trusts is no key.*roles, trust"),
        ("[evidence.restore]", "evidence.restore is no key"),
        ("[evidence]\nadd = 3", "evidence.add must be a table"),
        ("agent = [", "no TOML.*policy.example.toml"),
    ],
)
def test_an_unknown_word_is_an_error_that_says_what_is_known(text: str, told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        parse_policy(text)


def test_a_file_that_cannot_be_read_names_the_setting(tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="POLICY_PATH"):
        load_policy(tmp_path / "absent.toml")
    with pytest.raises(ConfigurationError, match="POLICY_PATH"):
        load_policy(tmp_path)
    broken = tmp_path / "broken.toml"
    broken.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigurationError, match="no UTF-8"):
        load_policy(broken)
    wrong = tmp_path / "wrong.toml"
    wrong.write_text("[x]")
    with pytest.raises(ConfigurationError, match=r"wrong\.toml"):
        load_policy(wrong)
