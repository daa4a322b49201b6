"""A small window about one sync: what it did, why it ended, and which files failed."""

from PySide6.QtWidgets import QDialog, QGridLayout, QVBoxLayout, QWidget

from engine import KeptSync, tr, tr_count
from gui.style.typography import font_scale
from gui.widgets.charts.sync_history import outcome_of
from gui.widgets.formatting import duration, exact, grouped
from gui.widgets.issues_table import IssuesTable
from gui.widgets.labels import breakable, label
from gui.widgets.pricing import spent_words
from gui.widgets.sync_line import REASON_WORDS
from gui.widgets.text_sheet import sheet

_WIDTH, _AROUND = 460, 80


def show_sync(sync: KeptSync, parent: QWidget) -> QDialog:
    """Facts first, then the failed files that the history has kept."""
    content = QWidget()
    content.setMinimumWidth(min(round(_WIDTH * font_scale()), parent.window().width() - _AROUND))
    column = QVBoxLayout(content)
    column.setContentsMargins(0, 0, 0, 0)
    column.setSpacing(10)
    grid = QGridLayout()
    grid.setHorizontalSpacing(16)
    grid.setVerticalSpacing(5)
    grid.setColumnStretch(1, 1)
    for row, (name, value) in enumerate(_facts(sync)):
        grid.addWidget(label(name, "muted"), row, 0)
        grid.addWidget(label(breakable(value), wrap=True), row, 1)
    column.addLayout(grid)
    if sync.failed:
        failed = tr_count("{count:,} file failed.", "{count:,} files failed.", sync.files_failed)
        if sync.files_failed > len(sync.failed):
            failed += " " + tr("The first {count} are kept.", count=len(sync.failed))
        column.addWidget(label(failed, "section", wrap=True))
        table = IssuesTable()
        table.setAccessibleName(tr("Files that failed"))
        table.show_records(sync.failed)
        detail = label("", "meta", wrap=True)
        table.chosen.connect(lambda text: detail.setText(breakable(text)))
        column.addWidget(table)
        column.addWidget(detail)
    return sheet(tr("Sync"), content, parent)


def _facts(sync: KeptSync) -> list[tuple[str, str]]:
    vectors = tr("{embedded:,} embedded, reused not noted", embedded=sync.vectors_embedded)
    if sync.vectors_reused is not None:
        vectors = tr(
            "{embedded:,} embedded, {reused:,} reused", embedded=sync.vectors_embedded, reused=sync.vectors_reused
        )
    files = tr("{indexed:,} indexed, {removed:,} removed", indexed=sync.files_indexed, removed=sync.files_removed)
    facts = [
        (tr("Began"), exact(sync.started)),
        (tr("Why"), tr(REASON_WORDS[sync.reason])),
        (tr("Took"), duration(sync.seconds)),
        (tr("Files"), files),
        (tr("Chunks"), grouped(sync.chunks_indexed)),
        (tr("Vectors"), vectors),
        (tr("Cost"), spent_words(sync.tokens, sync.cost)),
        (tr("Outcome"), outcome_of(sync)),
    ]
    return [(name, value) for name, value in facts if value]
