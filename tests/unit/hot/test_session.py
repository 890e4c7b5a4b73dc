"""Who is at the other end, and where."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.messages import Origin, Role, Trust
from hot.session import MAX_SHOWN, Session, platform_name, repository_root, working_directory
from tests.unit.hot.conftest import settings_for


@pytest.mark.parametrize(
    ("called", "name"),
    [
        ("claude-code", "claude-code"),
        ("codex-mcp-client", "codex"),
        ("gemini-cli-mcp-client", "gemini-cli"),
        ("opencode", "opencode"),
        ("Cursor", "cursor"),
        ("cursor-vscode", "cursor"),
        ("Visual Studio Code", "vscode"),
        ("claude-ai", "claude-desktop"),
        ("Claude Code", "claude-code"),
        ("My Own Client", "my-own-client"),
        ("클라이언트", "클라이언트"),
        ("", None),
        ("\0 \ud800 !!", None),
        (None, None),
    ],
)
def test_clients_have_one_name_each(called: str | None, name: str | None) -> None:
    """F78."""
    assert platform_name(called) == name


@given(st.text(st.characters(exclude_categories=())))
def test_a_name_is_normalised_once_and_for_all(called: str) -> None:
    name = platform_name(called)
    assert platform_name(name) == name


@pytest.mark.parametrize(
    ("claimed", "client", "setting", "platform"),
    [
        ("codex", "claude-code", "cursor", "codex"),
        (None, "claude-code", "cursor", "claude-code"),
        (None, None, "cursor", "cursor"),
        (None, None, None, "unknown"),
        ("???", "claude-code", None, "claude-code"),
    ],
)
def test_the_caller_then_the_client_then_the_setting_names_the_platform(
    tmp_path: Path, claimed: str | None, client: str | None, setting: str | None, platform: str
) -> None:
    """F78."""
    session = Session.begin(settings_for(tmp_path, agent_platform=setting), None)
    assert session.platform(client, claimed) == platform


def test_the_project_is_the_repository_upward(tmp_path: Path) -> None:
    inside = tmp_path / "harbor" / "src" / "deep"
    inside.mkdir(parents=True)
    (tmp_path / "harbor" / ".git").mkdir()
    assert repository_root(inside) == tmp_path / "harbor"
    assert Session.begin(settings_for(tmp_path), str(inside)).project == "harbor"


def test_a_worktree_is_a_repository_too(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: elsewhere")
    assert repository_root(tmp_path) == tmp_path


def test_a_folder_that_is_gone_is_no_obstacle(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert working_directory() is None
    session = Session.begin(settings_for(tmp_path), working_directory())
    assert (session.cwd, session.project) == (None, None)


def test_what_an_agent_hands_over_is_its_own_account(tmp_path: Path) -> None:
    """Whatever role it claims, it is asserted and has the trust of an agent."""
    session = Session.begin(settings_for(tmp_path, agent_model="m-1"), "/home/mara/code/harbor")
    said = session.draft(
        Role.USER,
        "Hello",
        "claude-code",
        platform=None,
        model=None,
        subagent=False,
        subagent_model=None,
        subagent_role="reviewer",
    )
    assert (said.origin, said.trust) == (Origin.ASSERTED, Trust.AGENT)
    assert (said.platform, said.model, said.device) == ("claude-code", "m-1", "laptop")
    assert (said.cwd, said.project_hint) == ("/home/mara/code/harbor", "harbor")
    assert said.subagent
    assert said.session == session.id


def test_who_is_shown_something_has_the_names_of_their_turns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F106: a later reply must be told to be of the session that was shown what it draws on."""
    unnamed = Session.begin(settings_for(tmp_path), str(tmp_path))
    assert not unnamed.viewer("cursor-vscode").named
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "ses-1")
    session = Session.begin(settings_for(tmp_path), str(tmp_path))
    viewer = session.viewer("claude-code")
    assert (viewer.session, viewer.named) == ("ses-1", True)
    told = session.draft(
        Role.USER, "x", "claude-code", platform=None, model=None, subagent=False,
        subagent_model=None, subagent_role=None,
    )  # fmt: skip
    assert (viewer.session, viewer.platform, viewer.device, viewer.project) == (
        told.session,
        told.platform,
        told.device,
        told.project_hint,
    )


def test_two_processes_are_two_sessions(tmp_path: Path) -> None:
    settings = settings_for(tmp_path)
    assert Session.begin(settings, None).id != Session.begin(settings, None).id


def test_the_version_seen_last_counts_and_messages_have_none() -> None:
    session = Session(device="laptop")
    session.show([(1, 1), (2, None), (1, 3)])
    assert session.shown == {1: 3}


def test_a_long_session_forgets_what_it_saw_first() -> None:
    session = Session(device="laptop")
    session.show((number, 1) for number in range(MAX_SHOWN + 5))
    assert len(session.shown) == MAX_SHOWN
    assert 0 not in session.shown
    assert MAX_SHOWN + 4 in session.shown
