"""The stdio transport over real pipes."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any, BinaryIO

import pytest
from mcp.shared.message import SessionMessage
from mcp.types import JSONRPCRequest, JSONRPCResponse

from hot.wire import Answers, Requests, Run, Wire


class Editor:
    """The client's ends of the two pipes."""

    def __init__(self) -> None:
        stdin, self._to_server = os.pipe()
        self._from_server, stdout = os.pipe()
        self.stdin: BinaryIO = os.fdopen(stdin, "rb")
        self.stdout: BinaryIO = os.fdopen(stdout, "wb")
        self._reader = os.fdopen(self._from_server, "rb")
        self._open = True

    def send(self, message: dict[str, Any]) -> None:
        self.send_raw(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")

    def send_raw(self, data: bytes) -> None:
        os.write(self._to_server, data)

    async def receive(self) -> dict[str, Any]:
        line = await asyncio.to_thread(self._reader.readline)
        answer: dict[str, Any] = json.loads(line)
        return answer

    def hang_up(self) -> None:
        if self._open:
            self._open = False
            os.close(self._to_server)

    def stop_reading(self) -> None:
        self._reader.close()

    def close(self) -> None:
        self.hang_up()
        for end in (self.stdin, self.stdout, self._reader):
            # A buffer that nobody reads any more cannot be written out.
            with suppress(BrokenPipeError):
                end.close()


async def echo(requests: Requests, answers: Answers) -> None:
    """Answers every request with its own parameters, one after the other."""
    async with requests, answers:
        async for item in requests:
            assert isinstance(item, SessionMessage)
            if isinstance(item.message, JSONRPCRequest):
                answer = JSONRPCResponse(
                    jsonrpc="2.0", id=item.message.id, result=item.message.params or {}
                )
                await answers.send(SessionMessage(answer))


@asynccontextmanager
async def serving(run: Run) -> AsyncIterator[tuple[Editor, asyncio.Task[None]]]:
    editor = Editor()
    task = asyncio.create_task(Wire(editor.stdin, editor.stdout).serve(run))
    try:
        yield editor, task
    finally:
        editor.hang_up()
        await asyncio.wait([task])
        editor.close()


async def test_requests_are_answered_in_utf_8_one_a_line() -> None:
    async with serving(echo) as (editor, _):
        editor.send({"id": 1, "method": "x", "params": {"text": "Größe\n日本 😀"}})
        assert await editor.receive() == {
            "jsonrpc": "2.0",
            "id": 1,
            "result": {"text": "Größe\n日本 😀"},
        }


async def test_a_broken_line_is_answered_and_the_next_one_works() -> None:
    """H2: always answer the id."""
    async with serving(echo) as (editor, _):
        editor.send_raw(b"\n  \n")
        editor.send_raw(b'{"jsonrpc":"2.0","id":7,"method":"x","params":{"a":tru\n')
        assert (await editor.receive())["error"]["code"] == -32700
        editor.send_raw(b'{"jsonrpc":"2.0","id":8,"method":"x","params":{"a":"\xff\xfe"}}\n')
        assert (await editor.receive())["result"] == {"a": "��"}


async def test_the_end_of_stdin_ends_it() -> None:
    """E9."""
    async with serving(echo) as (editor, task):
        editor.hang_up()
        await task


async def test_what_was_handed_over_before_the_end_is_still_answered() -> None:
    release = asyncio.Event()

    async def slow(requests: Requests, answers: Answers) -> None:
        async with requests, answers:
            item = await requests.receive()
            release.set()
            # A turn of the loop for the end of stdin to arrive first.
            await asyncio.sleep(0)
            assert isinstance(item, SessionMessage)
            assert isinstance(item.message, JSONRPCRequest)
            answer = JSONRPCResponse(jsonrpc="2.0", id=item.message.id, result={})
            await answers.send(SessionMessage(answer))
            await asyncio.Event().wait()

    async with serving(slow) as (editor, task):
        editor.send({"id": 1, "method": "x"})
        editor.hang_up()
        assert (await editor.receive())["id"] == 1
        await task


async def test_nothing_that_runs_forever_holds_up_the_end() -> None:
    """E9: also a stream that never ends, and a request that never finishes."""

    async def stuck(requests: Requests, answers: Answers) -> None:
        async with requests, answers:
            await asyncio.Event().wait()

    async with serving(stuck) as (editor, task):
        editor.send({"id": 1, "method": "subscriptions/listen"})
        editor.send({"id": 2, "method": "tools/call"})
        editor.hang_up()
        await task


async def test_a_client_that_stops_reading_ends_it() -> None:
    async with serving(echo) as (editor, task):
        editor.stop_reading()
        editor.send({"id": 1, "method": "x"})
        await task


async def test_a_server_that_breaks_is_not_hidden() -> None:
    async def broken(requests: Requests, answers: Answers) -> None:
        async with requests, answers:
            raise LookupError("broken")

    async with serving(broken) as (_, task):
        with pytest.raises(LookupError):
            await task


async def test_cancelling_it_does_not_wait_for_stdin() -> None:
    async with serving(echo) as (editor, task):
        editor.send({"id": 1, "method": "x"})
        await editor.receive()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
