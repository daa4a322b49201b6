"""Syncing an index: files that are read again, data that is preserved, reports, and cancelling."""

import errno
import importlib
import itertools
import json
import os
import shutil
import threading
import time
from collections.abc import Sequence
from pathlib import Path

import msgspec
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, ProviderError
from engine.corpus import folder_walk, note_reader
from engine.corpus.discovery import READABLE_EXTENSIONS
from engine.corpus.documents import DocumentError
from engine.corpus.documents.extraction_process import DocumentReader
from engine.indexing import note_preparation, sync_run
from engine.memory import status_report
from engine.memory.status_report import IndexCounts
from engine.records import MemorySearchResult, MemorySyncProgressUpdate, SyncReport
from engine.settings import Settings
from engine.store.connection import WriterLock
from engine.store.snapshot import Snapshot
from engine.store.vector_encoding import StoredModel
from engine.store.writer import Writer
from engine.text.stems import stems_of
from tests.helpers.background import wait_until
from tests.helpers.fake_provider import FakeProvider, selection_of
from tests.helpers.health import inconsistencies, wrong


def hits(memory, query: str) -> list[str]:
    return [result.path for result in memory.search(query, mode="keyword", min_score=0.1).results]


def test_unchanged_files_not_read(open_memory, workspace: Path, provider) -> None:
    memory = open_memory()
    first = memory.sync()
    assert (first.files_indexed, first.files_unchanged, first.vectors_embedded) == (4, 0, 4)
    again = memory.sync()
    assert (again.files_indexed, again.files_unchanged, again.vectors_embedded) == (0, 4, 0)

    (workspace / "shopping.md").write_text("# Shopping\n\nA copper kettle.\n")
    (workspace / "people/ines.md").unlink()
    (workspace / "new.md").write_text("A brass lamp.\n")
    changed = memory.sync()
    assert (changed.files_indexed, changed.files_removed, changed.files_unchanged) == (2, 1, 2)
    assert hits(memory, "kettle") == ["shopping.md"]
    assert hits(memory, "lamp") == ["new.md"]
    assert hits(memory, "gauge") == []
    assert hits(memory, "hose") == []


@pytest.mark.parametrize(
    ("name", "parser"),
    [
        ("odd.md", "engine.indexing.note_preparation.tags_of"),
        ("odd.txt", "engine.indexing.note_preparation.chunk_note"),
        ("odd.org", "engine.corpus.org_mode.read"),
        ("odd.rst", "engine.corpus.restructuredtext.read"),
        ("odd.adoc", "engine.corpus.asciidoc.read"),
        ("odd.canvas", "engine.corpus.json_notes.readable"),
        ("odd.ipynb", "engine.corpus.json_notes.readable"),
        ("odd.html", "engine.corpus.documents.read"),
    ],
)
@pytest.mark.parametrize("error", [KeyError("bolt"), MemoryError()])
def test_fault_of_a_parser_fails_one_note_only(
    open_memory, workspace: Path, monkeypatch, name: str, parser: str, error: Exception
) -> None:
    odd, memory = workspace / name, open_memory(use=None, extensions=(*READABLE_EXTENSIONS, ".html"))
    odd.write_text("# Keel\n\nThe keel is fine.\n" if not name.endswith(("canvas", "ipynb")) else _NOTEBOOK)
    memory.sync()
    place, _, function = parser.rpartition(".")
    module = importlib.import_module(place)
    parse = getattr(module, function)

    def faulty(text, *arguments, **named):
        if "bolt" in str(text):
            raise error
        return parse(text, *arguments, **named)

    monkeypatch.setattr(module, function, faulty)
    odd.write_text(odd.read_text().replace("fine", "loose at a bolt"))
    (workspace / "new.md").write_text("A brass lamp.\n")
    report = memory.sync()
    assert report.error == ""
    assert [(issue.path, issue.rule) for issue in report.failed] == [(name, "broken")]
    assert type(error).__name__ in report.failed[0].detail
    assert hits(memory, "lamp") == ["new.md"]
    assert hits(memory, "keel") == []
    odd.write_text(odd.read_text().replace("bolt", "screw"))
    assert memory.sync().failed == ()


_NOTEBOOK = json.dumps(
    {
        "nbformat": 4,
        "cells": [{"cell_type": "markdown", "source": "The keel is fine."}],
        "nodes": [{"type": "text", "text": "The keel is fine."}],
    }
)


def _waiting(memory, **options) -> tuple[threading.Thread, list[MemorySyncProgressUpdate], list[SyncReport]]:
    """Start a sync that has reported that it is waiting."""
    received: list[MemorySyncProgressUpdate] = []
    reports: list[SyncReport] = []
    waits = threading.Event()

    def hear(update: MemorySyncProgressUpdate) -> None:
        received.append(update)
        if update.phase == "waiting":
            waits.set()

    thread = threading.Thread(target=lambda: reports.append(memory.sync(progress=hear, **options)))
    thread.start()
    assert waits.wait(60)
    return thread, received, reports


def test_sync_waits_for_other_process_then_works(open_memory) -> None:
    memory = open_memory()
    other = WriterLock(memory.store.files.lock)
    assert other.acquire()
    thread, phases_seen, reports = _waiting(memory)
    status = memory.status()
    assert (status.syncing.phase, status.writer_elsewhere) == ("waiting", False)
    assert "another program is writing this index" in status.syncing.label
    assert hits(memory, "hose") == []
    other.release()
    thread.join(60)
    assert reports[0].files_indexed == 4
    phases = list(dict.fromkeys(update.phase for update in phases_seen))
    assert phases[:2] == ["waiting", "discovering"]
    assert memory.status().syncing is None


def test_waiting_sync_can_be_cancelled(open_memory) -> None:
    memory, token = open_memory(), CancelToken()
    other = WriterLock(memory.store.files.lock)
    assert other.acquire()
    thread, _, reports = _waiting(memory, cancel=token)
    token.cancel()
    thread.join(60)
    assert (reports[0].cancelled, reports[0].files_indexed) == (True, 0)
    other.release()
    assert memory.sync().files_indexed == 4


def test_new_date_on_unchanged_text_is_not_reindexed(open_memory, workspace: Path, provider) -> None:
    memory = open_memory()
    memory.sync()
    os.utime(workspace / "shopping.md", (5_000, 5_000))
    report = memory.sync()
    assert (report.files_indexed, report.files_unchanged) == (0, 4)
    result = next(r for r in memory.search("hose", min_score=0.1).results if r.path == "shopping.md")
    assert result.modified == 5_000


def test_date_after_2400_does_not_stop_update(open_memory, workspace: Path) -> None:
    path = workspace / "shopping.md"
    os.utime(path, (14_000_000_000, 14_000_000_000))  # in the year 2413
    if path.stat().st_mtime < 14_000_000_000:
        pytest.skip("the file system does not store such dates")
    memory = open_memory()
    assert memory.sync().files_indexed == 4
    assert memory.sync().files_unchanged == 4
    assert hits(memory, "hose") == ["shopping.md"]


def test_restored_text_is_not_embedded_again(open_memory, workspace: Path, provider) -> None:
    memory = open_memory()
    memory.sync()
    text = (workspace / "shopping.md").read_text()
    (workspace / "shopping.md").unlink()
    memory.sync()
    (workspace / "elsewhere.md").write_text(text)
    report = memory.sync()
    assert (report.files_indexed, report.vectors_embedded, report.vectors_reused) == (1, 0, 1)
    assert len(provider.embedded) == 4


def test_force_builds_a_new_generation_and_reuses_every_vector(open_memory, provider) -> None:
    memory = open_memory()
    memory.sync()
    before = memory.status().generation
    report = memory.sync(force=True)
    assert report.full
    assert memory.status().generation == before + 1
    assert len(provider.embedded) == 4
    assert hits(memory, "hose") == ["shopping.md"]


def test_chunking_change_rebuilds_while_old_answers(open_memory, workspace: Path, provider) -> None:
    (workspace / "long.md").write_text("\n\n".join(f"Paragraph {n} about valves and hoses." for n in range(200)))
    memory = open_memory()
    memory.sync()
    memory.close()
    seen: list[list[str]] = []
    memory = open_memory(chunking=msgspec.structs.replace(Settings().chunking, tokens=100, overlap=20))
    provider.before = lambda texts: seen.append(hits(memory, "batteries"))
    report = memory.sync()
    assert report.full
    assert all("shopping.md" in found for found in seen)
    assert seen
    assert report.vectors_pending == 0


def test_cancelled_rebuild_resumes(open_memory, workspace: Path, monkeypatch) -> None:
    for number in range(250):
        (workspace / f"n{number}.md").write_text(f"Note number {number} is about pumps.\n")
    memory = open_memory()
    memory.sync()
    token = CancelToken()
    reads = itertools.count(1)
    read = note_preparation.read

    def stop_half_way(*args):
        if next(reads) == 120:
            token.cancel()
        return read(*args)

    monkeypatch.setattr(note_preparation, "read", stop_half_way)
    cancelled = memory.sync(force=True, cancel=token)
    assert cancelled.cancelled
    assert len(hits(memory, "pumps")) == 6
    assert memory.status().dirty
    rest = memory.sync()
    assert rest.full
    assert 0 < rest.files_indexed < 254
    assert cancelled.files_indexed + rest.files_indexed == 254
    assert inconsistencies(memory) == []


@pytest.mark.parametrize("engine", ["numpy", "sqlite-vec"])
def test_late_cancel_of_rebuild_reports_done(open_memory, tmp_path: Path, monkeypatch, engine) -> None:
    vector = msgspec.structs.replace(Settings().store.vector, engine=engine)
    memory = open_memory(store=msgspec.structs.replace(Settings().store, path=str(tmp_path / "data"), vector=vector))
    memory.sync()
    token, publish = CancelToken(), Writer.publish

    def publish_and_cancel(*args) -> None:
        publish(*args)
        token.cancel()

    monkeypatch.setattr(Writer, "publish", publish_and_cancel)
    report = memory.sync(force=True, cancel=token)
    assert (report.cancelled, report.full, report.vectors_pending) == (False, True, 0)
    status = memory.status()
    assert (status.generation, status.dirty) == (2, False)
    monkeypatch.undo()
    memory.sync()
    assert inconsistencies(memory) == []


def test_cancel_stops_reading_of_all_vectors(open_memory, monkeypatch) -> None:
    memory = open_memory(engine="numpy")
    memory.sync()
    token, vectors, read = CancelToken(), Snapshot.vectors, []

    def cancel_and_read(*args):
        for row in vectors(*args):
            read.append(row)
            token.cancel()
            yield row
        yield from vectors(*args)

    monkeypatch.setattr(Snapshot, "vectors", cancel_and_read)
    monkeypatch.setattr("engine.store.vectors._STEPS_BETWEEN_CHECKS", 1)
    model = StoredModel.of(1, "fake", "bag-of-words", "", 64)
    memory.vectors.discard_copies()
    memory.store.files.matrix.unlink(missing_ok=True)
    with pytest.raises(Cancelled):
        memory.vectors.update_engine(model, token)
    assert len(read) < 4


def test_received_vectors_never_requested_again(open_memory, workspace, provider) -> None:
    for number in range(100):
        (workspace / f"n{number}.md").write_text(f"Note number {number} is about pumps.\n")
    memory = open_memory()
    token = CancelToken()

    def stop_soon(texts) -> None:
        if len(provider.embedded) > 40:
            token.cancel()

    provider.before = stop_soon
    cancelled = memory.sync(cancel=token)
    assert cancelled.cancelled
    assert cancelled.vectors_pending > 0
    provider.before = lambda texts: None
    rest = memory.sync()
    assert rest.vectors_pending == 0
    assert len(provider.embedded) == len(set(provider.embedded)) == 104


def test_words_are_searchable_while_vectors_are_still_made(open_memory, provider) -> None:
    memory = open_memory()
    found: list[list[str]] = []
    provider.before = lambda texts: found.append(hits(memory, "irrigation"))
    memory.sync()
    assert found[0]


def test_provider_failure_stops_sync_saves_text(open_memory, provider) -> None:
    def fail(texts) -> None:
        raise ProviderError("The quota is used up: wait or choose another provider.")

    provider.before = fail
    memory = open_memory()
    report = memory.sync()
    assert report.error == "The quota is used up: wait or choose another provider."
    assert report.vectors_pending == 4
    assert hits(memory, "hose") == ["shopping.md"]
    assert memory.status().last_sync.error == report.error


def test_paused_sync_waits_and_continues(open_memory, workspace: Path) -> None:
    for number in range(50):
        (workspace / f"n{number}.md").write_text(f"Note number {number} is about pumps.\n")
    memory = open_memory()
    paused = threading.Event()
    token = CancelToken()

    def pause_once(update) -> None:
        if update.phase == "indexing" and not paused.is_set():
            token.pause()
            paused.set()

    reports: list[object] = []
    thread = threading.Thread(target=lambda: reports.append(memory.sync(cancel=token, progress=pause_once)))
    thread.start()
    assert paused.wait(60)
    time.sleep(0.05)
    assert thread.is_alive()
    status = memory.status()
    assert status.paused
    assert status.syncing is not None
    assert memory.current_sync() is token
    token.resume()
    thread.join()
    assert reports[0].files_indexed == 54


def test_pause_stores_running_requests_and_sends_no_more(open_memory, workspace: Path, provider) -> None:
    for number in range(20):
        (workspace / f"n{number}.md").write_text(f"Note number {number} is about pumps.\n")
    provider.limits = msgspec.structs.replace(provider.limits, inputs=1, at_once=1)
    provider.cancellable = False  # as a request that was sent
    memory = open_memory()
    token = CancelToken()
    provider.before = lambda _texts: token.pause() if not provider.embedded else None
    thread = threading.Thread(target=lambda: memory.sync(cancel=token))
    thread.start()
    wait_until(lambda: token.paused and memory.status().pending_vectors == 23)
    assert len(provider.embedded) == 1
    assert thread.is_alive()
    token.resume()
    thread.join()
    assert memory.status().pending_vectors == 0


def test_progress_has_phase_file_and_counts(open_memory) -> None:
    memory = open_memory()
    updates = []
    memory.sync(progress=updates.append)
    phases = list(dict.fromkeys(update.phase for update in updates))
    assert phases == ["discovering", "indexing", "embedding", "done"]
    indexing = [update for update in updates if update.phase == "indexing"]
    assert indexing[0].total == 4
    assert all(0 <= update.completed <= update.total for update in indexing)


@pytest.fixture
def read_files(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the notes that syncs have read, in order."""
    names: list[str] = []
    read = note_preparation.read

    def recorded(file, settings, token):
        names.append(file.name)
        return read(file, settings, token)

    monkeypatch.setattr(note_preparation, "read", recorded)
    return names


def test_notes_with_most_query_words_read_first(open_memory, workspace: Path, read_files) -> None:
    for number, text in enumerate(("Note.", "A weir.", "Note.", "Größe of the Weir.")):
        (workspace / f"a{number}.md").write_text(f"{text}\n")
    memory = open_memory()
    assert hits(memory, "what is the GRÖSSE of a weir") == []
    memory.sync()
    assert read_files[:3] == ["a3.md", "a1.md", "a0.md"]


def test_slow_disk_is_indexed_while_words_are_looked_for(open_memory, workspace: Path, read_files, monkeypatch) -> None:
    def beginning_of(file) -> str:
        time.sleep(0.001)
        return note_reader.beginning(file)

    monkeypatch.setattr("engine.indexing.text_stage.beginning", beginning_of)
    for number in range(10, 70):
        (workspace / f"a{number}.md").write_text("A weir.\n" if number == 69 else "Note.\n")
    memory = open_memory()
    assert hits(memory, "weir") == []
    memory.sync()
    assert 0 < read_files.index("a69.md") < 10


def test_query_during_sync_changes_the_order(open_memory, workspace: Path, read_files, monkeypatch) -> None:
    for number in range(5):
        (workspace / f"a{number}.md").write_text("A weir.\n" if number == 4 else "Note.\n")
    memory = open_memory()
    read = note_preparation.read

    def search_and_read(file, settings, token):
        if file.name == "a1.md":
            hits(memory, "weir")
        return read(file, settings, token)

    monkeypatch.setattr(note_preparation, "read", search_and_read)
    memory.sync()
    assert read_files[:4] == ["a0.md", "a1.md", "a4.md", "a2.md"]


def test_results_without_vectors_embedded_first(open_memory, workspace: Path) -> None:
    for age, name in enumerate(("people/ines.md", "daily/2026-02-08.md", "shopping.md", "greenhouse.md")):
        os.utime(workspace / name, (2_000_000_000 - age, 2_000_000_000 - age))
    service = FakeProvider(batch_size=1)
    memory = open_memory(use=service)

    def refuse(texts: Sequence[str]) -> None:
        raise ProviderError("The quota is used up.")

    service.before = refuse
    memory.sync()
    assert set(hits(memory, "timer irrigation")) == {"greenhouse.md", "shopping.md"}
    service.before = lambda texts: None
    memory.sync()
    assert all("timer" in text for text in service.embedded[:2])
    assert len(service.embedded) == 4


def test_search_while_embedding_changes_the_order(open_memory, workspace: Path) -> None:
    for number in range(200):
        (workspace / f"a{number}.md").write_text(f"Note {number}.\n")
        os.utime(workspace / f"a{number}.md", (2_000_000_000 + number, 2_000_000_000 + number))
    service = FakeProvider(batch_size=1)
    memory = open_memory(use=service)

    def search(texts: Sequence[str]) -> None:
        if not service.embedded:
            assert hits(memory, "gauge") == ["people/ines.md"]

    service.before = search
    memory.sync()
    place = next(place for place, text in enumerate(service.embedded) if "gauge" in text)
    assert place < 100


def test_results_are_embedded_while_notes_are_read(open_memory, workspace: Path, monkeypatch) -> None:
    for number in range(320):
        (workspace / f"a{number:03}.md").write_text("A weir.\n" if number == 5 else f"Note {number}.\n")
    service, embedded = FakeProvider(), threading.Event()
    service.before = lambda texts: embedded.set()
    memory = open_memory(use=service)
    read = note_preparation.read

    def search_and_read(file, settings, token):
        if file.name == "a150.md":  # the first hundred notes are committed
            assert [result.path for result in memory.search("weir").results] == ["a005.md"]
        if file.name == "a310.md":
            assert embedded.wait(60)
        return read(file, settings, token)

    monkeypatch.setattr(note_preparation, "read", search_and_read)
    report = memory.sync()
    assert "weir" in service.embedded[0]
    assert (report.vectors_embedded, report.vectors_reused, len(service.embedded)) == (324, 0, 324)


def test_failed_embedding_of_results_leaves_text(open_memory, workspace: Path, monkeypatch) -> None:
    for number in range(320):
        (workspace / f"a{number:03}.md").write_text("A weir.\n" if number == 5 else f"Note {number}.\n")
    service, tried, failed = FakeProvider(), threading.Event(), list[str]()

    def fail(texts: Sequence[str]) -> None:
        if not tried.is_set():
            failed.extend(texts)
            tried.set()
            raise MemoryError

    service.before = fail
    memory = open_memory(use=service)
    read = note_preparation.read

    def search_and_read(file, settings, token):
        if file.name == "a150.md":  # the first hundred notes are committed
            memory.search("weir")
        if file.name == "a310.md":
            tried.wait(60)
        return read(file, settings, token)

    monkeypatch.setattr(note_preparation, "read", search_and_read)
    report = memory.sync()
    assert "weir" in failed[0]
    assert (report.files_indexed, report.vectors_embedded) == (324, 324)


def test_equal_results_embedded_once_while_notes_read(open_memory, workspace: Path, monkeypatch) -> None:
    for number in range(320):
        (workspace / f"a{number:03}.md").write_text("A weir.\n" if number < 5 else f"Note {number}.\n")
    service, embedded, found = FakeProvider(), threading.Event(), list[MemorySearchResult]()
    service.before = lambda texts: embedded.set()
    memory = open_memory(use=service)
    read = note_preparation.read

    def search_and_read(file, settings, token):
        if file.name == "a150.md":
            found.extend(memory.search("weir").results)
        if file.name == "a310.md":
            embedded.wait(60)
        return read(file, settings, token)

    monkeypatch.setattr(note_preparation, "read", search_and_read)
    memory.sync()
    assert len(found) == 5
    assert "weir" in service.embedded[0]
    assert sum("weir" in text for text in service.embedded) == 1


def test_counts_pause_only_while_a_sync_runs(open_memory, workspace: Path, monkeypatch) -> None:
    memory = open_memory()
    memory.sync()
    counts, selection = IndexCounts(memory.store, memory.vectors), selection_of(None)
    monkeypatch.setattr(status_report.time, "thread_time", itertools.count().__next__)  # one took a second
    before = counts.current(selection, syncing=True)
    (workspace / "new.md").write_text("A new note.\n")
    memory.sync()
    assert counts.current(selection, syncing=True) is before
    [source], [earlier] = counts.current(selection, syncing=False).sources, before.sources
    assert (source.files, source.chunks) == (earlier.files + 1, earlier.chunks + 1)


def test_unreadable_files_reported_harmlessly(open_memory, workspace: Path) -> None:
    (workspace / "broken.md").write_bytes(bytes(range(256)))
    (workspace / "image.png").write_bytes(b"\x89PNG")
    memory = open_memory()
    report = memory.sync()
    assert [issue.path for issue in report.failed] == ["broken.md"]
    assert "control characters" in report.failed[0].detail
    status = memory.status()
    assert status.failed_files == report.failed
    assert status.skipped_files == report.skipped
    assert any(issue.rule == "extension" for issue in status.skipped_files)
    (workspace / "broken.md").write_text("café\n", "utf-8")
    assert memory.sync().failed == ()
    assert memory.status().failed_files == ()


@pytest.mark.parametrize("number", [errno.ESTALE, errno.EACCES])
@pytest.mark.parametrize("folder", ["", "people"])
def test_files_below_an_unreachable_folder_stay(
    open_memory, workspace: Path, monkeypatch, folder: str, number: int
) -> None:
    memory, scan = open_memory(use=None), folder_walk.scan_folder
    memory.sync()

    def disconnected(path: str) -> object:
        if Path(path) == workspace / folder:
            raise OSError(number, os.strerror(number))
        return scan(path)

    monkeypatch.setattr(folder_walk, "scan_folder", disconnected)
    report = memory.sync()
    assert report.files_removed == 0
    assert [(issue.path, issue.rule) for issue in report.skipped] == [(folder or ".", "unreadable")]
    assert "stay in the index" in report.skipped[0].detail
    assert hits(memory, "gauge") == ["people/ines.md"]
    assert "notes" not in wrong(memory)
    monkeypatch.setattr(folder_walk, "scan_folder", scan)
    (workspace / "people/ines.md").unlink()
    assert memory.sync().files_removed == 1


@pytest.mark.parametrize("number", [errno.ENOENT, errno.ENOTDIR, errno.ELOOP])
def test_files_below_a_folder_that_is_gone_leave(open_memory, workspace: Path, monkeypatch, number: int) -> None:
    """Deleted, or replaced by a file or a link, after the folder above was listed."""
    memory, scan = open_memory(use=None), folder_walk.scan_folder
    memory.sync()

    def gone(path: str) -> object:
        if Path(path) == workspace / "people":
            raise OSError(number, os.strerror(number))
        return scan(path)

    monkeypatch.setattr(folder_walk, "scan_folder", gone)
    report = memory.sync()
    assert (report.files_removed, hits(memory, "gauge")) == (1, [])
    assert [(issue.path, issue.rule) for issue in report.skipped] == [("people", "unreadable")]


@pytest.mark.parametrize("emptied", [True, False])
@pytest.mark.parametrize("root", ["workspace", "extra"])
def test_notes_of_a_drive_stay_while_it_is_not_connected(
    open_memory, workspace: Path, tmp_path: Path, monkeypatch, root: str, emptied: bool
) -> None:
    """An unmounted drive leaves an empty folder, or none; a folder that the user has deleted is forgotten."""
    drive = tmp_path / "drive"
    extra = drive / "more"
    extra.mkdir(parents=True)
    (extra / "lamp.md").write_text("A brass lamp.\n")
    mounted = workspace if root == "workspace" else drive
    ismount, connected = os.path.ismount, [True]
    monkeypatch.setattr(os.path, "ismount", lambda path: (connected[0] and Path(path) == mounted) or ismount(path))
    memory = open_memory(use=None, extra_paths=(str(extra),))
    memory.sync()
    shown = "people/ines.md" if root == "workspace" else "more/lamp.md"
    word = "gauge" if root == "workspace" else "lamp"
    away = mounted.rename(tmp_path / "away")
    if emptied or root == "workspace":
        mounted.mkdir()
    connected[0] = False
    for force in (False, False, True, True, False):  # a rebuild keeps them, too
        report = memory.sync(force=force)
        assert (report.error, report.files_removed) == ("", 0)
        assert [issue.detail for issue in report.skipped if "drive" in issue.detail]
        assert hits(memory, word) == [shown]
    assert not inconsistencies(memory)
    shutil.rmtree(mounted, ignore_errors=True)
    away.rename(mounted)
    connected[0] = True
    report = memory.sync()
    assert report.files_removed == 0
    assert report.files_indexed > 0, "rows that were copied are from before the rebuild"
    assert hits(memory, word) == [shown]
    assert memory.sync().files_indexed == 0
    shutil.rmtree(extra)
    assert memory.sync().files_removed == 1, "the drive is connected, so the folder was deleted"


@pytest.mark.parametrize(("number", "stays"), [(errno.EIO, True), (errno.EACCES, False)])
def test_changed_file_of_a_failing_drive_stays(
    open_memory, workspace: Path, monkeypatch, number: int, stays: bool
) -> None:
    memory, opened = open_memory(use=None), note_reader.open_regular
    (workspace / "people/deleted.md").write_text("A copper kettle.\n")
    memory.sync()
    (workspace / "people/ines.md").write_text("A brass lamp.\n")

    def failing(path: str) -> object:
        raise OSError(number, "Input/output error")

    monkeypatch.setattr(note_reader, "open_regular", failing)
    for force in (False, True):
        assert "people/ines.md" in [issue.path for issue in memory.sync(force=force).failed]
        assert bool(hits(memory, "gauge")) == stays
        assert bool(hits(memory, "kettle")) != force
        (workspace / "people/deleted.md").unlink(missing_ok=True)
    monkeypatch.setattr(note_reader, "open_regular", opened)
    memory.sync()
    assert hits(memory, "lamp") == ["people/ines.md"]
    assert hits(memory, "gauge") == []


@pytest.mark.parametrize("codec", ["cp1252", "utf-16", "cp932"])
def test_file_rewritten_in_utf8_is_read_again(open_memory, workspace: Path, codec: str) -> None:
    old, new = (
        ("水道 日本語のメモ", "水道 新しい日本語のメモ")
        if codec == "cp932"
        else ("Die Brühe köchelt", "Die Brühe wärmt")
    )
    note = workspace / "kitchen.md"
    note.write_bytes(f"# One\r\n\r\n{old}\r\n".encode(codec))
    memory = open_memory(use=None)
    memory.sync()
    [result] = memory.search(old).results
    assert (result.path, old in result.snippet) == ("kitchen.md", True)
    assert old in memory.read_file("kitchen.md", start=result.snippet_line, lines=9).text
    note.write_text(f"# One\r\n\r\n{old}\r\n", "utf-8", newline="")
    assert memory.sync().files_unchanged == memory.status().files  # the text is the same
    note.write_text(f"# One\n\n{new}\n", "utf-8")
    assert memory.sync().files_indexed == 1
    assert new in memory.search(new).results[0].snippet


def test_result_lines_match_read_lines_in_every_format(open_memory, workspace: Path) -> None:
    canvas = {
        "nodes": [{"id": "a", "type": "text", "x": 0, "y": 0, "width": 9, "height": 9, "text": "Quagga card\n#ponds"}]
    }
    notebook = {"nbformat": 4, "cells": [{"cell_type": "markdown", "source": ["# Census\n", "Quagga cell"]}]}
    (workspace / "a.org").write_text(
        "#+title: Herd\n#+filetags: :ponds:\n\n#+begin_src sh\n# no title\n#+end_src\nQuagga org\n"
    )
    (workspace / "b.rst").write_text("Herd\n====\n\n:Tags: ponds\n\nQuagga rst\n")
    (workspace / "c.adoc").write_text("= Herd\n:tags: ponds\n\nQuagga adoc\n")
    (workspace / "d.canvas").write_text(json.dumps(canvas))
    (workspace / "e.ipynb").write_text(json.dumps(notebook))
    (workspace / "f.txt").write_text("Quagga text #ponds\n")
    (workspace / "g.asciidoc").write_text("= Herd\n:tags: ponds\n\nQuagga asciidoc\n")
    (workspace / "h.rest").write_text("Herd\n====\n\n:Tags: ponds\n\nQuagga rest\n")
    memory = open_memory(use=None, extensions=READABLE_EXTENSIONS)
    memory.sync()
    found = {result.path: result for result in memory.search("quagga", max_results=20, min_score=0.01).results}
    assert sorted(found) == ["a.org", "b.rst", "c.adoc", "d.canvas", "e.ipynb", "f.txt", "g.asciidoc", "h.rest"]
    assert [found[name].title for name in sorted(found)] == ["Herd", "Herd", "Herd", "d", "Census", "f", "Herd", "Herd"]
    for name, result in found.items():
        text = memory.read_file(name, start=result.start_line, lines=result.end_line - result.start_line + 1).text
        assert "Quagga" in text
        assert text.split("\n")[-1].startswith(result.snippet.split("\n")[-1])
    tagged = memory.search("quagga tag:ponds", max_results=20, min_score=0.01).results
    assert {result.path for result in tagged} == set(found) - {"e.ipynb"}


def test_a_missing_workspace_is_a_sentence_and_keeps_the_index(open_memory, workspace: Path, tmp_path: Path) -> None:
    memory = open_memory()
    memory.sync()
    workspace.rename(tmp_path / "elsewhere")
    report = memory.sync()
    assert "does not exist" in report.error
    assert memory.status().files == 4


def test_closing_stops_a_running_sync(open_memory, workspace: Path, provider) -> None:
    for number in range(200):
        (workspace / f"n{number}.md").write_text(f"Note number {number} is about pumps.\n")
    memory = open_memory()
    started, go, reports = threading.Event(), threading.Event(), []

    def hold(texts) -> None:
        started.set()
        assert go.wait(60)

    provider.before = hold
    thread = threading.Thread(target=lambda: reports.append(memory.sync()))
    thread.start()
    assert started.wait(60)
    running = memory.current_sync()
    closing = threading.Thread(target=memory.close)
    closing.start()
    wait_until(lambda: running.cancelled)
    go.set()
    closing.join()
    thread.join()
    assert reports[0].cancelled
    assert provider.embedded == []


def test_document_that_takes_too_long_is_read_twice(open_memory, workspace: Path, monkeypatch) -> None:
    (workspace / "slow.html").write_text("<p>Pumps</p>")
    reads = []

    def read(*arguments, **named) -> str:
        reads.append(arguments)
        raise DocumentError("unfinished", "It took too long.")

    monkeypatch.setattr(DocumentReader, "text_of", read)
    memory = open_memory(use=None, extensions=(*READABLE_EXTENSIONS, ".html"))
    for _ in range(4):
        assert [issue.rule for issue in memory.sync().failed] == ["unfinished"]
    assert len(reads) == 2


def test_notes_are_never_written(open_memory, workspace: Path) -> None:
    def state() -> dict[str, tuple[bytes, int]]:
        return {str(p): (p.read_bytes(), p.stat().st_mtime_ns) for p in workspace.rglob("*") if p.is_file()}

    before = state()
    memory = open_memory()
    memory.sync()
    memory.search("irrigation")
    memory.read_file("greenhouse.md")
    memory.sync(force=True)
    assert state() == before


@pytest.mark.parametrize("entries", [1, 3])
def test_cache_limit_never_drops_live_vectors(open_memory, workspace: Path, entries: int) -> None:
    memory = open_memory(cache=msgspec.structs.replace(Settings().cache, max_entries=entries))
    memory.sync()
    assert memory.status().cache.entries == 4
    (workspace / "shopping.md").unlink()
    (workspace / "people/ines.md").unlink()
    memory.sync()
    assert memory.status().cache.entries == max(2, entries)


def test_provider_error_in_status_until_answer(open_memory, provider) -> None:
    def fail(texts) -> None:
        raise ProviderError("The quota is used up.")

    provider.before = fail
    memory = open_memory()
    memory.sync()
    assert memory.status().custom["providerError"] == "The quota is used up."
    provider.before = lambda texts: None
    assert memory.probe_embedding().ok
    assert memory.status().custom["providerError"] is None


def test_space_of_removed_notes_returned(open_memory, workspace: Path) -> None:
    for number in range(200):
        (workspace / f"n{number}.md").write_text(f"Note {number} is about pumps.\n" * 50)
    memory = open_memory()
    memory.sync()
    for number in range(200):
        (workspace / f"n{number}.md").unlink()
    memory.sync()
    with memory.store.read() as snapshot:
        assert snapshot.free_share() < 0.25


def test_unchanged_sync_skips_eviction_check(open_memory, monkeypatch) -> None:
    memory = open_memory(cache=msgspec.structs.replace(Settings().cache, max_entries=1))
    memory.sync()
    looks: list[int] = []
    evict = Writer.evict
    monkeypatch.setattr(Writer, "evict", lambda self, keep: looks.append(keep) or evict(self, keep))
    memory.sync()
    assert looks == []
    assert memory.status().cache.entries == 4


def test_large_sync_drops_word_cache_small_saves_it(open_memory, workspace, monkeypatch) -> None:
    memory = open_memory()
    stems = stems_of("english")
    memory.sync()
    assert stems
    monkeypatch.setattr(sync_run, "_MANY_CHUNKS", 0)
    (workspace / "another.md").write_text("# Another note\n\nof the sailing weather\n")
    memory.sync()
    assert not stems


def test_new_index_has_keywords_in_one_part(open_memory, workspace: Path) -> None:
    for number in range(1000):
        (workspace / f"log-{number}.md").write_text(f"Entry {number} names kettle {2 * number}.\n")
    memory = open_memory(use=None)
    assert memory.sync().chunks_indexed > 1000
    with memory.store.read() as snapshot:
        parts = snapshot.connection.execute(f"SELECT count(DISTINCT segid) FROM {snapshot.tables.fts}_idx").get
    assert parts == 1
