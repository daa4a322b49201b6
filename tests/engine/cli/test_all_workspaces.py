"""`mnemoscope search --all-workspaces`, with real indexes."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from engine.backends.opening import open_memory
from engine.records import Passage, QueryRecord, SavedSearch
from engine.settings import load_settings
from tests.helpers.command_line import Run


@pytest.fixture
def boat(folder: Path, tmp_path: Path, verb: Run) -> Path:
    """Create a second workspace next to the one in the current directory."""
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


def test_text_output_names_the_workspace(verb: Run, boat: Path) -> None:
    out = verb("search", "varnish", "--all-workspaces", "--explain").out
    assert f"{boat}: log.md:1-3  Log" in out
    assert "workspace boat" in out


def test_all_workspaces_requires_words(verb: Run, boat: Path) -> None:
    answer = verb("search", "--like", "garden.md", "--all-workspaces")
    assert (answer.code, answer.out) == (2, "")
    assert "--all-workspaces: needs a query" in answer.err


def test_error_names_missing_workspace(verb: Run, boat: Path) -> None:
    (boat / "log.md").unlink()
    boat.rmdir()
    answer = verb("search", "carrots", "--all-workspaces")
    assert answer.code == 0
    assert "The folder of boat is missing, so it was not searched." in answer.out


@pytest.fixture
def keep(settings: Path, boat: Path, folder: Path) -> Callable[..., None]:
    """Save a search as the window does."""

    def save(name: str, **fields: Any) -> None:
        memory = open_memory(folder, load_settings(folder, config=settings))
        memory.saved_searches.save(SavedSearch(name=name, query=QueryRecord(**fields), last_used=1.0))
        memory.close()

    return save


def found(verb: Run, *words: str) -> set[tuple[str, str]]:
    answer = verb("search", "--json", *words)
    assert answer.code == 0, answer.err
    return {(one.get("workspace", ""), one["path"]) for one in answer.json["results"]}


def test_saved_search_runs_in_its_workspace(verb: Run, folder: Path, boat: Path, keep) -> None:
    keep("All", text="carrots", all_workspaces=True)
    keep("There", text="carrots", path="///boat/log.md", path_name="Log")
    keep("Here", text="carrots", path="garden.md", all_workspaces=True)
    keep("Like it", like=Passage(path="///boat/log.md", start_line=1, end_line=3))
    everything = {(str(folder), "garden.md"), (str(boat), "log.md")}
    assert found(verb, "--saved", "All") == everything
    assert found(verb, "--saved", "All", "--path", "garden*") == {(str(folder), "garden.md")}
    assert found(verb, "--saved", "There") == {(str(boat), "log.md")}
    assert found(verb, "--saved", "There", "--path", "*.md") == {("", "garden.md")}
    assert found(verb, "--saved", "Here") == {("", "garden.md")}
    assert found(verb, "--saved", "Like it") == set()  # boat has no other passage
    out = verb("searches").out
    assert "carrots --all-workspaces" in out
    assert f"carrots --workspace {boat} --path log.md" in out


def test_saved_search_of_missing_workspace_fails(verb: Run, boat: Path, keep) -> None:
    keep("There", text="carrots", path="///boat/log.md")
    (boat / "log.md").unlink()
    boat.rmdir()
    answer = verb("search", "--saved", "There")
    assert (answer.code, answer.err) == (
        1,
        "mnemoscope: This search is in log.md of the workspace boat, which no longer exists.\n",
    )


def test_saved_filters_apply_everywhere(verb: Run, boat: Path, keep) -> None:
    os.utime(boat / "log.md", (1_000_000_000, 1_000_000_000))
    assert verb("index", "--workspace", str(boat)).code == 0
    keep("New", text="carrots", all_workspaces=True, days=30)
    keep("Said", text="carrots", all_workspaces=True, sources=("sessions",))
    assert {path for _, path in found(verb, "--saved", "New")} == {"garden.md"}
    assert found(verb, "--saved", "Said") == set()
