"""Searches the messages of sessions while the user types, after a pause; a new text cancels the previous search."""

from collections.abc import Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import CancelToken, MemorySearchManager, MemorySearchResult, SearchRemedy
from gui.core.jobs import Jobs, JobSlot
from gui.core.session_criteria import Role
from gui.search.query import is_searchable
from gui.search.result_rows import leg_of

PAUSE_MS = 350
"""Titles are searched on each key; messages only after a pause."""
NOTICE_DELAY_MS = 600
"""Delay after the last key before progress is shown."""
MAX_HITS = 400


@dataclass(frozen=True)
class ContentHits:
    """The results of a search in the messages of sessions; empty without a search."""

    text: str = ""
    results: tuple[MemorySearchResult, ...] = ()
    """Matching messages, best first."""
    total: int = 0
    notice: str = ""
    reason: str = ""
    """Why no message was found; empty if one was."""
    remedies: tuple[SearchRemedy, ...] = ()
    """Changes that find messages with the words, if this query doesn't."""
    counted: bool = True
    """Whether the results are passages to count and open; a query of filters alone finds whole sessions."""

    def count(self, role: Role) -> Mapping[str, int]:
        """Return the number of messages of each session that contain the words, by path, the best session first.

        `role` limits them to one speaker. All are 0 if the results are not `counted`, and those of sessions that are
        only similar in meaning.
        """
        found = [result for result in self.results if _has_role(result, role)]
        counts = dict.fromkeys((result.path for result in found), 0)
        for result in found if self.counted else ():
            counts[result.path] += leg_of(result) != "meaning"
        return counts

    def line(self, path: str, role: Role) -> int | None:
        """Return the transcript line of the best hit in a session; None without one."""
        if not self.counted:
            return None
        best = (result for result in self.results if result.path == path and _has_role(result, role))
        return next((result.snippet_line for result in best), None)

    @property
    def hidden(self) -> int:
        """The number of results that the search found but did not return."""
        return max(0, self.total - len(self.results))


NO_HITS = ContentHits()


def _has_role(result: MemorySearchResult, role: Role) -> bool:
    return not role or result.message is None or result.message.role == role


def _finds_passages(text: str) -> bool:
    """Whether a query has words, or names files or commands of tool calls, besides filters of whole sessions."""
    from engine import parse_query  # brings the analysis, which an empty window does not need

    parsed = parse_query(text)
    return bool(parsed.free_text.strip() or parsed.values_of_required("file") or parsed.values_of_required("command"))


class ContentSearch(QObject):
    """Searches messages in the background and stores the `hits` of the newest text."""

    found = Signal()
    """The hits have changed."""
    failed = Signal(str)
    idle = Signal()
    """Nothing is due or running any more."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._manager: MemorySearchManager | None = None
        self._job = JobSlot(self, jobs)
        self.hits = NO_HITS
        self._due = ""
        self._notice_delay = QTimer(self, singleShot=True, interval=NOTICE_DELAY_MS)
        self.slow = self._notice_delay.timeout
        """Signal: the search takes long enough to show progress."""
        self._pause = QTimer(self, singleShot=True, interval=PAUSE_MS)
        self._pause.timeout.connect(self.search_now)

    @property
    def busy(self) -> bool:
        return bool(self._due) or self._job.busy

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory to search. `reopening`: the folder is the same, and the hits stay."""
        self.stop()
        if not reopening:
            self.hits = NO_HITS
        self._manager = manager

    def start_search(self, text: str) -> None:
        """Search for this text after a pause; too short texts are ignored."""
        self._drop()
        if text != self.hits.text:
            self.hits = NO_HITS
        if self._manager is not None and is_searchable(text):
            self._due = text
            self._pause.start()
            if not self.hits.text:
                self._notice_delay.start()
        else:
            self.idle.emit()

    def repeat(self) -> None:
        """Repeat the last search after a change of the index."""
        if self.hits.text:
            self.start_search(self.hits.text)

    @Slot()
    def search_now(self) -> None:
        """Start a search that waits for the pause immediately."""
        self._pause.stop()
        text, self._due = self._due, ""
        if text:
            self._run(text)

    def stop(self) -> None:
        """Cancel the search in messages and drop its hits."""
        self._drop()
        self.idle.emit()

    def _drop(self) -> None:
        self._pause.stop()
        self._notice_delay.stop()
        self._due = ""
        self._job.cancel()

    def _run(self, text: str) -> None:
        manager = self._manager
        assert manager is not None

        def work(token: CancelToken) -> ContentHits:
            counted = _finds_passages(text)
            limit = 0 if counted else 1
            outcome = manager.search(
                text,
                max_results=MAX_HITS,
                sources=["sessions"],
                per_file=limit,
                copies=True,
                explain="if weak",
                cancel=token,
            )
            notice = outcome.full_notice or ("" if outcome.results else outcome.understood)
            if outcome.results or (why := outcome.explanation) is None:
                tools = tuple(remedy for remedy in outcome.remedies if remedy.name == "tools")
                return ContentHits(text, outcome.results, outcome.total, notice, remedies=tools, counted=counted)
            others = tuple(remedy for remedy in why.remedies if remedy.query or remedy.name == "tools")
            notes = {stage.name: stage.note for stage in why.stages}
            # If all words are known, their numbers in the whole index don't explain why no session has them.
            reason = why.reason if outcome.unknown_words or why.reason != notes.get("words") else ""
            return ContentHits(text, notice=notice, reason=reason, remedies=others, counted=counted)

        def on_done(hits: ContentHits) -> None:
            self._notice_delay.stop()
            self.hits = hits
            self.found.emit()
            self.idle.emit()

        def on_error(sentence: str) -> None:
            self._notice_delay.stop()
            self.failed.emit(sentence)
            self.idle.emit()

        self._job.read(work, on_done, on_error)
