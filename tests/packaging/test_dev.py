import os
import sys

import pytest


@pytest.fixture
def dev(load, monkeypatch):
    """The commands with a finished environment and all libraries, recording what they start."""
    environment, qt_libraries = load("environment"), load("qt_libraries")
    dev = load("dev")
    dev.started = []
    monkeypatch.setattr(environment, "ensure", lambda lock: dev.started.append(lock.name))
    monkeypatch.setattr(qt_libraries, "ensure", lambda libraries: dev.started.append("libraries"))
    monkeypatch.setattr(dev, "_become", lambda command: dev.started.append(command) or 0)
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.chdir(environment.ROOT)
    return dev


def arguments_of(dev):
    return dev.started[-1][1:]


def test_a_window_without_a_display_is_refused_before_anything_is_installed(dev, capsys):
    assert dev.main(["run"]) == 1
    assert dev.main(["run", "--", "--demo"]) == 1
    told = capsys.readouterr().err
    assert "--screenshot" in told
    assert "index, search, get, status or doctor" in told
    assert dev.started == []


def test_a_screenshot_needs_no_display(dev):
    assert dev.main(["run", "--", "--demo", "--screenshot=a.png"]) == 0
    assert os.environ["QT_QPA_PLATFORM"] == "offscreen"
    assert arguments_of(dev) == ["--demo", "--screenshot=a.png"]


@pytest.mark.parametrize("arguments", [["search", "two words", "--json"], ["status"], ["--version"], ["--help"]])
def test_verbs_and_help_need_neither_display_nor_qt(dev, arguments):
    assert dev.main(["run", "--", *arguments]) == 0
    assert "libraries" not in dev.started
    assert arguments_of(dev) == arguments


def test_with_a_display_the_window_opens(dev, monkeypatch):
    monkeypatch.setenv("DISPLAY", ":1")
    assert dev.main(["run"]) == 0
    assert dev.started[:2] == ["libraries", "requirements.lock"]
    assert "QT_QPA_PLATFORM" not in os.environ


def test_pytest_arguments_leave_the_other_checks_out(dev):
    assert dev.main(["test", "--", "-k", "name"]) == 0
    assert dev.started[:2] == ["libraries", "requirements-dev.lock"]
    assert arguments_of(dev) == ["-m", "pytest", "-k", "name"]


def test_every_check_runs_after_one_has_failed_and_pytest_is_the_last(dev, monkeypatch, capsys):
    ran = []

    def wait(command):
        ran.append(command[-1] if "pytest" in command else command[0].rpartition("/")[2])
        return 1 if "mypy" in command[0] else 0

    monkeypatch.setattr(dev, "_wait", wait)
    assert dev.main(["test"]) == 1
    assert ran == ["ruff", "mypy", "lint-imports", "pytest"]
    assert "failed so far: mypy" in capsys.readouterr().out


def test_an_unknown_command_is_wrong_usage(dev):
    assert dev.main(["fly"]) == 2
