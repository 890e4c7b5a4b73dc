"""The models that make vectors: ours work, and one of them is the pool's."""

import asyncio

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.choice import fitting, members
from agents_memory.embedding.naming import setting_for
from agents_memory.services.diagnosis.check import MIGRATE, Check, failed, passed
from agents_memory.services.diagnosis.subject import Subject, asked
from agents_memory.storage import vectors
from agents_memory.storage.connections import Connection

EMBED_WITHIN_S = 60.0


async def embedding(subject: Subject) -> Check:
    """Each model of this machine makes a vector in time."""
    working = []
    for embedder in members(subject.embedder):
        profile = embedder.profile
        try:
            async with asyncio.timeout(EMBED_WITHIN_S):
                await embedder.embed_query("Which role does the daemon use?")
        except TimeoutError:
            return failed(
                "embedding",
                f"{profile.id} gave no vector within {EMBED_WITHIN_S:.0f} s",
                "raise EMBEDDING_THREADS, or choose another EMBEDDING_MODEL",
            )
        except EmbedderUnavailable as fault:
            return failed(
                "embedding",
                f"{profile.id}: {fault}",
                "mend what is named, or change EMBEDDING_MODEL",
            )
        working.append(f"{profile.id}, {profile.dims} dimensions")
    return passed("embedding", "; ".join(working))


@asked
async def active_model(connection: Connection, subject: Subject) -> Check:
    """The pool's model is one that this machine has."""
    model = await vectors.find_active_model(connection)
    if model is None:
        return failed("active_model", "the pool has no active embedding model", MIGRATE)
    ours = fitting(subject.embedder, model.profile).profile.id
    if model.profile != ours:
        return failed(
            "active_model",
            f"the pool uses {model.profile}, this machine has {ours}: searches go by keyword",
            f"set EMBEDDING_MODEL={setting_for(model.profile)}",
        )
    return passed("active_model", model.profile)
