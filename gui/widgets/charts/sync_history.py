"""The history of syncs as chart data and as sentences."""

import math
from collections.abc import Sequence

from engine import SyncSummary, marked, tr, tr_count
from gui.text.formatting import ago, duration, exact, files_text, passages_text, vectors_text
from gui.text.status_texts import REASON_WORDS
from gui.widgets.charts.chart import Mark, Series, TableColumn, figure_cell

SYNC_COLUMNS = (
    TableColumn(marked("When"), 26),
    TableColumn(marked("Reason"), 14),
    TableColumn(marked("Duration"), 12, figures=True),
    TableColumn(marked("Files"), 8, figures=True),
    TableColumn(marked("Passages"), 9, figures=True),
    TableColumn(marked("Reused"), 9, figures=True),
    TableColumn(marked("Embedded"), 11, figures=True),
    TableColumn(marked("Failed"), 8, figures=True),
    TableColumn(marked("Outcome"), 30),
)


def sync_series(syncs: Sequence[SyncSummary], now: float | None = None) -> Series:
    """Return a bar for each sync, newest last.

    Heights follow the square root of the work, so that a day's small changes stay visible next to a first run; a sync
    without work is visible, too.
    """
    if not syncs:
        return Series(idle_label=tr("No update yet."))
    marks = tuple(_sync_mark(sync, now) for sync in syncs)
    bad = sum(mark.failed for mark in marks)
    return Series(
        marks,
        summary=_summary(len(syncs), bad, sync_sentence(syncs[-1])),
        idle_label=marks[-1].caption,
    )


def _summary(many: int, bad: int, newest: str) -> str:
    if not bad:
        return tr_count(
            "{count:,} update, none with an error. The newest: {newest}",
            "{count:,} updates, none with an error. The newest: {newest}",
            many,
            newest=newest,
        )
    return tr_count(
        "{count:,} update, {bad:,} with an error. The newest: {newest}",
        "{count:,} updates, {bad:,} with an error. The newest: {newest}",
        many,
        bad=bad,
        newest=newest,
    )


def _sync_mark(sync: SyncSummary, now: float | None) -> Mark:
    reason, outcome = tr(REASON_WORDS[sync.reason]), outcome_of(sync)
    return Mark(
        (1 + math.sqrt(sync.chunks_indexed + sync.vectors_embedded),),
        f"{ago(sync.started + sync.seconds, now)} · {reason} · {_changed(sync)}",
        (
            (exact(sync.started), sync.started),
            (reason, reason),
            (duration(sync.seconds), sync.seconds),
            figure_cell(sync.files_indexed),
            figure_cell(sync.chunks_indexed),
            figure_cell(sync.vectors_reused),
            figure_cell(sync.vectors_embedded),
            figure_cell(sync.files_failed),
            (outcome, outcome),
        ),
        failed=bool(sync.error),
        detail=sync_sentence(sync),
    )


def _changed(sync: SyncSummary) -> str:
    if sync.error:
        return tr("failed")
    if sync.cancelled:
        return tr("stopped")
    done = passages_text(max(sync.chunks_indexed, sync.vectors_embedded))
    return ", ".join(filter(None, (done, _failed(sync))))


def _failed(sync: SyncSummary) -> str:
    if not sync.files_failed:
        return ""
    return tr_count("{count:,} file failed", "{count:,} files failed", sync.files_failed)


def outcome_of(sync: SyncSummary) -> str:
    """Return the outcome of a sync: its error, "stopped", "rebuilt" or "done"."""
    if sync.error:
        return tr(sync.error)
    if sync.cancelled:
        return tr("stopped")
    return tr("rebuilt") if sync.full else tr("done")


def sync_sentence(sync: SyncSummary) -> str:
    """Describe a sync in a sentence, without its failed files."""
    done = (
        files_text(sync.files_indexed),
        passages_text(sync.chunks_indexed),
        vectors_text(sync.vectors_embedded),
        tr("vectors reused: {count:,}", count=sync.vectors_reused) if sync.vectors_reused else "",
        _failed(sync),
    )
    outcome_text = tr(
        "{when}, {reason}: {done} in {duration}.",
        when=exact(sync.started),
        reason=tr(REASON_WORDS[sync.reason]),
        done=", ".join(filter(None, done)),
        duration=duration(sync.seconds),
    )
    return f"{outcome_text} {tr(sync.error)}".strip()
