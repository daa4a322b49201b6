"""Notes and a service on loopback, end to end: consent, cost, failure, fallback, and free switching back."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from engine.backends.builtin import BuiltinMemory
from engine.embedding import provider_selection, service_errors
from engine.settings import Settings
from tests.helpers.embedding_servers.openai_server import OpenAIServer
from tests.helpers.embedding_servers.server import FakeServer
from tests.helpers.embedding_servers.voyage_server import VoyageServer
from tests.helpers.fake_provider import FakeProvider

Open = Callable[..., BuiltinMemory]
DEAR = 200.0


@pytest.fixture
def openai() -> Iterator[OpenAIServer]:
    with OpenAIServer() as server:
        yield server


@pytest.fixture
def voyage() -> Iterator[VoyageServer]:
    with VoyageServer() as server:
        yield server


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(60):
        (folder / f"n{number}.md").write_text(f"# Pump {number}\n\nThe valve number {number} drips since Tuesday.\n")
    return folder


@pytest.fixture
def open_service(workspace: Path, tmp_path: Path, monkeypatch) -> Iterator[Open]:
    """Open memories on one index, closed after the test: `open_service(server, price=…, **settings)`."""
    opened: list[BuiltinMemory] = []
    monkeypatch.setattr(service_errors, "pause", lambda seconds, cancel: None)

    def open_(server: FakeServer, *, price: float = DEAR, **changes: object) -> BuiltinMemory:
        for memory in opened:
            memory.close()
        variable = {"openai": "OPENAI_API_KEY", "voyage": "VOYAGE_API_KEY"}[server.provider]
        monkeypatch.setenv(variable, server.key or "")
        store = msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"))
        settings = server.settings(store=store, prices={f"{server.provider}/{server.model}": price}, **changes)
        opened.append(BuiltinMemory(workspace, settings, executor=None, background=False))
        return opened[-1]

    yield open_
    for memory in opened:
        memory.close()


def once(server: FakeServer) -> bool:
    """Return whether no text was answered twice."""
    return set(server.answered.values()) <= {1}


def test_nothing_sent_before_approval_bill_matches(open_service: Open, openai: OpenAIServer) -> None:
    memory = open_service(openai)
    report = memory.sync()
    assert report.awaiting_approval is not None
    assert (report.awaiting_approval.chunks, openai.requests) == (60, [])
    memory.search("valve")
    assert openai.requests == [], "not even the query is sent"
    done = memory.sync(approve=True)
    assert (done.vectors_pending, len(openai.answered)) == (0, 60)
    assert 0 < done.tokens <= report.awaiting_approval.tokens
    assert done.cost == pytest.approx(done.tokens * DEAR / 1e6)
    assert memory.search("valve number 7").mode == "hybrid"


def test_switching_to_another_service_and_back_sends_nothing(
    open_service: Open, openai: OpenAIServer, voyage: VoyageServer
) -> None:
    open_service(openai).sync(approve=True)
    open_service(voyage).sync(approve=True)
    assert len(voyage.answered) == 60
    for server in (openai, voyage):
        before = len(server.requests)
        memory = open_service(server)
        assert memory.estimate_embedding().chunks == 0
        assert memory.sync().vectors_pending == 0
        assert len(server.requests) == before
        assert memory.search("valve number 7").mode == "hybrid"
        assert {info.provider: (info.vectors, info.active) for info in memory.stored_models()} == {
            "openai": (60, server is openai),
            "voyage": (60, server is voyage),
        }


def test_quota_midway_charges_only_answered(open_service: Open, openai: OpenAIServer, monkeypatch) -> None:
    here = FakeProvider(id="embedded")
    monkeypatch.setitem(provider_selection.FACTORIES, "embedded", lambda settings, key: here)
    memory = open_service(openai, price=0.02, fallback="embedded")
    provider = memory._provider.provider()
    provider.limits = msgspec.structs.replace(provider.limits, inputs=10, at_once=1)
    openai.before = lambda request: openai.faults.append(openai.out_of_quota()) if len(openai.requests) == 3 else None
    report = memory.sync()
    assert (report.error, report.vectors_pending) == ("", 0)
    paid = {info.provider: info.vectors for info in memory.stored_models()}["openai"]
    assert 0 < paid == len(openai.answered) < 60
    assert once(openai)
    assert len(here.embedded) == 60
    assert report.cost == pytest.approx(report.tokens * 0.02 / 1e6)
    status = memory.status()
    assert (status.provider, status.fallback.from_) == ("embedded", "openai")

    openai.faults.clear()
    openai.before = lambda request: None
    assert memory.probe_embedding().ok
    assert memory.sync().vectors_pending == 0
    assert once(openai), "paid texts are not sent again"
    assert len(openai.answered) == 61, "all notes and the test text"
