"""The bottom bar: the current state of the index, and buttons to control it."""

import time

from PySide6.QtCore import QEvent, QRectF, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFont, QFontMetrics, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import QHBoxLayout, QProgressBar, QPushButton, QSizePolicy, QWidget

from engine import MemoryProviderStatus, MemorySyncProgressUpdate, tr, tr_count
from gui.commands.commands import cover_tip, show_key_in_tooltip
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.style.typography import FontSized
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins, mirrored_painter
from gui.text.status_texts import (
    RUNNING_WORDS,
    State,
    SyncLine,
    longest_detail,
    progress_text,
    sync_line,
    why_no_update,
)
from gui.widgets.buttons import push_button
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel, label
from gui.widgets.layouts import row_of
from gui.widgets.state_dot import StateDot

_TICK_MS = 1000
_REST_MS = 15_000
"""Interval in milliseconds while only minutes change."""
_FRESH_SECONDS = 60
_GAP = 14
_MARGINS = 26
_PADDING = 6
_BAR_WIDTH = 240
_FILE_WIDTH = 160
_MIN_DETAIL = 18
"""Minimum number of characters of a shortened detail."""


class ProgressLine(QProgressBar):
    """A progress bar, six pixels high, of fixed width."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setRange(0, 1000)
        self.setTextVisible(False)
        self.setFixedHeight(6)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("Progress"))

    def setValue(self, value: int) -> None:
        """Set the value without repainting immediately, as Qt's own method would with all pending updates."""
        if value != self.value():
            self.setUpdatesEnabled(False)
            super().setValue(value)
            self.setUpdatesEnabled(True)

    def sizeHint(self) -> QSize:
        return QSize(_BAR_WIDTH, 6)

    def paintEvent(self, event: QPaintEvent) -> None:
        colours = tokens(self.palette())
        painter = mirrored_painter(self)
        painter.setPen(Qt.PenStyle.NoPen)
        box = QRectF(self.rect())
        painter.setBrush(colours.line)
        painter.drawRoundedRect(box, 3, 3)
        if self.value() > 0:
            done = QRectF(box)
            done.setWidth(max(box.height(), box.width() * self.value() / self.maximum()))
            painter.setBrush(colours.accent)
            painter.drawRoundedRect(done, 3, 3)


class StateButton(QPushButton):
    """A button with the state of the index as dot and word; opens the diagnostics."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "flat")
        self.dot = StateDot()
        self.word = label("", "strong")
        self.word.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        row_of(self.dot, self.word, spacing=_GAP, margins=(_PADDING, 0, _PADDING, 0), parent=self)
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        show_key_in_tooltip(self, tr("Show or hide the diagnostics"), "view.diagnostics")

    def show_state(self, state: State, word: str) -> None:
        self.dot.set_state(state)
        self.word.setText(word)
        self.setAccessibleName(tr("{state}: show or hide the diagnostics", state=word))
        self.updateGeometry()

    def sizeHint(self) -> QSize:
        words = max(self.word.minimumWidth(), self.word.sizeHint().width())
        return QSize(2 * _PADDING + self.dot.width() + _GAP + words, self.word.sizeHint().height() + 6)


class SyncBar(FontSized, QWidget):
    """The bottom bar: shows a status record; `show_status` may be called on every change.

    Signals:
        pause, resume, cancel, sync_now: a button was pressed.
        failed_requested: show the failed files.
        diagnostics_requested: the state was clicked.
    """

    pause = Signal()
    resume = Signal()
    cancel = Signal()
    sync_now = Signal()
    failed_requested = Signal()
    diagnostics_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._status: MemoryProviderStatus | None = None
        self._moved = time.monotonic()
        self._last_step: MemorySyncProgressUpdate | None = None
        self._was_running = False
        self._nothing = ""

        self._state = StateButton()
        self._progress = ProgressLine()
        self.count = label()
        self.detail = ElidedLabel()
        self.detail.setProperty("role", "meta")
        self._failed = push_button(role="link-degraded")
        self._file = ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
        self._file.setProperty("role", "meta")
        self._pause_button = IconButton("pause", tr("Pause indexing"), tr("Pause"))
        self._cancel = IconButton("close", tr("Cancel indexing"), tr("Cancel"))
        self._sync_button = IconButton("refresh", tr("Look for changed files now"), tr("Update now"))
        show_key_in_tooltip(self._sync_button, tr("Look for changed files now"), "index.sync")

        words = self._state, self._progress, self.count, self.detail, self._failed
        buttons = row_of(self._pause_button, self._cancel, self._sync_button, spacing=2)
        around = margins(_MARGINS - 10 - _PADDING, 0, 10, 0)
        row = row_of(*words, (self._file, 1), (None, 0), buttons, spacing=_GAP, margins=around, parent=self)
        row.setSizeConstraint(QHBoxLayout.SizeConstraint.SetNoConstraint)

        self._state.clicked.connect(self.diagnostics_requested)
        self._failed.clicked.connect(self.failed_requested)
        self._cancel.clicked.connect(self.cancel)
        self._sync_button.clicked.connect(self.sync_now)
        self._pause_button.clicked.connect(self._pause_or_resume)
        self._timer = QTimer(self, interval=_TICK_MS)
        self._timer.timeout.connect(self._refresh)
        self._measure()
        self.show_status(None)

    def show_nothing(self, words: str) -> None:
        """Show `words` instead of a status."""
        self.show_status(None)
        self._nothing = words
        self._refresh()

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Show a status record; None if no index is open."""
        self._nothing = tr("No folder is open")
        step = status.syncing if status else None
        if status is None or status.paused or _progress_key(step) != _progress_key(self._last_step):
            self._moved = time.monotonic()
        self._last_step = step
        self._status = status
        self._refresh()

    def minimumSizeHint(self) -> QSize:
        return QSize(320, self.minimumHeight())

    @property
    def line(self) -> SyncLine:
        """The texts that the sync bar shows."""
        if self._status is None:
            return SyncLine("off", self._nothing)
        return sync_line(self._status, now=time.time(), stalled_for=time.monotonic() - self._moved)

    @Slot()
    def _refresh(self) -> None:
        line = self.line
        if self._status is not None and self._status.paused:
            self._moved = time.monotonic()
        self._fix_widths(line)  # before the texts, since a label caches its size hint until its text changes
        self._state.show_state(line.state, line.word)
        self._state.setEnabled(self._status is not None)
        refusal = why_no_update(self._status) if self._status else ""
        self._sync_button.setEnabled(not refusal)
        cover_tip(self._sync_button, refusal)
        self._progress.setValue(round((line.fraction or 0.0) * 1000))
        self.count.setText(line.count)
        self.detail.setText(line.detail)
        self._file.setText(line.file)
        self._failed.setText(tr_count("{count:,} failed", "{count:,} failed", line.failed))
        self._failed.setAccessibleName(
            tr_count(
                "{count:,} file could not be indexed, show it",
                "{count:,} files could not be indexed, show them",
                line.failed,
            )
        )
        self._fold(line)
        set_tip(self, line.tip)
        self.setAccessibleName(" ".join(part for part in (line.word, line.count, line.detail) if part))
        pause = _TICK_MS if line.running or self._is_fresh else _REST_MS
        if pause != self._timer.interval():
            self._timer.setInterval(pause)

    @property
    def _is_fresh(self) -> bool:
        """Whether the last sync was so recent that its age is shown in seconds."""
        last = self._status.last_sync if self._status else None
        return last is not None and time.time() - last.started - last.seconds < _FRESH_SECONDS

    def _show_buttons(self, line: SyncLine, *, words: bool) -> None:
        self._pause_button.setVisible(line.running)
        self._cancel.setVisible(line.running)
        self._sync_button.setVisible(not line.running and self._status is not None)
        pause_label = tr("Resume") if line.paused else tr("Pause")
        self._pause_button.setText(pause_label if words else "")
        self._pause_button.set_icon("resume" if line.paused else "pause")
        self._pause_button.set_accessible(tr("Resume indexing") if line.paused else tr("Pause indexing"))
        self._cancel.setText(tr("Cancel") if words else "")
        self._sync_button.setText(tr("Update now") if words else "")
        self._pause_button.setFixedWidth(self._pause_width if words else self._icon_width)

    def _fix_widths(self, line: SyncLine) -> None:
        """Give each text the width of its longest form during a sync, so that nothing next to it moves."""
        if not line.running:
            self._state.word.setMinimumWidth(0)
            self.count.setMinimumWidth(0)
            self.detail.setMinimumWidth(0)
            self._was_running = False
            return
        if not self._was_running:
            self._was_running = True
            self._state.word.setMinimumWidth(self._word_width)
            self.detail.setMinimumWidth(self._detail_width)
        if self._last_step is not None:
            widest = self._count_metrics.horizontalAdvance(progress_text(self._last_step, self._last_step.total))
            # The label's own size hint may be a pixel wider than the text.
            self.count.setMinimumWidth(max(self.count.minimumWidth(), widest + 2))

    def _fold(self, line: SyncLine) -> None:
        """Hide parts that don't fit: first the file, then rate and time, the bar, the count and the buttons' labels."""
        buttons = self._pause_width + self._cancel_width if line.running else self._sync_width
        available = self.width() - _MARGINS - self._state.sizeHint().width() - _GAP
        self._show_buttons(line, words=available >= buttons)
        available -= buttons
        self._progress.setFixedWidth(_BAR_WIDTH if available >= _BAR_WIDTH + 200 else _BAR_WIDTH // 3)
        for widget, visible, width in (
            (self.count, bool(line.count), max(self.count.minimumWidth(), self.count.sizeHint().width())),
            (self._failed, line.failed > 0, self._failed.sizeHint().width()),
            (self._progress, line.running, self._progress.width()),
            (self.detail, bool(line.detail), self._detail_width if line.running else self._least_detail()),
            (self._file, line.running, _FILE_WIDTH),
        ):
            available -= (width + _GAP) * visible
            widget.setVisible(visible and available >= 0)

    def _least_detail(self) -> int:
        """Return the smallest useful width of the detail text, which may be shortened, but not to a few characters."""
        least = self._count_metrics.averageCharWidth() * _MIN_DETAIL
        return min(least, self.detail.sizeHint().width())

    def _measure(self) -> None:
        bold = QFontMetrics(font_at(13, QFont.Weight.DemiBold))
        self._word_width = max(bold.horizontalAdvance(tr(word)) for word in RUNNING_WORDS) + 2
        self._count_metrics = QFontMetrics(font_at(13))
        self._detail_width = QFontMetrics(font_at(12)).horizontalAdvance(longest_detail())
        self._pause_width = max(_button_width(self._pause_button, words) for words in (tr("Pause"), tr("Resume")))
        self._cancel_width = _button_width(self._cancel, tr("Cancel"))
        self._sync_width = _button_width(self._sync_button, tr("Update now"))
        self._icon_width = _button_width(self._pause_button, "")
        self.setFixedHeight(max(32, self._count_metrics.height() + 16))
        self._was_running = False

    @Slot()
    def _pause_or_resume(self) -> None:
        if self.line.paused:
            self.resume.emit()
        else:
            self.pause.emit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._fold(self.line)

    def measure(self) -> None:
        # Qt notifies widgets in any order, and the buttons may not know their font yet.
        QTimer.singleShot(0, self, self._measure_again)

    @Slot()
    def _measure_again(self) -> None:
        self._measure()
        self._refresh()

    def showEvent(self, event: QEvent) -> None:
        self._timer.start()
        super().showEvent(event)  # type: ignore[arg-type]

    def hideEvent(self, event: QEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)  # type: ignore[arg-type]


def _button_width(button: QPushButton, words: str) -> int:
    """Return the width of a button if `words` were its label."""
    button.ensurePolished()
    before = button.text()
    button.setText(words)
    width = button.sizeHint().width()
    button.setText(before)
    return width


def _progress_key(step: MemorySyncProgressUpdate | None) -> tuple[object, ...] | None:
    """Return a value that changes when a sync makes progress; None without a sync."""
    return (step.phase, step.completed, step.current_file) if step else None
