"""Small stores for tests, from plain rows."""

from collections.abc import Sequence

import numpy as np

from agents_memory.domain.memories import Kind
from agents_memory.evaluation.store import TRACE_KINDS, Store

Trace = tuple[int, str, float]


def store(
    traces: Sequence[Trace],
    *,
    kinds: Sequence[str] = (Kind.FACT,),
    importance: Sequence[float] | None = None,
    valence: Sequence[float] | None = None,
    intensity: Sequence[float] | None = None,
    resolved_at: Sequence[float] | None = None,
    moods: Sequence[tuple[float, float, float]] = (),
) -> Store:
    """Items with (item, kind, at) traces; importance 1 and no affect unless told."""
    n = len(kinds)
    felt = np.array(moods, dtype=np.float64).reshape(-1, 3)
    return Store(
        kinds=tuple(kinds),
        importance=np.array(importance or [1.0] * n, dtype=np.float64),
        valence=np.array(valence or [0.0] * n, dtype=np.float64),
        intensity=np.array(intensity or [0.0] * n, dtype=np.float64),
        resolved_at=np.array(resolved_at or [np.nan] * n, dtype=np.float64),
        trace_item=np.array([item for item, _, _ in traces], dtype=np.int64),
        trace_kind=np.array([TRACE_KINDS.index(kind) for _, kind, _ in traces], dtype=np.int64),
        trace_at=np.array([at for _, _, at in traces], dtype=np.float64),
        mood_at=felt[:, 0],
        mood_valence=felt[:, 1],
        mood_intensity=felt[:, 2],
    )
