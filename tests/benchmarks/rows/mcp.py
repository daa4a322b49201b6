"""`mnemoscope mcp` as an agent uses it: time from its start to the first answers, and until it ends."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from tests.benchmarks.measuring import ROOT, Figure, environment, megabytes, run_program
from tests.benchmarks.prepared import Bench, questions

_ROUNDS = 9
_INFO = {"name": "benchmark", "version": "1"}
_GREETING = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": _INFO}


class _Session(NamedTuple):
    """Seconds since the process was started, and bytes of memory."""

    initialized: float
    found: float
    ended: float
    """Seconds since its input was closed."""
    anonymous: int


def run(bench: Bench) -> Iterator[Figure]:
    store, _ = bench.index(bench.notes, "none")
    config = bench.scratch / "mcp.toml"
    config.write_text(f'[defaults]\nprovider = "none"\nstore.path = "{store.as_posix()}"\n', "utf-8")
    sessions = [_session(bench.folder(bench.notes), config) for _ in range(_ROUNDS)]
    bare = statistics.median(run_program(["-c", "import mcp.server.lowlevel"]).wall for _ in range(_ROUNDS))
    initialized, found, ended = (statistics.median(times) for times in list(zip(*sessions, strict=True))[:3])
    baseline = f"of `import mcp.server.lowlevel` alone ({bare:.2f} s)"
    yield Figure(
        "MCP server: from its start to the answer to `initialize`",
        "< 1 s",
        f"{initialized:.2f} s",
        f"{initialized / bare:.2f} {baseline}",
    )
    yield Figure(
        f"– to the answer of `memory_search` by words, {bench.notes:,} notes indexed",
        "–",
        f"{found:.2f} s",
        f"{found / bare:.2f} {baseline}",
    )
    yield Figure("– from the end of its input to the end of its process", "–", f"{ended:.2f} s")
    memory = statistics.median(session.anonymous for session in sessions)
    yield Figure("– anonymous memory after that search, without a model", "–", megabytes(memory))


def _session(notes: Path, config: Path) -> _Session:
    command = [sys.executable, "-m", "gui", "mcp", "--workspace", str(notes), "--config", str(config)]
    search = {"name": "memory_search", "arguments": {"query": questions(1)[0], "minScore": 0}}
    began = time.perf_counter()
    with subprocess.Popen(
        command, cwd=ROOT, env=environment(), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        _ask(process, 1, "initialize", _GREETING)
        initialized = time.perf_counter() - began
        _ask(process, 2, "tools/call", search)
        found = time.perf_counter() - began
        anonymous = _anonymous_memory(process.pid)
        closed = time.perf_counter()
        process.stdin.close()
        process.wait()
        return _Session(initialized, found, time.perf_counter() - closed, anonymous)


def _ask(process: "subprocess.Popen[bytes]", number: int, method: str, params: object) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    process.stdin.write(json.dumps(message).encode() + b"\n")
    process.stdin.flush()
    answer = json.loads(process.stdout.readline())
    assert "result" in answer, answer


def _anonymous_memory(process: int) -> int:
    lines = Path(f"/proc/{process}/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon:"))
