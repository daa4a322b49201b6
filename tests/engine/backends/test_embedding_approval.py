"""Paid or long embedding is only done after the user has agreed to it."""

import os
import re
import threading
from pathlib import Path

import msgspec
import pytest

from engine.backends import builtin
from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.embedding.provider_selection import Selection
from engine.indexing import cost_estimate
from engine.settings import Settings
from engine.settings.options import ChunkingSettings
from engine.store import stored_models
from engine.store.stored_models import ModelName
from tests.helpers.fake_provider import FakeProvider, PaidProvider, selection_of


def long_text(words: int) -> str:
    return " ".join(f"word{number}" for number in range(words))


@pytest.fixture
def paid_provider(workspace: Path) -> PaidProvider:
    """A provider that charges some cents for the notes."""
    (workspace / "long.md").write_text(f"# Long\n\n{long_text(3000)}")
    return PaidProvider()


def fail() -> None:
    raise ProviderError("No answer.")


def hits(memory, query: str) -> list[str]:
    return [result.path for result in memory.search(query, mode="keyword", min_score=0.1).results]


def test_costly_embedding_waits_and_keywords_work(open_memory, paid_provider) -> None:
    memory = open_memory(use=paid_provider)
    report = memory.sync()
    assert paid_provider.embedded == []
    assert report.error == ""
    assert report.awaiting_approval is not None
    assert report.awaiting_approval == memory.status().awaiting_approval
    assert report.awaiting_approval == memory.estimate_embedding()
    assert (report.awaiting_approval.chunks, report.awaiting_approval.cached) == (report.vectors_pending, 0)
    assert report.awaiting_approval.cost == pytest.approx(report.awaiting_approval.tokens * 10 / 1e6)
    assert hits(memory, "hose") == ["shopping.md"]
    assert "has not been approved" in memory.search("hose").notice
    assert not memory.status().dirty, "only vectors are missing"

    updates = []
    done = memory.sync(progress=updates.append, approve=report.awaiting_approval)
    assert memory.status().awaiting_approval is None
    assert (done.awaiting_approval, done.vectors_pending) == (None, 0)
    assert done.tokens == paid_provider.tokens_used > 0
    assert done.cost == pytest.approx(done.tokens * 10 / 1e6)
    assert (updates[-1].tokens, updates[-1].cost) == (done.tokens, done.cost)
    assert (memory.status().last_sync.tokens, memory.status().last_sync.cost) == (done.tokens, done.cost)


def test_sync_can_be_approved_in_advance(open_memory, paid_provider) -> None:
    report = open_memory(use=paid_provider).sync(approve=True)
    assert (report.awaiting_approval, report.vectors_pending) == (None, 0)


def test_approval_covers_no_more_than_the_estimate(open_memory, paid_provider, workspace: Path) -> None:
    memory = open_memory(use=paid_provider)
    seen = memory.sync().awaiting_approval
    (workspace / "more.md").write_text(long_text(8000)[20000:])
    report = memory.sync(approve=seen)
    assert paid_provider.embedded == []
    assert report.awaiting_approval.tokens > seen.tokens
    assert memory.sync(approve=report.awaiting_approval).vectors_pending == 0


def test_approval_of_a_provider_excludes_its_fallback(open_memory, paid_provider) -> None:
    second = PaidProvider(id="second")
    memory = open_memory(use=paid_provider, instead=second)
    seen = memory.sync().awaiting_approval
    paid_provider.before = lambda texts: fail()
    report = memory.sync(approve=seen)
    assert second.embedded == []
    assert report.awaiting_approval.provider == "second"
    assert memory.sync(approve=report.awaiting_approval).vectors_pending == 0


def test_approval_reaches_a_running_sync(open_memory, paid_provider, monkeypatch) -> None:
    memory = open_memory(use=paid_provider)
    requested, go = threading.Event(), threading.Event()
    estimate = cost_estimate.estimate

    def hold(*args, **options):
        requested.set()
        assert go.wait(60)
        return estimate(*args, **options)

    monkeypatch.setattr("engine.indexing.vector_stage.estimate", hold)
    reports: list[object] = []
    first = threading.Thread(target=lambda: reports.append(memory.sync()))
    first.start()
    assert requested.wait(60)
    joining = threading.Event()
    second = threading.Thread(
        target=lambda: reports.append(memory.sync(approve=True, progress=lambda update: joining.set()))
    )
    second.start()
    go.set()
    first.join()
    second.join()
    assert {report.vectors_pending for report in reports} == {reports[0].vectors_pending, 0}
    assert memory.status().pending_vectors == 0


def test_small_work_needs_no_approval(open_memory) -> None:
    report = open_memory(use=PaidProvider()).sync()
    assert (report.awaiting_approval, report.vectors_pending) == (None, 0)
    assert 0 < report.cost < 0.01


@pytest.mark.parametrize(("remote", "waits"), [(True, True), (False, False)])
def test_unknown_price_counts_unless_local(open_memory, workspace, remote, waits) -> None:
    provider = PaidProvider()
    provider.price, provider.remote = None, remote
    memory = open_memory(use=provider)
    report = memory.sync()
    assert (report.awaiting_approval is not None) is waits
    done = memory.sync(approve=True)
    assert (done.vectors_pending, memory.status().awaiting_approval) == (0, None)
    assert (done.cost is None) is waits
    assert memory.status().recent_syncs[1].cost == done.cost

    (workspace / "later.md").write_text("# Later\n\nOne more sentence.\n")
    daily = memory.sync()
    assert daily.awaiting_approval is None, "small updates need no approval"
    assert daily.vectors_pending == 0


def test_approval_survives_restart_until_all_is_embedded(open_memory, paid_provider, workspace: Path) -> None:
    memory = open_memory(use=paid_provider)
    approved = memory.sync().awaiting_approval
    token = CancelToken()
    paid_provider.before = lambda texts: token.cancel()
    assert memory.sync(cancel=token, approve=approved).cancelled
    memory.close()

    paid_provider.before = lambda texts: None
    memory = open_memory(use=paid_provider)
    done = memory.sync()
    assert (done.awaiting_approval, done.vectors_pending) == (None, 0)
    (workspace / "more.md").write_text(long_text(8000)[20000:])
    assert memory.sync().awaiting_approval is not None, "the approval covered the earlier texts only"


def test_approval_excludes_later_work(open_memory, paid_provider, workspace: Path) -> None:
    memory = open_memory(use=paid_provider)
    approved = memory.sync().awaiting_approval
    # The last text is never embedded, so the approval would never be used up.
    paid_provider.before = lambda texts: fail() if any("word2999" in text for text in texts) else None
    paid_provider.limits = msgspec.structs.replace(paid_provider.limits, inputs=1, at_once=1)
    assert memory.sync(approve=approved).vectors_pending == 1
    (workspace / "small.md").write_text("A brass lamp.\n")
    small = memory.sync()
    assert (small.awaiting_approval, small.vectors_pending) == (None, 1)
    (workspace / "more.md").write_text(long_text(8000)[30000:])
    embedded = len(paid_provider.embedded)
    assert memory.sync().awaiting_approval is not None
    assert len(paid_provider.embedded) == embedded
    assert memory.sync(approve=True).vectors_pending == 1


@pytest.mark.parametrize("how", ["cancel", "change"])
def test_approval_ends_with_work_even_if_interrupted(open_memory, paid_provider, workspace: Path, how: str) -> None:
    memory = open_memory(use=paid_provider)
    approved = memory.sync().awaiting_approval
    paid_provider.limits = msgspec.structs.replace(paid_provider.limits, inputs=1, at_once=1)
    token = CancelToken()

    def grow(texts) -> None:
        last_but_few = any("word2800 " in text for text in texts)
        if last_but_few and not (workspace / "more.md").exists():
            (workspace / "more.md").write_text(long_text(6000)[20000:])
            memory.indexing.dirty = True
            if how == "cancel":
                token.cancel()

    paid_provider.before = grow
    first = memory.sync(cancel=token, approve=approved)
    assert first.cancelled is (how == "cancel")
    embedded = len(paid_provider.embedded)
    assert embedded > 3
    assert memory.sync().awaiting_approval is not None, "the later notes are not approved yet"
    assert len(paid_provider.embedded) == embedded


def test_approval_covers_rest_of_killed_run(open_memory, paid_provider, workspace: Path, monkeypatch) -> None:
    monkeypatch.setattr("engine.indexing.vector_stage.VectorStage._lower_approval", lambda half: None)
    memory = open_memory(use=paid_provider)
    seen = memory.sync(approve=True)
    name = ModelName(paid_provider.id, paid_provider.model, paid_provider.key)
    memory.user_data.approve(name, seen.tokens)  # as left by a kill right before the end
    (workspace / "small.md").write_text("A brass lamp.\n")
    os.utime(workspace / "small.md", (5, 5))
    token = CancelToken()
    paid_provider.before = lambda texts: token.cancel()
    memory.sync(cancel=token)
    assert memory.user_data.approved_tokens(name) < 10
    paid_provider.before = lambda texts: None
    (workspace / "more.md").write_text(long_text(6000)[20000:])
    assert memory.sync().awaiting_approval is not None


def test_approval_tolerates_slightly_higher_estimate(open_memory, paid_provider) -> None:
    paid_provider.price = 1000.0
    memory = open_memory(use=paid_provider)
    seen = memory.sync().awaiting_approval
    name = ModelName(paid_provider.id, paid_provider.model, paid_provider.key)
    memory.user_data.approve(name, round(seen.tokens * 0.9))
    assert memory.sync().awaiting_approval is not None
    memory.user_data.approve(name, round(seen.tokens * 0.97))
    assert seen.cost * 0.03 > 0.01
    assert memory.sync().awaiting_approval is None


def test_resumed_rebuild_needs_no_new_approval(open_memory, paid_provider) -> None:
    memory = open_memory(use=paid_provider)
    assert memory.sync(approve=True).vectors_pending == 0
    memory.close()
    memory = open_memory(use=paid_provider, chunking=ChunkingSettings(tokens=100, overlap=10))
    assert memory.sync(approve=True, cancel=cancelled_at_the_first_request(paid_provider)).cancelled
    paid_provider.before = lambda texts: None
    done = memory.sync()
    assert (done.full, done.awaiting_approval, done.vectors_pending) == (True, None, 0)


def cancelled_at_the_first_request(provider: PaidProvider) -> CancelToken:
    token = CancelToken()
    provider.limits = msgspec.structs.replace(provider.limits, inputs=1, at_once=1)
    provider.before = lambda texts: token.cancel()
    return token


def test_vectors_stored_immediately_during_pause(open_memory, paid_provider) -> None:
    memory = open_memory(use=paid_provider)
    paid_provider.limits = msgspec.structs.replace(paid_provider.limits, inputs=1, at_once=2)
    token, stored = CancelToken(), threading.Event()
    paid_provider.before = lambda texts: token.pause()
    paid_provider.cancellable = False  # a request that was sent is answered even if the sync is paused

    def look() -> None:
        if token.paused and [model.vectors for model in memory.stored_models()] == [2]:
            stored.set()

    memory.add_status_listener(look)
    sync = threading.Thread(target=lambda: memory.sync(approve=True, cancel=token))
    sync.start()
    try:
        assert stored.wait(60), "received vectors are stored before the update ends"
        assert sync.is_alive()
        assert len(paid_provider.embedded) == 2
    finally:
        paid_provider.before = lambda texts: None
        token.resume()
        sync.join()
    assert memory.status().pending_vectors == 0


def test_other_program_sees_pending_and_approval(open_memory, paid_provider) -> None:
    memory = open_memory(use=paid_provider)
    report = memory.sync()
    other = open_memory(use=paid_provider)
    assert other.status().awaiting_approval == report.awaiting_approval
    assert other.sync(approve=report.awaiting_approval).vectors_pending == 0
    assert (memory.status().awaiting_approval, memory.status().pending_vectors) == (None, 0)


def test_pending_estimate_dropped_with_other_provider(open_memory, paid_provider) -> None:
    memory = open_memory(use=paid_provider)
    memory.sync()
    memory.close()
    memory = open_memory()
    assert memory.status().awaiting_approval is None
    assert memory.sync().vectors_pending == 0
    memory.close()
    assert open_memory(use=None).status().awaiting_approval is None


def test_slow_model_change_waits_but_first_does_not(open_memory, monkeypatch) -> None:
    monkeypatch.setattr(stored_models, "speed", lambda *_: 0.001)
    memory = open_memory()
    assert memory.sync().vectors_pending == 0
    memory.close()
    memory = open_memory(use=FakeProvider(id="slow"))
    report = memory.sync()
    assert report.awaiting_approval is not None
    assert (report.awaiting_approval.cost, report.awaiting_approval.remote) == (0.0, False)
    assert report.awaiting_approval.seconds > 3600
    assert memory.sync(approve=report.awaiting_approval).vectors_pending == 0


def test_a_rebuild_is_published_while_its_vectors_wait(open_memory, paid_provider) -> None:
    memory = open_memory(use=paid_provider)
    memory.sync()
    report = memory.sync(force=True)
    assert (report.full, report.awaiting_approval is not None, report.vectors_embedded) == (True, True, 0)
    assert memory.status().generation == 2


def test_estimate_for_other_settings_sends_nothing(open_memory, paid_provider) -> None:
    memory = open_memory(select=lambda settings, **_: selection_of(paid_provider))
    memory.sync()
    found = memory.estimate_embedding(Settings(provider="openai"))
    assert (found.provider, found.remote, found.cached) == ("paid", True, 0)
    assert found.cost > 0.01
    assert paid_provider.embedded == []
    assert memory.status().provider == "fake"
    here = memory.estimate_embedding()
    assert (here.chunks, here.tokens, here.cost) == (0, 0, 0.0)


def test_an_estimate_from_a_sample_is_near_the_count(open_memory, paid_provider, monkeypatch) -> None:
    memory = open_memory(use=paid_provider)
    memory.sync()
    exact = memory.estimate_embedding().tokens
    monkeypatch.setattr(cost_estimate, "_SAMPLE", 6)
    assert memory.estimate_embedding().tokens == pytest.approx(exact, rel=0.15)


def test_an_estimate_can_be_cancelled(open_memory, paid_provider) -> None:
    memory = open_memory(use=paid_provider)
    memory.sync()
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        memory.estimate_embedding(cancel=token)


def test_an_estimate_without_a_provider_says_why(open_memory) -> None:
    assert open_memory(use=None).estimate_embedding().provider == "none"
    lacking = Selection(None, "openai", unavailable_reason="There is no API key: set OPENAI_API_KEY.")
    memory = open_memory(select=lambda settings, **_: lacking)
    with pytest.raises(ProviderError, match="OPENAI_API_KEY"):
        memory.estimate_embedding(Settings(provider="openai"))


def test_an_estimate_says_when_its_price_was_looked_up(open_memory, paid_provider) -> None:
    paid_provider.id, paid_provider.model, paid_provider.price = "openai", "text-embedding-3-small", 0.02
    memory = open_memory(use=paid_provider)
    memory.sync(approve=True)
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", memory.estimate_embedding().price_checked)
    memory.close()
    own = open_memory(use=paid_provider, prices={"openai/text-embedding-3-small": 0.02})
    assert own.estimate_embedding().price_checked == ""


def test_estimate_uses_measured_speed(open_memory, workspace, provider, monkeypatch) -> None:
    monkeypatch.setattr("engine.indexing.embed_stage._SECONDS_TO_MEASURE", 1e-9)
    memory = open_memory()
    memory.sync()
    letters = sum(map(len, provider.embedded))
    memory.purge_model("fake", "bag-of-words", "")
    with memory.store.read() as snapshot:
        measured = stored_models.speed(snapshot, ModelName("fake", "bag-of-words", ""))
    assert measured > 1
    assert memory.estimate_embedding().seconds == pytest.approx(letters / measured)


def test_an_estimate_needs_no_key(open_memory, paid_provider) -> None:
    def choose(settings: Settings, *, key: str | None = None, cancel: CancelToken | None = None) -> Selection:
        if key is None and settings.fallback == "embedded":
            return Selection(FakeProvider(id="embedded"), "openai", "openai", "There is no API key.")
        return selection_of(paid_provider if key else None)

    memory = open_memory(select=choose)
    memory.sync()
    assert memory.estimate_embedding(Settings(provider="openai", fallback="embedded")).provider == "paid"
    assert memory.estimate_embedding(Settings(provider="openai")).provider == "paid"


def test_words_do_not_wait_until_a_provider_is_chosen(open_memory, provider, monkeypatch) -> None:
    memory = open_memory()
    seen: list[list[str]] = []

    def choose(*_, **__):
        seen.append(hits(memory, "hose"))
        return selection_of(provider)

    monkeypatch.setattr(builtin, "select_provider", choose)
    assert memory.sync().vectors_pending == 0
    assert seen == [["shopping.md"]]
