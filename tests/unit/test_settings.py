"""Defaults, the kinds of values, the machine's surroundings, and secrets that stay secret."""

import copy
import dataclasses
import json
import pickle
import sys
from datetime import UTC
from pathlib import Path

import pytest

from agents_memory.cli.output import emit_json
from agents_memory.domain.errors import ConfigurationError
from agents_memory.settings import VARIABLES, Group, Secret, Settings
from agents_memory.settings.values import Wrong, zone

HOME = Path("/nowhere/home")
PASSWORD = "hunter2-correct-horse"


def load(**environ: str) -> Settings:
    return Settings.load(environ, home=HOME)


def test_with_nothing_set_everything_has_a_value_and_the_database_is_embedded() -> None:
    """F101: no database configured means the embedded one, in a folder that is named."""
    settings = load()
    assert settings.embedded
    assert settings.starts_local_services
    assert settings.data_dir == HOME / ".local/share/mcp-agents-memory"
    assert settings.describe_database() == f"embedded at {settings.data_dir}"
    assert (settings.hot_url, settings.cold_url, settings.owner_url) == (None, None, None)
    assert settings.config_path is None
    assert settings.notes == ()
    assert settings.user_name
    assert settings.device_name
    assert "." not in settings.device_name


@pytest.mark.parametrize(
    ("field", "default"),
    [
        ("db_schema", "agents_memory"),
        ("db_pool_max", 8),
        ("embedded_linger_sec", 60),
        ("toolsets", ("core",)),
        ("short_term_days", 3),
        ("short_term_token_limit", 8000),
        ("instructions_max_chars", 1900),
        ("search_fallback_threshold", 0.3),
        ("search_embed_deadline_ms", 1500),
        ("archive_after_days", 30),
        ("local_services", "auto"),
        ("embedding_model", "local"),
        ("allow_hash_embeddings", False),
        ("embedding_threads", 1),
        ("cold_path_enabled", True),
        ("cold_path_interval_sec", 60),
        ("cold_path_batch_size", 5),
        ("cold_path_warmup_sec", 0),
        ("cold_path_max_attempts", 5),
        ("log_level", "info"),
        ("log_format", "auto"),
        ("no_color", False),
        ("agent_platform", None),
    ],
)
def test_the_defaults_are_the_documented_ones(field: str, default: object) -> None:
    """F61, F62, F71: the windows, limits and cadence the reference system has."""
    assert getattr(load(), field) == default


@pytest.mark.parametrize(
    ("name", "written", "field", "value"),
    [
        ("SHORT_TERM_DAYS", " 30 ", "short_term_days", 30),
        ("SEARCH_FALLBACK_THRESHOLD", ".5", "search_fallback_threshold", 0.5),
        ("COLD_PATH_ENABLED", "Off", "cold_path_enabled", False),
        ("AGENTS_MEMORY_ALLOW_HASH_EMBEDDINGS", "1", "allow_hash_embeddings", True),
        ("AGENTS_MEMORY_TOOLSETS", "patch, core,patch", "toolsets", ("patch", "core")),
        ("LOG_LEVEL", "WARN", "log_level", "warning"),
        ("NO_COLOR", "false", "no_color", True),
        ("USER_NAME", "Ünïcode 名前 🙂", "user_name", "Ünïcode 名前 🙂"),
        ("MEMORY_DATA_DIR", "~/memory", "data_dir", HOME / "memory"),
        ("MEMORY_DATA_DIR", "/srv/memory", "data_dir", Path("/srv/memory")),
        ("TIME_ZONE", "utc", "time_zone", UTC),
        ("DB_SCHEMA", "pool_2", "db_schema", "pool_2"),
        (
            "EMBEDDING_BASE_URL",
            "http://[::1]:11434/v1/",
            "embedding_base_url",
            "http://[::1]:11434/v1",
        ),
        ("OPENAI_API_KEY", " sk-1 ", "openai_api_key", Secret("sk-1")),
    ],
)
def test_a_good_value_is_read(name: str, written: str, field: str, value: object) -> None:
    assert getattr(load(**{name: written}), field) == value


@pytest.mark.parametrize(
    ("name", "written", "expected"),
    [
        ("SHORT_TERM_DAYS", "0", "a whole number, 1 to 30 days"),
        ("SHORT_TERM_DAYS", "3.5", "a whole number"),
        ("SHORT_TERM_DAYS", "٣", "a whole number"),
        ("SHORT_TERM_DAYS", "9" * 5000, "longer than 4096"),
        ("SEARCH_FALLBACK_THRESHOLD", "nan", "a number, 0 to 1"),
        ("SEARCH_FALLBACK_THRESHOLD", "1e-1", "a number, 0 to 1"),
        ("SEARCH_FALLBACK_THRESHOLD", ".", "a number, 0 to 1"),
        ("COLD_PATH_ENABLED", "maybe", "true or false"),
        ("AGENTS_MEMORY_TOOLSETS", "core,minds", "core, mind, patch and tags"),
        ("AGENTS_MEMORY_TOOLSETS", ",", "comma list"),
        ("AGENTS_MEMORY_LOCAL_SERVICES", "perhaps", "auto, on or off"),
        ("DB_SCHEMA", "Agents-Memory", "lower-case letters"),
        ("DB_SCHEMA", "pg_memory", "belongs to Postgres"),
        ("DB_SCHEMA", 'x"; drop schema public; --', "lower-case letters"),
        ("MEMORY_DATA_DIR", "data", "relative path"),
        ("TIME_ZONE", "Mars/Phobos", "such as Europe/Berlin"),
        ("TIME_ZONE", "../../etc/passwd", "such as Europe/Berlin"),
        ("LOG_FORMAT", "xml", "console, json or auto"),
        ("USER_NAME", "a\x00b", "control character"),
        ("USER_NAME", "a\udcffb", "not UTF-8"),
        ("USER_NAME", "x" * 101, "at most 100 characters"),
        ("EMBEDDING_BASE_URL", "localhost:11434", "an http or https URL"),
        ("EMBEDDING_BASE_URL", "http://", "an http or https URL"),
        ("EMBEDDING_BASE_URL", "http://h:99999/v1", "an http or https URL"),
        ("EMBEDDING_BASE_URL", "https://h/v1?key=1", "an http or https URL"),
        ("EMBEDDING_BASE_URL", "https://me:word@h/v1", "a key has a setting of its own"),
        ("EMBEDDING_API_KEY", "two words", "without spaces"),
        ("EMBEDDING_API_KEY", "schlüssel", "printable ASCII"),
    ],
)
def test_a_bad_value_is_refused_with_its_name_what_is_expected_and_the_fix(
    name: str, written: str, expected: str
) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(**{name: written})
    message = str(refusal.value)
    assert message.startswith(f"{name} must be ")
    assert expected in message
    assert "remove it" in message
    assert "in the environment" in message


def test_everything_wrong_is_said_at_once() -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(SHORT_TERM_DAYS="x", DB_POOL_MAX="51", COLD_PATH_INTERVAL="5")
    assert len(str(refusal.value).splitlines()) == 3


def test_an_empty_value_counts_as_unset() -> None:
    assert dataclasses.asdict(load(SHORT_TERM_DAYS="", DATABASE_URL="  ")) == dataclasses.asdict(
        load()
    )


def test_an_unexpanded_reference_counts_as_unset_and_is_noted_without_its_text() -> None:
    settings = load(DATABASE_URL="${DATABASE_URL:-postgres://u:" + PASSWORD + "@h/d}")
    assert settings.embedded
    (note,) = settings.notes
    assert note.startswith("DATABASE_URL came from the environment as an unexpanded")
    assert PASSWORD not in note


def test_an_unexpanded_reference_of_another_program_is_not_noted() -> None:
    assert load(SOMETHING="${X}").notes == ()


@pytest.mark.parametrize("given", ["/data", "relative", ""])
def test_the_data_folder_follows_xdg(given: str) -> None:
    folder = load(XDG_DATA_HOME=given).data_dir
    base = Path("/data") if given == "/data" else HOME / ".local/share"
    assert folder == base / "mcp-agents-memory"


def test_the_data_folder_of_a_mac_is_the_usual_one_unless_xdg_says_otherwise(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    usual = HOME / "Library/Application Support/mcp-agents-memory"
    assert load().data_dir == usual
    assert load(XDG_DATA_HOME="/data").data_dir == Path("/data/mcp-agents-memory")


def test_home_comes_from_the_environment_when_not_given() -> None:
    assert Settings.load({"HOME": "/srv/agent"}).data_dir.is_relative_to("/srv/agent")


def test_the_login_name_is_the_users_name() -> None:
    assert load(LOGNAME="ada").user_name == "ada"
    assert load(LOGNAME="ada", USER_NAME="lovelace").user_name == "lovelace"


def test_an_account_without_a_name_is_called_owner(monkeypatch: pytest.MonkeyPatch) -> None:
    def nobody() -> str:
        raise KeyError("no entry")

    monkeypatch.setattr("getpass.getuser", nobody)
    assert load().user_name == "owner"


def test_the_time_zone_follows_tz_and_survives_nonsense() -> None:
    assert str(load(TZ=":Asia/Tokyo").time_zone) == "Asia/Tokyo"
    assert load(TZ="Nowhere/Land").time_zone == load().time_zone


@pytest.mark.parametrize("name", ["America", "", "\x00", "/etc/passwd", "Europe/Atlantis", "é"])
def test_what_is_no_zone_is_refused(name: str) -> None:
    with pytest.raises(Wrong):
        zone(name)


@pytest.mark.parametrize(
    ("mode", "url", "starts"),
    [
        ("auto", "", True),
        ("auto", "postgresql://u@h/d", False),
        ("off", "", False),
    ],
)
def test_a_laptop_with_a_remote_database_starts_nothing_unless_told(
    mode: str, url: str, starts: bool
) -> None:
    settings = load(AGENTS_MEMORY_LOCAL_SERVICES=mode, DATABASE_URL=url)
    assert settings.starts_local_services is starts


SECRETS = {
    "DATABASE_URL": f"postgresql://u:{PASSWORD}@h/d",
    "OWNER_DATABASE_URL": f"postgresql://o:{PASSWORD}@h/d",
    "COLD_DATABASE_URL": f"postgresql://c:{PASSWORD}@h/d",
    "OPENAI_API_KEY": PASSWORD,
    "EMBEDDING_API_KEY": PASSWORD,
}


def test_no_secret_shows_in_any_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    settings = load(**SECRETS)
    emit_json(settings)
    shown = [
        repr(settings),
        str(settings),
        f"{settings.hot_url} {settings.cold_url!r}",
        json.dumps(dataclasses.asdict(settings), default=str),
        settings.describe_database(),
        *settings.notes,
        capsys.readouterr().out,
    ]
    assert not [text for text in shown if PASSWORD in text]
    assert settings.hot_url is not None
    assert PASSWORD in settings.hot_url.reveal()


def test_a_secret_refuses_to_be_pickled() -> None:
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(load(**SECRETS))
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(Secret(PASSWORD))


def test_secrets_compare_by_value_and_copy_as_themselves() -> None:
    assert Secret("a") == Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1
    assert copy.deepcopy(Secret(PASSWORD)).reveal() == copy.copy(Secret(PASSWORD)).reveal()


@pytest.mark.parametrize("name", [v.name for v in VARIABLES if v.kind.secret])
def test_a_bad_secret_is_refused_without_being_shown(name: str) -> None:
    with pytest.raises(ConfigurationError) as refusal:
        load(**{name: f"{PASSWORD}\x00"})
    assert PASSWORD not in str(refusal.value)
    assert refusal.value.__cause__ is None
    assert refusal.value.__suppress_context__ or refusal.value.__context__ is None


def test_settings_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        load().short_term_days = 5  # type: ignore[misc]


def test_a_changed_copy_can_be_made() -> None:
    assert dataclasses.replace(load(), short_term_days=5).short_term_days == 5


def test_names_without_effect_are_accepted_and_say_so() -> None:
    accepted = [v for v in VARIABLES if v.group is Group.ACCEPTED]
    assert all("no effect in this version" in v.about for v in accepted)
    given = {v.name: "anything" for v in accepted if v.name != "SSH_ENABLED"}
    assert dataclasses.asdict(load(**given)) == dataclasses.asdict(load())
    assert {"GEMINI_API_KEY", "LIBRARIAN_DEEP_THINKING"} <= set(given)


def test_a_tunnel_is_refused_rather_than_forgotten() -> None:
    """F101: the host at the far end of a tunnel is another database at this end."""
    with pytest.raises(ConfigurationError, match=r"SSH_ENABLED is true, but .* no tunnel"):
        load(SSH_ENABLED="true", DB_HOST="localhost", DB_USER="u", DB_NAME="d")
    assert not load(SSH_ENABLED="false").notes
