"""The example conversations: what every new user sees, and what the demonstration asks."""

import re
from pathlib import Path

import pytest

from agents_memory.domain.conversations import Conversation, Turn, parse_conversation
from agents_memory.domain.messages import Role
from agents_memory.domain.tags import project_from_directory

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
FILES = sorted((EXAMPLES / "conversations").glob("*.jsonl"))

# Every secret that was said, and the turns that say it. All are invented, and none may ever come
# out of the memory again.
SECRETS = {
    "Katzenklappe-Regen-58": ["2026-09-19-hausgeist-zigbee/05"],
    "eyJzdWIiOiJtYXJhLXRlc3QtNDIiLCJhdWQiOiJ0aWRlcG9vbC1zaG9wIiwiZXhwIjoxNzkwMDY1OTIwfQ": [
        "2026-09-22-shop-sessions-jwt/07"
    ],
    "c3RhZ2luZy1mYWtlLXNpZ25hdHVyZS1oYXJib3ItMjY": ["2026-09-22-shop-sessions-jwt/07"],
    "AKIAQ3MARAFAKEKEY5ZT": ["2026-09-24-infra-backups/05"],
    "h4rb0rFaKe/9xQ2LmVt7+ZpK1sWnYc8RdE5uJgBo": ["2026-09-24-infra-backups/05"],
    "Tr3ibholz-quer-71": [
        "2026-09-29-harbor-pool-exhausted/03",
        "2026-09-29-harbor-pool-exhausted/04",
    ],
    "ghp_7Qm2VxHarborFakeT0kenZ9sLw4Rk8YbNc3D": ["2026-10-07-shop-ci-token/03"],
    "Moewe!Nordwind92": ["2026-10-11-hausgeist-heizung/05"],
    "MC4CAQAwBQYDK2VwBCIEIFhBUkJPUi1GQUtFLUtFWS1OT1QtUkVBTC0yMDI2": [
        "2026-10-13-infra-certificate/05"
    ],
    "bGlnaHRob3VzZS1wYXJ0bmVycy1leHBpcmVkLWZha2Uta2V5LWJsb2NrLTE3": [
        "2026-10-13-infra-certificate/05"
    ],
    "Hanne Brodersen": ["2026-10-23-shop-checkout-a11y/05"],
    "0151-5550-4711": ["2026-10-23-shop-checkout-a11y/05"],
    "Sandberg 12": ["2026-10-23-shop-checkout-a11y/05"],
    "Flut+Kompass_2280": ["2026-10-30-harbor-passwortwechsel/03"],
    "sk-proj-Wf4yFaKe7mKq2Zr9TtNx5LbHs3Vd8CgJp6QaUe1RoYi": ["2026-11-01-wayfarer-openai/03"],
    "ghp_2wKorea8FakeBusanT0ken5Hd7Xq1Zs9PmLv": ["2026-11-14-wayfarer-flights/05"],
}


def read(path: Path) -> Conversation:
    with path.open(encoding="utf-8") as lines:
        return parse_conversation(lines)


def all_turns() -> list[Turn]:
    return [turn for path in FILES for turn in read(path).turns]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_an_example_parses_without_problems_and_is_in_time_order(path: Path) -> None:
    found = read(path)

    assert found.problems == ()
    assert found.header is not None
    assert found.header.session == path.stem
    assert project_from_directory(found.header.cwd) in {
        "harbor-api",
        "tidepool-shop",
        "lighthouse-infra",
        "hausgeist",
        "wayfarer",
    }
    times = [turn.occurred_at for turn in found.turns if turn.occurred_at]
    assert len(times) == len(found.turns)
    assert times == sorted(times)
    assert times[0].date().isoformat() == path.stem[:10]
    assert [turn.role for turn in found.turns[:2]] == [Role.USER, Role.ASSISTANT]
    assert all(turn.native_id.startswith(f"{path.stem}/") for turn in found.turns)


def test_the_examples_are_two_months_of_three_agents_on_two_machines() -> None:
    headers = [header for path in FILES if (header := read(path).header)]
    turns = all_turns()

    assert 24 <= len(FILES) <= 30
    assert 200 <= len(turns) <= 260
    assert {header.platform for header in headers} == {"claude-code", "codex", "gemini-cli"}
    assert {header.device for header in headers} == {"laptop", "desktop"}
    assert len({turn.native_id for turn in turns}) == len(turns)
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    assert f"{len(FILES)} sessions, {len(turns)} turns" in readme
    assert FILES[0].stem.startswith("2026-09-1")
    assert FILES[-1].stem.startswith("2026-11-1")


def test_the_list_of_secrets_names_every_turn_that_says_one() -> None:
    """F108"""
    turns = all_turns()

    said = {secret: [turn.native_id for turn in turns if secret in turn.text] for secret in SECRETS}

    assert said == SECRETS


def test_every_question_in_the_readme_names_turns_that_exist() -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    answers = re.findall(r"`(2026-\d\d-\d\d-[a-z0-9-]+/\d\d)`", readme)
    known = {turn.native_id for turn in all_turns()}

    assert [answer for answer in answers if answer not in known] == []
    assert len(re.findall(r"^\| \d+ \|", readme, re.MULTILINE)) == 12


def test_the_readme_repeats_no_secret() -> None:
    readme = (EXAMPLES / "README.md").read_text(encoding="utf-8")

    assert [secret for secret in SECRETS if secret in readme] == []
