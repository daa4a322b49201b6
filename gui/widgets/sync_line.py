"""What the sync bar says, worked out from the status record alone."""

from dataclasses import dataclass

from engine import MemoryProviderStatus, MemorySyncProgressUpdate
from gui.widgets.engines import BUILTIN, engine_instead, engine_name, provider_instead
from gui.widgets.pricing import money
from gui.widgets.state import State
from gui.widgets.wording import ago, counted, duration, exact, grouped

STALL_SECONDS = 10

PHASE_WORDS = {
    "waiting": "Waiting",
    "discovering": "Looking for files",
    "indexing": "Indexing",
    "embedding": "Embedding",
    "publishing": "Publishing",
    "done": "Finishing",
}
REASON_WORDS = {
    "session-start": "session start",
    "search": "search",
    "watch": "watch",
    "session-delta": "session grew",
    "interval": "interval",
    "cli": "command line",
    "manual": "by hand",
    "fallback": "fallback",
}
RUNNING_WORDS = (*PHASE_WORDS.values(), "Paused", "Stalled")
"""Every word that may stand before the progress bar: they share one width."""


@dataclass(frozen=True)
class SyncLine:
    """One line, left to right. Empty texts are not shown."""

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


def sync_line(status: MemoryProviderStatus, *, now: float, still_for: float) -> SyncLine:
    """`now`: seconds since the epoch; `still_for`: seconds since the running sync last moved."""
    if status.syncing is not None:
        return _running(status, status.syncing, still_for)
    if status.index_error and not status.files:
        return SyncLine("degraded", "Index problem", detail=status.index_error, tip=status.index_error)
    if status.writer_elsewhere:
        return SyncLine("working", "Another window is indexing", detail="Searching works meanwhile.")
    return _resting(status, now)


def _without_meaning(status: MemoryProviderStatus) -> str:
    """How much cannot be found by meaning yet, empty where nothing is left to embed."""
    if not status.pending_vectors or status.provider == "none":
        return ""
    left = counted(status.pending_vectors, "chunk")
    if status.awaiting is None:
        return f"{left} without meaning yet"
    return f"{left} {'waits' if status.pending_vectors == 1 else 'wait'} for your agreement"


def _running(status: MemoryProviderStatus, step: MemorySyncProgressUpdate, still_for: float) -> SyncLine:
    # Batch jobs are done when their provider likes, and another process when it likes.
    queued = step.phase == "waiting"
    waiting = (queued or bool(step.waiting)) and not status.paused
    stalled = not (status.paused or waiting) and still_for >= STALL_SECONDS
    word = "Paused" if status.paused else "Stalled" if stalled else "Waiting" if waiting else PHASE_WORDS[step.phase]
    unit = "chunks" if step.phase == "embedding" else "files"
    reused = f"reused {grouped(step.reused)}" if step.reused else ""
    # What is paid now matters more than what was saved before.
    saved = f"{money(step.cost)} so far" if step.cost else reused
    if stalled:
        where = f"on {step.current_file.rpartition('/')[2]}, " if step.current_file else ""
        parts = [f"{where}no progress for {duration(still_for)}"]
    elif status.paused:
        parts = [saved]
    elif queued:
        parts = ["another Mnemoscope is writing this index"]
    elif waiting:
        parts = [f"for {counted(step.waiting, 'batch job')} of {status.provider}", saved]
    else:
        rate = f"{step.rate:,.0f}/s" if step.rate >= 1 else ""
        left = f"{duration(step.seconds_left)} left" if step.seconds_left is not None else ""
        parts = [rate, left, saved]
    return SyncLine(
        "degraded" if stalled else "off" if status.paused else "working",
        word,
        fraction=min(1.0, step.completed / step.total) if step.total else 0.0,
        count=f"{grouped(step.completed)} of {grouped(step.total)} {unit}" if step.total else "",
        detail=" · ".join(part for part in parts if part),
        file=step.current_file,
        paused=status.paused,
        tip=f"Reused {counted(step.reused, 'vector')}, embedded {counted(step.embedded, 'chunk')} ({step.reason}).",
    )


def _indexed(status: MemoryProviderStatus) -> str:
    """How much is indexed, of each source where there are sessions too; by whom, where it is not this program."""
    by = f"{engine_name(status.backend)}: " if status.backend != BUILTIN else ""
    files = {count.source: count.files for count in status.source_counts}
    if not files.get("sessions"):
        return by + counted(status.files, "file")
    return f"{by}{counted(files.get('memory', 0), 'note')} · {counted(files['sessions'], 'session')}"


def why_words_only(status: MemoryProviderStatus) -> str:
    """Why there is no provider though the settings ask for one; empty where all is as they say."""
    if status.provider != "none" or status.requested_provider == "none":
        return ""
    return str(status.custom.get("providerUnavailableReason") or "No model is available.")


def _resting(status: MemoryProviderStatus, now: float) -> SyncLine:
    if reason := str(status.custom.get("readOnly") or ""):
        return SyncLine("degraded", "Read only", count=_indexed(status), detail=reason, tip=reason)
    last = status.last_sync
    files = _indexed(status)
    when = ago(last.started + last.seconds, now) if last else ""
    tip = f"Last update: {exact(last.started + last.seconds)}." if last else ""
    failed = len(status.failed_files)
    if last and last.error:
        return SyncLine("degraded", "Update failed", count=files, detail=last.error, failed=failed, tip=last.error)
    jobs = f"{counted(len(status.batch.jobs), 'batch job')} under way" if status.batch.jobs else ""
    unfinished = " · ".join(part for part in (_without_meaning(status), jobs, when) if part)
    if last and last.cancelled:
        return SyncLine("off", "Stopped", count=files, detail=unfinished, failed=failed, tip=tip)
    if last is None and not status.files:
        return SyncLine("off", "Nothing indexed yet")
    if reason := why_words_only(status):
        detail = " · ".join(part for part in (reason, when) if part)
        return SyncLine("degraded", "Words only", count=files, detail=detail, failed=failed, tip=reason)
    if status.dirty:
        return SyncLine("working", "Changes waiting", count=files, detail=when, failed=failed, tip=tip)
    if status.pending_vectors and status.provider != "none":
        state: State = "working" if status.awaiting is None else "degraded"
        return SyncLine(state, "Words are ready", count=files, detail=unfinished, failed=failed, tip=tip)
    if instead := engine_instead(status):
        detail = f"{engine_name(status.backend)} instead of {engine_name(instead.chosen)} · {when}"
        return SyncLine("degraded", "Up to date", count=files, detail=detail, failed=failed, tip=instead.reason)
    if instead := provider_instead(status):
        detail = f"{status.provider} instead of {instead.chosen} · {when}"
        return SyncLine("degraded", "Up to date", count=files, detail=detail, failed=failed, tip=instead.reason)
    return SyncLine("fine", "Up to date", count=files, detail=when, failed=failed, tip=tip)
