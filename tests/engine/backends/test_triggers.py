"""Every reason for a sync has its documented effect, once, and appears in the status."""

import errno
import shutil
import threading
import time
from pathlib import Path

import msgspec
import pytest

from engine.indexing.watcher import Watcher, WatchTiming
from engine.settings import Settings
from tests.helpers.background import reasons, wait_until

SYNC = Settings().sync
QUIET = msgspec.structs.replace(SYNC, watch=False)


def test_a_session_start_syncs_once_a_key(open_memory) -> None:
    memory = open_memory(background=True, sync=QUIET)
    memory.warm_session("agent:main:one")
    wait_until(lambda: reasons(memory) == ["session-start"])
    memory.warm_session("agent:main:one")
    memory.search("timer", session_key="agent:main:one")
    memory.search("timer", session_key="agent:main:two")
    wait_until(lambda: len(reasons(memory)) == 2 and memory.current_sync() is None)
    memory.sync()
    assert reasons(memory) == ["session-start", "session-start", "manual"]


def test_session_starts_can_be_switched_off(open_memory) -> None:
    memory = open_memory(background=True, sync=msgspec.structs.replace(QUIET, on_session_start=False))
    memory.warm_session("one")
    memory.sync()
    assert reasons(memory) == ["manual"]


def test_watched_change_is_indexed(open_memory, workspace: Path) -> None:
    memory = open_memory(background=True, sync=msgspec.structs.replace(SYNC, watch_debounce_ms=30))
    memory.sync()
    assert memory.status().watcher.mode == "native"
    (workspace / "new.md").write_text("A brass lamp.\n")
    wait_until(lambda: "watch" in reasons(memory))
    wait_until(lambda: [r.path for r in memory.search("brass lamp").results] == ["new.md"])
    status = memory.status()
    assert status.watcher.last_change is not None
    assert not status.dirty


@pytest.mark.parametrize("watch", [True, False])
def test_catching_up_waits_until_changes_are_found(open_memory, workspace: Path, watch: bool) -> None:
    memory = open_memory(background=True, sync=msgspec.structs.replace(SYNC, watch=watch, watch_debounce_ms=3_600_000))
    memory.catch_up(60)
    for number in range(5):
        (workspace / "new.md").write_text(f"A brass lamp{number}.\n")
        memory.catch_up(60)
        assert [result.path for result in memory.search(f'"lamp{number}"').results] == ["new.md"]
    (workspace / "new.md").unlink()
    memory.catch_up(60)
    assert not memory.search("brass lamp", mode="keyword").results


def test_catch_up_without_changes_does_not_sync(open_memory) -> None:
    memory = open_memory(background=True)
    memory.sync()
    memory.catch_up(60)
    memory.catch_up(60)
    assert reasons(memory) == ["manual"]


def test_catching_up_leaves_searches_that_must_not_sync(open_memory, workspace: Path) -> None:
    memory = open_memory(background=True, sync=msgspec.structs.replace(QUIET, on_search=False))
    memory.sync()
    (workspace / "new.md").write_text("A brass lamp.\n")
    memory.catch_up(60)
    assert reasons(memory) == ["manual"]


def test_catch_up_ends_after_failed_sync(open_memory, workspace: Path) -> None:
    memory = open_memory(background=True, sync=QUIET)
    memory.sync()
    shutil.rmtree(workspace)
    memory.catch_up(3600)
    assert memory.status().dirty


def test_ignored_changes_trigger_nothing(open_memory, workspace: Path) -> None:
    (workspace / "node_modules").mkdir()
    memory = open_memory(background=True, sync=msgspec.structs.replace(SYNC, watch_debounce_ms=20))
    memory.sync()
    (workspace / "node_modules" / "readme.md").write_text("nothing")
    (workspace / "picture.png").write_bytes(b"nothing")
    (workspace / "greenhouse.md").read_text()
    time.sleep(0.2)
    assert reasons(memory) == ["manual"]
    (workspace / "last.md").write_text("A brass lamp.\n")
    wait_until(lambda: "watch" in reasons(memory))


def test_search_on_outdated_index_starts_a_sync(open_memory, workspace: Path, provider) -> None:
    memory = open_memory(background=True, sync=QUIET)
    assert memory.status().dirty
    memory.search("timer")
    wait_until(lambda: reasons(memory) == ["search"] and memory.current_sync() is None)
    assert not memory.status().dirty
    memory.search("timer")
    memory.sync()
    assert reasons(memory) == ["search", "manual"]


def test_first_search_catches_up_unwatched_changes(open_memory, workspace: Path) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    (workspace / "new.md").write_text("A brass lamp.\n")
    memory = open_memory(background=True, sync=QUIET)
    assert memory.status().dirty
    memory.search("lamp")
    wait_until(lambda: reasons(memory) == ["manual", "search"] and memory.current_sync() is None)
    assert [result.path for result in memory.search("brass lamp").results] == ["new.md"]
    assert not memory.status().dirty


@pytest.mark.usefixtures("short_minutes")
def test_interval_starts_syncs(open_memory) -> None:
    memory = open_memory(background=True, sync=msgspec.structs.replace(QUIET, interval_minutes=1))
    wait_until(lambda: reasons(memory)[:2] == ["interval", "interval"])


def test_listeners_hear_of_background_work(open_memory) -> None:
    memory = open_memory(background=True, sync=QUIET)
    notified = threading.Event()
    remove = memory.add_status_listener(notified.set)
    memory.warm_session("one")
    assert notified.wait(60)
    wait_until(lambda: reasons(memory) == ["session-start"])
    remove()
    notified.clear()
    memory.sync()
    assert not notified.is_set()


@pytest.mark.parametrize("background", [False, True])
def test_close_leaves_no_thread_and_is_final(open_memory, background: bool) -> None:
    before = set(threading.enumerate())
    memory = open_memory(background=background)
    memory.sync()
    memory.close()
    memory.close()
    left = [t for t in set(threading.enumerate()) - before if t.is_alive()]
    assert left == []


def test_sync_history_survives_a_restart(open_memory) -> None:
    memory = open_memory()
    memory.sync(reason="cli")
    memory.close()
    memory = open_memory()
    assert reasons(memory) == ["cli"]
    assert memory.status().last_sync.files_indexed == 4


def test_status_answers_during_sync(open_memory, provider) -> None:
    memory = open_memory()
    go, started = threading.Event(), threading.Event()

    def hold(texts) -> None:
        started.set()
        assert go.wait(60)

    provider.before = hold
    thread = threading.Thread(target=memory.sync)
    thread.start()
    assert started.wait(60)
    status = memory.status()
    go.set()
    thread.join()
    assert status.syncing.phase == "embedding"
    assert (status.files, status.chunks, status.pending_vectors) == (4, 4, 4)
    assert not status.writer_elsewhere


def test_changes_in_an_extra_folder_are_seen_under_its_own_rules(open_memory, tmp_path: Path) -> None:
    extra = tmp_path / "journal"
    extra.mkdir()
    (extra / "a.md").write_text("# A\n")
    quick = msgspec.structs.replace(SYNC, watch_debounce_ms=20)
    memory = open_memory(background=True, sync=quick, extra_paths=(str(extra),), include=("journal/**",))
    memory.sync()
    (extra / "b.md").write_text("A brass lamp.\n")
    wait_until(lambda: [r.path for r in memory.search("brass lamp").results] == ["journal/b.md"])


def test_other_process_changes_noticed(open_memory, workspace: Path, monkeypatch) -> None:
    monkeypatch.setattr("engine.indexing.sync_scheduler._STATE_POLL_SECONDS", 0.01)
    follower = open_memory(background=True, sync=QUIET)
    follower.sync()
    time.sleep(0.05)
    notified = threading.Event()
    follower.add_status_listener(notified.set)
    (workspace / "new.md").write_text("A brass lamp.\n")
    open_memory().sync()
    assert notified.wait(60)
    assert follower.status().files == 5
    assert [r.path for r in follower.search("brass lamp").results] == ["new.md"]


def test_failing_listener_does_not_stop_others(open_memory) -> None:
    memory = open_memory()

    def fail() -> None:
        raise ValueError

    memory.add_status_listener(fail)
    assert memory.sync().error == ""


def test_disabled_sources_leave_the_index(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    memory.close()
    memory = open_memory(sources=("sessions",))
    assert memory.sync().files_removed == 4


@pytest.fixture(params=["native", "polling"])
def mode(request, monkeypatch) -> str:
    """Parametrize the detection of changes."""
    if request.param == "polling":

        def refuse(*_: object) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        options = Watcher.__init__.__kwdefaults__ | {"open_watch": refuse}
        monkeypatch.setattr(Watcher.__init__, "__kwdefaults__", options)
        every = WatchTiming._field_defaults | {"poll_seconds": 0.05}
        monkeypatch.setattr(WatchTiming.__new__, "__defaults__", tuple(every.values()))
    return request.param


@pytest.mark.parametrize("old", [False, True], ids=["new", "old"])
@pytest.mark.parametrize("target", ["file", "folder", "nothing"])
def test_existing_links_are_listed_as_skipped(
    open_memory, workspace: Path, tmp_path: Path, target: str, old: bool, mode: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kettle.md").write_text("A copper kettle.\n")
    link = workspace / ("linked" if target == "folder" else "linked.md")
    aim = {"file": outside / "kettle.md", "folder": outside, "nothing": outside / "gone.md"}[target]
    if old:
        link.symlink_to(aim)
    memory = open_memory(background=True, sync=msgspec.structs.replace(SYNC, watch_debounce_ms=20))
    memory.sync()
    assert memory.status().watcher.mode == mode

    def skipped() -> list[tuple[str, str]]:
        return [(issue.path, issue.rule) for issue in memory.status().skipped_files if issue.path == link.name]

    if not old:
        link.symlink_to(aim)
    wait_until(lambda: skipped() == [(link.name, "symlink")])
    assert not memory.search("kettle").results
    link.unlink()
    wait_until(lambda: skipped() == [])
    link.symlink_to(aim)
    wait_until(lambda: skipped() == [(link.name, "symlink")])
    if target == "folder":
        link.unlink()
        link.mkdir()
        (link / "kettle.md").write_text("A tin kettle.\n")
        found = "linked/kettle.md"
    else:
        (outside / "real.md").write_text("A tin kettle.\n")
        (outside / "real.md").replace(link)
        found = link.name
    wait_until(lambda: skipped() == [])
    wait_until(lambda: [result.path for result in memory.search("kettle").results] == [found])
