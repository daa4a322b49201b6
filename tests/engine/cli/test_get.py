import sys

import pytest

from tests.helpers.command_line import Run
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_notes import GARDEN

NAME = "topics/shopping.md"


def test_file_printed_to_pipe_replaces_control_characters(run: Run, memory: FakeMemory) -> None:
    memory.files = {"a.md": "one\r\n\x1btwo\rx\t\x9b\x7f\x00ü\n\n", "b.md": "no end"}
    assert run("get", "a.md").out == "one\r\n\ufffdtwo\ufffdx\t\ufffd\ufffd\ufffdü\n\n"
    assert run("get", "b.md").out == "no end"


def test_direction_marks_are_printed_and_overrides_replaced(run: Run, memory: FakeMemory) -> None:
    memory.files = {"a.md": "\u200fשלום (3)\u200f \u202etxt.exe\u2066\n"}
    assert run("get", "a.md").out == "\u200fשלום (3)\u200f \ufffdtxt.exe\ufffd\n"
    assert run("get", "a.md", "--raw").out == memory.files["a.md"]


def test_raw_prints_the_text_unchanged(run: Run, memory: FakeMemory) -> None:
    memory.files = {"a.md": "one\r\n\x1btwo\rx\t\x9b\n"}
    assert run("get", "a.md", "--raw").out == "one\r\n\x1btwo\rx\t\x9b\n"
    assert run("get", "a.md", "--raw", "--lines", "1").out == "one\r\n"


def test_json_escapes_every_control_character(run: Run, memory: FakeMemory) -> None:
    text = "\x1b\x9b\x7f\u061c\u200e\u200f\u202a\u202e\u2066\u2069"
    memory.files = {"a.md": text}
    answer = run("get", "a.md", "--json")
    assert answer.json["text"] == text
    assert answer.out.strip("\n").isprintable()


def test_slice_names_next_lines(run: Run) -> None:
    answer = run("get", "projects/greenhouse.md", "--from", "7", "--lines", "2")
    assert answer.out == "\n".join(GARDEN["projects/greenhouse.md"].split("\n")[6:8]) + "\n"
    assert answer.err == "There is more: continue with --from 9\n"


def test_json_omits_irrelevant_fields(run: Run) -> None:
    whole = run("get", NAME, "--json").json
    assert whole == {"path": NAME, "text": GARDEN[NAME], "from": 1, "lines": 4, "totalLines": 4}
    part = run("get", NAME, "--json", "--lines", "1").json
    assert part == whole | {"text": "# Shopping", "lines": 1, "truncated": True, "nextFrom": 2}


@pytest.mark.parametrize(
    ("cited", "first", "lines"),
    [("#L3", 3, 1), ("#L2-L3", 2, 2), (":2-3", 2, 2), ("#L3-L2", 3, 1)],
)
def test_citation_prints_its_lines(run: Run, cited: str, first: int, lines: int) -> None:
    answer = run("get", NAME + cited, "--json").json
    assert (answer["path"], answer["from"], answer["lines"]) == (NAME, first, lines)


def test_file_named_like_citation_is_printed(run: Run, memory: FakeMemory) -> None:
    memory.files["a.md#L2"] = "itself"
    memory.files["a.md"] = "one\ntwo"
    assert run("get", "a.md#L2").out == "itself"


@pytest.mark.parametrize("argv", [("../x.md",), ("gone.md#L2",), (NAME + "#L2", "--from", "3"), (NAME + "#L",)])
def test_names_outside_the_index_are_refused(run: Run, argv: tuple[str, ...]) -> None:
    answer = run("get", *argv)
    assert (answer.code, answer.out) == (1, "")
    assert answer.err == "mnemoscope: This path is not part of the index.\n"


def test_an_empty_answer_is_explained(run: Run, memory: FakeMemory) -> None:
    answer = run("get", NAME, "--from", "99")
    assert (answer.code, answer.out) == (0, "")
    assert answer.err == "No such line: the file has 4 lines.\n"


def test_file_printed_to_a_terminal_has_no_control_character(
    run: Run, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch
) -> None:
    memory.files = {"a.md": "x\x1b[2J"}
    monkeypatch.setattr(type(sys.stdout), "isatty", lambda _self: True)
    assert run("get", "a.md").out == "x\ufffd[2J\n"
