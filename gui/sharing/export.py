"""Exports of search results to files: the selected results, or all that the current query finds."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog

from engine import (
    CancelToken,
    MemorySearchManager,
    MemorySearchResult,
    SearchOutcome,
    outcome_values,
    results_markdown,
    to_slug,
    tr,
    tr_count,
)
from gui.core.jobs import JobSlot, OnDone, OnError, Work
from gui.core.window_context import WindowContext
from gui.search.panel import SearchPanel
from gui.search.query import Answer, run_query
from gui.sharing.save_file import documents_folder, note_paths, save_whole
from gui.viewer.external_programs import ExternalOpener
from gui.widgets.message_banner import Action

MOST_RESULTS = 10_000


class FileExport(QObject):
    """Exports to a file that the user chooses, one at a time; a new export cancels the previous one."""

    def __init__(self, context: WindowContext, external: ExternalOpener, key: str, filters: Mapping[str, str]) -> None:
        """`key`: of messages in the banner. `filters`: formats that the file dialog offers, by file suffix."""
        super().__init__(context.window)
        self._workspace = context.workspace
        self._external = external
        self._banner = context.banner
        self._jobs = context.jobs
        self._window = context.window
        self._key = key
        self._filters = filters
        self._job = JobSlot(self)
        self._folder = ""
        self._workspace.closed.connect(self._stop)

    def _ask_path(self, title: str, name: str) -> tuple[Path, bool] | None:
        """Ask for a target file. Returns it, and whether the user agreed to replace an existing one; None if
        cancelled.
        """
        start = Path(self._folder or documents_folder()) / name
        chosen, kind = QFileDialog.getSaveFileName(self._window, title, str(start), ";;".join(self._filters.values()))
        if not chosen:
            return None
        self._folder = str(Path(chosen).parent)
        path = _with_suffix(Path(chosen), kind, self._filters)
        return path, path == Path(chosen)

    def _start(self, notice: str, work: Work, done: OnDone, fail: OnError) -> None:
        """Run an export in the background, and show `notice` with a button that cancels it."""
        self._banner.show_message(notice, "working", Action(tr("Cancel"), self._stop), key=self._key)
        self._job.put(self._jobs.write(work, done, fail))

    def _report(self, path: Path, notice: str) -> None:
        """Show that the export to `path` is complete."""
        self._job.done()
        show = Action(tr("Show in file manager"), partial(self._external.reveal_path, path))
        self._banner.show_message(notice, "fine", show, key=self._key)

    @Slot()
    def _stop(self) -> None:
        if self._job.busy:
            self._job.cancel()
            self._banner.clear(self._key)


class Exports(FileExport):
    """Exports search results to files."""

    def __init__(self, context: WindowContext, search: SearchPanel, external: ExternalOpener) -> None:
        super().__init__(context, external, "export", {".md": "Markdown (*.md)", ".json": "JSON (*.json)"})
        self._search = search
        search.export_requested.connect(self.choose)

    @Slot()
    def choose(self) -> None:
        """Ask the user for a target file, and export to it."""
        answer = self._search.body.answer
        if self._workspace.current is None or answer is None or not self._search.body.has_results:
            self._banner.show_message(
                tr("There are no results to export: search for something first."), "off", key=self._key
            )
            return
        chosen = self._search.body.list.selected_results()
        many = len(chosen) > 1
        count = len(chosen)
        title = (
            tr_count("Export {count:,} result", "Export {count:,} results", count) if many else tr("Export all results")
        )
        answered = self._ask_path(title, f"{to_slug(_query_text(answer)) or 'results'}.md")
        if answered is not None:
            path, may_replace = answered
            self.save(path, chosen if many else (), may_replace=may_replace)

    def save(self, path: Path, chosen: Sequence[MemorySearchResult] = (), *, may_replace: bool = True) -> None:
        """Export the results `chosen`, or all if it is empty; the file suffix decides the format.

        `may_replace`: whether the user agreed to replace an existing file.
        """
        opened, answer = self._workspace.current, self._search.body.answer
        if opened is None or answer is None:
            return

        def work(token: CancelToken) -> int:
            outcome = _chosen(answer, chosen) if chosen else _found(opened.everywhere, answer, token)
            data = _written(outcome, _query_text(answer), as_json=path.suffix.lower() == ".json")
            token.checkpoint()
            save_whole(path, data, notes=note_paths(opened), may_replace=may_replace)
            return len(outcome.results)

        self._start(tr("Exporting the results…"), work, partial(self._done, path), self._fail)

    def _done(self, path: Path, count: int) -> None:
        self._report(
            path,
            tr_count("{count:,} result exported to {path}.", "{count:,} results exported to {path}.", count, path=path),
        )

    def _fail(self, sentence: str) -> None:
        self._job.done()
        self._banner.show_message(sentence, "degraded", Action(tr("Choose another file…"), self.choose), key=self._key)


def _found(manager: MemorySearchManager, answer: Answer, token: CancelToken) -> SearchOutcome:
    """Return all results of the answer's query; if all are shown already, without searching again."""
    outcome = answer.outcome
    if answer.final and outcome.total <= len(outcome.results) and not outcome.total_is_least:
        return outcome
    everything = replace(answer.query, max_results=MOST_RESULTS)
    return run_query(manager, everything, explain=False, cancel=token, whole_files=True)


def _chosen(answer: Answer, chosen: Sequence[MemorySearchResult]) -> SearchOutcome:
    return msgspec.structs.replace(answer.outcome, results=tuple(chosen), total=len(chosen), total_is_least=False)


def _query_text(answer: Answer) -> str:
    query = answer.query
    return f"Like {query.like.path}" if query.like is not None else query.text


def _written(outcome: SearchOutcome, query: str, *, as_json: bool) -> bytes:
    if as_json:
        values = {"query": query, **outcome_values(outcome)}
        return (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")
    page = "\n\n".join(results_markdown(outcome.results, query=query, total=outcome.total))
    return f"{page}\n".encode("utf-8", "replace")


def _with_suffix(path: Path, kind: str, filters: Mapping[str, str]) -> Path:
    """Add the file suffix of the format `kind`, chosen in the dialog, unless the path has a known suffix."""
    if path.suffix.lower() in filters:
        return path
    ending = next((ending for ending, words in filters.items() if words == kind), next(iter(filters)))
    return path.with_name(f"{path.name}{ending}")
