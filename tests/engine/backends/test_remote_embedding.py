"""Syncs and searches of a memory with remote providers, over real HTTP, while the service misbehaves."""

import gzip
import math
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.agent.memory_access import AgentAccess
from engine.agent.memory_tools import memory_search
from engine.backends.builtin import BuiltinMemory
from engine.base.cancellation import CancelToken
from engine.embedding import gemini, openai_compatible, remote_provider, service_errors, voyage
from engine.embedding.http import HttpClient
from engine.settings import Settings
from tests.helpers.embedding_servers.gemini_server import GeminiServer
from tests.helpers.embedding_servers.openai_server import OpenAIServer
from tests.helpers.embedding_servers.server import Drop, FakeServer, Hang, Say, Truncate
from tests.helpers.embedding_servers.voyage_server import VoyageServer

NOTES = 24
VARIABLES = {"openai": "OPENAI_API_KEY", "gemini": "GEMINI_API_KEY", "voyage": "VOYAGE_API_KEY"}
Open = Callable[..., BuiltinMemory]


@pytest.fixture(params=[OpenAIServer, GeminiServer, VoyageServer], ids=lambda kind: kind.provider)
def server(request) -> Iterator[FakeServer]:
    with request.param() as running:
        yield running


def shorten_timeouts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Wait half a second for the vectors of documents."""
    monkeypatch.setattr(remote_provider, "_LOCAL_FACTOR", 0.004)


def send_one_at_a_time(server: FakeServer, monkeypatch: pytest.MonkeyPatch) -> None:
    module = {"openai": openai_compatible, "gemini": gemini, "voyage": voyage}[server.provider]
    monkeypatch.setattr(module, "_LIMITS", msgspec.structs.replace(module._LIMITS, at_once=1))


def give_up(monkeypatch: pytest.MonkeyPatch, hang: Hang) -> None:
    """Wait half a second for the response to the request that hangs, and as long as usual for all after it: a busy
    server may answer them late.
    """
    call, begun = HttpClient.call, list[float]()

    def limited(client: HttpClient, seconds: float, **options: Any) -> AbstractContextManager[None]:
        has_hung = bool(begun) and hang.reached.wait(60)
        begun.append(seconds)
        return call(client, seconds if has_hung else 0.5, **options)

    monkeypatch.setattr(HttpClient, "call", limited)


@pytest.fixture
def notes(tmp_path: Path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    for number in range(NOTES):
        words = " ".join(f"word{number}x{index}" for index in range(100))
        (folder / f"note{number}.md").write_text(f"# Note {number}\n\nPump number {number}. {words}\n")
    return folder


@pytest.fixture
def open_remote(notes, tmp_path, monkeypatch) -> Iterator[Open]:
    """Open memories on those notes: `open_remote(server)`; each is closed before the next one is opened."""
    opened: list[BuiltinMemory] = []

    def open_(server: FakeServer, **options) -> BuiltinMemory:
        close()
        monkeypatch.setenv(VARIABLES[server.provider], server.key)
        store = msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"))
        opened.append(BuiltinMemory(notes, server.settings(store=store, **options), executor=None, background=False))
        return opened[-1]

    def close() -> None:
        while opened:
            opened.pop().close()

    monkeypatch.setattr(service_errors, "pause", lambda seconds, cancel: None)
    yield open_
    close()


@cache
def _packed(size: int) -> bytes:
    """Return that many zeros, packed: that takes a second."""
    return gzip.compress(bytes(size))


GZIP = {"Content-Encoding": "gzip"}
BROKEN_GZIP = Say(200, b"garbage", GZIP)
FAULTS = {
    "429 with a wait": lambda server: [server.limited({"Retry-After": "7"}) for _ in range(3)],
    "429": lambda server: [server.limited() for _ in range(3)],
    "a burst of 500": lambda server: [server.trouble() for _ in range(3)],
    "a long burst of 500": lambda server: [server.trouble() for _ in range(30)],
    "dropped": lambda server: [Drop(), Drop()],
    "hangs": lambda server: [Hang()],
    "cut off": lambda server: [Truncate(announced=True), Truncate(announced=False)],
    "broken gzip": lambda server: [BROKEN_GZIP, Say(200, gzip.compress(b"{}")[:-3], GZIP), Say(200, b"x", GZIP)],
    "another encoding": lambda server: [Say(200, b"{}", {"Content-Encoding": "br"})],
    "no JSON": lambda server: [Say(200, b"<html>Please log in</html>")],
    "another length": lambda server: [server.resized(17)],
    "NaN": lambda server: [server.replaced(0, [math.nan] * server.dims) for _ in range(2)],
    "fewer": lambda server: [server.fewer(0), server.fewer(0)],
    "shuffled": lambda server: [server.shuffled(), server.shuffled()],
    "quota": lambda server: [server.out_of_quota()],
    "401": lambda server: [server.unauthorized()],
}


OWN_FAULTS = ("429 with a wait", "another length", "NaN", "fewer", "shuffled", "quota", "401")
"""Those that each provider reports or repairs in its own way; connections and broken answers are common code."""
CASES = (
    *((OpenAIServer, fault) for fault in FAULTS),
    *((GeminiServer, fault) for fault in OWN_FAULTS if fault != "shuffled"),  # its responses have no index
    *((VoyageServer, fault) for fault in OWN_FAULTS),
)


@pytest.mark.parametrize(("server", "fault"), CASES, indirect=["server"])
def test_recovered_faults_are_not_billed_twice(server, open_remote, monkeypatch, fault):
    server.faults.extend(FAULTS[fault](server))
    if fault == "hangs":
        send_one_at_a_time(server, monkeypatch)
        give_up(monkeypatch, server.faults[0])
    memory = open_remote(server)
    for _ in range(10):
        report = memory.sync(approve=True)
        if not report.error:
            break
    assert (report.error, report.vectors_pending) == ("", 0)
    assert not server.faults
    assert len(server.answered) == memory.status().chunks == NOTES
    assert set(server.answered.values()) == {1}
    found = memory.search("word7x1 word7x2 word7x3 word7x4", min_score=0)
    assert found.results[0].path == "note7.md"


def test_lasting_fault_keeps_keywords_and_says_fix(server, open_remote):
    memory = open_remote(server)
    server.faults.extend(server.unauthorized() for _ in range(20))
    report = memory.sync(approve=True)
    assert "refused the API key" in report.error
    assert report.vectors_pending == NOTES
    found = memory.search("word7x1")
    assert [result.path for result in found.results] == ["note7.md"]
    assert server.key not in repr(report) + repr(memory.status())


def test_lasting_broken_gzip_leaves_words_and_the_report(server, open_remote):
    memory = open_remote(server)
    server.faults.extend(BROKEN_GZIP for _ in range(200))
    report = memory.sync(approve=True)
    assert report.error.endswith("sent a broken answer.")
    assert (report.files_indexed, report.vectors_pending) == (NOTES, NOTES)
    assert [result.path for result in memory.search("word7x1").results] == ["note7.md"]


@pytest.mark.parametrize("server", [OpenAIServer], indirect=True)
def test_a_packed_answer_is_bounded_when_unpacked(server, open_remote):
    memory = open_remote(server)
    server.faults.extend(Say(200, _packed(200_000_000), GZIP) for _ in range(4))
    report = memory.sync(approve=True)
    assert "larger than any valid answer" in report.error
    assert report.files_indexed == NOTES


def test_cancel_keeps_received_without_failure(server, open_remote, monkeypatch):
    send_one_at_a_time(server, monkeypatch)
    memory = open_remote(server)
    hang = Hang()
    # The second request is for the missing vectors of the first response.
    server.faults.extend([server.replaced(0, [0.0] * server.dims), hang])
    cancel = CancelToken()
    canceller = threading.Thread(target=lambda: (hang.reached.wait(), cancel.cancel()))
    canceller.start()
    report = memory.sync(approve=True, cancel=cancel)
    canceller.join()
    assert (report.cancelled, report.error) == (True, "")
    arrived = len(server.requests[0].json.get("input") or server.requests[0].json["requests"]) - 1
    assert report.vectors_pending == NOTES - arrived
    assert memory.sync(approve=True).vectors_pending == 0
    assert set(server.answered.values()) == {1}


def test_failed_query_embedding_answers_by_keywords(server, open_remote):
    memory = open_remote(server)
    assert memory.sync(approve=True).error == ""
    server.faults.append(server.out_of_quota())
    found = memory.search("word7x1")
    assert [result.path for result in found.results] == ["note7.md"]
    assert found.mode == "keyword"
    assert memory.search("word7x1").mode == "hybrid"


def test_going_back_to_a_model_sends_nothing(open_remote):
    with OpenAIServer() as first, VoyageServer() as second:
        assert open_remote(first).sync(approve=True).error == ""
        paid = len(first.requests)
        assert open_remote(second).sync(approve=True).error == ""
        assert len(second.answered) == NOTES
        memory = open_remote(first)
        report = memory.sync(approve=True)
        assert (report.error, report.vectors_embedded, report.vectors_pending) == ("", 0, 0)
        assert len(first.requests) == paid
        assert memory.search("word7x1 word7x2", min_score=0).results[0].path == "note7.md"


def test_other_dimensions_are_other_model(open_remote):
    with OpenAIServer() as server:
        assert open_remote(server).sync(approve=True).error == ""
        assert open_remote(server, dimensions=256).sync(approve=True).error == ""
        assert set(server.answered.values()) == {2}
        paid = len(server.requests)
        assert open_remote(server).sync(approve=True).error == ""
        assert len(server.requests) == paid


@pytest.mark.parametrize(
    ("fault", "says"),
    [
        (lambda server: Say(404, b'{"error": {"message": "The model does not exist"}}'), "model"),
        (lambda server: server.unauthorized(), "key"),
        (lambda server: server.out_of_quota(), "credit"),
        (lambda server: server.trouble(), "500"),
        (lambda server: Drop(), "127.0.0.1"),
        (lambda server: Hang(), "127.0.0.1"),
    ],
    ids=["wrong model", "refused", "quota", "server error", "dropped", "time-out"],
)
def test_empty_answer_names_why_nothing_was_embedded(open_remote, monkeypatch, fault, says):
    shorten_timeouts(monkeypatch)
    with OpenAIServer() as server:
        memory = open_remote(server)
        server.faults.extend(fault(server) for _ in range(200))
        error = memory.sync(approve=True).error
        assert says in error
        memory = open_remote(server)
        outcome = memory.search("zebra", explain="if empty")
        assert outcome.notice.startswith(f"Searched by words only: nothing has been embedded yet. {error}")
        (remedy,) = outcome.explanation.remedies
        assert remedy.name == "settings"
        assert remedy.advice == "Fix this or choose another model, then update to create the vectors."
        assert memory_search(AgentAccess(lambda: memory, Settings()), "zebra").notice.startswith(outcome.notice)
        server.faults.clear()
        assert memory.sync(approve=True).error == ""
        assert memory.search("zebra", explain="if empty").mode == "hybrid"


def test_money_is_counted_as_the_service_counts_tokens(open_remote):
    with VoyageServer() as server:
        report = open_remote(server).sync(approve=True)
        assert report.tokens == server.tokens > 0
        assert report.cost == pytest.approx(server.tokens * 0.02 / 1e6)
