"""Misbehaving clients: the server answers valid requests, and exits when the client is gone."""

import os
import signal
import subprocess
import sys

import pytest

from engine import load_settings, open_memory
from tests.helpers.mcp_process import ROOT, Served, Wire, call, request


def still_works(wire: Wire, number: int = 99) -> None:
    wire.send(call(number, "memory_get", path="memory/2026-02-08.md"))
    answer = wire.receive()
    assert answer["id"] == number
    assert "Tomatoes" in answer["result"]["structuredContent"]["text"]


NO_MESSAGES = [
    b"garbage",
    b"\xff\xfe\x00",
    b"{",
    b"[]",
    b"null",
    b'{"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":null,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":3.5,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":[1],"method":"ping","params":{}}',
    b"[" * 100_000,
    b'"' + b"x" * 5_000_000 + b'"',
    b'{"jsonrpc":"2.0","id":' + b"9" * 5000 + b',"method":"ping"}',
    b'{"jsonrpc":"2.0","id":3.5,"method":"ping","params":{"x":' + b"9" * 5000 + b"}}",
    b'{"jsonrpc":"2.0","method":"x","params":{"id":5,"x":"' + b"x" * 300_000 + b'","id":6}}',
]
_CALL = b'"method":"tools/call","params":{"name":"memory_search","arguments":{"query":'
REFUSED = [
    (1, b'{"jsonrpc":"1.0","id":1,"method":"ping"}'),
    (2, b'{"jsonrpc":"2.0","id":2,' + _CALL + b'"timer","maxResults":' + b"9" * 100_000 + b"}}}"),
    (3, b'{"jsonrpc":"2.0","id":3,' + _CALL + b"[" * 600 + b"]" * 600 + b"}}}"),
    (4, b'{"jsonrpc":"2.0","id":4,' + _CALL + b'"' + b"x" * 300_000 + b'"}}}'),
    ("a b", b'{ "id" : "a b" , ' + _CALL + b'"' + b"x" * 3_000_000 + b'"}}}'),
    (-7, b"{" + _CALL + b'"' + b"x" * 300_000 + b'"}},"id": -7 ,"jsonrpc":"2.0"}\r'),
]
"""Messages that are refused unread, with their ids."""
NONSENSE = [
    request(2, "no/such/method"),
    request(3, "tools/call", name=5),
    request(4, "tools/call", name="memory_search", arguments={"query": 5, "maxResults": "many", "minScore": []}),
    request(5, "tools/call", name="memory_get", arguments={}),
    request(6, "resources/read"),
    call(7, "memory_search", query="timer \ud83d"),
    call(8, "memory_search", query="x" * 200_000),
]


def test_invalid_requests_are_answered_and_harmless(served: Served) -> None:
    """A request without an answer would let its sender wait forever."""
    with served.process() as wire:
        wire.send(request(7, "tools/list"))  # before the handshake
        wire.receive()
        wire.greet()
        for number, line in REFUSED:
            wire.send(line + b"\n")
            answer = wire.receive()
            assert answer["id"] == number
            assert answer["error"]["code"] in (-32700, -32600)
        for number, line in enumerate(NO_MESSAGES, start=10):
            wire.send(line + b"\n")
            answer = wire.receive()
            assert answer["error"]["code"] in (-32700, -32600)
            assert answer["id"] is None
            still_works(wire, number)
        wire.send(b"\n", b"   \n", *NONSENSE)
        answers = {answer["id"]: answer for answer in (wire.receive() for _ in NONSENSE)}
        assert set(answers) == {2, 3, 4, 5, 6, 7, 8}
        assert all("error" in answers[number] for number in (2, 3, 6))
        assert answers[7]["result"]["structuredContent"]["results"]  # half an emoji isn't part of a word
        for number in (4, 5, 8):
            assert answers[number]["result"]["isError"] is True
            assert answers[number]["result"]["structuredContent"]["error"]
        still_works(wire)
        wire.send(b'{"jsonrpc":"2.0","id":2,"method":"tools/li')  # the input ends within a message
        wire.close_input()
        assert wire.end() == (0, "")


def test_input_closed_at_start_ends_server(served: Served) -> None:
    with served.process() as wire:
        wire.close_input()
        assert wire.end() == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", ">&- 2>&- </dev/null"])
def test_closed_standard_streams_end_server(served: Served, closed: str) -> None:
    command = ["sh", "-c", f'exec "$@" {closed}', "sh", *served.command()]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_unread_output_ends_server(served: Served) -> None:
    with served.process() as wire:
        wire.greet()
        wire.process.stdout.close()
        wire.send(request(2, "tools/list"))
        assert wire.end() == (0, "")  # though its input is still open


def test_client_that_reads_nothing_does_not_block_exit(served: Served) -> None:
    with served.process() as wire:
        wire.greet()
        for number in range(2, 200):  # more than fits into the pipe
            wire.send(request(number, "tools/list"))
        wire.close_input()
        assert wire.process.wait(60) == 0


def test_cancelled_call_leaves_others_running(served: Served) -> None:
    with served.process() as wire:
        wire.greet()
        for number in (2, 77):  # the second id belongs to no call
            cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}}
            wire.send(call(2, "memory_search", query="timer"), cancel)
        wire.send(call(3, "memory_get", path="memory/2026-02-08.md"))
        numbers = []
        while 3 not in numbers:
            numbers.append(wire.receive()["id"])
        assert set(numbers) <= {2, 3}  # the call may finish before its cancellation


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends processes without a signal")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_server_terminates_cleanly(served: Served, number: signal.Signals) -> None:
    with served.process() as wire:
        wire.greet()
        still_works(wire)
        os.kill(wire.process.pid, number)
        assert wire.end() == (0, "")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows ends processes without a signal")
def test_a_killed_server_leaves_no_lock(served: Served) -> None:
    with served.process() as wire:
        wire.greet()
        wire.send(call(2, "memory_search", query="timer"))
        wire.process.kill()
        wire.process.wait()
    memory = open_memory(served.notes, load_settings(served.notes, config=served.config))
    assert memory.sync().error == ""
    assert memory.search("irrigation timer").results
    memory.close()
