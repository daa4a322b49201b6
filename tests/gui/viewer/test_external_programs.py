"""Commands that open a file in an editor."""

import sys
from collections.abc import Callable
from pathlib import Path, PurePosixPath

import pytest

from gui.viewer import external_programs
from gui.viewer.external_programs import editor_command, editor_template, open_in_editor

NOTE = Path("/notes/two words.md")


def having(*programs: str):
    return lambda program: f"/bin/{program}" if program in programs else None


def test_editor_setting_takes_precedence_and_is_not_a_shell_line() -> None:
    template = "'my editor' --line={line} --wait {path}; rm -rf $HOME"
    command = editor_command(NOTE, 7, template, {"VISUAL": "code"}, having("code"))
    assert command == ["my editor", "--line=7", "--wait", f"{NOTE};", "rm", "-rf", "$HOME"]


def test_editor_command_without_path_has_it_appended() -> None:
    assert editor_command(NOTE, 7, "ed +{line}", {}, having()) == ["ed", "+7", str(NOTE)]


def test_path_with_braces_is_not_expanded() -> None:
    assert editor_command(Path("/n/{line}.md"), 7, "ed {path}", {}, having()) == ["ed", "/n/{line}.md"]


def test_graphical_visual_keeps_its_arguments() -> None:
    command = editor_command(NOTE, 7, "", {"VISUAL": "code --wait"}, having("code"))
    assert command == ["code", "--wait", "-g", f"{NOTE}:7"]


@pytest.mark.parametrize("terminal", ["vim", "nano -w", "", "'unclosed"])
def test_terminal_editor_is_skipped(terminal: str) -> None:
    command = editor_command(NOTE, 7, "", {"VISUAL": terminal, "EDITOR": "vi"}, having("vim", "vi", "kate"))
    assert command == ["/bin/kate", "-l", "7", str(NOTE)]


def test_no_known_editor_gives_no_command() -> None:
    assert editor_command(NOTE, 7, "", {}, having()) is None


def test_failed_editor_start_is_reported() -> None:
    assert "could not be started" in open_in_editor(NOTE, 1, "/no/such/program {path}")


@pytest.fixture
def opener(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[int], Path]:
    """Replace the desktop's open command by a program with this exit code, which records the path that it gets."""

    def install(code: int) -> Path:
        seen, program = tmp_path / "seen", tmp_path / ("open" if sys.platform == "darwin" else "xdg-open")
        program.write_text(f'#!/bin/sh\necho "$1" > {seen}\nexit {code}\n')
        program.chmod(0o700)
        monkeypatch.setenv("PATH", str(tmp_path))
        for variable in ("VISUAL", "EDITOR"):
            monkeypatch.delenv(variable, raising=False)
        return seen

    return install


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_no_known_editor_opens_file_with_desktop(opener: Callable[[int], Path]) -> None:
    seen = opener(0)
    assert open_in_editor(NOTE, 1, "") == ""
    assert seen.read_text().strip() == str(NOTE)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script")
def test_desktop_without_program_is_reported(opener: Callable[[int], Path]) -> None:
    opener(3)
    assert open_in_editor(NOTE, 1, "") == "No program is set up to open two words.md."


def test_missing_opener_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(external_programs.sys, "platform", "linux")
    monkeypatch.setattr(external_programs.shutil, "which", lambda _: None)
    monkeypatch.setattr(external_programs, "editor_command", lambda *_: None)
    assert open_in_editor(NOTE, 1, "") == "No program is set up to open two words.md."


@pytest.mark.parametrize(
    ("platform", "program", "command"),
    [
        ("linux", "/opt/my editor/ed", ["/opt/my editor/ed", str(NOTE)]),
        ("linux", "/usr/bin/kate", ["/usr/bin/kate", "-l", "7", str(NOTE)]),
        ("darwin", "/Applications/My Editor.app", ["open", "-a", "/Applications/My Editor.app", str(NOTE)]),
        ("win32", "C:/Program Files/Ed/ed.exe", ["C:/Program Files/Ed/ed.exe", str(NOTE)]),
    ],
)
def test_chosen_program_becomes_editor_command(
    platform: str, program: str, command: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(external_programs.sys, "platform", platform)
    assert editor_command(NOTE, 7, editor_template(PurePosixPath(program)), {}, having()) == command


def test_reveal_without_session_bus_opens_folder(qapp, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(external_programs.sys, "platform", "linux")
    monkeypatch.setattr(external_programs.QDBusConnection, "isConnected", lambda _: False)
    monkeypatch.setattr(external_programs.QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    external_programs.reveal_in_file_manager(NOTE, qapp)
    assert opened == ["/notes"]
