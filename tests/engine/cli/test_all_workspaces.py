"""`mnemoscope search --all-workspaces`, with real indexes."""

from pathlib import Path

import pytest

from tests.helpers.command_line import Run


@pytest.fixture
def boat(folder: Path, tmp_path: Path, verb: Run) -> Path:
    """A second workspace, beside the one in the current directory."""
    (folder / "garden.md").write_text("# Garden\n\nSow the carrots in April.\n")
    boat = tmp_path / "boat"
    boat.mkdir()
    (boat / "log.md").write_text("# Log\n\nCarrots and seven coats of varnish.\n")
    assert verb("index").code == 0
    assert verb("index", "--workspace", str(boat)).code == 0
    return boat


def test_each_result_names_its_workspace(verb: Run, folder: Path, boat: Path) -> None:
    answer = verb("search", "carrots", "--all-workspaces", "--json").json
    assert {(one["workspace"], one["path"], one["citation"]) for one in answer["results"]} == {
        (str(folder), "garden.md", "garden.md#L1-L3"),
        (str(boat), "log.md", "log.md#L1-L3"),
    }
    alone = verb("search", "carrots", "--json").json
    assert [one["path"] for one in alone["results"]] == ["garden.md"]
    assert answer.keys() == alone.keys()
    assert answer["results"][0].keys() - alone["results"][0].keys() == {"workspace"}


def test_a_person_sees_it_too(verb: Run, boat: Path) -> None:
    out = verb("search", "varnish", "--all-workspaces", "--explain").out
    assert f"{boat}: log.md:1-3  Log" in out
    assert "workspace boat" in out


def test_it_goes_with_words_only(verb: Run, boat: Path) -> None:
    answer = verb("search", "--like", "garden.md", "--all-workspaces")
    assert (answer.code, answer.out) == (1, "")
    assert "goes with words" in answer.err


def test_one_that_is_away_is_named(verb: Run, boat: Path) -> None:
    (boat / "log.md").unlink()
    boat.rmdir()
    answer = verb("search", "carrots", "--all-workspaces")
    assert answer.code == 0
    assert "The folder of boat is not there, so it was not searched." in answer.out
