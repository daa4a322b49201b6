"""Collected changes are committed in short transactions."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from engine.base.cancellation import Cancelled
from engine.indexing import commit_groups
from engine.indexing.commit_groups import Commits, TextOutcome
from engine.store.index import IndexStore
from engine.store.writer import Writer
from tests.helpers.rows import open_store


class Clock:
    """A time that only changes take."""

    now = 0.0

    def monotonic(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def store(tmp_path: Path) -> Iterator[IndexStore]:
    with closing(open_store(tmp_path)) as store:
        yield store


@pytest.mark.parametrize("interrupted", [False, True])
def test_slow_changes_are_committed_in_several_groups(
    store: IndexStore, monkeypatch: pytest.MonkeyPatch, interrupted: bool
) -> None:
    """All of them, also if the work after them is cancelled: what they read is closed then."""
    clock, written, groups = Clock(), [], []
    monkeypatch.setattr(commit_groups, "time", clock)
    context: Any = SimpleNamespace(
        store=store,
        vectors=SimpleNamespace(apply_commit=lambda *_, **__: None),
        committed=lambda: groups.append(len(written)),
        crashes=SimpleNamespace(finish_reading=lambda: None),
    )

    def after() -> None:
        if interrupted:
            raise Cancelled

    outcome = TextOutcome()
    commits = Commits(SimpleNamespace(context=context, model=None, tables=None), outcome, after)  # type: ignore[arg-type]

    def change(_writer: Writer) -> tuple[list[int], list[int]]:
        clock.now += 0.06
        written.append(len(written))
        return [1], []

    for _ in range(5):
        commits.add(change, indexed=1)
    try:
        commits.flush()
    except Cancelled:
        assert interrupted
    assert groups == [2, 4, 5]
    assert (outcome.files_indexed, outcome.chunks_indexed) == (5, 5)
