"""Verify a bundle or any other build by starting it without anything else of this project.

The steps are those of a new user's first minutes. The first failure ends the command with the program's output.
"""

import contextlib
import json
import os
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

_NOTES = {
    "watering.md": "# Watering\n\nThe irrigation timer runs at six in the morning.\n",
    "sleep.md": "# Schlaf\n\nIch liege nachts oft wach und finde keine Ruhe.\n",
}
_LONG_NOTES = {
    f"long-{number}.md": f"# Log {number}\n\n" + "All quiet at the weir.\n\n" * 30_000 for number in range(4)
}
"""Enough text that other processes prepare it; their failures to start are on the error output."""
_BY_MEANING = "insomnia"
"""In no note, so that only the model can find the second one by it."""
_SECONDS = 120
_MIN_PICTURE = 20_000
"""Bytes; a picture of an empty window of this size has a fifth of it."""
_SIZE = (1280, 800)
_TO_SERVER: tuple[dict[str, object], ...] = (
    {
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "proof", "version": "1"},
        },
    },
    {"method": "notifications/initialized"},
    {
        "id": 2,
        "method": "tools/call",
        "params": {"name": "memory_search", "arguments": {"query": "irrigation timer"}},
    },
)
"""Messages of an agent; those with an id expect an answer."""


def prove(program: Path) -> float:
    """Return the seconds from start to first picture, including model and sample index. Exits if a step fails."""
    with tempfile.TemporaryDirectory(prefix="mnemoscope-proof-") as scratch:
        home, notes = Path(scratch, "home"), Path(scratch, "notes")
        home.mkdir()
        notes.mkdir()
        for name, text in _NOTES.items():
            (notes / name).write_text(text, "utf-8")
        output = _ended(program, home, "--version")
        if not output.startswith("mnemoscope "):
            _fail("--version", output)
        options = ("--workspace", str(notes), "--json")
        _ended(program, home, "index", *options)
        _expect_hit(program, home, "irrigation timer", "watering.md", *options)
        _expect_hit(program, home, _BY_MEANING, "sleep.md", *options)
        status = json.loads(_ended(program, home, "status", "--deep", *options))
        if not status["vector"]["available"] or status["provider"] != "embedded":
            _fail("status --deep", json.dumps(status))
        _ask_server(program, home, notes)
        long = Path(scratch, "long")
        long.mkdir()
        for name, text in _LONG_NOTES.items():
            (long / name).write_text(text, "utf-8")
        _ended(program, home, "index", "--workspace", str(long), "--json", "--yes")
        return _picture(program, home, Path(scratch, "window.png"))


def _expect_hit(program: Path, home: Path, query: str, name: str, *options: str) -> None:
    output = _ended(program, home, "search", query, *options)
    if [result["path"] for result in json.loads(output)["results"]][:1] != [name]:
        _fail(f"search {query!r}", output)


def _ask_server(program: Path, home: Path, notes: Path) -> None:
    """Query the MCP server, closing its input only after the last answer: a server may exit when its input ends."""
    answer = ""
    server = subprocess.Popen(
        [str(program), "mcp", "--workspace", str(notes)],
        cwd=home,
        env=_environment(home),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
    )
    # Writing to a server that has exited fails; its answer and exit code are checked below.
    with contextlib.suppress(BrokenPipeError), server:
        assert server.stdin is not None
        assert server.stdout is not None
        too_long = threading.Timer(_SECONDS, server.kill)
        too_long.start()
        try:
            for message in _TO_SERVER:
                server.stdin.write(json.dumps({"jsonrpc": "2.0"} | message) + "\n")
                server.stdin.flush()
                if "id" in message:
                    answer = server.stdout.readline()
            server.stdin.close()
            server.wait()
        finally:
            too_long.cancel()
            server.kill()
    if "watering.md" not in answer or server.returncode != 0:
        _fail("mcp", f"It ended with {server.returncode}: {answer}")


def _picture(program: Path, home: Path, picture: Path) -> float:
    started = time.monotonic()
    # German, because its catalogue is a file next to the program, and without it the program does not start in German.
    _ended(program, home, "--demo", "--language", "de", "--query", "irrigation timer", "--screenshot", str(picture))
    seconds = time.monotonic() - started
    data = picture.read_bytes()
    size = struct.unpack(">II", data[16:24])
    if size != _SIZE or len(data) < _MIN_PICTURE:
        _fail("--screenshot", f"The picture is {size[0]} x {size[1]}, {len(data)} bytes.")
    return seconds


def _environment(home: Path) -> dict[str, str]:
    """Return an environment with only those variables of this one that every program needs."""
    names = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG")
    environ = {name: value for name, value in os.environ.items() if name in names}
    homes = dict.fromkeys(("HOME", "USERPROFILE", "LOCALAPPDATA", "APPDATA"), str(home))
    return environ | homes | {"QT_QPA_PLATFORM": "offscreen"}


def _ended(program: Path, home: Path, *arguments: str) -> str:
    """Return the program's output; a non-zero exit code or any error output but progress is a failure."""
    done = subprocess.run(
        [str(program), *arguments],
        cwd=home,
        env=_environment(home),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )
    errors = [line for line in done.stderr.splitlines() if " · elapsed " not in line]  # shown if it takes seconds
    if done.returncode != 0 or errors:
        _fail(" ".join(arguments), f"It ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def _fail(step: str, output: str) -> None:
    sys.exit(f"What was built does not work: {step}\n{output}")


if __name__ == "__main__":
    print(f"{prove(Path(sys.argv[1]).absolute()):.1f} s to the first picture")
