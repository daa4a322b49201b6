"""The history of syncs as bars, rows and sentences."""

import math
from collections.abc import Sequence

from engine import SyncSummary
from gui.charts.card import TableColumn
from gui.charts.series import Mark, Series, figure_cell
from gui.widgets.sync_line import REASON_WORDS
from gui.widgets.wording import ago, counted, duration, exact, grouped

SYNC_COLUMNS = (
    TableColumn("When", 26),
    TableColumn("Why", 14),
    TableColumn("Took", 12, figures=True),
    TableColumn("Files", 8, figures=True),
    TableColumn("Chunks", 9, figures=True),
    TableColumn("Reused", 9, figures=True),
    TableColumn("Embedded", 11, figures=True),
    TableColumn("Failed", 8, figures=True),
    TableColumn("Outcome", 30),
)


def sync_series(syncs: Sequence[SyncSummary], now: float | None = None) -> Series:
    """Syncs, newest last. Heights follow the square root of what was done, so that a day's small changes stay visible
    beside a first run; one that did nothing is visible, too."""
    if not syncs:
        return Series(resting="No sync yet.")
    marks = tuple(_sync_mark(sync, now) for sync in syncs)
    bad = sum(mark.failed for mark in marks)
    newest = syncs[-1]
    return Series(
        marks,
        gist=f"{counted(len(syncs), 'sync')}, {grouped(bad) if bad else 'none'} with an error. "
        f"The newest: {sync_sentence(newest)}",
        resting=marks[-1].caption,
    )


def _sync_mark(sync: SyncSummary, now: float | None) -> Mark:
    failed = sync.files_failed
    return Mark(
        (1 + math.sqrt(sync.chunks_indexed + sync.vectors_embedded),),
        f"{ago(sync.started + sync.seconds, now)} · {REASON_WORDS[sync.reason]} · {_changed(sync)}",
        (
            (exact(sync.started), sync.started),
            (REASON_WORDS[sync.reason], REASON_WORDS[sync.reason]),
            (duration(sync.seconds), sync.seconds),
            figure_cell(sync.files_indexed),
            figure_cell(sync.chunks_indexed),
            figure_cell(sync.vectors_reused),
            figure_cell(sync.vectors_embedded),
            figure_cell(failed),
            (outcome_of(sync), outcome_of(sync)),
        ),
        failed=bool(sync.error),
        detail=sync_sentence(sync),
    )


def _changed(sync: SyncSummary) -> str:
    if sync.error:
        return "failed"
    if sync.cancelled:
        return "stopped"
    failed = f", {counted(sync.files_failed, 'file')} failed" if sync.files_failed else ""
    return counted(max(sync.chunks_indexed, sync.vectors_embedded), "chunk") + failed


def outcome_of(sync: SyncSummary) -> str:
    """How it ended, in words."""
    if sync.error:
        return sync.error
    if sync.cancelled:
        return "stopped"
    return "rebuilt" if sync.full else "done"


def sync_sentence(sync: SyncSummary) -> str:
    """Everything about a sync but the files that failed."""
    reused = "" if not sync.vectors_reused else f", {grouped(sync.vectors_reused)} reused"
    failed = "" if not sync.files_failed else f", {counted(sync.files_failed, 'file')} failed"
    return (
        f"{exact(sync.started)}, {REASON_WORDS[sync.reason]}: {counted(sync.files_indexed, 'file')}, "
        f"{counted(sync.chunks_indexed, 'chunk')}, {counted(sync.vectors_embedded, 'vector')}{reused}{failed} in "
        f"{duration(sync.seconds)}. {sync.error}"
    ).strip()
