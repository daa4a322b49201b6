"""`mnemoscope mcp` where it does not come to a server."""

import pytest

from engine.agent.mcp_server import loading
from tests.helpers.command_line import Run


def test_wrong_usage_is_told_in_one_line(run: Run) -> None:
    for arguments in (("--json",), ("more",), ("--session-key", " "), ("--session-key",)):
        answer = run("mcp", *arguments)
        assert answer.code == 2
        assert answer.out == ""
        assert answer.err.count("\n") == 1


def test_a_folder_that_is_not_there_is_told(run: Run) -> None:
    answer = run("mcp", "--workspace", "gone")
    assert (answer.code, answer.out) == (1, "")
    assert "does not exist" in answer.err


def test_without_the_package_it_says_what_to_install(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loading.importlib.util, "find_spec", lambda _: None)
    answer = run("mcp")
    assert (answer.code, answer.out) == (1, "")
    assert 'pipx install --force ".[mcp]"' in answer.err
