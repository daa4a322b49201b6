"""Third-party programs for the tests, in `.peers`: qmd and the Node that it runs on, from npm's registry.

They are installed in a temporary folder that is renamed once complete, so an existing `.peers` is always complete.
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
"""Pinned, because npm selects a release by the Node that it runs on: under an old one it installs qmd 0.9.0."""

STEPS = (
    ("Node", ["node@22"]),
    ("qmd", ["--ignore-scripts", f"@tobilu/qmd@{QMD}"]),  # the scripts would build or fetch bundled dependencies
)
SECONDS = 300
"""Timeout of one step; with an empty npm cache they took 15 and 40."""

_TRIES = 2
_NPM_OPTIONS = ["--no-audit", "--no-fund", "--no-update-notifier", "--fetch-retries=1", "--fetch-timeout=60000"]
_FOR_GPUS = ("*-cuda", "*-cuda-ext", "*-vulkan")
"""Builds of node-llama-cpp for graphics cards: two thirds of a gigabyte, and the tests don't use a card."""


def ensure() -> None:
    """Install all programs in `.peers` unless they are current. Exits on failure."""
    stamp = {"steps": STEPS, "machine": f"{sys.platform} {platform.machine()}"}
    if _read_stamp() == json.loads(json.dumps(stamp)):
        return
    npm = _npm()
    shutil.rmtree(BUILDING, ignore_errors=True)
    BUILDING.mkdir()
    # Without a package.json here, npm would search the parent folders for one.
    (BUILDING / "package.json").write_text('{"private": true}')
    for name, arguments in STEPS:
        _install(name, [npm, "install", *_NPM_OPTIONS, *arguments])
    _prove()
    for pattern in _FOR_GPUS:
        for folder in (BUILDING / "node_modules" / "@node-llama-cpp").glob(pattern):
            shutil.rmtree(folder)
    (BUILDING / STAMP).write_text(json.dumps(stamp))
    shutil.rmtree(FOLDER, ignore_errors=True)
    BUILDING.rename(FOLDER)


def _read_stamp() -> object:
    try:
        return json.loads((FOLDER / STAMP).read_text())
    except (OSError, ValueError):
        return None


def _npm() -> str:
    """Return npm's path; it is installed first if this is root on a Debian-based system."""
    npm = shutil.which("npm")
    if npm is None and sys.platform == "linux" and debian.can_install():
        debian.install("npm", ["npm"])
        npm = shutil.which("npm")
    if npm is None:
        sys.exit("npm is missing: install it (in Debian: npm), or leave --peers out.")
    return npm


def _install(name: str, command: list[str]) -> None:
    """Run one npm step, with a second try because a registry may fail temporarily."""
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
    """Run qmd for its version, because skipped scripts or a wrong build would otherwise surface only in tests."""
    programs = BUILDING / "node_modules" / ".bin"
    path = os.pathsep.join([str(programs), os.environ.get("PATH", "")])
    code, output = _ended([shutil.which("qmd", path=path) or str(programs / "qmd"), "--version"], PATH=path)
    if code != 0 or QMD not in output:
        sys.exit(f"qmd {QMD} was installed, yet does not start: {output.strip() or f'it ended with {code}'}")


def _ended(command: list[str], **environ: str) -> tuple[int | None, str]:
    """Return exit code and output of a program; the code is None if it timed out and its process group was killed."""
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
        except BaseException:  # Ctrl+C does not reach a process in another session
            _kill(child)
            raise
        return child.returncode, output


def _kill(child: subprocess.Popen[str]) -> None:
    if os.name == "posix":
        os.killpg(child.pid, signal.SIGKILL)
    else:
        child.kill()
