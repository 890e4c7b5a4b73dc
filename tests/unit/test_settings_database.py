"""Which database the settings name, and the URLs that reach it."""

import inspect
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from asyncpg import connect_utils

from agents_memory.domain.errors import ConfigurationError
from agents_memory.settings import Settings
from agents_memory.settings.address import FOREIGN_PARAMETERS, parse

PASSWORD = "hunter2"
URL = f"postgresql://ada:{PASSWORD}@db.example.com/memory"
PARTS = {"DB_HOST": "db.example.com", "DB_USER": "ada", "DB_PASS": "s p@c/e:?#", "DB_NAME": "m"}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


def load(home: Path, **environ: str) -> Settings:
    return Settings.load(environ, home=home)


def query(url: str) -> dict[str, list[str]]:
    return parse_qs(urlsplit(url).query)


def hot(settings: Settings) -> str:
    assert settings.hot_url is not None
    return settings.hot_url.reveal()


def refused(home: Path, **environ: str) -> str:
    with pytest.raises(ConfigurationError) as refusal:
        load(home, **environ)
    assert PASSWORD not in str(refusal.value)
    return str(refusal.value)


def seen_by_the_driver(url: str) -> tuple[list[Any], Any]:
    """The addresses and parameters asyncpg itself makes of a URL."""
    understand = vars(connect_utils)["_parse_connect_dsn_and_args"]
    absent = set(inspect.signature(understand).parameters) - {"dsn"}
    addresses, parameters = understand(dsn=url, **dict.fromkeys(absent))
    return addresses, parameters


@pytest.mark.parametrize(
    ("url", "described"),
    [
        (URL, "db.example.com:5432/memory"),
        ("postgres://u@h:6543/m", "h:6543/m"),
        ("postgresql://u@[2001:db8::1]:77/m", "[2001:db8::1]:77/m"),
        ("postgresql://u@a:1,b/m", "a:1,b:5432/m"),
        ("postgresql://u@/m?host=/run/postgresql&port=5433", "/run/postgresql:5433/m"),
        ("postgresql://u@%2Frun%2Fpg/m", "/run/pg:5432/m"),
        ("postgresql://u@h/?dbname=m", "h:5432/m"),
    ],
)
def test_a_url_is_described_without_its_secrets(home: Path, url: str, described: str) -> None:
    """F101: start-up can print which database is used."""
    settings = load(home, DATABASE_URL=url)
    assert not settings.embedded
    assert settings.describe_database() == described


def test_the_driver_is_told_everything_so_that_no_foreign_variable_moves_the_connection(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """F101: PGHOST and its kin of another program can't lead to another database."""
    for name, value in {"PGHOST": "evil", "PGPORT": "1", "PGDATABASE": "evil"}.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("PGSSLMODE", "disable")
    addresses, parameters = seen_by_the_driver(hot(load(home, **PARTS)))
    assert addresses == [("db.example.com", 5432)]
    assert (parameters.user, parameters.password) == ("ada", "s p@c/e:?#")
    assert parameters.database == "m"
    assert parameters.sslmode.name == "verify_full"


@pytest.mark.parametrize("host", ["::1", "127.0.0.1", "localhost", "/run/pg sql"])
def test_parts_reach_hosts_of_every_form(home: Path, host: str) -> None:
    addresses, _ = seen_by_the_driver(hot(load(home, **{**PARTS, "DB_HOST": host, "DB_PORT": "9"})))
    expected = f"{host}/.s.PGSQL.9" if host.startswith("/") else (host, 9)
    assert addresses == [expected]


@pytest.mark.parametrize(
    ("url", "given", "mode"),
    [
        ("postgresql://u@db.example.com/m", "", "verify-full"),
        ("postgresql://u@localhost/m", "", "prefer"),
        ("postgresql://u@127.0.0.1,10.0.0.7/m", "", "verify-full"),
        ("postgresql://u@db.example.com/m", "require", "require"),
        ("postgresql://u@db.example.com/m", "true", "require"),
        ("postgresql://u@db.example.com/m", "false", "disable"),
        ("postgresql://u@db.example.com/m?sslmode=verify-ca", "", "verify-ca"),
        ("postgresql://u@db.example.com/m?sslmode=require", "require", "require"),
    ],
)
def test_encryption_is_verified_unless_somebody_says_otherwise(
    home: Path, url: str, given: str, mode: str
) -> None:
    settings = load(home, DATABASE_URL=url, DB_SSL=given)
    assert query(hot(settings))["sslmode"] == [mode]
    unsafe = mode in ("require", "disable") and "example" in url
    assert any("not verified" in note for note in settings.notes) is unsafe


def test_verification_uses_the_users_root_certificate_else_the_public_ones(home: Path) -> None:
    public = query(hot(load(home, DATABASE_URL=URL)))
    assert Path(public["sslrootcert"][0]).is_file()
    assert query(hot(load(home, DATABASE_URL=f"{URL}?sslrootcert=system"))) == public
    own = query(hot(load(home, DATABASE_URL=f"{URL}?sslrootcert=/my/ca.pem")))
    assert own["sslrootcert"] == ["/my/ca.pem"]
    (home / ".postgresql").mkdir()
    (home / ".postgresql/root.crt").touch()
    assert "sslrootcert" not in query(hot(load(home, DATABASE_URL=URL)))


def test_parameters_of_other_programs_are_left_out_and_noted(home: Path) -> None:
    """URLs copied from a provider's page carry what the driver would hand to the server."""
    url = f"{URL}?sslmode=verify-full&channel_binding=require&target_session_attrs=read-write"
    settings = load(home, DATABASE_URL=url)
    assert not FOREIGN_PARAMETERS & set(query(hot(settings)))
    assert query(hot(settings))["target_session_attrs"] == ["read-write"]
    assert settings.notes == ("DATABASE_URL carries channel_binding, which has no effect here.",)


@pytest.mark.parametrize(
    "option",
    [
        *("require_auth=scram-sha-256", "load_balance_hosts=random", "sslcertmode=allow"),
        *("fallback_application_name=x", "gssdelegation=0"),
    ],
)
def test_what_only_libpq_knows_is_noted(home: Path, option: str) -> None:
    settings = load(home, DATABASE_URL=f"{URL}?{option}")
    name = option.partition("=")[0]
    assert name not in query(hot(settings))
    assert any(f"carries {name}, which has no effect" in note for note in settings.notes)


def test_each_role_has_its_url_and_falls_back_to_the_common_one(home: Path) -> None:
    one = load(home, DATABASE_URL=URL)
    assert one.hot_url == one.cold_url == one.owner_url
    three = load(
        home,
        **PARTS,
        COLD_DATABASE_URL="postgresql://cold@direct/m",
        OWNER_DATABASE_URL="postgresql://owner@direct/m",
    )
    users = [
        urlsplit(url.reveal()).username
        for url in (three.hot_url, three.cold_url, three.owner_url)
        if url is not None
    ]
    assert users == ["ada", "cold", "owner"]


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        (f"mysql://u:{PASSWORD}@h/m", "does not begin with postgresql://"),
        (f"postgresql+asyncpg://u:{PASSWORD}@h/m", "does not begin with postgresql://"),
        (f"postgresql://u:{PASSWORD}@h", "names no database"),
        (f"postgresql:///{PASSWORD}", "names no host"),
        (f"postgresql://u:{PASSWORD}@@h/m", "%-encoding"),
        (f"postgresql://u:{PASSWORD}#1@h/m", "%-encoding"),
        (f"postgresql://u:{PASSWORD}/1@h/m", "names no host"),
        (f"postgresql://u:{PASSWORD}?1@h/m", "well-formed"),
        (f"postgresql://u:[{PASSWORD}@h/m", "well-formed"),
        (f"postgresql://u:{PASSWORD}@h:0/m", "port"),
        (f"postgresql://u:{PASSWORD}@h:70000/m", "port"),
        (f"postgresql://u:{PASSWORD}@h/m?sslmode=perhaps", "sslmode is none of"),
        (f"postgresql://u:{PASSWORD}@h/m?host=g", "host twice"),
        (PASSWORD, "does not begin"),
        (f"postgresql://u:{PASSWORD}@h\x1b/m", "control character"),
    ],
)
def test_a_url_that_names_no_database_is_refused_without_being_shown(
    home: Path, url: str, reason: str
) -> None:
    message = refused(home, DATABASE_URL=url)
    assert message.startswith("DATABASE_URL must be a URL such as postgresql://")
    assert reason in message


@pytest.mark.parametrize("host", ["h:5433", "a,b", URL, "a b", "user@h"])
def test_a_host_that_is_more_than_a_host_is_refused(home: Path, host: str) -> None:
    assert "DB_HOST must be one host name" in refused(home, **{**PARTS, "DB_HOST": host})


@pytest.mark.parametrize(
    ("environ", "named"),
    [
        ({"DATABASE_URL": URL, **PARTS}, "DATABASE_URL and DB_HOST are both set"),
        ({"DB_HOST": "h"}, "DB_HOST needs DB_USER and DB_NAME"),
        ({"DB_USER": "u", "DB_NAME": "m"}, "DB_USER, DB_NAME set, but neither"),
        ({"DB_PORT": "5433"}, "DB_PORT set, but neither"),
        ({"DB_SSL": "require"}, "DB_SSL set, but neither"),
        ({"COLD_DATABASE_URL": URL}, "COLD_DATABASE_URL set, but neither"),
        ({"OWNER_DATABASE_URL": URL}, "OWNER_DATABASE_URL set, but neither"),
        ({"DATABASE_DIRECT_URL": URL}, "DATABASE_DIRECT_URL set, but neither"),
        ({"DATABASE_POOLED": "true"}, "DATABASE_POOLED set, but neither"),
        (
            {"DATABASE_URL": f"{URL}?sslmode=require", "DB_SSL": "verify-full"},
            "DB_SSL and the sslmode in DATABASE_URL differ",
        ),
    ],
)
def test_half_a_database_is_an_error_and_never_the_embedded_one(
    home: Path, environ: dict[str, str], named: str
) -> None:
    """F101: a setting is never silently traded for an empty database."""
    assert named in refused(home, **environ)


def test_parts_beside_a_url_are_noted(home: Path) -> None:
    settings = load(home, DATABASE_URL=URL, DB_USER="other")
    assert settings.notes == ("No effect beside DATABASE_URL: DB_USER.",)


def test_an_address_does_not_show_its_password() -> None:
    assert PASSWORD not in repr(parse(URL))


def test_the_way_around_a_pooler_is_read_like_the_others(home: Path) -> None:
    settings = load(
        home,
        DATABASE_URL=URL,
        DATABASE_POOLED="true",
        DATABASE_DIRECT_URL="postgresql://ada@direct.example.com/memory",
    )
    assert settings.database_pooled
    assert settings.direct_url is not None
    assert query(settings.direct_url.reveal())["sslmode"] == ["verify-full"]
    assert load(home, DATABASE_URL=URL).direct_url is None
