"""The commands that hand a file to an editor."""

from pathlib import Path

import pytest

from gui.viewer import external
from gui.viewer.external import editor_command, open_in_editor

NOTE = Path("/notes/two words.md")


def having(*programs: str):
    return lambda program: f"/bin/{program}" if program in programs else None


def test_the_setting_comes_first_and_is_no_shell_line() -> None:
    template = "'my editor' --line={line} --wait {path}; rm -rf $HOME"
    command = editor_command(NOTE, 7, template, {"VISUAL": "code"}, having("code"))
    assert command == ["my editor", "--line=7", "--wait", f"{NOTE};", "rm", "-rf", "$HOME"]


def test_a_setting_without_a_path_gets_it_at_the_end() -> None:
    assert editor_command(NOTE, 7, "ed +{line}", {}, having()) == ["ed", "+7", str(NOTE)]


def test_a_path_with_braces_is_taken_as_it_is() -> None:
    assert editor_command(Path("/n/{line}.md"), 7, "ed {path}", {}, having()) == ["ed", "/n/{line}.md"]


def test_visual_counts_with_its_own_arguments_when_it_has_a_window() -> None:
    command = editor_command(NOTE, 7, "", {"VISUAL": "code --wait"}, having("code"))
    assert command == ["code", "--wait", "-g", f"{NOTE}:7"]


@pytest.mark.parametrize("terminal", ["vim", "nano -w", "", "'unclosed"])
def test_an_editor_of_the_terminal_is_passed_over(terminal: str) -> None:
    command = editor_command(NOTE, 7, "", {"VISUAL": terminal, "EDITOR": "vi"}, having("vim", "vi", "kate"))
    assert command == ["/bin/kate", "-l", "7", str(NOTE)]


def test_no_known_editor() -> None:
    assert editor_command(NOTE, 7, "", {}, having()) is None


def test_a_command_that_does_not_start_is_told() -> None:
    assert "could not be started" in open_in_editor(NOTE, 1, "/no/such/program {path}")


def test_without_an_editor_the_systems_own_choice_is_taken(monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(external, "editor_command", lambda *_: None)
    monkeypatch.setattr(external.QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()) or True)
    assert open_in_editor(NOTE, 1, "") == ""
    assert opened == [str(NOTE)]


def test_revealing_without_a_session_bus_opens_the_folder(qapp, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = []
    monkeypatch.setattr(external.sys, "platform", "linux")
    monkeypatch.setattr(external.QDBusConnection, "isConnected", lambda _: False)
    monkeypatch.setattr(external.QDesktopServices, "openUrl", lambda url: opened.append(url.toLocalFile()))
    external.reveal_in_file_manager(NOTE, qapp)
    assert opened == ["/notes"]
