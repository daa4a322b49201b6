"""The watcher on real folders, with short waits."""

import ctypes
import errno
import os
import shutil
import sys
import threading
import time
from contextlib import contextmanager
from pathlib import Path
from types import SimpleNamespace

import pytest

from engine.indexing import watcher as watcher_module
from engine.indexing.native_watch import InotifyWatch, ObserverWatch, open_native
from engine.indexing.watcher import WatchBatch, Watcher, WatchTiming

DEBOUNCE_MS = 30
LONG = 60.0

linux_only = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs inotify")


def through_an_observer(roots, ignores, sink):
    """Use the observer of macOS and Windows, in a form that works on every system.

    Unlike that of Linux, it never adds a watch twice for folders that are created during its scan.
    """
    from watchdog.observers.polling import PollingObserver

    return ObserverWatch(PollingObserver(timeout=0.02), roots, ignores, sink)


class Batches:
    def __init__(self):
        self.all = []
        self.arrived = threading.Condition()

    def __call__(self, batch):
        with self.arrived:
            self.all.append(batch)
            self.arrived.notify_all()

    @property
    def paths(self):
        return {path for batch in self.all for path in batch.paths}

    def wait_for(self, condition):
        with self.arrived:
            assert self.arrived.wait_for(condition, LONG), self.all

    def wait_for_paths(self, *paths):
        self.wait_for(lambda: self.paths >= {str(path) for path in paths})


@contextmanager
def watching(*roots, ignores=lambda root, path, is_dir: False, open_watch=open_native, **timing):
    batches = Batches()
    timing = WatchTiming(**{"debounce_ms": DEBOUNCE_MS, **timing})
    watcher = Watcher(roots, ignores, on_change=batches, timing=timing, open_watch=open_watch)
    watcher.start()
    try:
        yield watcher, batches
    finally:
        watcher.stop()


def eventually(condition):
    end = time.monotonic() + LONG
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.005)


def write_until_reported(path, batches):
    """A single change may be part of a batch that says "everything"."""

    def arrived():
        path.write_text("x")
        return str(path) in batches.paths

    eventually(arrived)


@pytest.fixture(params=["native", "observer"])
def open_watch(request):
    return open_native if request.param == "native" else through_an_observer


# --- reported changes -------------------------------------------------------------------------------------------------


def test_created_changed_moved_and_deleted_files_are_reported(tmp_path, open_watch):
    old = tmp_path / "old.md"
    old.write_text("a")
    with watching(tmp_path, open_watch=open_watch) as (watcher, batches):
        assert watcher.status().mode == "native"
        (tmp_path / "new.md").write_text("b")
        batches.wait_for_paths(tmp_path / "new.md")
        with old.open("a") as file:
            file.write("more")
        batches.wait_for_paths(old)
        batches.all.clear()
        old.rename(tmp_path / "renamed.md")
        batches.wait_for_paths(old, tmp_path / "renamed.md")
        batches.all.clear()
        (tmp_path / "renamed.md").unlink()
        batches.wait_for_paths(tmp_path / "renamed.md")
        assert not any(batch.overflow for batch in batches.all)
        assert watcher.status().last_change == pytest.approx(time.time(), abs=LONG)


@linux_only
def test_flush_reports_changes_without_the_debounce(tmp_path):
    with watching(tmp_path, debounce_ms=3_600_000) as (watcher, batches):
        eventually(lambda: watcher.flush(LONG))  # after the batch of a start on a slow machine
        batches.all.clear()
        for number in range(20):
            folder = tmp_path / f"new {number}"
            folder.mkdir()
            (folder / "note.md").write_text("a")
            assert watcher.flush(LONG)
            assert folder / "note.md" in {Path(path) for path in batches.paths}
        reported = len(batches.all)
        assert watcher.flush(LONG)
        assert len(batches.all) == reported


@linux_only
def test_skip_debounce_reports_pending_changes(tmp_path):
    with watching(tmp_path, debounce_ms=3_600_000) as (watcher, batches):
        eventually(lambda: watcher.flush(LONG))
        assert not watcher.skip_debounce()
        (tmp_path / "note.md").write_text("a")
        eventually(watcher.skip_debounce)
        batches.wait_for_paths(tmp_path / "note.md")


@linux_only
def test_flush_from_several_threads_reports_to_each(tmp_path):
    with watching(tmp_path, debounce_ms=3_600_000) as (watcher, batches):
        eventually(lambda: watcher.flush(LONG))
        failures = []

        def write_and_flush(number):
            for step in range(20):
                path = tmp_path / f"{number} {step}.md"
                path.write_text("a")
                if not watcher.flush(LONG) or str(path) not in batches.paths:
                    failures.append(path)

        threads = [threading.Thread(target=write_and_flush, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []


def test_flush_without_native_events_reports_it(tmp_path):
    with watching(tmp_path, open_watch=through_an_observer) as (watcher, _):
        assert not watcher.flush(LONG)
    assert not watcher.flush(LONG)


def test_folders_made_later_are_watched_with_all_below(tmp_path, open_watch):
    with watching(tmp_path, open_watch=open_watch) as (_, batches):
        deep = tmp_path / "a" / "b" / "c"
        deep.mkdir(parents=True)
        (deep / "first.md").write_text("x")
        batches.wait_for_paths(tmp_path / "a", deep / "first.md")
        (deep / "second.md").write_text("x")
        batches.wait_for_paths(deep / "second.md")


def test_moved_folder_reported_twice_and_watched(tmp_path, open_watch):
    (tmp_path / "from" / "sub").mkdir(parents=True)
    with watching(tmp_path, open_watch=open_watch) as (_, batches):
        (tmp_path / "from").rename(tmp_path / "to")
        batches.wait_for_paths(tmp_path / "from", tmp_path / "to")
        (tmp_path / "to" / "sub" / "note.md").write_text("x")
        batches.wait_for_paths(tmp_path / "to" / "sub" / "note.md")
        (tmp_path / "from" / "sub").mkdir(parents=True)
        (tmp_path / "from" / "sub" / "other.md").write_text("x")
        batches.wait_for_paths(tmp_path / "from" / "sub" / "other.md")
        assert str(tmp_path / "from" / "sub" / "note.md") not in batches.paths


def test_folder_moved_out_is_unwatched(tmp_path):
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "folder").mkdir(parents=True)
    with watching(root) as (_, batches):
        (root / "folder").rename(outside)
        batches.wait_for_paths(root / "folder")
        batches.all.clear()
        (outside / "unheard.md").write_text("x")
        (root / "heard.md").write_text("x")
        batches.wait_for_paths(root / "heard.md")
        assert batches.paths == {str(root / "heard.md")}


def test_reading_files_is_not_a_change(tmp_path, open_watch):
    note = tmp_path / "note.md"
    note.write_text("x")
    with watching(tmp_path, open_watch=open_watch) as (_, batches):
        for _ in range(3):
            note.read_text()
            list(tmp_path.iterdir())
        (tmp_path / "mark.md").write_text("x")
        batches.wait_for_paths(tmp_path / "mark.md")
        assert str(note) not in batches.paths


def test_ignored_folders_and_files_are_not_reported(tmp_path, open_watch):
    checked = set()

    def ignores(root, path, is_dir):
        checked.add((path, is_dir))
        return (is_dir and path.split("/")[-1] == "node_modules") or path.endswith(".tmp")

    (tmp_path / "sub" / "node_modules" / "x").mkdir(parents=True)
    with watching(tmp_path, ignores=ignores, open_watch=open_watch) as (_, batches):
        (tmp_path / "sub" / "node_modules" / "x" / "note.md").write_text("x")
        (tmp_path / "sub" / "half.tmp").write_text("x")
        (tmp_path / "node_modules").mkdir()
        (tmp_path / "node_modules" / "y.md").write_text("x")
        (tmp_path / "sub" / "note.md").write_text("x")
        batches.wait_for_paths(tmp_path / "sub" / "note.md")
        assert batches.paths == {str(tmp_path / "sub" / "note.md")}
    assert ("sub/node_modules", True) in checked
    assert not any(path.startswith("sub/node_modules/") for path, _ in checked) or open_watch is not open_native


def is_inotify(descriptor):
    return "inotify" in os.readlink(descriptor)  # noqa: PTH115 - a link to no path


@linux_only
def test_ignored_folders_cost_no_watches(tmp_path):
    for number in range(30):
        (tmp_path / "node_modules" / str(number)).mkdir(parents=True)
    (tmp_path / "notes" / "deep").mkdir(parents=True)
    sink = SimpleNamespace(changed=print, lost=print, failed=print, stopping=False)
    watch = InotifyWatch([str(tmp_path)], lambda root, path, is_dir: path == "node_modules", sink)
    try:
        queues = [entry for entry in Path("/proc/self/fd").iterdir() if entry.is_symlink() and is_inotify(entry)]
        infos = [Path("/proc/self/fdinfo", queue.name).read_text() for queue in queues]
    finally:
        watch.close()
    assert [info.count("inotify wd") for info in infos] == [3]


@linux_only
def test_symbolic_links_are_not_followed(tmp_path):
    (tmp_path / "elsewhere").mkdir()
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    with watching(root) as (_, batches):
        (tmp_path / "elsewhere" / "unheard.md").write_text("x")
        (root / "heard.md").write_text("x")
        batches.wait_for_paths(root / "heard.md")
        assert batches.paths == {str(root / "heard.md")}


def test_linked_root_reports_target_paths(tmp_path):
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real, target_is_directory=True)
    with watching(tmp_path / "link") as (_, batches):
        (real / "note.md").write_text("x")
        batches.wait_for_paths(real / "note.md")


def test_a_root_may_be_a_file_that_editors_replace(tmp_path):
    note, beside = tmp_path / "note.md", tmp_path / "beside.md"
    note.write_text("x")
    with watching(note, check_seconds=0.01) as (_, batches):
        beside.write_text("new")
        beside.replace(note)
        batches.wait_for_paths(note)
        assert batches.paths == {str(note)}
        note.write_text("again")
        batches.wait_for(lambda: len(batches.all) > 1)
        assert not any(batch.overflow for batch in batches.all)


def test_roots_inside_each_other_are_both_watched(tmp_path):
    inner = tmp_path / "skipped" / "inner"
    inner.mkdir(parents=True)
    with watching(tmp_path, inner, ignores=lambda root, path, is_dir: path == "skipped") as (_, batches):
        (inner / "note.md").write_text("x")
        (tmp_path / "other.md").write_text("x")
        batches.wait_for_paths(inner / "note.md", tmp_path / "other.md")


@linux_only
def test_unreadable_folder_is_skipped(tmp_path, monkeypatch):
    from watchdog.observers import inotify_c

    (tmp_path / "locked").mkdir()
    real = inotify_c.inotify_add_watch

    def refusing(queue, path, mask):  # root, as which tests may run, is never refused by the system
        if path.endswith(b"locked"):
            ctypes.set_errno(errno.EACCES)
            return -1
        return real(queue, path, mask)

    monkeypatch.setattr(inotify_c, "inotify_add_watch", refusing)
    with watching(tmp_path) as (watcher, batches):
        assert watcher.status().mode == "native"
        (tmp_path / "note.md").write_text("x")
        batches.wait_for_paths(tmp_path / "note.md")
        assert watcher.status().error is None


# --- when it is reported ----------------------------------------------------------------------------------------------


def test_a_burst_of_changes_gives_few_batches(tmp_path):
    with watching(tmp_path, debounce_ms=500) as (_, batches):
        for number in range(500):
            (tmp_path / f"{number}.md").write_text("x")
        batches.wait_for(lambda: len(batches.paths) == 500)
        assert 1 <= len(batches.all) <= 3


def test_constant_stream_of_changes_is_reported(tmp_path):
    with watching(tmp_path) as (_, batches):
        end = time.monotonic() + LONG
        while not batches.all:  # never quiet for the debounce
            (tmp_path / "log.md").write_text("x")
            time.sleep(0.002)
            assert time.monotonic() < end
    assert batches.all[0].paths == {str(tmp_path / "log.md")}


def test_very_many_paths_become_an_overflow(tmp_path, monkeypatch):
    monkeypatch.setattr(watcher_module, "_MAX_PATHS", 5)
    with watching(tmp_path) as (_, batches):
        for number in range(20):
            (tmp_path / f"{number}.md").write_text("x")
        batches.wait_for(lambda: batches.all)
        assert batches.all[0] == WatchBatch(frozenset(), overflow=True)


def test_a_failing_listener_does_not_end_the_watcher(tmp_path, caplog):
    batches = Batches()

    def fails_once(batch):
        batches(batch)
        if len(batches.all) == 1:
            raise RuntimeError("no")

    watcher = Watcher([tmp_path], lambda root, path, is_dir: False, on_change=fails_once, timing=WatchTiming(1))
    watcher.start()
    try:
        (tmp_path / "a.md").write_text("x")
        batches.wait_for(lambda: bool(batches.all))  # writing may be reported more than once
        (tmp_path / "b.md").write_text("x")
        batches.wait_for_paths(tmp_path / "b.md")
    finally:
        watcher.stop()
    assert "could not be passed on" in caplog.text


# --- when the system does not help ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.ENOSPC, "inotify watch limit reached"), "has no folder watches left"),
        (OSError(errno.EMFILE, "inotify instance limit reached"), "allows no more programs to watch folders"),
        (RuntimeError("Cannot start the stream."), "does not report changes in folders (Cannot start the stream), so"),
    ],
)
def test_watcher_without_native_watches_polls_and_reports_it(tmp_path, error, expected):
    def out_of_watches(roots, ignores, sink):
        raise error

    with watching(tmp_path, open_watch=out_of_watches, poll_seconds=0.02) as (watcher, batches):
        batches.wait_for(lambda: len(batches.all) >= 3)
        status = watcher.status()
    assert set(batches.all) == {WatchBatch(frozenset(), overflow=True)}
    assert status.mode == "polling"
    assert status.enabled
    assert expected in status.error
    assert status.error.endswith("Mnemoscope checks for changes every 0.02 seconds.")


@linux_only
def test_watches_that_run_out_later_turn_it_to_polling(tmp_path, monkeypatch):
    from watchdog.observers.inotify_c import InotifyFD

    with watching(tmp_path, poll_seconds=0.02) as (watcher, batches):
        assert watcher.status().mode == "native"

        def full(*arguments):
            raise OSError(errno.ENOSPC, "inotify watch limit reached")

        monkeypatch.setattr(InotifyFD, "add_callback", full)
        (tmp_path / "new").mkdir()
        batches.wait_for(lambda: any(batch.overflow for batch in batches.all))
        eventually(lambda: watcher.status().mode == "polling")
        assert "no folder watches left" in watcher.status().error


@linux_only
def test_watches_that_run_out_below_the_root_are_noticed(tmp_path, monkeypatch):
    from watchdog.observers.inotify_c import InotifyFD

    (tmp_path / "a" / "b").mkdir(parents=True)
    given, real = [], InotifyFD.add_callback

    def two_only(reader, path, *rest):
        given.append(path)
        if len(given) > 2:
            raise OSError(errno.ENOSPC, "inotify watch limit reached")
        return real(reader, path, *rest)

    monkeypatch.setattr(InotifyFD, "add_callback", two_only)
    with watching(tmp_path) as (watcher, _):
        assert watcher.status().mode == "polling"


@linux_only
def test_queue_overflow_reported_and_watching_continues(tmp_path):
    opened = []

    def remembered(roots, ignores, sink):
        opened.append(open_native(roots, ignores, sink))
        return opened[-1]

    with watching(tmp_path, open_watch=remembered) as (_, batches):
        from watchdog.observers.inotify_c import InotifyConstants, InotifyEvent, Mask, WatchDescriptor

        overflow = InotifyEvent(WatchDescriptor(-1), Mask(InotifyConstants.IN_Q_OVERFLOW), 0, b"")
        opened[0]._reader.handle_event(overflow)
        batches.wait_for(lambda: WatchBatch(frozenset(), overflow=True) in batches.all)
        (tmp_path / "after.md").write_text("x")
        batches.wait_for_paths(tmp_path / "after.md")
        assert len(opened) == 2


def test_missing_root_reported_then_watched(tmp_path):
    here, missing = tmp_path / "here", tmp_path / "missing"
    here.mkdir()
    with watching(here, missing, check_seconds=0.02) as (watcher, batches):
        status = watcher.status()
        assert status.mode == "native"
        assert status.error == f"{missing} is missing. Watching resumes as soon as it returns."
        missing.mkdir()
        batches.wait_for(lambda: any(batch.overflow for batch in batches.all))
        assert watcher.status().error is None
        write_until_reported(missing / "note.md", batches)


def test_returning_root_watched_again(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    with watching(root, check_seconds=0.02) as (watcher, batches):
        shutil.rmtree(root)
        eventually(lambda: watcher.status().error)
        assert watcher.status().mode == "off"
        root.mkdir()
        eventually(lambda: watcher.status().mode == "native")
        write_until_reported(root / "note.md", batches)


def test_a_root_that_was_replaced_is_noticed(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    with watching(root, check_seconds=0.02) as (_, batches):
        root.rename(tmp_path / "away")
        root.mkdir()
        batches.wait_for(lambda: any(batch.overflow for batch in batches.all))
        write_until_reported(root / "note.md", batches)


def test_after_sleep_everything_is_checked(tmp_path, monkeypatch):
    ahead = [0.0]
    clock = SimpleNamespace(time=lambda: time.time() + ahead[0], monotonic=time.monotonic)
    monkeypatch.setattr(watcher_module, "time", clock)
    with watching(tmp_path, check_seconds=0.02) as (_, batches):
        ahead[0] = 3600
        batches.wait_for(lambda: WatchBatch(frozenset(), overflow=True) in batches.all)


def test_slow_watch_setup_checks_the_tree_afterwards(tmp_path):
    opening = threading.Event()

    def slow(roots, ignores, sink):
        assert opening.wait(LONG)
        return open_native(roots, ignores, sink)

    with watching(tmp_path, open_watch=slow) as (watcher, batches):
        assert watcher.status().mode == "off"
        opening.set()
        batches.wait_for(lambda: batches.all == [WatchBatch(frozenset(), overflow=True)])


# --- the end ----------------------------------------------------------------------------------------------------------


def test_all_threads_end_on_stop_and_nothing_is_reported_after(tmp_path, open_watch):
    before = set(threading.enumerate())
    with watching(tmp_path, open_watch=open_watch) as (watcher, batches):
        assert set(threading.enumerate()) > before
    assert set(threading.enumerate()) <= before
    (tmp_path / "late.md").write_text("x")
    assert batches.all == []
    status = watcher.status()
    assert (status.enabled, status.mode) == (False, "off")
    watcher.stop()


def test_watcher_can_be_stopped_by_its_listener(tmp_path):
    stopped = threading.Event()

    def stop(_):
        watcher.stop()
        stopped.set()

    watcher = Watcher([tmp_path], lambda root, path, is_dir: False, on_change=stop, timing=WatchTiming(1))
    watcher.start()
    (tmp_path / "a.md").write_text("x")
    assert stopped.wait(LONG)


def test_watcher_that_never_started_is_off(tmp_path):
    watcher = Watcher([tmp_path], lambda root, path, is_dir: False, on_change=print, timing=WatchTiming(DEBOUNCE_MS))
    watcher.stop()
    assert watcher.status().enabled is False
    assert watcher.status().roots == (str(tmp_path),)
