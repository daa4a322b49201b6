"""Items that need attention: a state, a sentence and an action."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from engine import NOT_EMBEDDED, FileIssue, MemoryProviderStatus, marked, tr, tr_count, tr_reason
from gui.widgets.engine_names import IndexRemedy, index_remedy
from gui.widgets.formatting import grouped
from gui.widgets.pricing import estimate_words
from gui.widgets.skip_rules import files_left_out, rule_words
from gui.widgets.state import State
from gui.widgets.sync_line import why_words_only

_NAMED = 3
"""Failed files that have a row each; the others share one."""
_RULES = 3


@dataclass(frozen=True)
class Attention:
    """One row. `action`: label of its button, and the requested action; empty for none."""

    key: str
    state: State
    title: str
    detail: str = ""
    action: tuple[str, str] = ("", "")


_MENDING: dict[IndexRemedy, tuple[str, str]] = {
    "": ("", ""),
    "rebuild": (marked("Rebuild…"), "rebuild"),
    "sync": (marked("Try again"), "sync"),
}


def attention_of(status: MemoryProviderStatus) -> tuple[Attention, ...]:
    """The items of the status, most urgent first."""
    return tuple(_rows(status))


def _rows(status: MemoryProviderStatus) -> Iterator[Attention]:
    read_only = bool(status.custom.get("readOnly"))
    if status.index_error:
        words, act = _MENDING[index_remedy(status)]
        title = tr("The index cannot be written") if read_only else tr("The index had a problem")
        yield Attention("index", "degraded", title, tr(status.index_error), (tr(words), act))
    if (data := status.user_data) is not None:
        restore = ("", "") if data.backup is None else (tr("Restore backup"), "restore-data")
        yield Attention("user-data", "degraded", tr("Your data can't be read"), tr(data.problem), restore)
    if status.last_sync is not None and status.last_sync.error and status.syncing is None:
        again = ("", "") if read_only else (tr("Try again"), "sync")
        yield Attention("sync", "degraded", tr("The last update failed"), tr(status.last_sync.error), again)
    if not status.files:
        yield _empty(status, read_only)
    if reason := why_words_only(status):
        yield Attention("provider", "degraded", tr("Only words are searched"), reason, (tr("Settings…"), "settings"))
    yield from _failed(status.failed_files, read_only)
    yield from _vectors(status, read_only)
    if status.skipped_files:
        skipped = files_left_out(status.skipped_files)
        title = tr_count("{count:,} file or folder skipped", "{count:,} files and folders skipped", skipped)
        yield Attention("skipped", "off", title, _by_rule(status.skipped_files), (tr("Show"), "skipped"))


def _empty(status: MemoryProviderStatus, read_only: bool) -> Attention:
    title = tr("Nothing is indexed yet")
    if status.syncing is not None:
        return Attention("empty", "working", title, tr("Results of the update appear here as it runs."))
    found = tr("The last update found no note and no session.") if status.last_sync else tr("No update has run yet.")
    return Attention("empty", "off", title, found, ("", "") if read_only else (tr("Update now"), "sync"))


def _failed(failed: Sequence[FileIssue], read_only: bool) -> Iterator[Attention]:
    retry = ("", "") if read_only else (tr("Retry"), "sync")
    named = failed if len(failed) <= _NAMED + 1 else failed[:_NAMED]
    for issue in named:
        act = (tr("Show"), "failed") if issue.rule == NOT_EMBEDDED else retry
        yield Attention(f"failed {issue.path} {issue.detail}", "degraded", issue.path, tr_reason(issue.detail), act)
    if rest := failed[len(named) :]:
        title = tr_count("{count:,} more file failed", "{count:,} more files failed", len(rest))
        yield Attention("failed", "degraded", title, _by_rule(rest), (tr("Show"), "failed"))


def _vectors(status: MemoryProviderStatus, read_only: bool) -> Iterator[Attention]:
    if not status.pending_vectors or status.provider == "none":
        return
    if status.awaiting is not None:
        title = tr_count(
            "{count:,} chunk waits for your agreement to be embedded",
            "{count:,} chunks wait for your agreement to be embedded",
            status.pending_vectors,
        )
        yield Attention("awaiting", "degraded", title, estimate_words(status.awaiting), (tr("Embed…"), "embed"))
    elif status.syncing is None:
        title = tr_count(
            "{count:,} chunk is found by words only", "{count:,} chunks are found by words only", status.pending_vectors
        )
        act = ("", "") if read_only else (tr("Update now"), "sync")
        yield Attention("pending", "working", title, tr("The next update gives them their vectors."), act)


def _by_rule(issues: Sequence[FileIssue]) -> str:
    """ignored folder (28), too large (3), 2 other rules."""
    counted: Counter[str] = Counter()
    for issue in issues:
        counted[issue.rule] += files_left_out((issue,))
    rules = counted.most_common()
    named = [f"{rule_words(rule)} ({grouped(count)})" for rule, count in rules[:_RULES]]
    if rest := rules[_RULES:]:
        named.append(tr_count("{count:,} other rule", "{count:,} other rules", len(rest)))
    return ", ".join(named)
