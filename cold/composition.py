"""Every pass and chore of this version, put together to a worker."""

from collections.abc import Sequence
from typing import Any

from agents_memory.clock import Clock
from agents_memory.domain.activation import INFERRED, TRACE_WEIGHTS
from agents_memory.domain.policy import Policy
from agents_memory.embedding.protocol import Embedder
from agents_memory.services.adding import Adding
from agents_memory.services.patching import Patching
from agents_memory.storage.connections import Database
from agents_memory.storage.notify import Hints
from cold.guard import Guard
from cold.llm.port import LanguageModel, Role, Rules
from cold.llm.turns import Urgent
from cold.passes.affects import Affects
from cold.passes.calibrate import Calibrate
from cold.passes.cluster import ARCHIVE_AFTER_DAYS, Cluster
from cold.passes.context import Context
from cold.passes.decay import Decay
from cold.passes.digest import Digest
from cold.passes.duplicates import Duplicates
from cold.passes.embed import Embed, EmbedOther
from cold.passes.embed_memory import EmbedMemory, EmbedMemoryOther
from cold.passes.embed_summary import EmbedSummary
from cold.passes.lexeme_statistics import LexemeStatistics
from cold.passes.librarianship import Librarianship
from cold.passes.mirror import Mirror
from cold.passes.missing_vectors import MissingVectors
from cold.passes.observe_use import ObserveUse
from cold.passes.persona import Persona
from cold.passes.protocol import Chore, Pass
from cold.passes.prune import LOG_RETENTION_DAYS, Prune
from cold.passes.retag_by_model import RetagByModel
from cold.passes.screen import Screen
from cold.passes.sessions import Sessions
from cold.passes.summarise import Summarise
from cold.passes.tag import Tag
from cold.passes.tag_upkeep import TagUpkeep
from cold.passes.vector_index import VectorIndex
from cold.stopping import Stop
from cold.worker import Asking, Pace, Worker


def compose(
    database: Database,
    embedders: Sequence[Embedder],
    stop: Stop,
    clock: Clock,
    *,
    pace: Pace,
    max_attempts: int,
    policy: Policy | None = None,
    models: LanguageModel | None = None,
    at_once: int = 1,
    librarianship: Librarianship | None = None,
    upkeep: TagUpkeep | None = None,
    archive_after_days: int = ARCHIVE_AFTER_DAYS,
    log_retention_days: int = LOG_RETENTION_DAYS,
    inferred_use_weight: float = TRACE_WEIGHTS[INFERRED],
    mirror: Mirror | None = None,
) -> Worker:
    """The worker with every pass and chore of this version."""
    models = models or Rules()
    patching = Patching(database, Hints(database), policy)
    affects = Affects(embedders)
    upkeep = upkeep or TagUpkeep()
    # Somebody waits for these two.
    digest = Digest(Adding(database, patching), Urgent(models))
    persona = Persona(Urgent(models))
    tag = Tag(*embedders, models=models, at_once=at_once, affects=affects)
    summarise = Summarise(models)
    passes: list[Pass[Any, Any]] = [
        Screen(),
        digest,
        Embed(*embedders),
        tag,
        Context(),
        ObserveUse(database.schema, inferred_use_weight),
        EmbedMemory(*embedders, affects=affects),
        Duplicates(patching),
        summarise,
        EmbedSummary(*embedders),
        persona,
        EmbedOther(*embedders),
        EmbedMemoryOther(*embedders),
    ]
    chores: list[Chore] = [
        MissingVectors(database, embedders, clock),
        LexemeStatistics(database, clock),
        VectorIndex(database, clock),
        Calibrate(database, embedders, clock),
        Decay(database, clock),
        *upkeep.chores(database, clock),
        RetagByModel(database, models, clock),
        Cluster(database, models, clock, archive_after_days),
        Sessions(database, clock, archive_after_days),
        *([] if mirror is None else [mirror]),
        Prune(database, clock, log_retention_days),
    ]
    # A hung question about a message keeps neither a summary waiting nor a lane without work, and
    # a queue of messages that never ends no chore.
    background = Asking(
        [summarise],
        [
            *upkeep.asking(database, models, clock),
            *_librarian(database, models, patching, clock, librarianship),
        ],
    )
    asking = [Asking([digest, persona]), background, Asking([tag])]
    if not any(models.serves(role) for role in Role):
        # Rules keep nobody waiting.
        chores += background.chores
        asking = []
    apart = [step for part in asking for step in part.passes]
    return Worker(
        database,
        [one for one in passes if one not in apart],
        chores,
        asking=asking,
        guard=Guard(max_attempts),
        pace=pace,
        stop=stop,
        clock=clock,
    )


def _librarian(
    database: Database,
    models: LanguageModel,
    patching: Patching,
    clock: Clock,
    plan: Librarianship | None,
) -> list[Chore]:
    if not models.serves(Role.LIBRARIAN):
        return []
    # Here, because it loads what a daemon without a model has no use for.
    from cold.passes.librarian import Librarian

    return [Librarian(database, models, patching, clock, plan or Librarianship())]
