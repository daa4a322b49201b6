"""Exports results: the selected ones, or all that the current query finds."""

import json
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

import msgspec
from PySide6.QtCore import QObject, Slot
from PySide6.QtWidgets import QFileDialog, QWidget

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
from gui.core.job_slot import JobSlot
from gui.core.jobs import Jobs
from gui.core.notices import Notices
from gui.core.workspace import Workspace
from gui.search.panel import SearchPanel
from gui.search.query import Answer
from gui.search.query_request import ask
from gui.sharing.save_file import documents_folder, places_of_notes, save_whole
from gui.viewer.external_opener import ExternalOpener
from gui.widgets.message import Action

MOST_RESULTS = 10_000
_KEY = "export"
_FILTERS = {".md": "Markdown (*.md)", ".json": "JSON (*.json)"}


class Exports(QObject):
    """One at a time; a new one replaces it."""

    def __init__(
        self,
        workspace: Workspace,
        search: SearchPanel,
        elsewhere: ExternalOpener,
        banner: Notices,
        jobs: Jobs,
        window: QWidget,
    ) -> None:
        super().__init__(window)
        self._workspace = workspace
        self._search = search
        self._external = elsewhere
        self._banner = banner
        self._jobs = jobs
        self._window = window
        self._job = JobSlot(self)
        self._folder = ""
        workspace.closed.connect(self._stop)
        search.export_wanted.connect(self.choose)

    @Slot()
    def choose(self) -> None:
        """Ask for a file, and export to it."""
        answer = self._search.body.answer
        if self._workspace.current is None or answer is None or not self._search.body.has_results:
            self._banner.say(tr("There are no results to export: search for something first."), "off", key=_KEY)
            return
        chosen = self._search.body.list.selected_results()
        many = len(chosen) > 1
        count = len(chosen)
        title = (
            tr_count("Export {count:,} result", "Export {count:,} results", count) if many else tr("Export all results")
        )
        start = Path(self._folder or documents_folder()) / f"{to_slug(_asked(answer)) or 'results'}.md"
        name, kind = QFileDialog.getSaveFileName(self._window, title, str(start), ";;".join(_FILTERS.values()))
        if name:
            self._folder = str(Path(name).parent)
            path = _named(Path(name), kind)
            self.save(path, chosen if many else (), may_replace=path == Path(name))

    def save(self, path: Path, chosen: Sequence[MemorySearchResult] = (), *, may_replace: bool = True) -> None:
        """Export the selection, or else all results; the suffix of the name decides the format.

        `may_replace`: whether the user agreed to replace an existing file.
        """
        opened, answer = self._workspace.current, self._search.body.answer
        if opened is None or answer is None:
            return

        def work(token: CancelToken) -> int:
            outcome = _chosen(answer, chosen) if chosen else _found(opened.everywhere, answer, token)
            data = _written(outcome, _asked(answer), as_json=path.suffix.lower() == ".json")
            token.checkpoint()
            save_whole(path, data, notes=places_of_notes(opened), may_replace=may_replace)
            return len(outcome.results)

        self._banner.say(tr("Exporting the results…"), "working", Action(tr("Cancel"), self._stop), key=_KEY)
        self._job.put(self._jobs.write(work, partial(self._done, path), self._fail))

    def _done(self, path: Path, count: int) -> None:
        self._job.done()
        show = Action(tr("Show in file manager"), partial(self._external.reveal_place, path))
        said = tr_count(
            "{count:,} result exported to {path}.", "{count:,} results exported to {path}.", count, path=path
        )
        self._banner.say(said, "fine", show, key=_KEY)

    def _fail(self, sentence: str) -> None:
        self._job.done()
        self._banner.say(sentence, "degraded", Action(tr("Choose another file…"), self.choose), key=_KEY)

    @Slot()
    def _stop(self) -> None:
        if self._job.busy:
            self._job.cancel()
            self._banner.clear(_KEY)


def _found(manager: MemorySearchManager, answer: Answer, token: CancelToken) -> SearchOutcome:
    """All of them; those on the screen are not searched again."""
    outcome = answer.outcome
    if answer.final and outcome.total <= len(outcome.results) and not outcome.total_is_least:
        return outcome
    everything = replace(answer.question, max_results=MOST_RESULTS)
    return ask(manager, everything, by_words=False, explain=False, cancel=token, whole_files=True)


def _chosen(answer: Answer, chosen: Sequence[MemorySearchResult]) -> SearchOutcome:
    return msgspec.structs.replace(answer.outcome, results=tuple(chosen), total=len(chosen), total_is_least=False)


def _asked(answer: Answer) -> str:
    question = answer.question
    return f"Like {question.like.path}" if question.like is not None else question.text


def _written(outcome: SearchOutcome, asked: str, *, as_json: bool) -> bytes:
    if as_json:
        values = {"query": asked, **outcome_values(outcome)}
        return (json.dumps(values, ensure_ascii=False, indent=2) + "\n").encode("utf-8", "backslashreplace")
    page = "\n\n".join(results_markdown(outcome.results, asked=asked, total=outcome.total))
    return f"{page}\n".encode("utf-8", "replace")


def _named(path: Path, kind: str) -> Path:
    """With the ending of the form that was chosen, where the name has none of them."""
    if path.suffix.lower() in _FILTERS:
        return path
    ending = next((ending for ending, words in _FILTERS.items() if words == kind), ".md")
    return path.with_name(f"{path.name}{ending}")
