"""`mnemoscope mcp` without a running server."""

from tests.helpers.command_line import Run


def test_wrong_usage_is_one_line(run: Run) -> None:
    for arguments in (("--json",), ("more",), ("--session-key", " "), ("--session-key",)):
        answer = run("mcp", *arguments)
        assert answer.code == 2
        assert answer.out == ""
        assert answer.err.count("\n") == 1


def test_missing_folder_reported(run: Run) -> None:
    answer = run("mcp", "--workspace", "gone")
    assert (answer.code, answer.out) == (1, "")
    assert "does not exist" in answer.err
