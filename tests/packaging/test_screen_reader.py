import sys

import pytest


@pytest.fixture
def reader(load, monkeypatch):
    """The module on a Debian without the accessibility bus."""
    debian, _, reader = load("debian"), load("qt_libraries"), load("screen_reader")
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(reader, "find_missing", lambda: ["at-spi2-core"])
    reader.debian = debian
    return reader


def test_root_installs_screen_reader_packages(reader, monkeypatch):
    installed = []
    monkeypatch.setattr(reader.debian, "can_install", lambda: True)
    monkeypatch.setattr(reader.debian, "install", lambda _purpose, packages: installed.append(packages))
    reader.ensure()
    assert installed == [["at-spi2-core"]]


def test_without_root_nothing_is_installed(reader, monkeypatch):
    monkeypatch.setattr(reader.debian, "can_install", lambda: False)
    monkeypatch.setattr(reader.debian, "install", lambda *_: pytest.fail("packages were installed"))
    reader.ensure()


def test_failed_install_does_not_stop_other_tests(reader, monkeypatch, capsys):
    def fail(*_):
        sys.exit("no network")

    monkeypatch.setattr(reader.debian, "can_install", lambda: True)
    monkeypatch.setattr(reader.debian, "install", fail)
    reader.ensure()
    assert "no network" in capsys.readouterr().err
