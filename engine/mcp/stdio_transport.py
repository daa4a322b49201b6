"""Read and write messages on standard input and output, one per line, whatever the client does.

Unlike the package's own transport, it answers an invalid line with an error, and limits the length of a line. Neither a
reader that waits for input nor a writer to a full pipe keeps the process alive.
"""

import asyncio
import contextlib
import json
import os
import queue
import re
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from concurrent.futures import CancelledError
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

import anyio
import mcp_types as types
import msgspec
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.shared.message import SessionMessage

from engine.base import lazy_logger
from engine.base.bounded_json import check_depth, check_digits

LONGEST_MESSAGE = 256 * 1024
"""Maximum size of a message in bytes; the longest input of a tool is a hundredth of it."""
_READ_SIZE = 64 * 1024
_ENDS = 1024
"""Number of bytes at each end of a refused message in which its id is searched."""
_ID = rb'"id"\s*:\s*(-?\d{1,18}|"[^"\\\n]{0,200}")'
_OTHER = rb'"(?:jsonrpc|method)"\s*:\s*"[^"\\\n]{0,200}"'
_FIRST = re.compile(rb"\s*\{\s*(?:" + _OTHER + rb"\s*,\s*)*" + _ID + rb"\s*[,}]")
_LAST = re.compile(rb"[,{]\s*" + _ID + rb"(?:\s*,\s*" + _OTHER + rb")*\s*\}\s*\Z")
"""Clients write the id in front of the parameters or behind them."""
_LOOP_ENDED = (RuntimeError, CancelledError, anyio.BrokenResourceError, anyio.ClosedResourceError)
"""Errors raised by steps on an event loop that is ending or has ended."""

log = lazy_logger(__name__)

Received = MemoryObjectReceiveStream[SessionMessage | Exception]
Sent = MemoryObjectSendStream[SessionMessage]


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[Received, Sent]]:
    """Yield the streams of a server, until the client closes either of its own.

    Meanwhile standard input is empty and standard output is redirected to standard error, for the rest of the process
    and its children: only messages reach the client.
    """
    input_descriptor, output_descriptor = os.dup(0), os.dup(1)
    _redirect_output()
    to_server, received = anyio.create_memory_object_stream[SessionMessage | Exception]()
    sent, from_server = anyio.create_memory_object_stream[SessionMessage]()
    writer = _Writer(output_descriptor)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write_all, from_server, writer, to_server)
        _Reader(input_descriptor, to_server, sent.clone()).start()
        try:
            yield received, sent
        finally:
            tasks.cancel_scope.cancel()
            writer.stop()


def _redirect_output() -> None:
    nothing = os.open(os.devnull, os.O_RDWR)
    os.dup2(nothing, 0)
    try:
        os.dup2(2, 1)
    except OSError:  # the client can't receive errors any more
        os.dup2(nothing, 1)
    os.close(nothing)


class _Reader:
    """Reads lines on its own thread, which may block forever: it ends with the process."""

    def __init__(
        self, descriptor: int, to_server: MemoryObjectSendStream[SessionMessage | Exception], sent: Sent
    ) -> None:
        self._descriptor = descriptor
        self._to_server = to_server
        self._sent = sent
        self._loop = asyncio.get_running_loop()

    def start(self) -> None:
        threading.Thread(target=self._run, name="mnemoscope-mcp-reader", daemon=True).start()

    def _run(self) -> None:
        with contextlib.suppress(*_LOOP_ENDED):
            try:
                for line in _lines(self._descriptor):
                    self._deliver(line)
            finally:
                self._loop.call_soon_threadsafe(self._end)

    def _deliver(self, line: "_Line") -> None:
        if not line.complete:
            self._refuse(line, types.INVALID_REQUEST, f"A message can have at most {LONGEST_MESSAGE // 1024} KB.")
            return
        try:
            check_digits(line.text)
            check_depth(line.text)
        except ValueError as error:
            self._refuse(line, types.INVALID_REQUEST, f"This message is refused: {str(error).rstrip('.')}.")
            return
        try:
            message = _message_of(line.text)
        except ValueError:
            self._refuse(line, types.PARSE_ERROR, "This is not a valid JSON-RPC message.")
            return
        # A request with an invalid id parses as a notification, and its sender would wait forever.
        if isinstance(message, types.JSONRPCNotification) and "id" in json.loads(line.text):
            self._refuse(line, types.INVALID_REQUEST, "The id of a request is a string or a whole number.")
            return
        self._wait_for(self._to_server.send(SessionMessage(message)))

    def _refuse(self, line: "_Line", code: int, sentence: str) -> None:
        log.info("A message of an agent was refused: %s", sentence)
        error = types.JSONRPCError(jsonrpc="2.0", id=line.id, error=types.ErrorData(code=code, message=sentence))
        self._wait_for(self._sent.send(SessionMessage(error)))

    def _wait_for(self, step: Coroutine[Any, Any, None]) -> None:
        """Wait until the previous line was taken, so that a flooding client is slowed down."""
        try:
            asyncio.run_coroutine_threadsafe(step, self._loop).result()
        finally:
            step.close()

    def _end(self) -> None:
        self._to_server.close()
        self._sent.close()


def _message_of(line: bytes) -> types.JSONRPCMessage:
    """Parse a message, with a question mark for each lone surrogate. Raises ValueError for any other content.

    Clients that cut a text in the middle of an emoji escape its half, which pydantic's parser refuses.
    """
    parse = types.jsonrpc_message_adapter.validate_json
    try:
        return parse(line, by_name=False)
    except ValueError:
        return parse(json.dumps(json.loads(line), ensure_ascii=False).encode("utf-8", "replace"), by_name=False)


class _Line(NamedTuple):
    """A line of input; of one that is too long, its first and last bytes."""

    text: bytes
    complete: bool = True

    @property
    def id(self) -> int | str | None:
        """The id of the message; None if it has none, or if none is near its beginning or end."""
        found = _FIRST.match(self.text[:_ENDS]) or _LAST.search(self.text[-_ENDS:])
        try:
            return None if found is None else msgspec.json.decode(found[1], type=int | str)
        except msgspec.DecodeError:
            return None


def _lines(descriptor: int) -> Iterator[_Line]:
    """Yield each non-empty line."""
    rest, start = b"", b""
    while data := _read(descriptor):
        *ended, rest = (rest + data).split(b"\n")
        for line in ended:
            if start or len(line) > LONGEST_MESSAGE:
                yield _Line((start or line[:_ENDS]) + line[-_ENDS:], complete=False)
            elif line.strip():
                yield _Line(line)
            start = b""
        if start or len(rest) > LONGEST_MESSAGE:
            start, rest = start or rest[:_ENDS], rest[-_ENDS:]
    if start:
        yield _Line(start + rest, complete=False)
    elif rest.strip():
        yield _Line(rest)


def _read(descriptor: int) -> bytes:
    try:
        return os.read(descriptor, _READ_SIZE)
    except OSError:
        return b""


class _Writer:
    """Writes lines on its own thread, since the client may never read them."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[tuple[bytes, asyncio.Future[bool]] | None] = queue.SimpleQueue()
        threading.Thread(target=self._run, name="mnemoscope-mcp-writer", daemon=True).start()

    async def write(self, line: bytes) -> bool:
        """Write a line; returns False if the client has closed its end."""
        written: asyncio.Future[bool] = self._loop.create_future()
        self._lines.put((line, written))
        return await written

    def stop(self) -> None:
        self._lines.put(None)

    def _run(self) -> None:
        while (item := self._lines.get()) is not None:
            line, written = item
            try:
                while line:
                    line = line[os.write(self._descriptor, line) :]
            except OSError:
                pass
            with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
                self._loop.call_soon_threadsafe(_set_result, written, not line)


def _set_result(future: "asyncio.Future[bool]", value: bool) -> None:
    if not future.done():
        future.set_result(value)


async def _write_all(
    from_server: MemoryObjectReceiveStream[SessionMessage],
    writer: _Writer,
    to_server: MemoryObjectSendStream[SessionMessage | Exception],
) -> None:
    async for message in from_server:
        line = message.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n"
        if not await writer.write(line):
            # A client that can't receive responses is gone, whether or not it still sends.
            to_server.close()
            return
