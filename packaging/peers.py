"""The programs of others that tests work with, in `.peers`: qmd and the Node that it runs on, from npm's registry.

They are installed beside it and moved there when they are complete, so a `.peers` that is there is whole.
"""

import json
import os
import platform
import shutil
import signal
import subprocess
import sys

import debian
import environment

FOLDER = environment.ROOT / ".peers"
BUILDING = environment.ROOT / ".peers-new"
STAMP = "installed.json"
QMD = "2.8.3"
"""npm chooses a release by the Node that it runs on itself: under an old one, without a number, qmd 0.9.0."""

STEPS = (
    ("Node", ["node@22"]),
    ("qmd", ["--ignore-scripts", f"@tobilu/qmd@{QMD}"]),  # its scripts would build and fetch what its packages bring
)
SECONDS = 300
"""For one step; with nothing in npm's cache they took 15 and 40."""

_TRIES = 2
_NPM_OPTIONS = ["--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=1", "--fetch-timeout=60000"]
_FOR_GPUS = ("*-cuda", "*-cuda-ext", "*-vulkan")
"""Builds of node-llama-cpp for graphics cards: two thirds of a gigabyte, and the tests ask no model of a card."""


def ensure() -> None:
    """Have them all in `.peers`; returns at once when they are there. Exits when it cannot."""
    wanted = {"steps": STEPS, "machine": f"{sys.platform} {platform.machine()}"}
    if _read_stamp() == json.loads(json.dumps(wanted)):
        return
    npm = _npm()
    shutil.rmtree(BUILDING, ignore_errors=True)
    BUILDING.mkdir()
    # With a project of its own, npm looks for none in the folders above.
    (BUILDING / "package.json").write_text('{"private": true}')
    for name, arguments in STEPS:
        _install(name, [npm, "install", *_NPM_OPTIONS, *arguments])
    _prove()
    for pattern in _FOR_GPUS:
        for folder in (BUILDING / "node_modules" / "@node-llama-cpp").glob(pattern):
            shutil.rmtree(folder)
    (BUILDING / STAMP).write_text(json.dumps(wanted))
    shutil.rmtree(FOLDER, ignore_errors=True)
    BUILDING.rename(FOLDER)


def _read_stamp() -> object:
    try:
        return json.loads((FOLDER / STAMP).read_text())
    except (OSError, ValueError):
        return None


def _npm() -> str:
    """npm's own path; root on Debian's kin has it installed."""
    found = shutil.which("npm")
    if found is None and sys.platform == "linux" and debian.can_install():
        debian.install("npm", ["npm"])
        found = shutil.which("npm")
    if found is None:
        sys.exit("npm is missing: install it (in Debian: npm), or leave --peers out.")
    return found


def _install(name: str, command: list[str]) -> None:
    """One step of npm, tried again once, since a registry may fail for a moment."""
    print(f"Installing {name} for the tests …", file=sys.stderr, flush=True)
    for attempt in range(1, _TRIES + 1):
        code, output = _ended(command)
        if code == 0:
            return
        sys.stderr.write(output)
        why = f"took longer than {SECONDS} s" if code is None else f"ended with {code}"
        print(f"npm {why} (try {attempt} of {_TRIES}).", file=sys.stderr, flush=True)
    sys.exit(f"{name} could not be installed by npm; the reason is above. Run the same command again.")


def _prove() -> None:
    """Ask the command for its version: scripts that npm left out and a wrong build would show only in tests."""
    programs = BUILDING / "node_modules" / ".bin"
    path = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
    code, output = _ended([shutil.which("qmd", path=path) or str(programs / "qmd"), "--version"], PATH=path)
    if code != 0 or QMD not in output:
        sys.exit(f"qmd {QMD} was installed, yet does not start: {output.strip() or f'it ended with {code}'}")


def _ended(command: list[str], **environ: str) -> tuple[int | None, str]:
    """Exit code and output of a program; no code where it took too long and was killed with all that it started."""
    posix = os.name == "posix"
    with subprocess.Popen(
        command,
        cwd=BUILDING,
        env=os.environ | environ,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=posix,
    ) as child:
        try:
            output, _ = child.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            _kill(child)
            return None, child.communicate()[0]
        except BaseException:  # Ctrl+C does not reach a session of its own
            _kill(child)
            raise
        return child.returncode, output


def _kill(child: subprocess.Popen[str]) -> None:
    if os.name == "posix":
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
