"""Updates, listeners and closing, on every backend."""

import hashlib
import sys
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, IndexReadOnly
from engine.memory.memory_interface import MemorySearchManager
from engine.records import MemorySyncProgressUpdate, Passage, SyncReport
from tests.engine.backends.shared.open_backends import NOTES, Bench, write_notes


def found(memory: MemorySearchManager, query: str) -> set[str]:
    return {result.path for result in memory.search(query, min_score=0, mode="keyword").results}


# --- updates --------------------------------------------------------------------------------------------------------


def test_search_before_first_update_is_empty_with_reason(opened: Bench):
    if opened.backend == "fallen back":
        pytest.skip("the fallback fills its index on the first search")
    memory = opened.open()
    assert memory.status().dirty
    outcome = memory.search("irrigation")
    assert not outcome.results
    assert outcome.notice


def test_sync_follows_added_changed_removed_renamed_notes(opened: Bench):
    memory = opened.ready()
    write_notes(opened.workspace, {"new.md": "# Barrel\n\nA second barrel for rainwater.\n"})
    write_notes(opened.workspace, {"shopping.md": "# Shopping\n\nOnly wheelbarrow tyres now.\n"})
    (opened.workspace / "greenhouse.md").unlink()
    (opened.workspace / "people" / "ines.md").rename(opened.workspace / "people" / "neighbour.md")
    report = memory.sync()
    assert not report.error
    assert report.files_removed >= 1
    assert report.files_indexed >= 2
    assert found(memory, "rainwater") == {"new.md"}
    assert found(memory, "wheelbarrow") == {"shopping.md"}
    assert found(memory, "irrigation") == {"shed.md"}
    assert found(memory, "gauge") == {"people/neighbour.md"}
    assert memory.status().files == len(NOTES)


def test_an_update_without_changes_does_nothing(opened: Bench):
    memory = opened.ready()
    report = memory.sync()
    assert (report.files_indexed, report.files_removed, report.error) == (0, 0, "")
    assert found(memory, "irrigation")


def test_forced_update_rebuilds_everything(opened: Bench):
    memory = opened.ready()
    report = memory.sync(force=True)
    assert not report.error
    assert report.files_seen == len(NOTES)
    assert found(memory, "irrigation") == {"greenhouse.md", "shopping.md", "shed.md"}


def test_index_survives_restart(opened: Bench):
    opened.ready()
    opened.close()
    memory = opened.open()
    assert found(memory, "irrigation") == {"greenhouse.md", "shopping.md", "shed.md"}
    assert memory.status().last_sync is not None


def test_cancelled_update_completed_by_next(opened: Bench):
    memory = opened.open()
    token = CancelToken()
    token.cancel()
    try:
        report = memory.sync(cancel=token)
    except Cancelled:
        pass
    else:
        assert report.cancelled or report.reason == "fallback", "the update joined one that was running"
    assert not memory.sync().error
    assert found(memory, "irrigation") == {"greenhouse.md", "shopping.md", "shed.md"}
    assert not memory.status().dirty


def test_second_sync_joins_the_running_one(opened: Bench):
    memory = opened.open()
    begun, go_on = threading.Event(), threading.Event()
    received: list[MemorySyncProgressUpdate] = []

    def first(update: MemorySyncProgressUpdate) -> None:
        if not begun.is_set():
            begun.set()
            go_on.wait(60)

    def second(update: MemorySyncProgressUpdate) -> None:
        received.append(update)

    with ThreadPoolExecutor(2) as pool:
        one = pool.submit(memory.sync, reason="cli", progress=first)
        assert begun.wait(60)
        token = memory.current_sync()
        assert token is not None
        assert memory.status().syncing is not None or memory.current_sync() is token
        other = pool.submit(memory.sync, reason="manual", progress=second)
        go_on.set()
        reports: list[SyncReport] = [one.result(), other.result()]
    assert memory.current_sync() is None
    assert not any(report.error for report in reports)
    assert len(memory.status().recent_syncs) <= 2
    assert found(memory, "irrigation") == {"greenhouse.md", "shopping.md", "shed.md"}


def test_binary_file_does_not_block_others(opened: Bench):
    write_notes(opened.workspace, {})
    (opened.workspace / "broken.md").write_bytes(b"# Broken\n\n\xff\xfe irrigation \x00\x01\xff\n" * 3)
    memory = opened.ready()
    assert {"greenhouse.md", "shopping.md"} <= found(memory, "irrigation")
    status = memory.status()
    if status.files == len(NOTES):
        listed = {issue.path for issue in (*status.failed_files, *status.skipped_files)}
        assert "broken.md" in listed, "files that are not indexed are listed"


def test_excluded_files_not_found(opened: Bench):
    memory = opened.ready(exclude=("people/**",))
    assert not found(memory, "gauge")
    assert found(memory, "irrigation")


# --- listening ------------------------------------------------------------------------------------------------------


def test_listeners_hear_of_an_update_until_they_are_removed(opened: Bench):
    memory = opened.open()
    received: list[int] = []
    remove = memory.add_status_listener(lambda: received.append(1))
    memory.add_status_listener(_failing)
    memory.sync()
    assert received
    remove()
    received.clear()
    memory.sync()
    assert not received


def _failing() -> None:
    raise ValueError("a listener must not be able to stop an update")


def test_background_memory_indexes_new_notes(opened: Bench):
    memory = opened.ready(background=True)
    notified = threading.Event()
    memory.add_status_listener(notified.set)
    write_notes(opened.workspace, {"new.md": "# Barrel\n\nA second barrel for rainwater.\n"})
    for _ in range(60):
        if found(memory, "rainwater"):
            break
        notified.wait(0.5)
        notified.clear()
    assert found(memory, "rainwater") == {"new.md"}
    assert memory.status().watcher.enabled


# --- closing --------------------------------------------------------------------------------------------------------


def test_closed_memory_refuses_every_call(opened: Bench):
    memory = opened.ready()
    memory.close()
    memory.close()
    uses: tuple[Callable[[], object], ...] = (
        lambda: memory.search("irrigation"),
        lambda: memory.search_like(Passage(path="greenhouse.md", start_line=1, end_line=1)),
        memory.sync,
        memory.status,
        memory.sessions,
        lambda: memory.read_file("greenhouse.md"),
        lambda: memory.open_file("greenhouse.md"),
        lambda: memory.locate("greenhouse.md"),
        lambda: memory.query_values("path", ""),
        lambda: memory.explain_path("greenhouse.md"),
        memory.stored_models,
    )
    for use in uses:
        with pytest.raises(Closed):
            use()
    assert memory.current_sync() is None


def test_unused_memory_can_be_closed(opened: Bench):
    opened.open().close()
    opened.open(background=True).close()


def test_closing_ends_an_update(opened: Bench):
    memory = opened.open()
    begun = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        syncing = pool.submit(memory.sync, progress=lambda _: begun.set())
        assert begun.wait(60)
        memory.close()
        try:
            report = syncing.result(60)
        except (Closed, Cancelled):
            return
    assert report.cancelled or not report.error


def test_threads_search_read_and_sync_in_parallel(opened: Bench):
    memory = opened.ready()
    rounds = 3 if opened.backend == "qmd" else 15

    def ask(number: int) -> None:
        for turn in range(rounds):
            assert {"greenhouse.md", "shopping.md"} <= found(memory, "irrigation")
            assert memory.read_file("people/ines.md").text
            assert memory.status().files >= len(NOTES) - 1
            if number == 0:
                (opened.workspace / "new.md").write_text(f"# Turn {turn}\n\nRainwater {turn}.\n", "utf-8")
                assert not memory.sync().error

    with ThreadPoolExecutor(4) as pool:
        for search in [pool.submit(ask, number) for number in range(4)]:
            search.result()
    assert found(memory, "rainwater") == {"new.md"}


def test_close_during_threads_ends_cleanly(opened: Bench):
    memory = opened.ready()
    start = threading.Barrier(5)

    def ask(_: int) -> str:
        start.wait()
        try:
            for _ in range(20):
                memory.search("irrigation", mode="keyword")
        except (Closed, Cancelled):
            return "closed"
        return "answered"

    with ThreadPoolExecutor(4) as pool:
        searches = [pool.submit(ask, number) for number in range(4)]
        start.wait()
        memory.close()
        assert {one.result(60) for one in searches} <= {"closed", "answered"}


# --- traces ---------------------------------------------------------------------------------------------------------


def test_nothing_is_written_among_the_notes(opened: Bench):
    before = _tree(opened.workspace)
    memory = opened.ready(background=True)
    memory.search("irrigation")
    memory.sync(force=True)
    memory.close()
    assert _tree(opened.workspace) == before


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_no_file_and_no_process_is_left_open(opened: Bench):
    memory = opened.ready(background=True)
    memory.search("irrigation")
    memory.close()
    folder = str(opened.workspace.parent)
    left = [target for target in map(_target, Path("/proc/self/fd").iterdir()) if target.startswith(folder)]
    assert not left
    children = [path.read_text() for path in Path("/proc/self/task").glob("*/children")]
    assert not any(_works_in(pid, folder) for pid in " ".join(children).split())


def _tree(folder: Path) -> dict[str, tuple[int, int, str]]:
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            path.stat().st_mode,
            hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else "",
        )
        for path in folder.rglob("*")
    }


def _target(link: Path) -> str:
    try:
        return str(link.readlink())
    except OSError:
        return ""


def _works_in(pid: str, folder: str) -> bool:
    try:
        return folder in Path("/proc", pid, "cmdline").read_text("utf-8", "replace")
    except OSError:
        return False


def test_facts_are_not_saved_into_a_deleted_file(opened: Bench):
    memory = opened.ready()
    memory.facts.add("The gate code is on the fridge.")
    memory.user_data.path.unlink()
    with pytest.raises(IndexReadOnly, match="missing"):
        memory.facts.add("The key is under the mat.")
    assert memory.facts.read_only_reason
    assert memory.user_data.restore()
    assert [fact.text for fact in memory.facts.all()] == ["The gate code is on the fridge."]
    assert (memory.facts.read_only_reason, memory.user_data.status()) == ("", None)
