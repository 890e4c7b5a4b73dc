"""The stdio transport: one JSON-RPC message a line, and no request that stays unanswered.

The SDK's own transport drops a line it cannot parse, so that the client waits forever; a lone
surrogate (half an emoji, cut by a JavaScript client) is enough. It also can't be stopped while it
reads.
"""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from typing import BinaryIO

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage
from mcp.types import (
    ErrorData,
    JSONRPCError,
    JSONRPCRequest,
    JSONRPCResponse,
)

from agents_memory.observe import Action, get_logger
from hot.framing import Malformed, batch_ids, parse

Requests = MemoryObjectReceiveStream[SessionMessage | Exception]
Answers = MemoryObjectSendStream[SessionMessage]
Run = Callable[[Requests, Answers], Awaitable[None]]

READ_AHEAD = 64
# How long requests that were already read may still take once the client has gone.
DRAIN_S = 1.0
# Stays open as long as the connection does, and is never answered.
ENDLESS = "subscriptions/listen"

log = get_logger()


class Wire:
    """One client at the other end of two pipes; serves once."""

    def __init__(self, stdin: BinaryIO, stdout: BinaryIO) -> None:
        self._stdin = stdin
        self._stdout = stdout
        self._unanswered: set[str | int | None] = set()
        self._settled = asyncio.Event()
        self._settled.set()
        self._gone = asyncio.Event()
        self._inward, self._requests = anyio.create_memory_object_stream[
            SessionMessage | Exception
        ](READ_AHEAD)
        self._answers, self._outward = anyio.create_memory_object_stream[SessionMessage](READ_AHEAD)

    async def serve(self, run: Run) -> None:
        """Feeds `run` until the client hangs up, and writes what it sends.

        Returns two seconds after the end of stdin at the latest, whatever `run` is busy with.
        Raises what `run` raises.
        """
        loop = asyncio.get_running_loop()
        # Nothing can interrupt a read, hence a thread that the end of the process may cut off.
        threading.Thread(target=self._read, args=(loop,), name="stdin", daemon=True).start()
        async with AsyncExitStack() as closing:
            for stream in (self._inward, self._requests, self._answers, self._outward):
                closing.push_async_callback(stream.aclose)
            tasks = [
                asyncio.ensure_future(run(self._requests, self._answers.clone())),
                asyncio.create_task(self._write(), name="stdout"),
                asyncio.create_task(self._gone.wait(), name="hang-up"),
            ]
            try:
                done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            finally:
                self._settled.set()
                for task in tasks:
                    task.cancel()
                await asyncio.wait(tasks, timeout=DRAIN_S)
            for task in done:
                task.result()

    def _read(self, loop: asyncio.AbstractEventLoop) -> None:
        # A loop that was closed meanwhile means that nobody listens any more.
        with suppress(RuntimeError):
            with suppress(OSError, ValueError):
                for line in self._stdin:
                    text = line.decode("utf-8", "replace")
                    if text.strip():
                        # Waiting here keeps a client from filling the memory.
                        asyncio.run_coroutine_threadsafe(self._take(text), loop).result()
            asyncio.run_coroutine_threadsafe(self._hang_up(), loop)

    async def _take(self, line: str) -> None:
        message = parse(line)
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
            if not isinstance(message, Malformed):
                if isinstance(message, JSONRPCRequest) and message.method != ENDLESS:
                    self._unanswered.add(message.id)
                    self._settled.clear()
                await self._inward.send(SessionMessage(message))
                return
            log.warning(Action.LIBRARY, library="mcp", note="a line that is no message")
            reason, ids = message.reason, [message.id] if message.id is not None else []
            if batch := batch_ids(line):
                reason, ids = "batches are not supported; send one message a line", batch
            for number in ids:
                error = ErrorData(code=message.code, message=reason)
                await self._answers.send(
                    SessionMessage(JSONRPCError(jsonrpc="2.0", id=number, error=error))
                )

    async def _hang_up(self) -> None:
        # The SDK cancels what is in flight at the end of stdin; what was handed over before is
        # still finished.
        with suppress(TimeoutError):
            async with asyncio.timeout(DRAIN_S):
                await self._settled.wait()
        self._gone.set()

    async def _write(self) -> None:
        async for item in self._outward:
            message = item.message
            data = message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
            try:
                await asyncio.to_thread(self._put, data)
            except OSError:
                # The client no longer reads.
                return
            if isinstance(message, JSONRPCResponse | JSONRPCError):
                self._unanswered.discard(message.id)
                if not self._unanswered:
                    self._settled.set()

    def _put(self, data: bytes) -> None:
        self._stdout.write(data)
        self._stdout.flush()
