"""Virtual environments next to `pyproject.toml`: created from a lock, and repaired when broken or out of date.

A stamp file in each lists its contents. The stamp is removed before any change and written last, so an interrupted
install leaves no stamp and is rebuilt.
"""

import contextlib
import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
RUN_LOCK = ROOT / "packaging" / "requirements.lock"
TEST_LOCK = ROOT / "packaging" / "requirements-dev.lock"
"""Contains all of RUN_LOCK and the test tools."""
BUNDLE_LOCK = ROOT / "packaging" / "requirements-bundle.lock"
"""Contains all of RUN_LOCK, the bundle's additional packages, and the build tools."""

_PROGRAMS = "Scripts" if os.name == "nt" else "bin"
_SUFFIX = ".exe" if os.name == "nt" else ""


class Environment:
    """A virtual environment; `locks` may be installed in it, each a superset of the one before."""

    def __init__(self, folder: Path, *locks: Path) -> None:
        self.folder = folder
        self.python = self.program("python")
        self._stamp = folder / "installed.json"
        self._locks = locks

    def program(self, name: str) -> Path:
        """Return the path of a command that is installed in the environment."""
        return self.folder / _PROGRAMS / f"{name}{_SUFFIX}"

    def ensure(self, lock: Path) -> None:
        """Install this lock and the project unless they are current. Exits on failure."""
        stamp = {
            "environment": f"Python {sys.version_info.major}.{sys.version_info.minor} in {ROOT}",
            "project": _digest(ROOT / "pyproject.toml"),
            **{known.name: _digest(known) for known in self._locks},
        }
        installed = self._read_stamp()
        if all(installed.get(key) == stamp[key] for key in ("environment", "project", lock.name)):
            return
        if self.folder.is_symlink():
            self.folder.unlink()  # the target belongs to another copy, and would be emptied
            installed = {}
        self._stamp.unlink(missing_ok=True)
        if not installed or any(installed[key] != stamp.get(key) for key in installed.keys() - {"project"}):
            # Packages that a changed lock no longer names would stay installed, so start with an empty environment.
            self._create()
            installed = {}
        pip = [str(self.python), "-m", "pip", "--disable-pip-version-check", "--no-input", "install"]
        if lock.name not in installed:
            # A lock is complete even though it omits some declared dependencies (pyproject.toml, [tool.uv]).
            install = [*pip, "--no-deps", "--require-hashes", "-r", str(lock)]
            step("Installing the packages (some 150 MB the first time, 500 MB with those for the tests)", install)
        # A plain path file: setuptools' import hook would add 15 ms to every start of Python.
        editable = ["--no-deps", "--no-build-isolation", "--config-settings", "editable_mode=compat", "-e", str(ROOT)]
        with alone():
            step("Linking the project", [*pip, *editable])
        held = {"environment", "project", self._locks[0].name, lock.name} | installed.keys()
        self._stamp.write_text(json.dumps({key: value for key, value in stamp.items() if key in held}))

    def _read_stamp(self) -> dict[str, str]:
        """Return the stamp of the installed state; empty if it is missing or not reliable."""
        try:
            stamp = json.loads(self._stamp.read_text())
        except (OSError, ValueError):
            return {}
        return stamp if isinstance(stamp, dict) and self.python.exists() else {}

    def _create(self) -> None:
        # When run from inside the environment, this interpreter is about to be deleted; its base is not.
        python = getattr(sys, "_base_executable", sys.executable)
        step(f"Creating {self.folder.name}", [python, "-m", "venv", "--clear", str(self.folder)])


WORK = Environment(ROOT / ".venv", RUN_LOCK, TEST_LOCK)
"""Environment in which the program and its tests run."""
BUNDLING = Environment(ROOT / ".venv-bundle", BUNDLE_LOCK)
"""Environment for bundles: it holds only the bundle's packages and PyInstaller, which collects all that it finds."""


@contextlib.contextmanager
def alone() -> Iterator[None]:
    """Wait until no other command of this project is within this block: neither apt-get nor setuptools runs twice."""
    if sys.platform == "win32":
        yield
        return
    import fcntl

    with (ROOT / "pyproject.toml").open() as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def step(sentence: str, command: list[str]) -> None:
    """Run a command quietly; its output is shown only on failure."""
    print(f"{sentence} …", file=sys.stderr, flush=True)
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stdout.decode(errors="replace"))
        sys.exit(f"{sentence} failed; the reason is above. Run the same command again to start over.")


def _digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
