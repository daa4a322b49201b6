"""A provider that fails while a sync embeds: its fallback, the reports, and the switch back."""

from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from engine.base.errors import ProviderError
from engine.settings import Settings
from engine.store import stored_models
from engine.store.stored_models import ModelName
from tests.helpers.fake_provider import FakeProvider, PaidProvider


def fail(texts: Sequence[str]) -> None:
    raise ProviderError("The quota is used up.")


@pytest.fixture
def second() -> FakeProvider:
    return FakeProvider(32, id="second")


def test_the_fallback_takes_over_within_the_sync(open_memory, provider, second) -> None:
    provider.before = fail
    memory = open_memory(instead=second)
    report = memory.sync()
    assert (report.error, report.vectors_pending, len(second.embedded)) == ("", 0, 4)
    status = memory.status()
    assert (status.provider, status.vector.dims) == ("second", 32)
    assert (status.fallback.from_, status.fallback.reason) == ("fake", "The quota is used up.")
    assert status.custom["providerError"] is None
    assert memory.search("watering timer").provider == "second"
    assert memory.search("watering timer").mode == "hybrid"


def test_rebuild_continues_with_fallback(open_memory, provider, second) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    provider.before = fail
    memory = open_memory(instead=second, chunking=msgspec.structs.replace(Settings().chunking, tokens=8, overlap=0))
    report = memory.sync()
    assert (report.full, report.error, report.vectors_pending) == (True, "", 0)
    status = memory.status()
    assert (status.provider, status.generation) == ("second", 2)
    assert memory.search("watering timer").mode == "hybrid"


def test_fallback_provider_has_no_fallback(open_memory, workspace: Path, provider, second) -> None:
    provider.before = fail
    memory = open_memory(instead=second)
    memory.sync()
    second.before = fail
    (workspace / "new.md").write_text("A brass lamp.\n")
    report = memory.sync()
    assert (report.error, report.vectors_pending) == ("The quota is used up.", 1)
    assert memory.status().provider == "second"


def test_vectors_before_failure_saved(open_memory, workspace: Path, provider, second) -> None:
    for number in range(40):
        (workspace / f"n{number}.md").write_text(f"Note number {number} is about pumps.\n")
    provider.before = lambda texts: fail(texts) if len(provider.embedded) >= 16 else None
    memory = open_memory(instead=second)
    memory.sync()
    first, other = sorted(memory.stored_models(), key=lambda info: info.provider)
    assert first.vectors == len(provider.embedded) >= 16
    assert other.vectors == 44


def test_successful_probe_returns_to_first_provider(open_memory, provider, second) -> None:
    provider.before = fail
    memory = open_memory(instead=second)
    memory.sync()
    provider.fails_queries = "Still nothing."
    assert memory.probe_embedding().ok, "the fallback answers"
    assert memory.status().provider == "second"
    provider.fails_queries = ""
    provider.before = lambda texts: None
    assert memory.probe_embedding().ok
    assert (memory.status().provider, memory.status().fallback) == ("fake", None)
    assert memory.sync().vectors_pending == 0
    assert len(provider.embedded) == 4


def test_restart_returns_to_first_provider(open_memory, provider, second) -> None:
    provider.before = fail
    memory = open_memory(instead=second)
    memory.sync()
    memory.close()
    provider.before = lambda texts: None
    memory = open_memory(instead=second)
    assert (memory.status().provider, memory.status().fallback) == ("fake", None)
    assert memory.sync().vectors_pending == 0
    assert len(second.embedded) == 4


def test_paid_fallback_needs_approval(open_memory, workspace: Path, provider) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    (workspace / "long.md").write_text(" ".join(f"word{number}" for number in range(3000)))
    provider.before = fail
    paid_provider = PaidProvider()
    memory = open_memory(instead=paid_provider, fallback="openai")
    paid_provider.id = "openai"
    report = memory.sync()
    assert report.error == "The quota is used up."
    assert (report.awaiting_approval.provider, report.awaiting_approval.chunks) == ("openai", memory.status().chunks)
    assert memory.status().awaiting_approval == report.awaiting_approval
    assert (memory.status().provider, memory.status().fallback) == ("fake", None)
    assert memory.search("watering timer").mode == "hybrid", "its vectors are still there"
    assert paid_provider.embedded == []

    done = memory.sync(approve=report.awaiting_approval)
    assert memory.user_data.approved_tokens(ModelName("fake", "bag-of-words", "")) == 0, "the fallback was not approved"
    assert (done.error, done.vectors_pending, done.awaiting_approval) == ("", 0, None)
    assert memory.status().fallback.from_ == "fake"


def test_fallback_that_repeats_long_work_needs_approval(
    open_memory, workspace: Path, provider, second, monkeypatch
) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    monkeypatch.setattr(stored_models, "speed", lambda *_: 0.001)
    memory = open_memory(instead=second)
    provider.before = fail
    (workspace / "new.md").write_text("A brass lamp.\n")
    report = memory.sync()
    assert (report.vectors_pending, report.awaiting_approval.chunks) == (1, 5)
    assert second.embedded == []
    assert memory.sync(approve=True).vectors_pending == 0
    assert memory.status().provider == "second"
