"""`mnemoscope facts` on a real index, with keyword search."""

import io
import json
import sys
from pathlib import Path

import pytest

from tests.helpers.command_line import Answer, Run


def ids(verb: Run, *options: str) -> list[str]:
    return [fact["id"] for fact in json.loads(verb("facts", "list", "--json", *options).out)["facts"]]


@pytest.fixture
def captures(settings: Path) -> None:
    with settings.open("a") as file:
        file.write("facts.auto_capture = true\n")


def test_facts_are_added_once_listed_and_found(verb: Run) -> None:
    assert "mnemoscope facts add" in verb("facts").out
    assert verb("facts", "add", "I", "prefer", "tea").out.startswith("Saved: ")
    assert verb("facts", "add", "i prefer tea!").out.startswith("Already saved: ")
    added = json.loads(verb("facts", "add", "--json", "--importance", "0.9", "We decided to move").out)
    assert (added["fact"]["category"], added["fact"]["importance"], added["duplicate"]) == ("decision", 0.9, False)
    listed = verb("facts", "list").out.splitlines()
    assert [line.split("  ")[-2] for line in listed] == ["We decided to move", "I prefer tea"]
    assert verb("facts", "list", "--category", "preference").out.count("\n") == 1
    assert "I prefer tea" in verb("facts", "search", "prefer tea").out
    assert verb("facts", "search", "quantum").out == "No matching facts.\n"
    found = json.loads(verb("facts", "search", "--json", "prefer tea", "--max-results", "1").out)
    assert (found["mode"], found["results"][0]["fact"]["text"]) == ("keyword", "I prefer tea")


def test_unreadable_facts_are_an_error_not_an_empty_list(verb: Run, tmp_path: Path) -> None:
    verb("facts", "add", "I prefer tea")
    [file] = (tmp_path / "data").rglob("user.sqlite")
    file.write_bytes(b"no database " * 500)
    for action in ((), ("export",), ("search", "tea")):
        answer = verb("facts", *action)
        assert (answer.code, answer.out) == (1, "")
        assert "user.sqlite is damaged. It holds your facts" in answer.err
        assert answer.err.endswith("To see what can be restored, run mnemoscope doctor.\n")
    for wanted in (("searches",), ("search", "--saved", "Hoses")):
        assert "user.sqlite is damaged" in verb(*wanted).err


def test_facts_are_forgotten_restored_and_erased(verb: Run, tmp_path: Path) -> None:
    verb("facts", "add", "Zitronenbaum im Garten")
    [id_] = ids(verb)
    assert verb("facts", "forget", id_[:8]).out == "Forgotten: Zitronenbaum im Garten\n"
    assert (ids(verb), ids(verb, "--state", "forgotten")) == ([], [id_])
    assert verb("facts", "approve", id_[:8]).code == 1
    assert json.loads(verb("facts", "restore", "--json", id_[:8]).out) == {"ids": [id_]}
    assert ids(verb) == [id_]
    assert verb("facts", "forget", "--for-good", id_[:8]).out.startswith("Deleted permanently")
    assert ids(verb) == ids(verb, "--state", "forgotten") == []
    assert not any(b"Zitronenbaum" in file.read_bytes() for file in (tmp_path / "data").rglob("*") if file.is_file())


def test_invalid_ids_and_secrets_are_one_line_errors(verb: Run) -> None:
    for number in range(20):  # some ids begin with the same character
        verb("facts", "add", f"Fact number {number}")
    known = ids(verb)
    first = next(letter for letter in "0123456789abcdef" if sum(id_.startswith(letter) for id_ in known) > 1)
    assert "Several facts" in verb("facts", "forget", first).err
    assert len(ids(verb)) == 20
    assert "begins with zzz" in verb("facts", "forget", known[0], "zzz").err
    assert len(ids(verb)) == 20
    refused = verb("facts", "add", "The key is sk-proj-abcdEFGH1234ijklMNOP5678qrstUVWX9012yzab")
    assert (refused.code, refused.err.count("\n")) == (1, 1)
    assert verb("facts", "add").code == 2
    assert verb("facts", "add", "x", "--importance", "7").code == 2


def test_the_export_is_markdown_by_category(verb: Run) -> None:
    for text in ("I prefer tea", "Never deploy on Fridays", "I prefer \x1b[31mred"):
        verb("facts", "add", text)
    assert verb("facts", "export").out == (
        "# Facts\n\n## Preference\n\n- I prefer  [31mred\n- I prefer tea\n\n## Fact\n\n- Never deploy on Fridays\n"
    )
    assert len(json.loads(verb("facts", "export", "--json").out)["facts"]) == 3


def _hooked(verb: Run, monkeypatch: pytest.MonkeyPatch, given: str, *argv: str) -> Answer:
    monkeypatch.setattr(sys, "stdin", io.StringIO(given))
    return verb("facts", *argv)


def test_hooks_recall_and_capture(verb: Run, monkeypatch: pytest.MonkeyPatch, captures: None) -> None:
    hook = json.dumps({"hook_event_name": "UserPromptSubmit", "session_id": "abc", "prompt": "I prefer green tea."})
    assert _hooked(verb, monkeypatch, hook, "capture").out == ""
    [waiting] = json.loads(verb("facts", "list", "--json", "--state", "pending").out)["facts"]
    assert waiting["sessionKey"] == "abc"
    assert "1 fact to be approved" in verb("facts").out
    assert _hooked(verb, monkeypatch, "Which green tea do I prefer?", "recall").out == ""
    verb("facts", "approve", waiting["id"])
    block = _hooked(verb, monkeypatch, "Which green tea do I prefer?", "recall").out
    assert block.startswith("<relevant-memories>\n")
    assert "I prefer green tea." in block
    assert verb("facts", "recall", "Which", "green tea do I prefer?").out == block
    assert verb("facts", "recall", "green tea I prefer", "--session", "agent:main:discord:group:1").out == ""
    assert _hooked(verb, monkeypatch, '{"prompt": 3}', "recall").out == ""
    assert json.loads(_hooked(verb, monkeypatch, "{green tea", "recall", "--json").out) == {"block": block.strip()}


def test_capture_is_off_by_default(verb: Run) -> None:
    assert json.loads(verb("facts", "capture", "--json", "I prefer green tea.").out) == {"facts": []}
    assert ids(verb, "--state", "pending") == []
