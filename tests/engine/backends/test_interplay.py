"""Interaction of the parts of an open memory: keywords before vectors, and a sync after changes during a sync."""

import shutil
import threading
from collections.abc import Sequence
from pathlib import Path

import msgspec
import numpy as np
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import IndexCorrupt, PathRefused, ProviderError, StoreError
from engine.corpus.path_guard import PathGuard
from engine.search.searcher import Searcher
from engine.settings import Settings
from engine.store import index_paths
from engine.store.index_paths import index_files
from tests.helpers.background import wait_until

SYNC = Settings().sync
CHUNKING = Settings().chunking


def hits(memory, query: str) -> list[str]:
    return [result.path for result in memory.search(query, mode="keyword", min_score=0.1).results]


class Held:
    """Blocks the first batch of a provider until it is released."""

    def __init__(self, provider) -> None:
        self.reached, self.go = threading.Event(), threading.Event()
        provider.before = self._hold

    def _hold(self, texts: Sequence[str]) -> None:
        self.reached.set()
        assert self.go.wait(60)


def fail(texts: Sequence[str]) -> None:
    raise ProviderError("The model is gone.")


def test_a_report_counts_each_vector_once(open_memory, workspace: Path) -> None:
    (workspace / "long.md").write_text("\n\n".join(f"Paragraph {n} about valves and hoses." for n in range(200)))
    memory = open_memory()
    memory.sync()
    memory.close()
    memory = open_memory(chunking=msgspec.structs.replace(CHUNKING, tokens=100, overlap=20))
    report = memory.sync()
    assert report.vectors_embedded + report.vectors_reused == report.chunks_indexed
    assert report.vectors_reused == 4, "chunks of short notes are unchanged"


def test_reused_vectors_counted_with_pending(open_memory, workspace: Path, provider) -> None:
    memory = open_memory()
    memory.sync()
    text = (workspace / "shopping.md").read_text()
    (workspace / "other.md").write_text("# Other\n\nNever seen before.\n")
    provider.before = fail
    memory.sync()
    (workspace / "copy.md").write_text(text)
    assert memory.sync().vectors_reused == 1


def test_a_rebuild_is_published_though_the_provider_fails(open_memory, workspace: Path, provider) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    provider.before = fail
    memory = open_memory(chunking=msgspec.structs.replace(CHUNKING, tokens=8, overlap=0))
    (workspace / "new.md").write_text("A brass lamp.\n")
    report = memory.sync()
    assert report.error == "The model is gone."
    assert hits(memory, "lamp") == ["new.md"]
    status = memory.status()
    assert status.generation == 2
    assert status.pending_vectors > 0
    assert status.custom["providerError"] == "The model is gone."
    provider.before = lambda texts: None
    assert memory.sync().vectors_pending == 0
    assert memory.status().custom["providerError"] is None


def test_changed_keywords_do_not_wait_for_requests(open_memory, workspace: Path, provider) -> None:
    memory = open_memory(background=True, sync=msgspec.structs.replace(SYNC, watch_debounce_ms=10))
    held = Held(provider)
    thread = threading.Thread(target=memory.sync)
    thread.start()
    assert held.reached.wait(60)
    (workspace / "new.md").write_text("A brass lamp.\n")
    wait_until(lambda: hits(memory, "lamp") == ["new.md"])
    assert not held.go.is_set()
    held.go.set()
    thread.join()
    wait_until(lambda: memory.status().pending_vectors == 0)
    assert len(provider.embedded) == len(set(provider.embedded)) == 5, "texts in progress are not requested again"


def test_requests_running_at_a_cancel_are_not_billed_twice(open_memory, provider) -> None:
    provider.limits = msgspec.structs.replace(provider.limits, inputs=2)
    memory = open_memory()
    held, token = Held(provider), CancelToken()
    provider.cancellable = False  # the response is on its way already
    thread = threading.Thread(target=lambda: memory.sync(cancel=token))
    thread.start()
    assert held.reached.wait(60)
    token.cancel()
    held.go.set()
    thread.join()
    assert memory.status().pending_vectors < 4
    assert memory.sync().vectors_pending == 0
    assert len(provider.embedded) == 4


def test_changed_dimensions_refused_with_message(open_memory, workspace: Path, provider) -> None:
    memory = open_memory()
    memory.sync()
    provider.dims = 32
    (workspace / "new.md").write_text("A brass lamp.\n")
    report = memory.sync()
    assert "32" in report.error
    assert "64" in report.error
    assert report.vectors_pending == 1
    found = memory.search("irrigation hose")
    assert (found.mode, found.results[0].path) == ("keyword", "shopping.md")
    assert "32" in found.notice


def test_failing_query_in_status_until_success(open_memory, provider) -> None:
    memory = open_memory()
    memory.sync()
    provider.fails_queries = "No answer."
    assert memory.search("timer").mode == "keyword"
    assert memory.status().custom["providerError"] == "No answer."
    provider.fails_queries = ""
    memory.search("timer")
    assert memory.status().custom["providerError"] is None


def test_rebuild_by_outdated_rules_is_discarded(open_memory, provider) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    token = CancelToken()
    provider.before = lambda texts: token.cancel()
    memory = open_memory(chunking=msgspec.structs.replace(CHUNKING, tokens=8, overlap=0))
    assert memory.sync(cancel=token).cancelled
    memory.close()
    provider.before = lambda texts: None
    memory = open_memory()
    report = memory.sync()
    assert (report.full, report.files_indexed) == (False, 0)
    with memory.store.read() as snapshot:
        assert snapshot.generations() == [1]
        assert snapshot.meta("building") is None


def test_change_after_a_joined_sync_listed_files_is_indexed(open_memory, workspace: Path, provider) -> None:
    memory = open_memory(background=True, sync=msgspec.structs.replace(SYNC, watch_debounce_ms=10))
    memory.sync()
    held = Held(provider)
    (workspace / "slow.md").write_text("Something to embed.\n")
    thread = threading.Thread(target=memory.sync)
    thread.start()
    assert held.reached.wait(60)
    (workspace / "new.md").write_text("A brass lamp.\n")
    wait_until(lambda: memory.status().dirty)
    held.go.set()
    thread.join()
    wait_until(lambda: hits(memory, "lamp") == ["new.md"])
    wait_until(lambda: memory.current_sync() is None and not memory.status().dirty)
    assert memory.status().pending_vectors == 0


def test_changed_text_indexed_before_embedding(open_memory, workspace, provider) -> None:
    for number in range(100):
        (workspace / f"n{number}.md").write_text(f"Note number {number} is about pumps.\n")
    provider.limits = msgspec.structs.replace(provider.limits, inputs=1)
    memory = open_memory(background=True, sync=msgspec.structs.replace(SYNC, watch_debounce_ms=10))
    left: list[int] = []

    def watch_out(texts: Sequence[str]) -> None:
        if not left:
            left.append(0)
            (workspace / "new.md").write_text("A brass lamp.\n")
            wait_until(lambda: memory.status().dirty or hits(memory, "lamp"))
        if left == [0] and hits(memory, "lamp"):
            left.append(memory.status().pending_vectors)

    provider.before = watch_out
    report = memory.sync()
    assert report.vectors_pending == 0
    assert left[1:], "searches found notes during the embedding"
    assert left[1] > 0


def test_without_vectors_answer_says_keywords_only(open_memory, provider) -> None:
    memory = open_memory()
    outcomes = []
    provider.before = lambda texts: outcomes.append(memory.search("timer"))
    memory.sync()
    assert outcomes[0].results
    assert outcomes[0].mode == "keyword"
    assert "nothing has been embedded yet" in outcomes[0].notice
    outcome = memory.search("timer")
    assert (outcome.mode, outcome.notice) == ("hybrid", "")


def test_huge_limits_and_times_are_accepted_by_a_search(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    assert len(memory.search("timer", max_results=10**30, min_score=0.0).results) == 4
    assert memory.search("timer", since=float("inf")).results == ()
    assert memory.search("timer", since=float("-inf"), until=float("inf")).results
    assert memory.search("timer", since=1e300).results == ()


def test_vectors_ahead_of_snapshot_ignored(open_memory, monkeypatch) -> None:
    memory = open_memory()
    memory.sync()
    search = memory.vectors.search

    def ahead(*args, **options):
        ids, cosines = search(*args, **options)
        return np.append(ids, 10**6), np.append(cosines, 0.9)

    monkeypatch.setattr(memory.vectors, "search", ahead)
    assert len(memory.search("timer", max_results=50, min_score=0.0).results) == 4


def test_damaged_history_leaves_search_and_sync_working(open_memory, workspace: Path, tmp_path: Path) -> None:
    user = index_files(workspace, str(tmp_path / "data")).user
    user.parent.mkdir(parents=True)
    user.write_bytes(b"no database " * 500)
    memory = open_memory()
    assert memory.sync().error == ""
    status = memory.status()
    assert status.last_sync is not None
    assert status.index_error is None
    assert status.user_data is not None
    assert "history" in status.user_data.problem
    assert hits(memory, "hose") == ["shopping.md"]
    memory.close()
    assert user.read_bytes() == b"no database " * 500


def test_missing_workspace_is_named_as_reason(open_memory, workspace: Path) -> None:
    shutil.rmtree(workspace)
    memory = open_memory(background=True)
    watcher = memory.status().watcher
    assert (watcher.enabled, watcher.mode) == (False, "off")
    assert "does not exist" in (watcher.error or "")
    assert "does not exist" in memory.sync().error


def test_damaged_index_reported_until_rebuilt(open_memory, workspace: Path, tmp_path: Path) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    index_files(workspace, str(tmp_path / "data")).database.write_bytes(b"no database " * 1000)
    memory = open_memory()
    assert "set aside" in (memory.status().index_error or "")
    assert "set aside" in memory.search("hose").notice
    memory.sync()
    assert memory.status().index_error is None
    assert hits(memory, "hose") == ["shopping.md"]


def test_sound_index_retried_after_damage_error(open_memory, monkeypatch) -> None:
    memory = open_memory()
    memory.sync()
    search, errors = Searcher.search, [IndexCorrupt("malformed")]

    def fail_once(*args):
        if errors:
            raise errors.pop()
        return search(*args)

    monkeypatch.setattr(Searcher, "search", fail_once)
    assert hits(memory, "hose") == ["shopping.md"]
    assert memory.status().index_error is None


@pytest.mark.parametrize("change", [{"exclude": ("shopping.md",)}, {"extensions": (".txt",)}, {"include": ("daily",)}])
def test_excluded_files_neither_found_nor_read(open_memory, change) -> None:
    memory = open_memory()
    memory.sync()
    assert hits(memory, "hose") == ["shopping.md"]
    memory.close()
    memory = open_memory(**change)
    assert hits(memory, "hose") == []
    assert all(result.path != "shopping.md" for result in memory.search("irrigation hose", min_score=0).results)
    with pytest.raises(PathRefused):
        memory.read_file("shopping.md")
    memory.sync()
    assert hits(memory, "hose") == []
    memory.close()
    memory = open_memory()
    memory.sync(force=True)
    assert hits(memory, "hose") == ["shopping.md"]


def test_names_are_checked_against_rules_only_until_a_sync(open_memory, monkeypatch) -> None:
    open_memory().sync()
    memory = open_memory(exclude=("daily",))
    looks: list[set[str]] = []
    accepted = PathGuard.accepted
    monkeypatch.setattr(PathGuard, "accepted", lambda guard, names: looks.append(names) or accepted(guard, names))
    assert hits(memory, "hose") == ["shopping.md"]
    assert len(looks) == 1
    for force in (False, True):
        memory.sync(force=force)
        assert hits(memory, "hose") == ["shopping.md"]
    assert len(looks) == 1


def test_an_index_on_a_network_drive_is_refused(open_memory, monkeypatch) -> None:
    monkeypatch.setattr(index_paths, "on_network_drive", lambda folder: True)
    with pytest.raises(StoreError, match=r"network drive.*store\.path` in place of .+data\."):
        open_memory()


def test_an_index_among_the_notes_is_refused(open_memory, workspace: Path) -> None:
    before = sorted(workspace.rglob("*"))
    store = msgspec.structs.replace(Settings().store, path=str(workspace / "hidden" / ".." / "index"))
    with pytest.raises(StoreError, match="among the notes"):
        open_memory(store=store)
    assert sorted(workspace.rglob("*")) == before
