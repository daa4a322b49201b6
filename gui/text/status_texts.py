"""Texts about the index (search engine, fallback, skipped files, sync), made from a status record."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple

from engine import (
    PROVIDERS,
    FileIssue,
    MemoryProviderStatus,
    MemorySyncProgressUpdate,
    files_covered,
    marked,
    number,
    tr,
    tr_count,
    tr_reason,
)
from gui.text.formatting import (
    ago,
    duration,
    exact,
    files_text,
    money,
    notes_text,
    passages_text,
    sessions_text,
    vectors_text,
)

State = Literal["fine", "working", "degraded", "off"]
"""How well a part of the program works, shown as a dot."""
_STATE_WORDS: dict[State, str] = {
    "fine": marked("fine"),
    "working": marked("working"),
    "degraded": marked("degraded"),
    "off": marked("off"),
}
INDEXED_ELSEWHERE = "kept-elsewhere"
"""The engine's rule for sessions that belong to other workspaces."""
_MAX_NAMED = 2
"""Maximum number of folders whose sessions belong to other workspaces and that are named."""
BUILTIN = "builtin"
_NAMES = {BUILTIN: marked("built-in index"), "lancedb": "LanceDB"}
IndexRemedy = Literal["rebuild", "retry", "sync"]


class FailedService(NamedTuple):
    """The engine or provider that a fallback replaces, and the reason."""

    chosen: str
    """Name in the settings."""
    reason: str


def with_state(words: str, state: State | None) -> str:
    """Return "words (state)" for screen readers, or only `words` if the state is "fine" or None."""
    if state in (None, "fine"):
        return words
    return tr("{words} ({state})", words=words, state=tr(_STATE_WORDS[state]))


def engine_name(backend: str) -> str:
    """Return the display name of a search engine: `builtin` -> "built-in index"."""
    return tr(_NAMES.get(backend, backend))


def failed_engine(status: MemoryProviderStatus) -> FailedService | None:
    """Return the engine of the settings if a fallback replaces it, else None."""
    if status.fallback is None or "fallback" not in status.custom:
        return None
    return FailedService(status.fallback.from_, status.fallback.reason)


def why_no_update(status: MemoryProviderStatus) -> str:
    """Return why no update can be started; empty if it can, also on a full disk, which may have room again."""
    return "" if status.custom.get("diskFull") else str(status.custom.get("readOnly") or "")


def index_remedy(status: MemoryProviderStatus) -> IndexRemedy:
    """Return the action that may fix `index_error`: only the built-in index is rebuilt, others are synced again.

    An index that could not be written is tried again.
    """
    if status.custom.get("readOnly"):
        return "retry"
    return "rebuild" if status.backend == BUILTIN else "sync"


def failed_provider(status: MemoryProviderStatus) -> FailedService | None:
    """Return the embedding provider of the settings if a fallback replaces it, else None."""
    if failed_engine(status) is not None:
        hidden = status.custom.get("providerFallback") or {}
        return FailedService(provider_label(str(hidden["from"])), str(hidden["reason"])) if hidden else None
    replaced = status.fallback
    return None if replaced is None else FailedService(provider_label(replaced.from_), replaced.reason)


_WORDS = {
    "bad-name": marked("unusable file name"),
    "binary": marked("binary file"),
    "broken": marked("damaged file"),
    "copied": marked("copied"),
    "crashed": marked("crashed the program"),
    "exclude": marked("excluded in the settings"),
    "extension": marked("other file extension"),
    "archive": marked("archive"),
    "generated": marked("generated file"),
    "hidden": marked("hidden"),
    "ignored-folder": marked("ignored folder"),
    INDEXED_ELSEWHERE: marked("in another workspace"),
    "missing": marked("missing file"),
    "no-transcript": marked("not a transcript"),
    "not-a-file": marked("not a file"),
    "not-embedded": marked("not embedded"),
    "not-included": marked("not included"),
    "not-notes": marked("not a note"),
    "not-text": marked("not text"),
    "not-utf8": marked("not UTF-8"),
    "outside-memory": marked("outside the memory folder"),
    "packed-twice": marked("compressed copy of a transcript"),
    "part-of-session": marked("part of a session"),
    "secret": marked("file with secrets"),
    "source-off": marked("source turned off"),
    "symlink": marked("symbolic link"),
    "too-large": marked("too large"),
    "unknown-format": marked("unknown format"),
    "unreadable": marked("unreadable"),
}


def nothing_indexed(status: MemoryProviderStatus) -> str:
    """Return a sentence about an update that found nothing to index; it mentions sessions only if they are read."""
    if "sessions" in status.sources:
        return tr("The last update found no note and no session.")
    return tr("The last update found no note.")


def sessions_elsewhere(status: MemoryProviderStatus) -> str:
    """Return a notice about sessions in the chosen folders that are indexed in other workspaces; empty without any."""
    excluded = [
        f"{issue.path}: {tr_reason(issue.detail)}" for issue in status.skipped_files if issue.rule == INDEXED_ELSEWHERE
    ]
    if more := len(excluded[_MAX_NAMED:]):
        others = tr_count("{count:,} similar message is not shown.", "{count:,} similar messages are not shown.", more)
        excluded[_MAX_NAMED:] = [others]
    return " ".join([*excluded, tr("Search all workspaces to find them here.")]) if excluded else ""


def skipped_count(issues: Iterable[FileIssue]) -> int:
    """Return the number of skipped files; a folder counts once, and some entries stand for several files."""
    return sum(files_covered(issue.detail) for issue in issues)


def rule_text(rule: str) -> str:
    """Return the name of a skip rule: `ignored-folder` -> ignored folder; unknown rules are returned unchanged."""
    return tr(_WORDS[rule]) if rule in _WORDS else rule.replace("-", " ")


STALL_SECONDS = 10
_LOADING_SECONDS = 30
"""Seconds before the first passages are embedded on this machine: the model is loaded meanwhile."""

PHASE_WORDS = {
    "waiting": marked("Waiting"),
    "discovering": marked("Looking for files"),
    "indexing": marked("Indexing"),
    "embedding": marked("Embedding"),
    "publishing": marked("Saving"),
    "done": marked("Finishing"),
}
REASON_WORDS = {
    "session-start": marked("session start"),
    "search": marked("search"),
    "watch": marked("files changed"),
    "session-delta": marked("session has grown"),
    "interval": marked("regular update"),
    "cli": marked("started on the command line"),
    "manual": marked("started by you"),
    "fallback": marked("fallback"),
}
RUNNING_WORDS = (*PHASE_WORDS.values(), marked("Paused"), marked("Stalled"))
"""Every word that may precede the progress bar: they share one width."""


@dataclass(frozen=True)
class SyncLine:
    """The texts of the bottom bar, left to right. Empty texts are not shown."""

    state: State
    word: str
    fraction: float | None = None
    """Done share of a running sync, None when none runs; 0 while the total is unknown."""
    count: str = ""
    detail: str = ""
    file: str = ""
    failed: int = 0
    paused: bool = False
    tip: str = ""

    @property
    def running(self) -> bool:
        return self.fraction is not None


def sync_line(status: MemoryProviderStatus, *, now: float, stalled_for: float) -> SyncLine:
    """Make the texts of the bottom bar.

    `now`: seconds since the epoch. `stalled_for`: seconds without progress of the running sync.
    """
    if status.syncing is not None:
        return _running(status, status.syncing, stalled_for)
    if status.index_error and not status.files:
        return SyncLine("degraded", tr("Index problem"), detail=status.index_error, tip=status.index_error)
    if status.writer_elsewhere:
        return SyncLine("working", tr("Another program is indexing"), detail=tr("You can search meanwhile."))
    return _idle_line(status, now)


def _pending_vectors(status: MemoryProviderStatus) -> str:
    """Describe how many chunks have no vectors yet, so that they can't be found by meaning; empty for none."""
    if not status.pending_vectors or status.provider == "none":
        return ""
    count = status.pending_vectors
    if status.awaiting_approval is None:
        return tr_count("{count:,} passage without a vector yet", "{count:,} passages without a vector yet", count)
    return tr_count("{count:,} passage waits for your approval", "{count:,} passages wait for your approval", count)


def _running(status: MemoryProviderStatus, step: MemorySyncProgressUpdate, stalled_for: float) -> SyncLine:
    # The current cost has priority over earlier savings.
    saved = tr("{cost} so far", cost=money(step.cost)) if step.cost else _reused(step.reused)
    if status.paused:
        return _running_line(status, step, "off", tr("Paused"), saved)
    # The end of another process, and of batch jobs, can't be predicted.
    waiting = tr(PHASE_WORDS["waiting"])
    if step.phase == "waiting":
        return _running_line(status, step, "working", waiting, tr("another program is writing this index"))
    if step.waiting:
        jobs = tr_count(
            "for {count:,} batch job of {provider}",
            "for {count:,} batch jobs of {provider}",
            step.waiting,
            provider=status.provider,
        )
        return _running_line(status, step, "working", waiting, jobs, saved)
    loading = step.phase == "embedding" and not step.completed and status.provider in ("embedded", "gguf")
    if stalled_for >= (_LOADING_SECONDS if loading else STALL_SECONDS):
        still = _no_progress(step.current_file.rpartition("/")[2], stalled_for)
        return _running_line(status, step, "degraded", tr("Stalled"), still)
    time_left = "" if step.seconds_left is None else _time_left(step.seconds_left)
    return _running_line(status, step, "working", tr(PHASE_WORDS[step.phase]), _rate(step.rate), time_left, saved)


def _running_line(
    status: MemoryProviderStatus, step: MemorySyncProgressUpdate, state: State, word: str, *details: str
) -> SyncLine:
    return SyncLine(
        state,
        word,
        fraction=min(1.0, step.completed / step.total) if step.total else 0.0,
        count=progress_text(step, step.completed) if step.total else "",
        detail=" · ".join(part for part in details if part),
        file=step.current_file,
        paused=status.paused,
        tip=tr(
            "Reused {vectors}, embedded {chunks} ({reason}).",
            vectors=vectors_text(step.reused),
            chunks=passages_text(step.embedded),
            reason=tr(REASON_WORDS[step.reason]),
        ),
    )


def progress_text(step: MemorySyncProgressUpdate, completed: int) -> str:
    """Describe how much of a step is completed, and of how much in total."""
    if step.phase == "embedding":
        return tr("{completed:,} of {total:,} passages", completed=completed, total=step.total)
    return tr("{completed:,} of {total:,} files", completed=completed, total=step.total)


def longest_detail() -> str:
    """Return approximately the longest text next to the progress bar, except errors, to reserve its width."""
    return " · ".join((_rate(8888), _time_left(5288), _reused(888_888)))


def _rate(rate: float) -> str:
    return f"{number(rate, ',.0f')}/s" if rate >= 1 else ""


def _time_left(seconds: float) -> str:
    return tr("{time} left", time=duration(seconds))


def _reused(count: int) -> str:
    return tr("reused {count:,}", count=count) if count else ""


def _no_progress(file: str, seconds: float) -> str:
    time = duration(seconds)
    if file:
        return tr("on {file}, no progress for {time}", file=file, time=time)
    return tr("no progress for {time}", time=time)


def _indexed(status: MemoryProviderStatus) -> str:
    """Describe how much is indexed, separately for notes and sessions, and by which engine if not the built-in one."""
    by = f"{engine_name(status.backend)}: " if status.backend != BUILTIN else ""
    files = {count.source: count.files for count in status.source_counts}
    if not files.get("sessions"):
        return by + files_text(status.files)
    sessions = sessions_text(files["sessions"])
    if "memory" not in status.sources:
        return by + sessions
    return f"{by}{notes_text(files.get('memory', 0))} · {sessions}"


def why_keywords_only(status: MemoryProviderStatus) -> str:
    """Return why the provider of the settings isn't used; empty if it is."""
    if status.provider != "none" or status.requested_provider == "none":
        return ""
    return str(status.custom.get("providerUnavailableReason") or tr("No model is available."))


def without_failure(notice: str, failure: str) -> str:
    """Return the notice of a search without the reason why the last update failed, if any: the banner shows it."""
    return notice.replace(f". {failure}", ".") if failure else notice


def is_untouched(status: MemoryProviderStatus) -> bool:
    """Whether nothing is indexed, no update runs or ever ran, and there is no problem."""
    return not (status.files or status.last_sync or status.syncing or status.index_error or status.writer_elsewhere)


def _idle_line(status: MemoryProviderStatus, now: float) -> SyncLine:
    if reason := str(status.custom.get("readOnly") or ""):
        return SyncLine("degraded", tr("Index is read-only"), count=_indexed(status), detail=reason, tip=reason)
    last = status.last_sync
    files = _indexed(status)
    when = ago(last.started + last.seconds, now) if last else ""
    tip = tr("Last update: {when}.", when=exact(last.started + last.seconds)) if last else ""
    failed = len(status.failed_files)
    if last and last.error:  # the banner gives the reason
        return SyncLine("degraded", tr("Update failed"), count=files, detail=when, failed=failed, tip=last.error)
    unfinished = " · ".join(part for part in (_pending_vectors(status), _under_way(status), when) if part)
    if last and last.cancelled:
        return SyncLine("off", tr("Stopped"), count=files, detail=unfinished, failed=failed, tip=tip)
    if is_untouched(status):
        return SyncLine("off", tr("Nothing indexed yet"))
    if reason := why_keywords_only(status):
        detail = " · ".join(part for part in (reason, when) if part)
        return SyncLine("degraded", tr("Keyword search only"), count=files, detail=detail, failed=failed, tip=reason)
    if status.dirty:
        return SyncLine("working", tr("Changes waiting"), count=files, detail=when, failed=failed, tip=tip)
    if status.pending_vectors and status.provider != "none":
        state: State = "working" if status.awaiting_approval is None else "degraded"
        return SyncLine(state, tr("Keyword search is ready"), count=files, detail=unfinished, failed=failed, tip=tip)
    if instead := failed_engine(status):
        detail = f"{_instead_of(engine_name(status.backend), engine_name(instead.chosen))} · {when}"
        return SyncLine("degraded", tr("Up to date"), count=files, detail=detail, failed=failed, tip=instead.reason)
    if instead := failed_provider(status):
        detail = f"{_instead_of(provider_label(status.provider), instead.chosen)} · {when}"
        return SyncLine("degraded", tr("Up to date"), count=files, detail=detail, failed=failed, tip=instead.reason)
    state = "degraded" if failed else "fine"
    return SyncLine(state, tr("Up to date"), count=files, detail=when, failed=failed, tip=tip)


def _under_way(status: MemoryProviderStatus) -> str:
    jobs = len(status.batch.jobs)
    return tr_count("{count:,} batch job under way", "{count:,} batch jobs under way", jobs) if jobs else ""


def _instead_of(answering: str, chosen: str) -> str:
    return tr("{answering} instead of {chosen}", answering=answering, chosen=chosen)


def provider_label(name: str) -> str:
    """Return an embedding provider as the settings name it; any other name is unchanged."""
    return next((tr(provider.label) for provider in PROVIDERS if provider.name == name), name)
