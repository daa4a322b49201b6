"""Proves a bundle, or whatever else was built, by starting it as a stranger would: with nothing of this project around.

Each step is one a person takes in the first minutes. The first that fails ends the command with what was said.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

_NOTES = {
    "watering.md": "# Watering\n\nThe irrigation timer runs at six in the morning.\n",
    "sleep.md": "# Schlaf\n\nIch liege nachts oft wach und finde keine Ruhe.\n",
}
_BY_MEANING = "insomnia"
"""Stands in no note: only the model finds the second one by it."""
_SECONDS = 120
_LEAST_PICTURE = 20_000
"""Bytes; an empty window of this size has a fifth of it."""
_SIZE = (1280, 800)
_GREETING = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "proof", "version": "1"},
    },
}


def prove(program: Path) -> float:
    """The seconds from its start to its first picture, model and sample index included. Exits where a step fails."""
    with tempfile.TemporaryDirectory(prefix="mnemoscope-proof-") as scratch:
        home, notes = Path(scratch, "home"), Path(scratch, "notes")
        home.mkdir()
        notes.mkdir()
        for name, text in _NOTES.items():
            (notes / name).write_text(text, "utf-8")
        told = _ended(program, home, "--version")
        if not told.startswith("mnemoscope "):
            _fail("--version", told)
        place = ("--workspace", str(notes), "--json")
        _ended(program, home, "index", *place)
        _expect_hit(program, home, "irrigation timer", "watering.md", *place)
        _expect_hit(program, home, _BY_MEANING, "sleep.md", *place)
        status = json.loads(_ended(program, home, "status", "--deep", *place))
        if not status["vector"]["available"] or status["provider"] != "embedded":
            _fail("status --deep", json.dumps(status))
        answer = _ended(program, home, "mcp", "--workspace", str(notes), said=json.dumps(_GREETING) + "\n")
        if '"serverInfo"' not in answer:
            _fail("mcp", answer)
        return _picture(program, home, Path(scratch, "window.png"))


def _expect_hit(program: Path, home: Path, query: str, name: str, *place: str) -> None:
    told = _ended(program, home, "search", query, *place)
    if [result["path"] for result in json.loads(told)["results"]][:1] != [name]:
        _fail(f"search {query!r}", told)


def _picture(program: Path, home: Path, picture: Path) -> float:
    started = time.monotonic()
    _ended(program, home, "--demo", "--query", "irrigation timer", "--screenshot", str(picture))
    seconds = time.monotonic() - started
    data = picture.read_bytes()
    size = struct.unpack(">II", data[16:24])
    if size != _SIZE or len(data) < _LEAST_PICTURE:
        _fail("--screenshot", f"The picture is {size[0]} x {size[1]}, {len(data)} bytes.")
    return seconds


def _ended(program: Path, home: Path, *arguments: str, said: str = "") -> str:
    """What it printed; nothing of this environment but the place of its home reaches it."""
    kept = ("PATH", "SYSTEMROOT", "TEMP", "TMP", "LANG")
    environ = {name: value for name, value in os.environ.items() if name in kept}
    environ |= {"HOME": str(home), "USERPROFILE": str(home), "QT_QPA_PLATFORM": "offscreen"}
    environ |= {"LOCALAPPDATA": str(home), "APPDATA": str(home)}
    done = subprocess.run(
        [str(program), *arguments],
        cwd=home,
        env=environ,
        input=said,
        capture_output=True,
        encoding="utf-8",
        timeout=_SECONDS,
        check=False,
    )
    if done.returncode != 0 or done.stderr:
        _fail(" ".join(arguments), f"It ended with {done.returncode}: {done.stdout}{done.stderr}")
    return done.stdout


def _fail(step: str, told: str) -> None:
    sys.exit(f"What was built does not work: {step}\n{told}")


if __name__ == "__main__":
    print(f"{prove(Path(sys.argv[1]).absolute()):.1f} s to the first picture")
