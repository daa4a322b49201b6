import contextlib
import os
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import pytest


@pytest.fixture
def dev(load, monkeypatch):
    """The commands with a ready environment and all libraries, recording the programs that they start."""
    environment, qt_libraries, peers = load("environment"), load("qt_libraries"), load("peers")
    bundle, dev = load("bundle"), load("dev")
    dev.started = []
    monkeypatch.setattr(environment.WORK, "ensure", lambda lock: dev.started.append(lock.name))
    monkeypatch.setattr(qt_libraries, "ensure", lambda libraries: dev.started.append("libraries"))
    monkeypatch.setattr(peers, "ensure", lambda: dev.started.append("peers"))
    monkeypatch.setattr(bundle, "ensure", lambda: dev.started.append("bundle"))
    monkeypatch.setattr(dev, "_become", lambda command: dev.started.append(command) or 0)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(environment.ROOT)
    return dev


def arguments_of(dev):
    return dev.started[-1][1:]


def test_window_without_display_is_refused_before_install(dev, capsys):
    assert dev.main(["run"]) == 1
    assert dev.main(["run", "--", "--demo"]) == 1
    printed = capsys.readouterr().err
    assert "--screenshot" in printed
    assert "index, search, get, status or doctor" in printed
    assert dev.started == []


def test_screenshot_needs_no_display(dev):
    assert dev.main(["run", "--", "--demo", "--screenshot=a.png"]) == 0
    assert os.environ["QT_QPA_PLATFORM"] == "offscreen"
    assert arguments_of(dev) == ["--demo", "--screenshot=a.png"]


@pytest.mark.parametrize("arguments", [["search", "two words", "--json"], ["status"], ["--version"], ["--help"]])
def test_verbs_and_help_need_neither_display_nor_qt(dev, arguments):
    assert dev.main(["run", "--", *arguments]) == 0
    assert "libraries" not in dev.started
    assert arguments_of(dev) == arguments


@pytest.mark.parametrize("arguments", [["--help"], ["test", "-h"], ["test", "--peers", "--help"], ["deb", "--help"]])
def test_help_of_commands_installs_nothing(dev, arguments, capsys):
    assert dev.main(arguments) == 0
    assert "--peers" in capsys.readouterr().out
    assert dev.started == []


def test_help_into_closed_pipe_prints_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, str(Path(__file__).parents[2] / "packaging" / "dev.py"), "--help"]
    ended = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert ended.stderr == b""


def test_run_with_display_opens_window(dev, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":1")
    assert dev.main(["run"]) == 0
    assert dev.started[:2] == ["libraries", "requirements.lock"]
    assert "QT_QPA_PLATFORM" not in os.environ


def test_pytest_arguments_skip_other_checks(dev):
    assert dev.main(["test", "--", "-k", "name"]) == 0
    assert dev.started[:2] == ["libraries", "requirements-dev.lock"]
    assert arguments_of(dev) == ["-m", "pytest", "-k", "name"]


def test_peers_and_bundle_are_made_before_pytest_runs_alone(dev):
    assert dev.main(["test", "--bundle", "--peers", "--", "tests/engine", "-x"]) == 0
    assert dev.started[:4] == ["libraries", "requirements-dev.lock", "peers", "bundle"]
    assert arguments_of(dev) == ["-m", "pytest", "tests/engine", "-x"]


class Ran(list):
    exit_code = 0
    """Of the build of a bundle."""


@pytest.fixture
def ran(dev, monkeypatch):
    """Record the programs that run to completion; mypy fails."""
    ran = Ran()

    def wait(command):
        ran.append("pytest" if "pytest" in command else Path(command[0]).stem)
        ran.append(command[3:]) if "pytest" in command else None
        return 1 if "mypy" in command[0] else 0

    def start(command, output, _started):
        ran.append(command[-1])
        if command[-1] != "bundle":
            return SimpleNamespace(wait=lambda: ran.append("compiled"))
        output.write(b"Collecting the bundle\n")
        return SimpleNamespace(wait=lambda: ran.append("built") or ran.exit_code)

    monkeypatch.setattr(dev, "_wait", wait)
    monkeypatch.setattr(dev, "_start", start)
    return ran


def test_checks_continue_after_failure_and_pytest_is_last(dev, ran, capsys):
    assert dev.main(["test"]) == 1
    assert ran[:-1] == ["--quiet", "ruff", "ruff", "mypy", "lint-imports", "compiled", "pytest"]
    assert "peers" not in dev.started
    assert capsys.readouterr().out.endswith("--- pytest (failed so far: mypy)\n")


@pytest.mark.parametrize(("exit_code", "failed"), [(0, "mypy"), (1, "mypy, bundle")])
def test_bundle_is_built_beside_the_checks(dev, ran, capsys, exit_code, failed):
    ran.exit_code = exit_code
    assert dev.main(["test", "--bundle"]) == 1
    assert ran[:-1] == ["bundle", "--quiet", "ruff", "ruff", "mypy", "lint-imports", "compiled", "built", "pytest"]
    assert capsys.readouterr().out.endswith(
        f"--- bundle\nCollecting the bundle\n--- pytest (failed so far: {failed})\n"
    )


@pytest.fixture
def building(dev, tmp_path, monkeypatch):
    """A build of a bundle that waits; returns a file that it makes when it is interrupted."""
    begun, stopped = tmp_path / "begun", tmp_path / "stopped"
    script = tmp_path / "build.py"
    # A shell ignores SIGINT for the programs that it runs in the background, and they pass this on.
    script.write_text(f"""import pathlib, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)
try:
    pathlib.Path({str(begun)!r}).touch()
    time.sleep(60)
except KeyboardInterrupt:
    pathlib.Path({str(stopped)!r}).touch()
""")

    def refused(_lock):
        while not begun.exists():
            time.sleep(0.005)
        sys.exit("Installing the packages failed")

    monkeypatch.setattr(dev, "__file__", str(script))
    monkeypatch.setattr(dev.environment.WORK, "ensure", refused)
    return stopped


@pytest.mark.skipif(os.name != "posix", reason="other systems can't interrupt one process")
def test_failed_install_stops_the_build_of_the_bundle(dev, building):
    with pytest.raises(SystemExit, match="Installing the packages failed"):
        dev.main(["test", "--bundle"])
    assert building.exists()


def test_interrupted_check_ends_the_command(dev, monkeypatch):
    class Child(contextlib.AbstractContextManager):
        returncode = None

        def __exit__(self, *_):
            pass

        def wait(self):
            dev.started.append("waited")
            if dev.started[-2:] != ["waited", "waited"]:
                raise KeyboardInterrupt
            self.returncode = 1

    monkeypatch.setattr(dev, "_start", lambda *_: None)
    monkeypatch.setattr(dev.subprocess, "Popen", lambda command: dev.started.append(Path(command[0]).name) or Child())
    with pytest.raises(KeyboardInterrupt):
        dev.main(["test"])
    assert dev.started[-3:] == ["ruff", "waited", "waited"]


@pytest.mark.parametrize(
    ("cores", "options"),
    [(1, []), (2, ["-n", "3", "--dist", "worksteal"]), (64, ["-n", "4", "--dist", "worksteal"])],
)
def test_tests_run_in_more_processes_than_cores(dev, ran, monkeypatch, cores, options):
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(cores)), raising=False)
    dev.main(["test"])
    assert ran[-1] == options


def test_failed_peers_install_runs_tests_and_fails_command(dev, ran, monkeypatch, capsys):
    def refused():
        sys.exit("npm is missing.")

    monkeypatch.setattr(dev.peers, "ensure", refused)
    monkeypatch.setattr(dev, "CHECKS", {})
    assert dev.main(["test", "--peers"]) == 1
    assert ran[:3] == ["--quiet", "compiled", "pytest"]
    printed = capsys.readouterr().out
    assert "peers: FAILED: npm is missing." in printed
    assert "failed so far: peers" in printed


def test_unknown_command_is_wrong_usage(dev):
    assert dev.main(["fly"]) == 2
