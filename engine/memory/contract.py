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

    What a backend lacks raises `Unsupported` with the sentence that `lacks` has for it.
    """

    @property
    def lacks(self) -> Mapping[Feature, str]:
        """What the backend in use cannot do, and why; the same as in the status. Changes with a fallback only."""

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: Unpack[SearchOptions]
    ) -> SearchOutcome:
        """Search by words and meaning.

        A failing provider costs the answer its vector half and is told in `notice`. The same question is answered from
        memory for a minute, as long as nothing has changed. Raises `Cancelled` when `cancel` fires.
        """

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: Unpack[SearchOptions]
    ) -> SearchOutcome:
        """Search for what is like a passage, without the passage itself: by its vector and its most telling words.

        What has no vector yet, or was selected, is embedded as a question is. Raises `PassageMissing` where nothing is
        indexed on these lines, else as `search`.
        """

    def answer_as(self, settings: Settings) -> None:
        """Answer every question that comes from now on as these settings say; one under way is not changed.

        Of all options only those of `ANSWERING` are taken, which need nothing to be opened or indexed anew.
        """

    @property
    def kept_searches(self) -> "SavedSearches":
        """What was searched for in this workspace, and the searches that have a name."""

    @property
    def user_data(self) -> "UserData":
        """The file of all that no update can rebuild: what is wrong with it, and its backups."""

    @property
    def facts(self) -> "Facts":
        """What is to be remembered of this workspace besides its notes; the same whatever keeps the index."""

    @property
    def unseen_notes(self) -> "UnseenNotes":
        """Notes of sessions that an agent had written and that the person has not been told of yet."""

    def query_values(self, operator: str, start: str) -> tuple[str, ...]:
        """What may follow an operator of the query language, by what is indexed; for none: the operators.

        Those that `start` begins or, of paths, projects and titles, is in; at most a dozen, the commonest first.
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
        """Why a path is found, or not: any text that may mean one, be it a stable name, a path or a file URL.

        No file is read, and of what lies outside nothing is told but that it is there. `config`: the settings file in
        which to look up where a rule is set, in place of the user's own. Raises `WorkspaceError`, `Cancelled`.
        """

    def sessions(self) -> tuple[SessionSummary, ...]:
        """Every session that is known, newest first; sub-agents' sessions too."""

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        """A session's messages, secrets masked unless `reveal`.

        Raises `PathRefused`, `FileNotFoundError` for one that has gone, `TranscriptUnreadable`, `Cancelled`.
        """

    def raw_message(self, path: str, line: int, *, reveal: bool = False) -> str:
        """What stands in the transcript on this line, secrets masked unless `reveal`: in its other fields, too.

        Raises as `read_session` does; `FileNotFoundError` also for a line that is not there, as in an export.
        """

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        """Sessions that are like this one, the most alike first; empty without vectors.

        With each the cosine of what the two mean beyond what all sessions have in common.
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

        `progress` is called from the syncing thread. The token pauses, resumes and cancels; cancelling returns a
        report with `cancelled` set and keeps all that was committed. Embedding that costs money, or that repeats for
        minutes what another model has done, does not begin: the report and the status say in `awaiting` what it
        takes. `approve` agrees beforehand: to what an estimate said and to no more, or with True to whatever it takes.
        """

    def estimate_embedding(
        self, settings: Settings | None = None, *, cancel: CancelToken | None = None
    ) -> EmbeddingEstimate:
        """What it would take to complete the vectors of what is indexed, now or as if `settings` were in force.

        Nothing is sent anywhere. Raises `ProviderError` when there is no such provider, `Cancelled`.
        """

    def approve_embedding(self) -> None:
        """Agree to what `status().awaiting` says, else to completing the vectors of the provider in use.

        The next sync embeds them, in this program or after another start. Holds until every chunk has its vector.
        """

    @property
    def insight(self) -> IndexInsight | None:
        """What can be told of the inside of the index; None where a backend cannot be looked into."""

    def stored_models(self) -> tuple[StoredModelInfo, ...]:
        """Every model that the index keeps vectors of, most vectors first: going back to one of them is free."""

    def purge_model(self, provider: str, model: str, key: str) -> int:
        """Delete all vectors of a model, named as in `stored_models`; returns how many.

        Raises `IndexBusy` during a sync.
        """

    def warm_session(self, session_key: str) -> None:
        """A session with this key began: starts one background sync per key (reason `session-start`)."""

    def catch_up(self, seconds: float) -> None:
        """Wait until searches find what changed on disk before this call, at most so many seconds.

        Takes next to no time where nothing changed. Without effect on a memory that does not sync by itself, or not on
        searches.
        """

    def add_status_listener(self, listener: StatusListener) -> Callable[[], None]:
        """Call `listener` (from any thread, rarely more than 10 times a second) when `status()` would differ.

        Background syncs (watch, interval, search, session start) are seen through it. Returns a remover.
        """

    def current_sync(self) -> CancelToken | None:
        """The token of the sync that runs now, whoever started it: lets the window pause or cancel it."""

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
