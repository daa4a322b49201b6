import sys

import pytest


@pytest.fixture
def qt(load, monkeypatch):
    """The module on a Debian without libEGL, run by a user who is not root."""
    debian, qt = load("debian"), load("qt_libraries")
    qt.absent = {"libEGL.so.1"}
    qt.apt = debian.subprocess
    qt.commands = []
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(qt, "_loads", lambda library: library not in qt.absent)
    monkeypatch.setattr(qt, "_has_font", lambda: True)
    monkeypatch.setattr(qt.shutil, "which", lambda name: f"/usr/bin/{name}")
    monkeypatch.setattr(qt.os, "geteuid", lambda: 1000, raising=False)
    return qt


def test_nothing_missing_installs_nothing(qt):
    qt.absent.clear()
    qt.ensure(qt.for_tests())


def test_user_without_root_sees_exact_command(qt, monkeypatch):
    monkeypatch.setattr(qt, "_has_font", lambda: False)
    with pytest.raises(SystemExit, match=r"sudo apt-get install -y libegl1 fonts-dejavu-core$"):
        qt.ensure(qt.for_tests())


def test_root_updates_then_installs(qt, monkeypatch):
    monkeypatch.setattr(qt.os, "geteuid", lambda: 0, raising=False)

    def run(command, **options):
        qt.commands.append(command)
        if "install" in command:
            qt.absent.clear()
        return qt.apt.CompletedProcess(command, 0, b"")

    monkeypatch.setattr(qt.apt, "run", run)
    qt.ensure(qt.for_tests())
    assert [command[1] for command in qt.commands] == ["update", "install"]
    assert qt.commands[1][-1] == "libegl1"


def test_failing_apt_shows_its_output(qt, monkeypatch, capsys):
    monkeypatch.setattr(qt.os, "geteuid", lambda: 0, raising=False)
    failed = qt.apt.CompletedProcess([], 100, b"E: no network")
    monkeypatch.setattr(qt.apt, "run", lambda command, **options: failed)
    with pytest.raises(SystemExit, match="`apt-get update` failed"):
        qt.ensure(qt.for_tests())
    assert "E: no network" in capsys.readouterr().err


def test_other_distribution_names_missing_libraries(qt, monkeypatch):
    monkeypatch.setattr(qt.shutil, "which", lambda name: None)
    with pytest.raises(SystemExit, match=r"package manager: libEGL\.so\.1"):
        qt.ensure(qt.for_tests())


def test_python_without_venv_reports_missing_package(qt, monkeypatch):
    monkeypatch.setattr(qt.importlib.util, "find_spec", lambda name: None)
    assert f"python{sys.version_info.major}.{sys.version_info.minor}-venv" in qt.find_missing({})


def test_required_libraries_depend_on_platform(qt):
    assert "libxcb-cursor0" in qt.for_window({"DISPLAY": ":0"})
    assert "libxcb-cursor0" not in qt.for_window({"QT_QPA_PLATFORM": "offscreen", "DISPLAY": ":0"})
    assert "libwayland-client0" in qt.for_window({"WAYLAND_DISPLAY": "wayland-0"})
    assert qt.X11.keys() | qt.WAYLAND.keys() < qt.for_window({"WAYLAND_DISPLAY": "wayland-0", "DISPLAY": ":0"}).keys()


def test_nonexistent_library_does_not_load(load):
    assert not load("qt_libraries")._loads("libno-such-thing.so.9")
