"""The virtual environment beside `pyproject.toml`: made from a lock, mended when it is broken or out of date.

A stamp in it says what is installed. The stamp goes before anything changes and comes back last, so whatever an
interrupted install leaves behind has no stamp and is built anew.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
STAMP = VENV / "installed.json"
RUN_LOCK = ROOT / "packaging" / "requirements.lock"
TEST_LOCK = ROOT / "packaging" / "requirements-dev.lock"
"""Holds all of RUN_LOCK and the tools for the tests."""

_PROGRAMS = VENV / ("Scripts" if os.name == "nt" else "bin")
_SUFFIX = ".exe" if os.name == "nt" else ""
PYTHON = _PROGRAMS / f"python{_SUFFIX}"
_PIP = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]


def program(name: str) -> Path:
    """A command that is installed in the environment."""
    return _PROGRAMS / f"{name}{_SUFFIX}"


def ensure(lock: Path) -> None:
    """Have the environment hold this lock and the project; returns at once when it does. Exits when it cannot."""
    wanted = {
        "environment": f"Python {sys.version_info.major}.{sys.version_info.minor} in {ROOT}",
        "project": _digest(ROOT / "pyproject.toml"),
        RUN_LOCK.name: _digest(RUN_LOCK),
        TEST_LOCK.name: _digest(TEST_LOCK),
    }
    installed = _read_stamp()
    if all(installed.get(key) == wanted[key] for key in ("environment", "project", lock.name)):
        return
    STAMP.unlink(missing_ok=True)
    if not installed or any(installed[key] != wanted.get(key) for key in installed.keys() - {"project"}):
        # Packages that a changed lock no longer names would stay behind, so it starts from nothing.
        _create()
        installed = {}
    if lock.name not in installed:
        # A lock is whole, also where it leaves out what a package asks for in vain (pyproject.toml, [tool.uv]).
        install = [*_PIP, "--no-deps", "--require-hashes", "-r", str(lock)]
        _step("Installing the packages (some 100 MB the first time, 250 MB with those for the tests)", install)
    # A plain path file, not setuptools' import hook, which costs every start of Python 15 ms.
    editable = ["--no-deps", "--no-build-isolation", "--config-settings", "editable_mode=compat", "-e", str(ROOT)]
    _step("Linking the project", [*_PIP, *editable])
    held = {"environment", "project", RUN_LOCK.name, lock.name} | installed.keys()
    STAMP.write_text(json.dumps({key: value for key, value in wanted.items() if key in held}))


def _read_stamp() -> dict[str, str]:
    """What is installed; empty where nothing can be trusted to be."""
    try:
        stamp = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        return {}
    return stamp if isinstance(stamp, dict) and PYTHON.exists() else {}


def _create() -> None:
    # Run from inside `.venv`, this Python is about to be deleted: its base is not.
    python = getattr(sys, "_base_executable", sys.executable)
    _step(f"Creating {VENV.name}", [python, "-m", "venv", "--clear", str(VENV)])


def _step(sentence: str, command: list[str]) -> None:
    """Run one quiet step; its output is shown only when it fails."""
    print(f"{sentence} …", file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        sys.exit(f"{sentence} failed; the reason is above. Run the same command again to start over.")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
