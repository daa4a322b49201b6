"""Measures one piece of work in a separate process, and compares its cost with a baseline.

Nothing here asserts a time: machines differ, and so does one machine under load. CPU seconds tolerate more noise than
wall time, and a ratio to a baseline that has just run tolerates more than either.
"""

import os
import pickle
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
_SERVE = "from tests.benchmarks.measuring import serve; serve()"
_USER_FOLDERS = {
    "HOME": "",
    "XDG_CONFIG_HOME": ".config",
    "XDG_DATA_HOME": ".local/share",
    "XDG_STATE_HOME": ".local/state",
    "XDG_CACHE_HOME": ".cache",
}


@dataclass(frozen=True)
class Figure:
    """One line of the table; `ratio` names the baseline."""

    what: str
    target: str
    ours: str
    ratio: str = "–"


@dataclass(frozen=True)
class Cost:
    """The return value of a function and its cost.

    CPU seconds of all threads and of ended child processes; seconds; peak of resident bytes of the process itself.
    """

    value: Any
    cpu: float
    wall: float
    peak: int


class _Clock:
    """Adds up the cost of the blocks of its `with` statements."""

    def __init__(self) -> None:
        self.cpu = self.wall = 0.0
        self.used = False

    def __enter__(self) -> None:
        self.used = True
        self._began = _cpu_seconds(), time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self.cpu += _cpu_seconds() - self._began[0]
        self.wall += time.perf_counter() - self._began[1]


def _cpu_seconds() -> float:
    ended = os.times()
    return time.process_time() + ended.children_user + ended.children_system


clock = _Clock()
"""Within a function passed to `measure`, limits the measurement to the blocks under this clock. Unused, all counts."""


def measure(function: Callable[..., Any], *args: Any) -> Cost:
    """Call a module's function in a fresh Python; arguments and value are pickled. Raises what the child printed."""
    done = subprocess.run(
        [sys.executable, "-c", _SERVE],
        input=pickle.dumps((function, args)),
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env=environment(),
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{function} failed.")
    cost: Cost = pickle.loads(done.stdout)
    return cost


def serve() -> None:
    """Run the function from standard input and write its cost to standard output; the main function of a child."""
    function, args = pickle.load(sys.stdin.buffer)
    answer = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # output must not get into the result
    whole = _Clock()
    with whole:
        value = function(*args)
    took = clock if clock.used else whole
    pickle.dump(Cost(value, took.cpu, took.wall, peak_memory()), answer)
    answer.close()
    sys.stderr.flush()
    os._exit(0)  # without the clean-up of Qt and of pools, which isn't measured


def environment() -> dict[str, str]:
    """Return the environment of child processes: separate user folders, no display, and cached bytecode.

    One BLAS thread, as in the program. Users start the program with the bytecode of an earlier start, so rows about
    starts measure the second one.
    """
    home = Path(tempfile.gettempdir(), "mnemoscope-benchmarks", "home")
    home.mkdir(parents=True, exist_ok=True)
    folders = {name: str(home / folder) for name, folder in _USER_FOLDERS.items()}
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    bytecode = {"PYTHONPYCACHEPREFIX": str(home.with_name("bytecode"))}
    return inherited | folders | bytecode | {"OPENBLAS_NUM_THREADS": "1", "QT_QPA_PLATFORM": "offscreen"}


_START = """
import os, pickle, sys, time
began = time.perf_counter()
process = os.posix_spawn(sys.executable, [sys.executable, *sys.argv[2:]], os.environ)
_, status, usage = os.wait4(process, 0)
found = status, usage.ru_utime + usage.ru_stime, time.perf_counter() - began, usage.ru_maxrss * 1024
os.write(int(sys.argv[1]), pickle.dumps(found))
"""


def run_program(arguments: Sequence[str]) -> Cost:
    """Run `python ARGUMENTS` to its end and return its cost, with its output.

    A small process starts it: Linux counts the memory of the parent process for a started program.
    """
    reading, writing = os.pipe()
    with tempfile.TemporaryFile() as output, os.fdopen(reading, "rb") as answer:
        starter = [sys.executable, "-I", "-S", "-c", _START, str(writing), *arguments]
        subprocess.run(starter, stdout=output, cwd=ROOT, env=environment(), pass_fds=[writing], check=True)
        os.close(writing)
        status, cpu, wall, peak = pickle.loads(answer.read())
        output.seek(0)
        text = output.read().decode()
    if status:
        raise SystemExit(f"python {' '.join(arguments)} failed: {text}")
    return Cost(text, cpu, wall, peak)


def peak_memory() -> int:
    """Return the peak of resident bytes; 0 if the system does not report it."""
    return _from_proc("VmHWM")


def anonymous_memory() -> int:
    """Return the bytes of this process that are not backed by a file; 0 if the system does not report them."""
    return _from_proc("RssAnon")


def _from_proc(name: str) -> int:
    try:
        lines = Path("/proc/self/status").read_text().splitlines()
    except OSError:
        return 0
    return next((1024 * int(line.split()[1]) for line in lines if line.startswith(f"{name}:")), 0)


def timed(calls: Sequence[Callable[[], object]]) -> list[float]:
    """Return the milliseconds of each call."""
    found = []
    for call in calls:
        began = time.perf_counter()
        call()
        found.append((time.perf_counter() - began) * 1000)
    return found


def percentile(values: Sequence[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def spread(times: Sequence[float], unit: str = "ms") -> str:
    """Return the median and the 95th percentile."""
    return f"p50 {statistics.median(times):.1f} {unit}, p95 {percentile(times, 0.95):.1f} {unit}"


def times(baseline: float, ours: float, of: str) -> str:
    """Return the ratio of the baseline's cost to ours."""
    ratio = baseline / ours if ours else float("inf")
    return f"{ratio:,.0f}× {of}" if ratio >= 10 else f"{ratio:.2g}× {of}"


def megabytes(count: float) -> str:
    return f"{count / 1e6:,.0f} MB"
