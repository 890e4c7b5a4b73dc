"""Upkeep of project tags: suggestions for their users, and what those confirmed."""

from collections.abc import Sequence
from dataclasses import dataclass

from agents_memory.clock import Clock
from agents_memory.settings import Settings
from agents_memory.storage.connections import Database
from cold.llm.port import LanguageModel
from cold.passes.confirmed_tags import ConfirmedTags
from cold.passes.new_tag_suggestions import NewTagSuggestions
from cold.passes.protocol import Chore


@dataclass(frozen=True, slots=True)
class TagUpkeep:
    """What is suggested and how readily; the defaults are those of the settings."""

    names: bool = True
    window_days: int = 30
    min_uses: int = 10
    aliases: bool = False
    interval_hours: int = 24
    auto_apply: bool = False

    @classmethod
    def of(cls, settings: Settings) -> "TagUpkeep":
        """As the settings say."""
        return cls(
            settings.dtag_promote_enabled,
            settings.dtag_promote_window_days,
            settings.dtag_promote_min_count,
            settings.project_alias_promoter_enabled,
            settings.project_alias_promoter_interval_hours,
            settings.project_alias_auto_apply,
        )

    def chores(self, database: Database, clock: Clock) -> Sequence[Chore]:
        """Those that are switched on and ask no model; what was confirmed is always worked off."""
        chores: list[Chore] = [ConfirmedTags(database)]
        if self.names:
            chores.append(
                NewTagSuggestions(
                    database, clock, window_days=self.window_days, min_uses=self.min_uses
                )
            )
        return chores

    def asking(self, database: Database, models: LanguageModel, clock: Clock) -> Sequence[Chore]:
        """Those that are switched on and ask a model where there is one."""
        if not self.aliases:
            return []
        # Only here: it brings pydantic, which a daemon without a model does without.
        from cold.passes.alias_suggestions import AliasSuggestions

        return [
            AliasSuggestions(
                database,
                models,
                clock,
                interval_hours=self.interval_hours,
                auto_apply=self.auto_apply,
            )
        ]
