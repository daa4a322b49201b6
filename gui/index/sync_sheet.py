"""A small window about one sync: what it did, why it ended, and which files failed."""

from PySide6.QtWidgets import QDialog, QGridLayout, QVBoxLayout, QWidget

from engine import KeptSync
from gui.charts.syncs import outcome_of
from gui.sheets import sheet
from gui.widgets.issues_table import IssuesTable
from gui.widgets.labels import breakable, label
from gui.widgets.pricing import spent_words
from gui.widgets.sync_line import REASON_WORDS
from gui.widgets.wording import counted, duration, exact, grouped

_WIDTH = 460


def show_sync(sync: KeptSync, parent: QWidget) -> QDialog:
    """Facts first, then the failed files that the history has kept."""
    content = QWidget()
    content.setMinimumWidth(_WIDTH)
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
        rest = sync.files_failed - len(sync.failed)
        more = f" The first {len(sync.failed)} are kept." if rest else ""
        column.addWidget(label(f"{counted(sync.files_failed, 'file')} failed.{more}", "section", wrap=True))
        table = IssuesTable()
        table.setAccessibleName("Files that failed")
        table.show_records(sync.failed)
        detail = label("", "meta", wrap=True)
        table.chosen.connect(lambda text: detail.setText(breakable(text)))
        column.addWidget(table)
        column.addWidget(detail)
    return sheet("Sync", content, parent)


def _facts(sync: KeptSync) -> list[tuple[str, str]]:
    reused = "reused not noted" if sync.vectors_reused is None else f"{grouped(sync.vectors_reused)} reused"
    facts = [
        ("Began", exact(sync.started)),
        ("Why", REASON_WORDS[sync.reason]),
        ("Took", duration(sync.seconds)),
        ("Files", f"{grouped(sync.files_indexed)} indexed, {grouped(sync.files_removed)} removed"),
        ("Chunks", grouped(sync.chunks_indexed)),
        ("Vectors", f"{grouped(sync.vectors_embedded)} embedded, {reused}"),
        ("Cost", spent_words(sync.tokens, sync.cost)),
        ("Outcome", outcome_of(sync)),
    ]
    return [(name, value) for name, value in facts if value]
