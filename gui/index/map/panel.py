"""The map of the index with its controls: header, legend, hover card and selection list."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent
from PySide6.QtWidgets import QBoxLayout, QFrame, QSizePolicy, QWidget

from engine import CancelToken, IndexInsight, IndexMap, MapPositions, MapProgress, MemorySearchManager, tr
from gui.core.jobs import Jobs, JobSlot
from gui.index.base_page import IndexPage
from gui.index.map import wording
from gui.index.map.groups import KINDS, Kind, Legend
from gui.index.map.interactive_map import InteractiveMap
from gui.index.map.map_view import Marks, Prepared, prepare, regroup
from gui.index.map.point_selection import MapSelection
from gui.index.map.wording import COLOURS
from gui.search.query import Answer
from gui.style.stylesheet import font_scale
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import ComboBox
from gui.widgets.labels import ElidedLabel, breakable, label
from gui.widgets.layouts import PageStack, column_of, row_of
from gui.widgets.placeholder_page import Action, StatePage
from gui.widgets.sync_bar import ProgressLine

_GUTTER = 16
_LIST_WIDTH = 260
_ANY_WIDTH = 16_777_215
_NARROW = 620
"""Pixels below which the list moves below the map."""
_LOW = 260
"""Pixels below which there is no legend."""
_MIN_CHARACTERS = 16


class MapHeader(QWidget):
    """The controls above the map.

    Signals:
        kind_chosen: Kind by which the points are coloured.
    """

    kind_chosen = Signal(str)

    def __init__(self) -> None:
        super().__init__()
        self._subtitle = ElidedLabel(fewest=_MIN_CHARACTERS)
        self._subtitle.setProperty("role", "meta")
        self.colour = ComboBox(tr("Colour the points by"))
        for kind in KINDS:
            self.colour.addItem(tr(COLOURS[kind]), kind)
        self.colour.setMinimumContentsLength(0)
        self.colour.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.colour.currentIndexChanged.connect(lambda _: self.kind_chosen.emit(self.kind))
        self.lasso = push_button(
            tr("Lasso"), tip=tr("Draw a loop around points to list them (or hold Shift while you drag)")
        )
        self.lasso.setCheckable(True)
        self.fit = push_button(tr("Show all"), tip=tr("Show all points (0)"))
        self.enlarge = push_button(tr("Larger map"), tip=tr("Show the map on a separate page"))
        choices = self.colour, self.lasso, self.fit, self.enlarge
        row_of(label(tr("Map"), "strong"), (self._subtitle, 1), *choices, spacing=8, parent=self)

    @property
    def kind(self) -> Kind:
        kind: Kind = self.colour.currentData()
        return kind

    def show_message(self, subtitle: str, tip: str = "") -> None:
        self._subtitle.setText(subtitle)
        self._subtitle.set_tip(tip)

    def set_usable(self, usable: bool) -> None:
        """Enable the controls if there are points."""
        for part in (self.colour, self.lasso, self.fit):
            part.setEnabled(usable)


class MapPanel(IndexPage):
    """The map with its controls, on the overview or as a separate page."""

    _map_arrived = Signal(object, object)
    _progressed = Signal(object, object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None, *, whole: bool = True) -> None:
        """`whole`: the map is a separate page, not a card of the overview."""
        super().__init__(jobs, parent)
        self.answer: Answer | None = None
        self.prepared: Prepared | None = None
        """The shown data; None if there are no points."""
        self._isolated = -1
        self._regroup_job, self._answer_job = JobSlot(self, jobs), JobSlot(self, jobs)
        self.header, self.canvas = MapHeader(), InteractiveMap(jobs, scrolls=not whole)
        self.legend = Legend(self.canvas)
        self.map_selection = MapSelection(jobs, self.canvas, self)
        self.message = StatePage()
        self.progress = ProgressLine()
        self.header.enlarge.setHidden(whole)
        self._build(whole)
        self._connect()
        self.clear()

    def _build(self, whole: bool) -> None:
        card = QFrame()
        card.setProperty("role", "card")
        column_of(card, margins=(_GUTTER, 12, _GUTTER, 12) if whole else (0, 0, 0, 0), parent=self)
        self._stack = PageStack()
        column_of(self.header, (self._stack, 1), self.legend, spacing=8, margins=(14, 10, 14, 10), parent=card)
        self._map_and_legend = QWidget()
        self._stack.addWidget(self.message)
        self._stack.addWidget(self._map_and_legend)
        self._sides = QBoxLayout(QBoxLayout.Direction.LeftToRight, self._map_and_legend)
        self._sides.setContentsMargins(0, 0, 0, 0)
        self._sides.setSpacing(12)
        self._sides.addWidget(self.canvas, 1)
        self._sides.addWidget(self.map_selection.list)

    def _connect(self) -> None:
        self._map_arrived.connect(self._show_early)
        self._progressed.connect(self._show_progress)
        self.header.kind_chosen.connect(self._regroup)
        self.header.lasso.toggled.connect(self.canvas.set_lasso)
        self.header.fit.clicked.connect(self.canvas.fit)
        self.header.enlarge.clicked.connect(lambda: self.action_requested.emit("map"))
        self.legend.isolated.connect(self._isolate)
        self.canvas.picture.failed.connect(self.show_problem)
        self.map_selection.open_requested.connect(self.open_requested)
        self.map_selection.lasso_drawn.connect(lambda: self.header.lasso.setChecked(False))

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        parts = (self._regroup_job, self._answer_job, self.canvas.picture, self.map_selection)
        return super().busy or self.canvas.fading or any(part.busy for part in parts)

    def take_focus(self) -> None:
        if self.canvas.isVisible():
            self.canvas.setFocus(Qt.FocusReason.TabFocusReason)
        else:
            super().take_focus()

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        self.answer = None
        super().set_manager(manager)

    def read(self, insight: IndexInsight, cancel: CancelToken) -> Prepared | IndexMap:
        kind = self.header.kind

        def early(record: IndexMap) -> None:
            self._map_arrived.emit(insight, prepare(record, kind))

        if self.prepared is None and (last := insight.last_map(cancel)) is not None and last.ids:
            early(last)
        record = insight.make_map(
            first=early, progress=lambda step: self._progressed.emit(insight, step), cancel=cancel
        )
        known = self.prepared
        if known is not None and known.scene.record == record:
            return known
        return prepare(record, kind) if record.ids else record

    def show_read(self, prepared: Prepared | IndexMap) -> None:
        if isinstance(prepared, Prepared):
            self._show(prepared)
            return
        self.clear()
        actions = [
            (tr(words), partial(self.action_requested.emit, action))
            for words, action in filter(None, [wording.REMEDIES.get(prepared.gap)])
        ]
        self._show_message(*wording.empty(prepared), actions, lasting=True)

    def show_problem(self, sentence: str) -> None:
        if self.prepared is None:
            self._show_message(tr("The map cannot be shown"), sentence, lasting=True)
        else:
            self.header.show_message(sentence)

    def clear(self) -> None:
        self.prepared = None
        for slot in (self._regroup_job, self._answer_job):
            slot.cancel()
        self.map_selection.clear()
        self.canvas.clear()
        self.legend.hide()
        self.header.show_message("")
        self.header.set_usable(False)
        self.progress.hide()
        self._isolated = -1
        if self.insight is None:
            self._show_message("", "")
        else:
            self._show_message(tr(wording.DRAWING), "")

    def _show_message(self, title: str, text: str, actions: Sequence[Action] = (), *, lasting: bool = False) -> None:
        """Show a message in place of the map; `lasting`: keep the height of the map."""
        policy = QSizePolicy.Policy.Ignored if lasting else QSizePolicy.Policy.Preferred
        self._map_and_legend.setSizePolicy(QSizePolicy.Policy.Preferred, policy)
        self.message.show_state(breakable(title), breakable(text), actions=actions, table=self.progress)
        self.progress.hide()
        self._stack.setCurrentWidget(self.message)
        self.setAccessibleName(tr("Map. {title}. {sentence}", title=title, sentence=text))

    @Slot(object, object)
    def _show_progress(self, insight: IndexInsight, step: MapProgress) -> None:
        if insight is not self.insight or not super().busy:
            return
        if self.prepared is None:
            self.progress.setValue(round(1000 * step.done))
            self.progress.show()
            progress_text = wording.progress(step)
            self.message.set_sentence(progress_text[:1].upper() + progress_text[1:])
        elif step.stage != "reading":
            record, count = self.prepared.scene.record, len(self.prepared.scene)
            self.header.show_message(
                f"{wording.subtitle(record, count)} · {wording.progress(step)}", wording.about(record)
            )

    @Slot(object, object)
    def _show_early(self, insight: IndexInsight, prepared: Prepared) -> None:
        """Show an older or simpler map while the final one is being computed."""
        if insight is self.insight and super().busy:
            self._show(prepared)

    def _show(self, prepared: Prepared) -> None:
        record, count = prepared.scene.record, len(prepared.scene)
        self.header.show_message(wording.subtitle(record, count), wording.about(record))
        self.header.set_usable(True)
        self.setAccessibleName(tr("Map"))
        self._map_and_legend.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        self._stack.setCurrentWidget(self._map_and_legend)
        if self.prepared is None or prepared.scene is not self.prepared.scene:
            if self.prepared is not None and self.prepared.scene.record.layout != record.layout:
                self.canvas.fade()  # all points have moved
            self.canvas.show_scene(prepared.scene)
            self.prepared = prepared
            self._request_answer()
        if prepared.grouping.kind == self.header.kind:
            self._show_groups(prepared)
        else:
            self._regroup()

    # --- colours ----------------------------------------------------------------------------------------------------

    @Slot()
    def _regroup(self) -> None:
        if self.prepared is None:
            return
        scene, kind = self.prepared.scene, self.header.kind
        self._isolated = -1
        self._regroup_job.read(lambda _: regroup(scene, kind), self._regrouped, self.show_problem)

    def _regrouped(self, prepared: Prepared) -> None:
        if self.prepared is not None and prepared.scene is self.prepared.scene:
            self._show_groups(prepared)

    def _show_groups(self, prepared: Prepared) -> None:
        self.prepared = prepared
        grouping = prepared.grouping
        if self._isolated >= len(grouping.names):
            self._isolated = -1
        self._show_legend()
        self.legend.show_groups(grouping, self._isolated)
        self.canvas.show_groups(grouping, prepared.peaks, self._isolated)
        self.map_selection.show(self.insight, prepared, self._isolated)
        group_counts = tuple(zip(grouping.names, grouping.counts, strict=True))
        self.canvas.setAccessibleDescription(
            wording.described(prepared.scene.record, len(prepared.scene), group_counts)
        )

    @Slot(int)
    def _isolate(self, number: int) -> None:
        self._isolated = number
        if self.prepared is not None:
            self._show_groups(self.prepared)

    # --- the query in the box ---------------------------------------------------------------------------------------

    @Slot(object)
    def show_answer(self, answer: Answer | None) -> None:
        """Mark the query and its results on the map; None without a query.

        A keyword-only answer is skipped: marks would disappear and return.
        """
        if answer is None or answer.final:
            self.answer = answer
            self._request_answer()

    def _request_answer(self) -> None:
        """Request the map locations of the current answer, also when the map becomes visible again."""
        if not self.isVisible():
            return
        answer, insight = self.answer, self.insight
        if answer is None or insight is None or self.prepared is None:
            self._answer_job.cancel()
            self.canvas.show_marks(Marks())
            return
        text, results = answer.query.text, answer.outcome.results
        self._answer_job.read(lambda token: insight.map_answer(text, results, token), self._mark, self.show_problem)

    def _mark(self, answer: MapPositions) -> None:
        if self.prepared is not None:
            self.canvas.show_marks(Marks(answer.point, tuple(self.prepared.scene.find(answer.chunks))))

    # --- layout -----------------------------------------------------------------------------------------------------

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        unit = font_scale()
        side_by_side = self.width() >= _NARROW * unit
        direction = QBoxLayout.Direction.LeftToRight if side_by_side else QBoxLayout.Direction.TopToBottom
        self._sides.setDirection(direction)
        self._show_legend()
        width = round(_LIST_WIDTH * unit) if side_by_side else _ANY_WIDTH
        self.map_selection.list.setMaximumSize(width, _ANY_WIDTH if side_by_side else self.height() // 3)

    def _show_legend(self) -> None:
        """Show the legend if there is room; a low map only shows the names of groups."""
        unit = font_scale()
        self.legend.setVisible(self.prepared is not None and self.height() >= _LOW * unit)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._request_answer()

    def hideEvent(self, event: QHideEvent) -> None:
        self.map_selection.card.hide()
        super().hideEvent(event)
