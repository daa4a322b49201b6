"""Virtual environments beside `pyproject.toml`: made from a lock, mended when they are broken or out of date.

A stamp in each says what is installed. The stamp goes before anything changes and comes back last, so whatever an
interrupted install leaves behind has no stamp and is built anew.
"""

import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN_LOCK = ROOT / "packaging" / "requirements.lock"
TEST_LOCK = ROOT / "packaging" / "requirements-dev.lock"
"""Holds all of RUN_LOCK and the tools for the tests."""
BUNDLE_LOCK = ROOT / "packaging" / "requirements-bundle.lock"
"""Holds all of RUN_LOCK, what a bundle has besides, and what builds it."""

_PROGRAMS = "Scripts" if os.name == "nt" else "bin"
_SUFFIX = ".exe" if os.name == "nt" else ""


class Environment:
    """One of them; `locks` are those that may be installed in it, each holding all of the one before."""

    def __init__(self, folder: Path, *locks: Path) -> None:
        self.folder = folder
        self.python = self.program("python")
        self._stamp = folder / "installed.json"
        self._locks = locks

    def program(self, name: str) -> Path:
        """A command that is installed in the environment."""
        return self.folder / _PROGRAMS / f"{name}{_SUFFIX}"

    def ensure(self, lock: Path) -> None:
        """Have it hold this lock and the project; returns at once when it does. Exits when it cannot."""
        wanted = {
            "environment": f"Python {sys.version_info.major}.{sys.version_info.minor} in {ROOT}",
            "project": _digest(ROOT / "pyproject.toml"),
            **{known.name: _digest(known) for known in self._locks},
        }
        installed = self._read_stamp()
        if all(installed.get(key) == wanted[key] for key in ("environment", "project", lock.name)):
            return
        self._stamp.unlink(missing_ok=True)
        if not installed or any(installed[key] != wanted.get(key) for key in installed.keys() - {"project"}):
            # Packages that a changed lock no longer names would stay behind, so it starts from nothing.
            self._create()
            installed = {}
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
        if lock.name not in installed:
            # A lock is whole, also where it leaves out what a package asks for in vain (pyproject.toml, [tool.uv]).
            install = [*pip, "--no-deps", "--require-hashes", "-r", str(lock)]
            step("Installing the packages (some 100 MB the first time, 250 MB with those for the tests)", install)
        # A plain path file, not setuptools' import hook, which costs every start of Python 15 ms.
        editable = ["--no-deps", "--no-build-isolation", "--config-settings", "editable_mode=compat", "-e", str(ROOT)]
        step("Linking the project", [*pip, *editable])
        held = {"environment", "project", self._locks[0].name, lock.name} | installed.keys()
        self._stamp.write_text(json.dumps({key: value for key, value in wanted.items() if key in held}))

    def _read_stamp(self) -> dict[str, str]:
        """What is installed; empty where nothing can be trusted to be."""
        try:
            stamp = json.loads(self._stamp.read_text())
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) and self.python.exists() else {}

    def _create(self) -> None:
        # Run from inside the environment, this Python is about to be deleted: its base is not.
        python = getattr(sys, "_base_executable", sys.executable)
        step(f"Creating {self.folder.name}", [python, "-m", "venv", "--clear", str(self.folder)])


WORK = Environment(ROOT / ".venv", RUN_LOCK, TEST_LOCK)
"""Where the program and its tests run."""
BUNDLING = Environment(ROOT / ".venv-bundle", BUNDLE_LOCK)
"""Where bundles are made: it holds what belongs in one, and the builder, which takes what it finds."""


def step(sentence: str, command: list[str]) -> None:
    """Run one quiet step; its output is shown only when it fails."""
    print(f"{sentence} …", file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        sys.exit(f"{sentence} failed; the reason is above. Run the same command again to start over.")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
