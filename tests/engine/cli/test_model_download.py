"""`mnemoscope index` with a model of the hub: a prompt, --yes, or a message; then a real index with the model."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.helpers.command_line import Answer, Run
from tests.helpers.embedding_servers.server import Say
from tests.helpers.hub_server import MODEL, HubServer


@pytest.fixture
def hub(minilm: Path, folder: Path, settings: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[HubServer]:
    """Serve a real model on a local hub; create settings that name it, and a note."""
    monkeypatch.delenv("HF_TOKEN", raising=False)
    for module in ("service_errors", "model_download"):
        monkeypatch.setattr(f"engine.embedding.{module}.pause", lambda seconds, cancel: None)
    (folder / "market.md").write_text("We bought apples and pears at the market.\n")
    text = settings.read_text().replace('"none"', '"gguf"')
    settings.write_text(f'{text}local.model_path = "{MODEL}"\nlocal.model_cache_dir = "{(folder.parent).as_posix()}"\n')
    with HubServer(minilm.read_bytes()) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.origin)
        yield server


def test_nothing_downloaded_without_user_to_ask(verb: Run, hub: HubServer) -> None:
    answer = verb("index")
    assert answer.out.startswith("Indexed 1 file")
    assert (
        f"{MODEL} is not on this machine yet: download it in the settings, or with mnemoscope index --yes."
        in answer.err
    )
    assert hub.requests == []
    assert "market" in verb("search", "apples").out, "keyword search works in the meantime"
    for other in (("status",), ("doctor",), ("index", "--dry-run"), ("index", "--json")):
        verb(*other)
    assert hub.requests == []


def test_yes_fetches_and_embeds(verb: Run, hub: HubServer) -> None:
    answer = verb("index", "--yes")
    assert answer.code == 0, answer.err
    assert f"Downloaded {MODEL}." in answer.err
    assert "Vectors: 1 new" in answer.out
    requests = len(hub.requests)
    assert "market" in verb("search", "fruit").out, "found by its vector"
    assert verb("index", "--yes").err == ""
    assert len(hub.requests) == requests


@pytest.mark.parametrize(("typed", "fetches"), [("y\n", True), ("\n", False), ("no\n", False)])
def test_download_asks_at_terminal(typing: Callable[..., Answer], hub: HubServer, typed: str, fetches: bool) -> None:
    answer = typing(typed, "index")
    assert f"The model {MODEL} is not on this machine. Download it from 127.0.0.1? [y/N] " in answer.err
    assert bool(hub.requests) is fetches
    assert answer.code == 0
    assert "Indexed 1 file" in answer.out
    assert ("Downloading 100% · 46.2 MB of 46.2 MB" in answer.err) is fetches


def test_failed_download_keeps_keyword_search(verb: Run, hub: HubServer) -> None:
    hub.faults.extend([Say(404)])
    answer = verb("index", "--yes")
    assert answer.code == 1
    assert answer.err.count("\n") == 1
    assert answer.err.startswith(
        f"mnemoscope: The model hub does not provide {MODEL}: check its name, or agree to its terms "
    )
    assert "market" in verb("search", "apples").out
