"""Clocks and figures that every benchmark uses."""

import math
import os
import platform
import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Any

MS = 1000.0


def percentile(values: Sequence[float], share: float) -> float:
    """The smallest of `values` that `share` (0..1) of them do not exceed: nearest rank.

    Raises ValueError when there are none.
    """
    if not values or not 0 <= share <= 1:
        raise ValueError(f"no {share} percentile of {len(values)} values")
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def ratio(value: float, baseline: float) -> float:
    """How many times the baseline, to two digits; infinite over a baseline of nothing."""
    return round(value / baseline, 2) if baseline > 0 else math.inf


@dataclass(slots=True)
class Stopwatch:
    """Seconds of each measured block: `wall` that passed, `cpu` that this process used.

    `with stopwatch: …` measures one block; blocks don't nest.
    """

    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    _began: tuple[float, float] = (0.0, 0.0)

    def __enter__(self) -> None:
        self._began = (time.process_time(), time.perf_counter())

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        wall, cpu = time.perf_counter(), time.process_time()
        self.cpu.append(cpu - self._began[0])
        self.wall.append(wall - self._began[1])

    def milliseconds(self) -> dict[str, float]:
        """p50 and p95 of the wall time, mean of the CPU time."""
        return {
            "p50_ms": round(percentile(self.wall, 0.5) * MS, 3),
            "p95_ms": round(percentile(self.wall, 0.95) * MS, 3),
            "cpu_ms": round(sum(self.cpu) / len(self.cpu) * MS, 3),
        }


def cpu_seconds(pids: Iterable[int]) -> float:
    """What other processes, with all their threads, have used so far (Linux).

    Those that have ended count as nothing.
    """
    total = 0.0
    for pid in pids:
        with suppress(OSError):
            # What clock_getcpuclockid(3) computes; Python lets no process ask for another's.
            total += time.clock_gettime((~pid << 3) | 2)
    return total


def resident_mb(pid: int) -> float:
    """The memory a process holds now, shared pages included (Linux)."""
    return _memory_mb(pid, "VmRSS:")


def peak_mb(pid: int) -> float:
    """The most memory a process held so far, shared pages included (Linux)."""
    return _memory_mb(pid, "VmHWM:")


def _memory_mb(pid: int, name: str) -> float:
    for line in Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith(name):
            return round(int(line.split()[1]) / 1024, 1)
    raise ProcessLookupError(f"process {pid} has no memory any more")


def machine() -> dict[str, Any]:
    """Where it was measured, and how busy that machine was at the end."""
    return {
        "cpus": os.cpu_count(),
        "load_1m": round(os.getloadavg()[0], 1),
        "python": platform.python_version(),
        "machine": f"{platform.system()} {platform.machine()}",
    }
