"""What needs someone's attention: rows of a state, a sentence and what can be done about it."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine import NOT_EMBEDDED, FileIssue, MemoryProviderStatus
from gui.widgets.engines import IndexRemedy, index_remedy
from gui.widgets.pricing import estimate_words
from gui.widgets.state import State
from gui.widgets.sync_line import why_words_only
from gui.widgets.wording import counted, grouped

_NAMED = 3
"""Failed files that have a row each; the others share one."""
_RULES = 3


@dataclass(frozen=True)
class Attention:
    """One row. `action`: what its button says, and what the window is asked to do; empty for none."""

    key: str
    state: State
    title: str
    detail: str = ""
    action: tuple[str, str] = ("", "")


_MENDING: dict[IndexRemedy, tuple[str, str]] = {
    "": ("", ""),
    "rebuild": ("Rebuild…", "rebuild"),
    "sync": ("Try again", "sync"),
}


def attention_of(status: MemoryProviderStatus) -> tuple[Attention, ...]:
    """What the status says, the most pressing first."""
    return tuple(_rows(status))


def _rows(status: MemoryProviderStatus) -> Iterator[Attention]:
    read_only = bool(status.custom.get("readOnly"))
    if status.index_error:
        act = _MENDING[index_remedy(status)]
        title = "The index cannot be written" if read_only else "The index had a problem"
        yield Attention("index", "degraded", title, status.index_error, act)
    if status.last_sync is not None and status.last_sync.error and status.syncing is None:
        again = ("", "") if read_only else ("Try again", "sync")
        yield Attention("sync", "degraded", "The last update failed", status.last_sync.error, again)
    if not status.files:
        yield _empty(status, read_only)
    if reason := why_words_only(status):
        yield Attention("provider", "degraded", "Only words are searched", reason, ("Settings…", "settings"))
    yield from _failed(status.failed_files, read_only)
    yield from _vectors(status, read_only)
    if status.skipped_files:
        title = f"{counted(len(status.skipped_files), 'file or folder', 'files and folders')} skipped"
        yield Attention("skipped", "off", title, _by_rule(status.skipped_files), ("Show", "skipped"))


def _empty(status: MemoryProviderStatus, read_only: bool) -> Attention:
    title = "Nothing is indexed yet"
    if status.syncing is not None:
        return Attention("empty", "working", title, "What the update finds appears here as it goes.")
    found = "The last update found no note and no session." if status.last_sync else "No update has run yet."
    return Attention("empty", "off", title, found, ("", "") if read_only else ("Sync now", "sync"))


def _failed(failed: Sequence[FileIssue], read_only: bool) -> Iterator[Attention]:
    retry = ("", "") if read_only else ("Retry", "sync")
    named = failed if len(failed) <= _NAMED + 1 else failed[:_NAMED]
    for issue in named:
        act = ("Show", "failed") if issue.rule == NOT_EMBEDDED else retry
        yield Attention(f"failed {issue.path} {issue.detail}", "degraded", issue.path, issue.detail, act)
    if rest := failed[len(named) :]:
        yield Attention(
            "failed", "degraded", f"{counted(len(rest), 'more file')} failed", _by_rule(rest), ("Show", "failed")
        )


def _vectors(status: MemoryProviderStatus, read_only: bool) -> Iterator[Attention]:
    if not status.pending_vectors or status.provider == "none":
        return
    chunks = counted(status.pending_vectors, "chunk")
    if status.awaiting is not None:
        verb = "waits" if status.pending_vectors == 1 else "wait"
        title = f"{chunks} {verb} for your agreement to be embedded"
        yield Attention("awaiting", "degraded", title, estimate_words(status.awaiting), ("Embed…", "embed"))
    elif status.syncing is None:
        verb = "is" if status.pending_vectors == 1 else "are"
        act = ("", "") if read_only else ("Sync now", "sync")
        detail = "The next update gives them their vectors."
        yield Attention("pending", "working", f"{chunks} {verb} found by words only", detail, act)


def _by_rule(issues: Sequence[FileIssue]) -> str:
    """ignored-folder (28), too-large (3), 2 other rules."""
    rules = Counter(issue.rule for issue in issues).most_common()
    named = [f"{rule.replace('-', ' ')} ({grouped(count)})" for rule, count in rules[:_RULES]]
    if rest := rules[_RULES:]:
        named.append(counted(len(rest), "other rule"))
    return ", ".join(named)
