"""A real `mnemoscope mcp` process, for the official client or for a misbehaving one.

The official package is imported by the first test that uses it, since pytest's processes all collect these tests.
"""

import contextlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from mcp import MCPError, StdioServerParameters
    from mcp.client.client import Client

ROOT = Path(__file__).resolve().parents[2]
VERSION = "2025-06-18"
_LONGEST_SECONDS = 60.0


@dataclass(frozen=True)
class Served:
    """A folder of notes with its server's settings file."""

    notes: Path
    config: Path

    def command(self, *options: str) -> list[str]:
        where = ["--workspace", str(self.notes), "--config", str(self.config)]
        return [sys.executable, "-m", "gui", "mcp", *where, *options]

    def parameters(self, *options: str) -> "StdioServerParameters":
        """Return parameters for the official client, which does not pass on the environment by default."""
        from mcp import StdioServerParameters

        program, *arguments = self.command(*options)
        return StdioServerParameters(command=program, args=arguments, env=dict(os.environ), cwd=ROOT)

    @contextmanager
    def process(self, *options: str) -> Iterator["Wire"]:
        """Start the server for raw input and output; it is killed at the end if it still runs."""
        process = subprocess.Popen(
            self.command(*options), cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        watchdog = threading.Timer(_LONGEST_SECONDS, process.kill)  # callers that wait for a response then get none
        watchdog.start()
        try:
            yield Wire(process)
        finally:
            watchdog.cancel()
            watchdog.join()
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout, process.stderr):
                with contextlib.suppress(OSError):
                    stream.close()


class Wire:
    """A client's connection to a server."""

    def __init__(self, process: "subprocess.Popen[bytes]") -> None:
        self.process = process

    def send(self, *lines: bytes | dict[str, Any]) -> None:
        assert self.process.stdin is not None
        for line in lines:
            self.process.stdin.write(line if isinstance(line, bytes) else json.dumps(line).encode() + b"\n")
        self.process.stdin.flush()

    def receive(self) -> Any:
        """Return the next message."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the server has ended"
        return json.loads(line)

    def greet(self) -> Any:
        """Perform the handshake and return the server's reply."""
        info = {"name": "test", "version": "1"}
        self.send(request(1, "initialize", protocolVersion=VERSION, capabilities={}, clientInfo=info))
        answer = self.receive()
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer["result"]

    def close_input(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.close()

    def end(self) -> tuple[int, str]:
        """Wait for the server to exit; return its exit code and standard error."""
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        code = self.process.wait(60)
        return code, self.process.stderr.read().decode()


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


def call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(number, "tools/call", name=tool, arguments=arguments)


def official_client(server: Any, mode: str) -> "Client":
    """Return a client of a server: its object in this process, or parameters of a process to start."""
    from mcp.client.client import Client

    return Client(server, mode=mode)


def answers_error(pattern: str) -> "pytest.RaisesExc[MCPError]":
    """Expect that the server answers a request of the official client with an error."""
    from mcp import MCPError

    return pytest.raises(MCPError, match=pattern)
