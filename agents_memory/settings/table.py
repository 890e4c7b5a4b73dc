"""Settings: the table of all variables, which is also the object everybody is given."""

# ruff: noqa: RUF009 (setting() is dataclasses.field)

import dataclasses
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path
from typing import Any

from agents_memory.domain.errors import ConfigurationError
from agents_memory.settings.buzz import BuzzSettings
from agents_memory.settings.sources import read
from agents_memory.settings.surroundings import Surroundings, surroundings
from agents_memory.settings.values import (
    FLAG,
    PATH,
    PRESENCE,
    ZONE,
    choice,
    decimal,
    text,
    whole,
    words_of,
)
from agents_memory.settings.variables import ACCEPTED, Group, Variable, setting

TOOLSETS = ("core", "mind", "patch", "tags")


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class Settings(BuzzSettings):
    """Everything that can be set, read once; `dataclasses.replace` makes a changed copy.

    Days, seconds, milliseconds and counts are whole numbers in the unit of the name.
    """

    user_name: str = setting(
        "USER_NAME",
        Group.IDENTITY,
        "Whose memory it is",
        text(100),
        computed=Surroundings.user_name,
        unset="the login name",
    )
    device_name: str = setting(
        "DEVICE_NAME",
        Group.IDENTITY,
        "This machine, as others of the same pool see it",
        text(100),
        computed=Surroundings.device_name,
        unset="the host name, up to its first dot",
    )
    agent_platform: str | None = setting(
        "AGENT_PLATFORM", Group.IDENTITY, "The client, where it does not say its name", text(100)
    )
    agent_model: str | None = setting(
        "AGENT_MODEL", Group.IDENTITY, "The model, where a call does not say it", text(100)
    )

    toolsets: tuple[str, ...] = setting(
        "AGENTS_MEMORY_TOOLSETS",
        Group.HOT,
        "Which tools are offered",
        words_of(*TOOLSETS),
        default="core",
        misnomers=("AGENTS_MEMORY_TOOLS",),
    )
    short_term_days: int = setting(
        "SHORT_TERM_DAYS",
        Group.HOT,
        "How far back a brief looks",
        whole(1, 30, "days"),
        default="3",
    )
    short_term_token_limit: int = setting(
        "SHORT_TERM_TOKEN_LIMIT",
        Group.HOT,
        "How much recent conversation a brief may hold",
        whole(100, 200_000, "tokens"),
        default="8000",
    )
    instructions_max_chars: int = setting(
        "INSTRUCTIONS_MAX_CHARS",
        Group.HOT,
        "The brief in the server's instructions; some clients cut what is longer than 2,000",
        whole(200, 20_000, "characters"),
        default="1900",
    )
    search_fusion: str = setting(
        "SEARCH_FUSION",
        Group.HOT,
        "How words and meaning are joined: by their scores, or by ranks alone (RRF)",
        choice("scores", "ranks", rrf="ranks"),
        default="scores",
    )
    search_fallback_threshold: float = setting(
        "SEARCH_FALLBACK_THRESHOLD",
        Group.HOT,
        "With a best similarity below this, keywords alone decide",
        decimal(0, 1),
        default="0.3",
    )
    search_embed_deadline_ms: int = setting(
        "SEARCH_EMBED_DEADLINE_MS",
        Group.HOT,
        "How long a search waits for the vector of its query",
        whole(50, 60_000, "milliseconds"),
        default="1500",
    )
    archive_after_days: int = setting(
        "ARCHIVE_AFTER_DAYS",
        Group.HOT,
        "When messages are summarised and leave everyday search",
        whole(1, 3650, "days"),
        default="30",
    )
    time_zone: tzinfo = setting(
        "TIME_ZONE",
        Group.HOT,
        "The zone of dates in answers, and of words like today in questions",
        ZONE,
        computed=Surroundings.time_zone,
        unset="the system's zone",
    )
    local_services: str = setting(
        "AGENTS_MEMORY_LOCAL_SERVICES",
        Group.HOT,
        "Whether an editor's server starts the database and the daemon on this machine; auto: "
        "only with the embedded database",
        choice("auto", "on", "off"),
        default="auto",
    )

    policy_path: Path | None = setting(
        "POLICY_PATH",
        Group.KNOWLEDGE,
        "Who may change what is believed, and what they must cite; docs/policy.example.toml "
        "explains it",
        PATH,
        unset="the defaults that the example shows",
    )
    mirror_dir: Path | None = setting(
        "MIRROR_DIR",
        Group.KNOWLEDGE,
        "The folder of the Markdown mirror, which may lie in a git repository; docs/mirror.md",
        PATH,
        unset="no mirror is written",
    )

    cold_path_enabled: bool = setting(
        "COLD_PATH_ENABLED", Group.COLD, "Whether the daemon works", FLAG, default="true"
    )
    cold_path_interval_sec: int = setting(
        "COLD_PATH_INTERVAL_SEC",
        Group.COLD,
        "The longest rest between two looks at the queue",
        whole(1, 86_400, "seconds"),
        default="60",
    )
    cold_path_batch_size: int = setting(
        "COLD_PATH_BATCH_SIZE",
        Group.COLD,
        "Items taken at a time",
        whole(1, 1000),
        default="5",
    )
    cold_path_warmup_sec: int = setting(
        "COLD_PATH_WARMUP_SEC",
        Group.COLD,
        "The rest before the first look",
        whole(0, 3600, "seconds"),
        default="0",
    )
    cold_path_max_attempts: int = setting(
        "COLD_PATH_MAX_ATTEMPTS",
        Group.COLD,
        "Tries before an item is set aside with its reason",
        whole(1, 100),
        default="5",
    )
    cold_path_alert_sec: int = setting(
        "COLD_PATH_ALERT_SEC",
        Group.COLD,
        "How long due work may wait before status and doctor call that an alarm",
        whole(60, 2_592_000, "seconds"),
        default="900",
    )
    inferred_use_weight: float = setting(
        "INFERRED_USE_WEIGHT",
        Group.COLD,
        "What a use counts that a reply shows and nobody cited (a cited one: 1); 0 looks for none",
        decimal(0, 0.9),
        default="0.5",
    )
    log_retention_days: int = setting(
        "LOG_RETENTION_DAYS",
        Group.COLD,
        "How long the ledger of model calls and other logs are kept",
        whole(7, 3650, "days"),
        default="90",
    )

    log_level: str = setting(
        "LOG_LEVEL",
        Group.LOGGING,
        "The least that is logged",
        choice("debug", "info", "warning", "error", trace="debug", warn="warning", fatal="error"),
        default="info",
    )
    log_format: str = setting(
        "LOG_FORMAT",
        Group.LOGGING,
        "How a line looks; auto: console on a terminal, else json",
        choice("console", "json", "auto", text="console", pretty="console"),
        default="auto",
    )
    no_color: bool = setting(
        "NO_COLOR",
        Group.LOGGING,
        "No colours, even on a terminal",
        PRESENCE,
        computed=lambda _: False,
        unset="colours on a terminal",
    )

    notes: tuple[str, ...]

    def __init__(self, **values: Any) -> None:
        # Takes all fields. What a dataclass makes for so many costs a start three milliseconds.
        for name, value in values.items():
            object.__setattr__(self, name, value)

    @classmethod
    def load(
        cls, environ: Mapping[str, str] | None = None, *, home: Path | None = None
    ) -> "Settings":
        """The settings of `environ` (default: of this process), then of the file of settings.

        `notes` are sentences for the owner about what was read otherwise than it was written.
        Raises ConfigurationError naming every variable that is wrong, and what to do.
        """
        here = surroundings(os.environ if environ is None else environ, home)
        values, notes = read(VARIABLES, here)
        settings = cls(**values, home=here.home, notes=())
        contradictions = list(settings.contradictions())
        if contradictions:
            raise ConfigurationError("\n".join(contradictions))
        return dataclasses.replace(settings, notes=(*notes, *settings.database_notes()))

    def contradictions(self) -> Iterator[str]:
        yield from BuzzSettings.contradictions(self)
        if self.local_services == "on" and not self.embedded:
            yield (
                "AGENTS_MEMORY_LOCAL_SERVICES=on is for the embedded database; with another one "
                "set it to auto, and run `mcp-agents-memory coldpath` and `capture` as services"
            )

    @property
    def starts_local_services(self) -> bool:
        """Whether an editor's server starts the database and the daemon on this machine."""
        return self.local_services != "off" and self.embedded


VARIABLES: tuple[Variable, ...] = (
    *(
        field.metadata["variable"]._replace(field=field.name)
        for field in dataclasses.fields(Settings)
        if "variable" in field.metadata
    ),
    *ACCEPTED,
)
