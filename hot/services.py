"""What the tools are adapters of, for one user of one pool."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from agents_memory.clock import Clock
from agents_memory.services.brief import Briefing
from agents_memory.settings import Settings
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import Hints

if TYPE_CHECKING:
    from agents_memory.embedding.protocol import Embedder
    from agents_memory.services.citing import Citing
    from agents_memory.services.coverage import Coverage
    from agents_memory.services.digesting import Digesting
    from agents_memory.services.events import Events
    from agents_memory.services.graph import Graph
    from agents_memory.services.history import History
    from agents_memory.services.intake import Intake
    from agents_memory.services.jobs import Jobs
    from agents_memory.services.knowledge import Knowledge
    from agents_memory.services.memory_search import MemorySearch
    from agents_memory.services.mirror import Mirror
    from agents_memory.services.patching import Patching
    from agents_memory.services.profiles import Profiles
    from agents_memory.services.project_tags import ProjectTags
    from agents_memory.services.proposals import Proposals
    from agents_memory.services.recall import Recall
    from agents_memory.services.tag_proposals import TagProposals
    from agents_memory.services.told import Told
    from agents_memory.services.upkeep import Upkeep


class Services:
    """The use cases over an opened pool.

    The brief is there at once. Each of the others is imported by the first call that needs it,
    because a start needs none, many sessions never do, and together they bring a fifth of what
    a start costs (numpy, the embedder, the analysers of texts).
    """

    def __init__(
        self,
        settings: Settings,
        clock: Clock,
        database: Database,
        user_id: int,
        open_embedder: "Callable[[], Embedder | None]",
    ) -> None:
        self.user_id = user_id
        self.briefing = Briefing(
            database,
            clock,
            zone=settings.time_zone,
            token_limit=settings.short_term_token_limit,
            toolsets=settings.toolsets,
        )
        self._settings = settings
        self._clock = clock
        self._database = database
        self._open_embedder = open_embedder
        self._hints = Hints(database)
        self._begun = AsyncExitStack()
        self._begun.push_async_callback(self._hints.close)

    @property
    def database(self) -> Database:
        """The opened pool."""
        return self._database

    @cached_property
    def intake(self) -> "Intake":
        from agents_memory.services.intake import Intake

        return Intake(self._database, self._hints, self._clock)

    @cached_property
    def told(self) -> "Told":
        from agents_memory.services.told import Told

        return Told(self._database, self.intake)

    @cached_property
    def recall(self) -> "Recall":
        from agents_memory.services.recall import Recall

        recall = Recall(
            self._database,
            self._embedder,
            threshold=self._settings.search_fallback_threshold,
            fusion=self._settings.search_fusion,
            embed_deadline_s=self._settings.search_embed_deadline_ms / 1000,
        )
        self._begun.push_async_callback(recall.close)
        return recall

    @cached_property
    def patching(self) -> "Patching":
        from agents_memory.services.patching import Patching
        from agents_memory.services.policy import load_policy

        policy = load_policy(self._settings.policy_path)
        return Patching(self._database, self._hints, policy)

    @cached_property
    def knowledge(self) -> "Knowledge":
        from agents_memory.services.embedding_now import EmbeddingNow
        from agents_memory.services.knowledge import Knowledge

        embedding = EmbeddingNow(self._database, lambda: self._embedder)
        return Knowledge(self._database, self.intake, self.patching, embedding)

    @cached_property
    def events(self) -> "Events":
        from agents_memory.services.events import Events

        return Events(self.intake, self._clock)

    @cached_property
    def history(self) -> "History":
        from agents_memory.services.history import History

        return History(self._database)

    @cached_property
    def memory_search(self) -> "MemorySearch":
        from agents_memory.services.memory_search import MemorySearch

        return MemorySearch(self._database)

    @cached_property
    def citing(self) -> "Citing":
        from agents_memory.services.citing import Citing

        return Citing(self._database)

    @cached_property
    def project_tags(self) -> "ProjectTags":
        from agents_memory.services.project_tags import ProjectTags

        return ProjectTags(
            self._database,
            actor=self._settings.user_name,
            device=self._settings.device_name,
            via="tool",
        )

    @cached_property
    def jobs(self) -> "Jobs":
        from agents_memory.services.jobs import Jobs

        return Jobs(self._database, self._hints)

    @cached_property
    def digesting(self) -> "Digesting":
        from agents_memory.services.digesting import Digesting

        return Digesting(self.intake, self.jobs)

    @cached_property
    def profiles(self) -> "Profiles":
        from agents_memory.services.profiles import Profiles

        return Profiles(self._database, self.intake, self.patching)

    @cached_property
    def proposals(self) -> "Proposals":
        from agents_memory.services.proposals import Proposals

        return Proposals(self._database, self.patching)

    @cached_property
    def mirror(self) -> "Mirror":
        from agents_memory.services.mirror import Mirror

        return Mirror(
            self._database,
            self._clock,
            user_id=self.user_id,
            user=self._settings.user_name,
            zone=self._settings.time_zone,
            directory=self._settings.mirror_dir,
        )

    @cached_property
    def tag_proposals(self) -> "TagProposals":
        from agents_memory.services.tag_proposals import TagProposals

        return TagProposals(self._database)

    @cached_property
    def graph(self) -> "Graph":
        from agents_memory.services.graph import Graph

        return Graph(self._database)

    @cached_property
    def upkeep(self) -> "Upkeep":
        from agents_memory.services.upkeep import Upkeep

        return Upkeep(self._database, self._clock)

    async def health(self) -> list[str]:
        """What of the pool does not work as it should, in words."""
        from agents_memory.services.status import report

        described = self._settings.describe_database()
        found = await report(self._database, self._embedder, described=described)
        return [str(reason) for reason in found.values["degraded"]]

    @cached_property
    def coverage(self) -> "Coverage":
        from agents_memory.services.coverage import Coverage

        return Coverage(self._database, self._clock)

    @cached_property
    def _embedder(self) -> "Embedder | None":
        embedder = self._open_embedder()
        if embedder is not None:
            self._begun.push_async_callback(embedder.close)
        return embedder

    async def close(self) -> None:
        """Ends what they began."""
        await self._begun.aclose()
