import json
import os
import sys
import time
from pathlib import Path

import pytest

from tests.helpers.background import LONGEST_WAIT

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the fakes of npm and qmd are shell scripts")

NPM = f"""#!{sys.executable}
import os, pathlib, sys, time
with open({{calls!r}}, "a") as file:
    print(*(word for word in sys.argv[1:] if word == "install" or "@" in word), file=file)
{{trouble}}
programs = pathlib.Path("node_modules", ".bin")
programs.mkdir(parents=True, exist_ok=True)
programs.joinpath("node").write_text("")
if "qmd" in sys.argv[-1]:
    command = programs / "qmd"
    command.write_text("#!/bin/sh\\necho qmd {{version}}")
    command.chmod(0o755)
    for name in ("linux-x64", "linux-x64-cuda", "linux-x64-cuda-ext", "linux-x64-vulkan"):
        pathlib.Path("node_modules", "@node-llama-cpp", name).mkdir(parents=True)
"""
NODE, QMD = "install node@22", "install @tobilu/qmd@2.8.3"


@pytest.fixture
def peers(load, tmp_path, monkeypatch):
    """The module with a temporary project and a fake npm that installs immediately."""
    load("environment"), load("debian")
    peers = load("peers")
    monkeypatch.setattr(peers, "FOLDER", tmp_path / ".peers")
    monkeypatch.setattr(peers, "BUILDING", tmp_path / ".peers-new")
    monkeypatch.setattr(peers.debian, "can_install", lambda: False)
    programs, calls = tmp_path / "programs", tmp_path / "calls"
    programs.mkdir()
    calls.touch()

    def npm(trouble: str = "", version: str = peers.QMD) -> None:
        command = programs / "npm"
        command.write_text(NPM.format(calls=str(calls), trouble=trouble, version=version))
        command.chmod(0o755)

    npm()
    monkeypatch.setenv("PATH", str(programs))
    peers.npm = npm
    peers.calls = lambda: calls.read_text().splitlines()
    return peers


def installed(peers) -> list[str]:
    return sorted(path.name for path in peers.FOLDER.glob("node_modules/*/*"))


def test_ensure_installs_node_before_qmd_without_gpu_packages(peers):
    peers.ensure()
    assert peers.calls() == [NODE, QMD]
    assert installed(peers) == ["linux-x64", "node", "qmd"]
    assert not peers.BUILDING.exists()


def test_second_ensure_does_not_need_npm(peers, monkeypatch):
    peers.ensure()
    monkeypatch.setenv("PATH", "/nowhere")
    peers.ensure()
    assert peers.calls() == [NODE, QMD]


@pytest.mark.parametrize("stamp", ["", "[]", '{"steps": [["qmd", ["@tobilu/qmd@0.9.0"]]]}'])
def test_other_release_or_invalid_stamp_reinstalls(peers, stamp):
    peers.ensure()
    (peers.FOLDER / peers.STAMP).write_text(stamp)
    (peers.FOLDER / "node_modules" / "old").mkdir()
    peers.ensure()
    assert peers.calls() == [NODE, QMD] * 2
    assert not (peers.FOLDER / "node_modules" / "old").exists()
    assert json.loads((peers.FOLDER / peers.STAMP).read_text())["steps"][1][1][-1] == "@tobilu/qmd@2.8.3"


def test_interrupted_install_is_removed_and_repeated(peers, monkeypatch):
    def interrupted(command, **_options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(peers, "_prove", lambda: interrupted([]))
        with pytest.raises(KeyboardInterrupt):
            peers.ensure()
    assert not peers.FOLDER.exists()
    (peers.BUILDING / "half").touch()
    peers.ensure()
    assert not (peers.FOLDER / "half").exists()
    assert "qmd" in installed(peers)


def test_failed_registry_request_is_retried_once(peers, tmp_path, capsys):
    once = tmp_path / "once"
    peers.npm(f"if not os.path.exists({str(once)!r}): open({str(once)!r}, 'w'); sys.exit('E503 registry')")
    peers.ensure()
    assert peers.calls() == [NODE, NODE, QMD]
    assert "E503 registry\nnpm ended with 1 (try 1 of 2)." in capsys.readouterr().err


def test_registry_failing_twice_exits_with_message(peers):
    peers.npm("sys.exit('E503 registry')")
    with pytest.raises(SystemExit, match="Node could not be installed by npm; the reason is above"):
        peers.ensure()
    assert peers.calls() == [NODE] * 2
    assert not peers.FOLDER.exists()


def test_hanging_npm_is_ended_with_its_children(peers, tmp_path, monkeypatch, capsys):
    child = tmp_path / "child"
    hang = f"(os.fork() or open({str(child)!r}, 'w').write(str(os.getpid()))) and time.sleep(600)"
    peers.npm(f"{hang}\ntime.sleep(600)")
    monkeypatch.setattr(peers, "SECONDS", 1)
    with pytest.raises(SystemExit, match="Node could not be installed"):
        peers.ensure()
    assert "took longer than 1 s (try 2 of 2)" in capsys.readouterr().err
    deadline = time.monotonic() + LONGEST_WAIT  # the kernel may take a moment to end a killed process
    while running(int(child.read_text())) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not running(int(child.read_text()))


def running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_missing_npm_is_installed_as_root_on_debian(peers, tmp_path, monkeypatch):
    npm = tmp_path / "programs" / "npm"
    hidden = npm.rename(tmp_path / "npm")
    monkeypatch.setattr(peers.debian, "can_install", lambda: True)
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr(peers.debian, "install", lambda purpose, packages: hidden.rename(npm))
    peers.ensure()
    assert "qmd" in installed(peers)


def test_missing_npm_exits_with_instructions(peers, tmp_path):
    (tmp_path / "programs" / "npm").unlink()
    with pytest.raises(SystemExit, match=r"npm is missing: install it \(in Debian: npm\), or leave --peers out\."):
        peers.ensure()


def test_wrong_qmd_release_is_refused(peers):
    peers.npm(version="0.9.0")
    with pytest.raises(SystemExit, match=r"qmd 2\.8\.3 was installed, yet does not start: qmd 0\.9\.0"):
        peers.ensure()
    assert not peers.FOLDER.exists()
