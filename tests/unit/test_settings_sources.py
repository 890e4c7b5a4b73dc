"""Where settings come from: environment over file; unknown, misspelt and shared are refused."""

import os
import stat
from dataclasses import asdict
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents_memory.domain.errors import ConfigurationError
from agents_memory.settings import Settings
from agents_memory.settings import dotenv as dotenv_file

SECRET = "hunter2"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    path.chmod(mode)
    return path


def usual(home: Path, text: str, mode: int = 0o600) -> Path:
    return write(home / ".config/mcp-agents-memory/.env", text, mode)


def load(home: Path, **environ: str) -> Settings:
    return Settings.load(environ, home=home)


def refused(home: Path, **environ: str) -> str:
    with pytest.raises(ConfigurationError) as refusal:
        load(home, **environ)
    assert SECRET not in str(refusal.value)
    return str(refusal.value)


def test_the_environment_wins_over_the_file(home: Path) -> None:
    path = usual(home, "SHORT_TERM_DAYS=7\nARCHIVE_AFTER_DAYS=90\n")
    settings = load(home, SHORT_TERM_DAYS="9")
    assert (settings.short_term_days, settings.archive_after_days) == (9, 90)
    assert settings.config_path == path


def test_an_empty_variable_of_the_environment_leaves_the_files_value(home: Path) -> None:
    usual(home, "SHORT_TERM_DAYS=7\n")
    assert load(home, SHORT_TERM_DAYS="").short_term_days == 7


def test_the_named_file_is_read_in_place_of_the_usual_one(home: Path, tmp_path: Path) -> None:
    usual(home, "SHORT_TERM_DAYS=7\nARCHIVE_AFTER_DAYS=90\n")
    named = write(tmp_path / "mine.env", "SHORT_TERM_DAYS=8\n")
    settings = load(home, MEMORY_CONFIG_PATH=str(named))
    assert (settings.short_term_days, settings.archive_after_days) == (8, 30)


@pytest.mark.parametrize("given", ["absolute", "relative", ""])
def test_the_usual_file_follows_xdg(home: Path, tmp_path: Path, given: str) -> None:
    usual(home, "SHORT_TERM_DAYS=7\n")
    write(tmp_path / "xdg/mcp-agents-memory/.env", "SHORT_TERM_DAYS=8\n")
    value = str(tmp_path / "xdg") if given == "absolute" else given
    expected = 8 if given == "absolute" else 7
    assert load(home, XDG_CONFIG_HOME=value).short_term_days == expected


def test_a_named_file_that_is_missing_is_an_error(home: Path) -> None:
    """F101: a lost file of settings is not an empty database."""
    usual(home, "")
    assert "is not there" in refused(home, MEMORY_CONFIG_PATH="/nowhere/my.env")


def test_a_relative_name_of_the_file_is_an_error(home: Path) -> None:
    assert "relative path" in refused(home, MEMORY_CONFIG_PATH="my.env")


def test_the_file_may_be_named_from_home(home: Path) -> None:
    write(home / "my.env", "SHORT_TERM_DAYS=8\n")
    assert load(home, MEMORY_CONFIG_PATH="~/my.env").short_term_days == 8


def test_an_unexpanded_name_of_the_file_counts_as_unset_and_is_noted(home: Path) -> None:
    usual(home, "SHORT_TERM_DAYS=7\n")
    settings = load(home, MEMORY_CONFIG_PATH="${MEMORY_CONFIG_PATH}")
    assert settings.short_term_days == 7
    assert len(settings.notes) == 1


def test_a_file_in_the_working_directory_is_never_read(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / ".env", "DATABASE_URL=postgresql://evil@elsewhere/m\nNONSENSE=1\n")
    monkeypatch.chdir(tmp_path)
    assert load(home).embedded


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620, 0o644, 0o601])
def test_a_file_that_others_can_touch_is_refused_with_the_command_that_mends_it(
    home: Path, mode: int
) -> None:
    path = usual(home, f"DB_PASS={SECRET}\n", mode)
    assert refused(home).endswith(f"run: chmod 600 '{path}'")
    path.chmod(0o400)
    assert "DB_PASS set, but neither" in refused(home)


@pytest.mark.parametrize(
    ("owner", "we", "allowed"),
    [(1000, 1000, True), (0, 1000, True), (0, 0, True), (1001, 1000, False), (1000, 0, False)],
)
def test_a_file_of_another_user_is_refused_but_not_one_of_root(
    home: Path, monkeypatch: pytest.MonkeyPatch, owner: int, we: int, allowed: bool
) -> None:
    usual(home, "SHORT_TERM_DAYS=7\n")
    status = os.stat_result((stat.S_IFREG | 0o600, 0, 0, 1, owner, 0, 0, 0, 0, 0))
    monkeypatch.setattr(os, "fstat", lambda _descriptor: status)
    monkeypatch.setattr(os, "geteuid", lambda: we)
    if allowed:
        assert load(home).short_term_days == 7
    else:
        assert "belongs to another user" in refused(home)


def test_what_is_no_file_is_refused_without_waiting_for_it(home: Path, tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    assert "is not a file" in refused(home, MEMORY_CONFIG_PATH=str(pipe))
    assert "is not a file" in refused(home, MEMORY_CONFIG_PATH=str(tmp_path))


def test_a_dangling_link_is_an_error_and_not_an_absent_file(home: Path) -> None:
    folder = home / ".config/mcp-agents-memory"
    folder.mkdir(parents=True)
    (folder / ".env").symlink_to(folder / "gone")
    assert "cannot read the settings" in refused(home)


def test_a_link_to_a_private_file_is_followed(home: Path, tmp_path: Path) -> None:
    target = write(tmp_path / "dotfiles/env", "SHORT_TERM_DAYS=7\n")
    folder = home / ".config/mcp-agents-memory"
    folder.mkdir(parents=True)
    (folder / ".env").symlink_to(target)
    assert load(home).short_term_days == 7


@pytest.mark.parametrize("content", [b"USER_NAME=\xff\xfe\n", b"#" * (1 << 20) + b"##"])
def test_a_file_that_is_no_text_or_too_large_is_refused(home: Path, content: bytes) -> None:
    path = usual(home, "")
    path.write_bytes(content)
    assert str(path) in refused(home)


@pytest.mark.parametrize(
    ("line", "value"),
    [
        ("USER_NAME=ada", "ada"),
        ("  export   USER_NAME =  ada lovelace  # who", "ada lovelace"),
        ("USER_NAME=ada#1", "ada#1"),
        ("USER_NAME='a # $b \"c\"' # note", 'a # $b "c"'),
        (r'USER_NAME="a \"b\" \\ \$HOME # c"', 'a "b" \\ $HOME # c'),
        ("USER_NAME=$HOME", "$HOME"),
        ("USER_NAME=a=b", "a=b"),
        ("USER_NAME=a\u2028b", "a\u2028b"),
    ],
)
def test_the_syntax_is_the_usual_one_without_interpolation(
    home: Path, line: str, value: str
) -> None:
    usual(home, f"# first\n\n{line}\n")
    assert load(home).user_name == value


def test_a_file_saved_on_windows_is_read(home: Path) -> None:
    usual(home, "").write_bytes(b"\xef\xbb\xbfUSER_NAME=ada\r\nDEVICE_NAME=desk\r\n")
    settings = load(home)
    assert (settings.user_name, settings.device_name) == ("ada", "desk")


@pytest.mark.parametrize(
    "line",
    [
        SECRET,
        f"USER_NAME='{SECRET}",
        f'USER_NAME="{SECRET}\\"',
        f"USER_NAME='a'{SECRET}",
        f"9={SECRET}",
        f"={SECRET}",
        f"USER NAME={SECRET}",
    ],
)
def test_a_line_that_is_no_assignment_is_named_by_number_and_not_shown(
    home: Path, line: str
) -> None:
    path = usual(home, f"# one\n{line}\n")
    assert f"line 2 of {path}" in refused(home)


def test_a_name_set_twice_is_refused(home: Path) -> None:
    usual(home, "DB_SCHEMA=a\nLOG_LEVEL=info\nDB_SCHEMA=b\n")
    assert "sets DB_SCHEMA twice (lines 1 and 3)" in refused(home)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("DATABSE_URL=x", "sets DATABSE_URL, which is no setting; did you mean DATABASE_URL?"),
        ("DB_PASSWORD=x", "sets DB_PASSWORD, which is no setting; write DB_PASS"),
        ("database_url=x", "sets a name, which is no setting; did you mean DATABASE_URL?"),
        ("QUITE_DIFFERENT=x", "sets QUITE_DIFFERENT, which is no setting; remove the line"),
        (f"{SECRET}==", "sets a name, which is no setting; remove the line"),
        ("MEMORY_CONFIG_PATH=/x", "sets MEMORY_CONFIG_PATH, which only the environment can"),
    ],
)
def test_an_unknown_name_in_the_file_is_an_error_with_a_suggestion(
    home: Path, line: str, message: str
) -> None:
    """F101: an unknown or misspelt setting is an error."""
    path = usual(home, f"\n{line}\n")
    assert f"line 2 of {path} {message}" in refused(home)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("DATABSE_URL", "did you mean DATABASE_URL?"),
        ("DATABASE_URI", "write DATABASE_URL"),
        ("database_url", "did you mean DATABASE_URL?"),
        ("AGENTS_MEMORY_DATABASE_URL", "write DATABASE_URL"),
        ("DB_PASSWORD", "write DB_PASS"),
        ("DB_HOSTNAME", "write DB_HOST"),
        ("DEVICE_NAMES", "did you mean DEVICE_NAME?"),
        ("AGENTS_MEMORY_TOOLSET", "did you mean AGENTS_MEMORY_TOOLSETS?"),
        ("AGENTS_MEMORY_XYZZY_PLUGH", "remove it"),
        ("COLD_PATH_INTERVAL", "did you mean COLD_PATH_INTERVAL_SEC?"),
        ("SHORT_TERM_DAY", "did you mean SHORT_TERM_DAYS?"),
        ("MEMORY_DATA", "did you mean MEMORY_DATA_DIR?"),
        ("DB_HOTS", "did you mean DB_HOST?"),
        ("db_nme", "did you mean DB_NAME?"),
        ("EMBEDING_MODELL", "did you mean EMBEDDING_MODEL?"),
    ],
)
def test_a_misspelt_name_in_the_environment_is_an_error_with_a_suggestion_and_a_way_out(
    home: Path, name: str, suggestion: str
) -> None:
    """F101: an unknown or misspelt setting is an error."""
    message = refused(home, **{name: SECRET})
    assert message.startswith(f"{name} in the environment is no setting; {suggestion}")
    assert f"AGENTS_MEMORY_IGNORE_ENV={name}" in message
    assert load(home, **{name: SECRET, "AGENTS_MEMORY_IGNORE_ENV": f"X, {name}"}).embedded


def test_names_of_other_programs_are_none_of_our_business(home: Path) -> None:
    others = "USERNAME TIMEZONE LOGLEVEL DB_ENGINE DB_CONNECTION PGHOST TEST_DATABASE_URL"
    others += " MEMORY_LIMIT MEMORY_FILE_PATH ZAI_API_KEY OPENAI_API_BASE PATH AGENT_MODE"
    others += " OPENAI_API_KEY_2 OPENAI_API_KEYS"
    theirs = dict.fromkeys(others.split(), SECRET)
    assert asdict(load(home, LOGNAME="ada", **theirs)) == asdict(load(home, LOGNAME="ada"))


def test_a_near_miss_beside_the_right_name_belongs_to_somebody_else(home: Path) -> None:
    url = "postgresql://u@h/m"
    assert load(home, DATABASE_URL=url, DATABASE_URI=SECRET).describe_database() == "h:5432/m"
    usual(home, f"DATABASE_URL={url}\n")
    assert load(home, DATABASE_URI=SECRET).describe_database() == "h:5432/m"


def test_the_file_can_give_up_a_name_that_a_project_exports(home: Path) -> None:
    """An editor hands us the project's own DATABASE_URL; the owner's file says it isn't ours."""
    usual(home, "AGENTS_MEMORY_IGNORE_ENV=DATABASE_URL,DB_PASS\n")
    foreign = load(home, DATABASE_URL="postgresql://app@dev/app", DB_PASS="${X}")
    assert asdict(foreign) == asdict(load(home))


def test_a_wrong_value_says_which_line_of_which_file(home: Path) -> None:
    path = usual(home, "\nSHORT_TERM_DAYS=99\n")
    message = refused(home)
    assert f"It is set in line 2 of {path}; write SHORT_TERM_DAYS=3, or remove it" in message
    assert "AGENTS_MEMORY_IGNORE_ENV" not in message


@given(st.text(max_size=80))
def test_any_text_is_either_read_or_refused(text: str) -> None:
    """No content of a file of settings crashes the start."""
    try:
        lines = dotenv_file.parse(text, Path("/x"))
    except ConfigurationError:
        return
    assert all(line.name.isidentifier() for line in lines)


@given(st.dictionaries(st.sampled_from(["USER_NAME", "DB_HOST", "DATABASE_URL"]), st.text()))
def test_any_value_is_either_read_or_refused(environ: dict[str, str]) -> None:
    try:
        shown = Settings.load(environ, home=Path("/nowhere")).describe_database()
    except ConfigurationError as refusal:
        shown = str(refusal).replace("\n", "")
    assert shown.isprintable()
