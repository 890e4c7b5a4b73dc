"""What the daemon may suggest about project tags."""

from dataclasses import dataclass

from agents_memory.settings.models import ModelSettings
from agents_memory.settings.values import FLAG, whole
from agents_memory.settings.variables import Group, setting


@dataclass(frozen=True, slots=True, kw_only=True, init=False, repr=False, eq=False)
class TagSettings(ModelSettings):
    """The part of Settings about suggestions; nothing is decided by them but where said."""

    dtag_promote_enabled: bool = setting(
        "DTAG_PROMOTE_ENABLED",
        Group.TAGS,
        "Whether free tags in frequent use are suggested as projects",
        FLAG,
        default="true",
    )
    dtag_promote_window_days: int = setting(
        "DTAG_PROMOTE_WINDOW_DAYS",
        Group.TAGS,
        "How far back their use is counted",
        whole(1, 3650, "days"),
        default="30",
    )
    dtag_promote_min_count: int = setting(
        "DTAG_PROMOTE_MIN_COUNT",
        Group.TAGS,
        "In how many messages one has to occur",
        whole(2, 1_000_000),
        default="10",
    )
    project_alias_promoter_enabled: bool = setting(
        "PROJECT_ALIAS_PROMOTER_ENABLED",
        Group.TAGS,
        "Whether projects that may be one are suggested as aliases",
        FLAG,
        default="false",
    )
    project_alias_promoter_interval_hours: int = setting(
        "PROJECT_ALIAS_PROMOTER_INTERVAL_HOURS",
        Group.TAGS,
        "How often pairs of projects are compared",
        whole(1, 8760, "hours"),
        default="24",
    )
    project_alias_auto_apply: bool = setting(
        "PROJECT_ALIAS_AUTO_APPLY",
        Group.TAGS,
        "Whether an alias that you stated yourself is applied unasked where all else fits too",
        FLAG,
        default="false",
    )
