"""The contract that every memory backend satisfies."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, Unpack

from engine.base.cancellation import CancelToken
from engine.corpus.numbered_lines import NumberedText
from engine.memory.insight import IndexInsight
from engine.memory.listeners import StatusListener
from engine.memory.requests import SearchOptions
from engine.records import (
    EmbeddingEstimate,
    Feature,
    FileText,
    MemoryProviderStatus,
    Passage,
    PathState,
    Probe,
    SearchOutcome,
    SessionSummary,
    SessionText,
    StoredModelInfo,
    SyncReason,
    SyncReport,
)
from engine.records.sync import ProgressCallback
from engine.settings import Settings

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from engine.memory.facts import Facts
    from engine.store.saved_searches import SavedSearches
    from engine.store.unseen_notes import UnseenNotes
    from engine.store.user_data import UserData


class MemorySearchManager(Protocol):
    """One open workspace. Synchronous; every method may be called from any thread at any time.

    An unsupported method raises `Unsupported` with the message in `lacks`.
    """

    @property
    def lacks(self) -> Mapping[Feature, str]:
        """What the backend in use cannot do, and why; the same as in the status. Changes with a fallback only."""

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: Unpack[SearchOptions]
    ) -> SearchOutcome:
        """Search by keywords and meaning.

        If the provider fails, only keywords are searched, and `notice` says so. The same query is answered from a cache
        for a minute, as long as nothing has changed. Raises `Cancelled` when `cancel` fires.
        """

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: Unpack[SearchOptions]
    ) -> SearchOutcome:
        """Search for passages similar to one, excluding it: by its vector and its most distinctive words.

        A passage that has no vector yet, or was selected by the user, is embedded like a query. Raises `PassageMissing`
        if nothing is indexed on these lines, else as `search`.
        """

    def answer_as(self, settings: Settings) -> None:
        """Answer later queries by these settings; a running search is not changed.

        Only the options in `ANSWERING` are used, which need no reopening or reindexing.
        """

    @property
    def kept_searches(self) -> "SavedSearches":
        """What was searched for in this workspace, and the searches that have a name."""

    @property
    def user_data(self) -> "UserData":
        """The file of all data that can't be rebuilt: its problems and its backups."""

    @property
    def facts(self) -> "Facts":
        """The remembered facts of this workspace; the same for every backend."""

    @property
    def unseen_notes(self) -> "UnseenNotes":
        """Session notes that an agent wrote and that the user has not been shown yet."""

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        """Return completions after an operator of the query language; without an operator, the operators.

        They start with `start` or, for paths, projects and titles, contain it; at most a dozen, most frequent first.
        """

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        """Text of the file with this stable name; empty for one that vanished; raises `PathRefused` otherwise."""

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> NumberedText:
        """The same file as lazily decoded lines, for files of any size. Raises `PathRefused`, `FileNotFoundError`.

        Sessions are refused: they are read with `read_session`, which masks secrets.
        """

    def locate(self, path: str) -> Path:
        """Absolute path of the file, checked like `read_file`: for an editor, a file manager or a watcher."""

    def explain_path(self, path: str, *, config: Path | None = None, cancel: CancelToken | None = None) -> PathState:
        """Explain why a path is found or not. `path` is any text that may mean one: a stable name, a path or a file
        URL.

        Reads no file, and tells of a path outside only whether it exists. `config`: settings file in which to look up
        rules, instead of the user's own. Raises `WorkspaceError`, `Cancelled`.
        """

    def sessions(self) -> tuple[SessionSummary, ...]:
        """Every session that is known, newest first; sub-agents' sessions too."""

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        """Return a session's messages, with secrets masked unless `reveal`.

        Raises `PathRefused`, `FileNotFoundError` for a deleted one, `TranscriptUnreadable`, `Cancelled`.
        """

    def raw_message(self, path: str, line: int, *, reveal: bool = False) -> str:
        """Return this line of the transcript, with secrets masked in all fields unless `reveal`.

        Raises as `read_session`; `FileNotFoundError` also for a missing line, as in an export.
        """

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        """Return similar sessions, most similar first; empty without vectors.

        Each with the cosine of the two sessions' meaning after removing what all sessions have in common.
        """

    def status(self) -> MemoryProviderStatus:
        """The whole state; never waits for a sync."""

    def sync(
        self,
        *,
        reason: SyncReason = "manual",
        force: bool = False,
        progress: ProgressCallback | None = None,
        cancel: CancelToken | None = None,
        approve: bool | EmbeddingEstimate = False,
    ) -> SyncReport:
        """Bring the index up to date. One at a time: a later caller joins the running sync and gets its report.

        `progress` is called from the syncing thread. The token pauses, resumes and cancels; cancelling returns a report
        with `cancelled` set and keeps committed changes. Embedding that costs money, or that repeats minutes of work
        with another model, does not start without approval: the report and the status contain the estimate in
        `awaiting`. `approve` approves in advance: up to an estimate, or any amount if True.
        """

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        """Estimate what completing the vectors takes, now or under other `settings`.

        Sends nothing. Raises `ProviderError` if there is no such provider, `Cancelled`.
        """

    def approve_embedding(self) -> None:
        """Approve the estimate in `status().awaiting`, or else completing the vectors of the provider in use.

        The next sync embeds them, even after a restart. Valid until every chunk has its vector.
        """

    @property
    def insight(self) -> IndexInsight | None:
        """Access to the contents of the index; None if a backend doesn't support it."""

    def stored_models(self) -> tuple[StoredModelInfo, ...]:
        """Every model that the index has vectors of, most vectors first: switching back to one of them is free."""

    def purge_model(self, provider: str, model: str, key: str) -> int:
        """Delete all vectors of a model, named as in `stored_models`; returns how many.

        Raises `IndexBusy` during a sync.
        """

    def warm_session(self, session_key: str) -> None:
        """A session with this key began: starts one background sync per key (reason `session-start`)."""

    def catch_up(self, seconds: float) -> None:
        """Wait until searches find changes made on disk before this call, at most `seconds`.

        Nearly free if nothing changed. Does nothing if the memory doesn't sync in the background, or not on searches.
        """

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        """Call `listener` (from any thread, rarely more than 10 times a second) when `status()` would differ.

        Background syncs (watch, interval, search, session start) are seen through it. Returns a remover.
        """

    def current_sync(self) -> CancelToken | None:
        """The token of the running sync, regardless of its caller: the window pauses or cancels it."""

    def probe_embedding(self) -> Probe:
        """Whether the provider answers, by embedding one word."""

    def probe_vector(self) -> Probe:
        """Whether sqlite-vec loads."""

    def close(self) -> None:
        """Cancel what runs, wait for it (well under a second) and release every handle. Twice is fine."""


class OpenBackend(Protocol):
    """How a backend is made; see `open_memory`."""

    def __call__(
        self, workspace: Path, settings: Settings, *, executor: "Executor | None", background: bool
    ) -> MemorySearchManager: ...
