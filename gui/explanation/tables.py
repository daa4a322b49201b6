"""The tables of the explanation: the search's stages and the numbers of a result. Each is as high as its rows."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from PySide6.QtCore import QSize, Qt
from PySide6.QtGui import QFontMetrics, QWheelEvent
from PySide6.QtWidgets import QSizePolicy

from engine import SearchExplanation, SearchStage, number, tr
from gui.explanation.wording import Figure, counts, milliseconds_text, stage_name
from gui.style.stylesheet import font_at
from gui.widgets.table import Column, RecordsTable

Record = TypeVar("Record")
_PADDING = 16
_NAME_CHARACTERS, _MAX_CHARACTERS = 16, 22
"""Minimum and maximum number of characters of a figure's name."""
_MARK = "\N{MULTIPLICATION SIGN}"


@dataclass(frozen=True)
class StageRow:
    """A row with one stage of the search, and whether that stage removed all candidates."""

    stage: SearchStage
    emptied: bool

    @property
    def name(self) -> str:
        return f"{_MARK} {stage_name(self.stage)}" if self.emptied else stage_name(self.stage)

    @property
    def description(self) -> str:
        """The stage described in one or two sentences, for screen readers."""
        parts = (counts(self.stage), self.stage.note, tr("This step removed everything.") if self.emptied else "")
        return f"{stage_name(self.stage)}: {' '.join(part for part in parts if part)}"


def stage_rows(explanation: SearchExplanation) -> tuple[StageRow, ...]:
    """Return a row for each stage; the one that removed all results is marked."""
    return tuple(StageRow(stage, stage.name == explanation.emptied_by) for stage in explanation.stages)


class _FittedTable(RecordsTable[Record]):
    """A table without scroll bars; its container scrolls."""

    _columns: Sequence[Column[Record]] = ()

    def __init__(self, columns: Sequence[Column[Record]], tip: Callable[[Record], str]) -> None:
        super().__init__(columns, tip)
        self.setTextElideMode(Qt.TextElideMode.ElideRight)
        self._columns = tuple(columns)
        self.sortByColumn(-1, Qt.SortOrder.AscendingOrder)  # as the records come; a click on a header sorts
        for policy in (self.setHorizontalScrollBarPolicy, self.setVerticalScrollBarPolicy):
            policy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)

    def show_records(self, records: tuple[Record, ...]) -> None:
        super().show_records(records)
        self.measure()

    def select_record(self, record: Record | None) -> None:
        if record in self.records:
            self.selectRow(self.records.index(record))

    def measure(self) -> None:
        """Set the height to fit the rows; the text column gets the width that the number columns don't need."""
        super().measure()
        metrics, model = QFontMetrics(font_at(13)), self.model()
        for column_index, column in enumerate(self._columns):
            if column.figures:
                cells = (model.index(row, column_index).data() for row in range(model.rowCount()))
                widest = max(map(metrics.horizontalAdvance, (*cells, column.title)))
                self.horizontalHeader().resizeSection(column_index, widest + _PADDING)
        rows = self.model().rowCount() * self.verticalHeader().defaultSectionSize()
        self.setFixedHeight(rows + self.horizontalHeader().sizeHint().height() + 2 * self.frameWidth())

    def minimumSizeHint(self) -> QSize:
        return QSize(120, self.height())

    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class StageTable(_FittedTable[StageRow]):
    """A table of the stages of a search: how many candidates went in and came out, and the milliseconds."""

    def __init__(self) -> None:
        columns = (
            Column[StageRow](tr("Stage"), 0, lambda row: row.name),
            Column[StageRow](tr("Before"), 8, lambda row: row.stage.before, lambda row: number(row.stage.before), True),
            Column[StageRow](tr("After"), 8, lambda row: row.stage.after, lambda row: number(row.stage.after), True),
            Column[StageRow]("ms", 7, _microseconds, lambda row: milliseconds_text(row.stage.milliseconds), True),
        )
        super().__init__(columns, lambda row: row.description)
        self.setAccessibleName(tr("Stages of the search"))

    def show_stages(self, explanation: SearchExplanation) -> None:
        """Show the stages, and select the one that removed everything, else the previous selection or the threshold."""
        before = self.current
        chosen_stage = explanation.emptied_by or ("threshold" if before is None else before.stage.name)
        rows = stage_rows(explanation)
        self.show_records(rows)
        self.select_record(next((row for row in rows if row.stage.name == chosen_stage), rows[-1] if rows else None))


class FigureTable(_FittedTable[Figure]):
    """Table of all numbers that make up the score of one result."""

    def __init__(self) -> None:
        columns = (
            Column[Figure](tr("Figure"), _NAME_CHARACTERS, lambda figure: figure.name),
            Column[Figure](tr("Value"), 0, lambda figure: figure.value),
        )
        super().__init__(columns, lambda figure: f"{figure.name}: {figure.value}")
        self.setAccessibleName(tr("Figures of this result"))

    def measure(self) -> None:
        """Set column widths so that the names fit, which are longer in other languages; long values have a tooltip."""
        super().measure()
        metrics, model = QFontMetrics(font_at(13)), self.model()
        names = (model.index(row, 0).data() for row in range(model.rowCount()))
        most = metrics.averageCharWidth() * _MAX_CHARACTERS
        widest = max(map(metrics.horizontalAdvance, names), default=0)
        least = metrics.averageCharWidth() * _NAME_CHARACTERS
        self.horizontalHeader().resizeSection(0, max(least, min(widest, most)) + _PADDING)


def _microseconds(row: StageRow) -> int:
    return round(row.stage.milliseconds * 1000)
