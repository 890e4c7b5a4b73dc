"""The engine of llama-server on this machine, for benchmarks and tests."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def serving(path: Path, *, context: int, slots: int = 1, threads: int = 2) -> Iterator[str]:
    """The address of a server of OpenAI's kind with this model, for the length of the block.

    `context` is n_ctx of each slot.
    """
    # Here, because it has wheels for Linux only.
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(path)
    parameters.n_ctx, parameters.n_parallel, parameters.port = context * slots, slots, 0
    parameters.cpuparams.n_threads = parameters.n_threads_http = threads
    parameters.verbosity, parameters.warmup, parameters.ui = 0, False, False
    server = xllamacpp.Server(parameters)
    try:
        yield f"{server.listening_address}/v1"
    finally:
        del server
