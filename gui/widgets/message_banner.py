"""Messages with one or two buttons: a banner above the content, or a page in place of it."""

from collections.abc import Callable
from functools import partial

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QHBoxLayout,
    QPushButton,
    QSizePolicy,
    QWidget,
)

from engine import tr
from gui.style.stylesheet import set_role
from gui.style.theme import tokens
from gui.style.typography import Resized
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins
from gui.text.status_texts import State
from gui.widgets.accessibility import announce, insert_after, stop_before
from gui.widgets.buttons import push_button
from gui.widgets.icons import IconButton
from gui.widgets.labels import breakable, label, line
from gui.widgets.layouts import clear_layout, column_of, row_of
from gui.widgets.placeholder_page import Action, ElidedButton, StatePage
from gui.widgets.row_list import GUTTER
from gui.widgets.state_dot import StateDot


class Banner(Resized, QFrame):
    """A banner above the content with the newest message; hidden if there is none.

    Its buttons are next to the text, or below it if that takes less height.

    Signals:
        left: a message that had the focus was answered or dismissed, and no other is shown.
        cleared: the key of a message that was answered, dismissed or removed.
    """

    left = Signal()
    cleared = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._dot = StateDot()
        self._text = label("", wrap=True, parent=self)
        self._text.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._buttons = row_of(spacing=8)
        self._close = close = IconButton("close", tr("Dismiss this message"), parent=self)
        close.clicked.connect(lambda: self._press(lambda: None))
        self._middle = row_of((self._text, 1), self._buttons, spacing=10)
        self._row = row_of(self._dot, (self._middle, 1), close, spacing=10, margins=margins(16, 8, 10, 8))
        column_of(self._row, line(), spacing=0, parent=self)
        self._key = self._sentence = ""
        self.hide()

    @property
    def text(self) -> str:
        return self._sentence if not self.isHidden() else ""

    @property
    def key(self) -> str:
        """The key of the shown message; empty if it has none, or if no message is shown."""
        return self._key if not self.isHidden() else ""

    def show_message(self, sentence: str, state: State, *actions: Action, key: str = "") -> None:
        """Show a message with buttons. `key` identifies it: `clear(key)` removes only this message."""
        again = sentence == self.text
        self._key = key
        self._dot.set_state(state)
        self._sentence = sentence
        self._text.setText(breakable(sentence))
        set_tip(self._text, sentence)  # a very low window cuts it
        self.setAccessibleName(sentence)
        buttons = _fill(self._buttons, actions, self._press)
        self.fit()
        self.show()
        if not again:
            announce(self, sentence)
        insert_after(stop_before(self._close), buttons)

    def _press(self, run: Callable[[], object]) -> None:
        """Remove the message and run the function of the pressed button, and move the focus after a key press."""
        had_focus = self._has_focus()
        self._dismiss()
        run()
        self._leave(had_focus)

    def _leave(self, had_focus: bool) -> None:
        """Move the focus to the next message, or emit `left` without one. `had_focus`: whether it had the focus."""
        if had_focus and self.isHidden():
            self.left.emit()
        elif had_focus:
            self.take_focus()

    def take_focus(self) -> None:
        """Focus the first button of the message."""
        first = self._buttons.itemAt(0)
        ((first and first.widget()) or self._close).setFocus(Qt.FocusReason.TabFocusReason)

    def fit(self) -> None:
        """Place the buttons next to the text, or below it if that takes less height."""
        margins, gap = self._row.contentsMargins(), self._row.spacing()
        around = margins.left() + margins.right() + 2 * gap
        available = max(1, self.width() - around - self._dot.sizeHint().width() - self._close.sizeHint().width())
        actions = self._buttons.sizeHint()
        row_height = max(self._text.heightForWidth(max(1, available - gap - actions.width())), actions.height())
        narrow = actions.width() > 0 and self._text.heightForWidth(available) + gap + actions.height() < row_height
        orientation = QBoxLayout.Direction.TopToBottom if narrow else QBoxLayout.Direction.LeftToRight
        if self._middle.direction() != orientation:
            self._middle.setDirection(orientation)
            self._middle.setAlignment(
                self._buttons, Qt.AlignmentFlag.AlignLeft if narrow else Qt.AlignmentFlag.AlignVCenter
            )

    @Slot()
    def clear(self, key: str = "") -> None:
        if self.isHidden() or (key and key != self._key):
            return
        had_focus = self._has_focus()
        self._dismiss()
        self._leave(had_focus)

    def _has_focus(self) -> bool:
        focus = QApplication.focusWidget()
        return focus is not None and self.isAncestorOf(focus)

    def _dismiss(self) -> None:
        key, self._key = self._key, ""
        self.hide()
        self.cleared.emit(key)


class MessagePage(StatePage):
    """A page with a title, a sentence that can be copied, and actions."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.text = ""
        """The whole message, on one line."""

    def show_message(self, title: str, text: str, *actions: Action) -> None:
        self.text = f"{title}: {text}" if text else title
        self.show_state(breakable(title), breakable(text), actions=actions)
        for button in self._buttons[:1]:
            set_role(button, "primary")
        self.sentence.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.setAccessibleName(self.text)


def _fill(
    row: QHBoxLayout, actions: tuple[Action, ...], press: Callable[[Callable[[], object]], None]
) -> list[QPushButton]:
    """Replace the buttons of a row; `press` receives the function of a pressed button, and has to call it."""
    clear_layout(row)
    buttons = []
    for words, run in actions:
        button = push_button(words, partial(press, run))
        row.addWidget(button)
        button.show()  # immediately, so that its size counts
        buttons.append(button)
    return buttons


# --- One line above the results with a remark about them and at most one button --------------------------------------

_GAP = 12
_GAP_BELOW = 2
_MIN_CHARACTERS = 30


class NoticeBar(Resized, QWidget):
    """A bar with a message; hidden if there is none."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._act: Callable[[], None] | None = None
        self._words = label(role="meta", wrap=True, parent=self)
        # Not a stretch factor, which would give the bar half of the height when the button is below the text.
        self._words.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
        self._button = ElidedButton("", self)
        self._button.setProperty("role", "link")
        self._button.setProperty("flush", True)
        self._button.clicked.connect(self._clicked)
        self._row = row = QBoxLayout(QBoxLayout.Direction.LeftToRight, self)
        row.setContentsMargins(GUTTER, 6, GUTTER, 7)
        row.setSpacing(_GAP)
        row.addWidget(self._words)
        row.addWidget(self._button, 0, Qt.AlignmentFlag.AlignLeft)
        self.setVisible(False)

    def fit(self) -> None:
        """Place the button below a text that would have only short lines next to it."""
        beside = self.width() - 2 * GUTTER - _GAP - self._button.sizeHint().width()
        narrow = beside < _MIN_CHARACTERS * self._words.fontMetrics().averageCharWidth()
        directions = QBoxLayout.Direction
        self._row.setDirection(
            directions.TopToBottom if narrow and not self._button.isHidden() else directions.LeftToRight
        )
        self._row.setSpacing(_GAP_BELOW if narrow else _GAP)

    def show_notice(self, text: str, action: str = "", act: Callable[[], None] | None = None) -> None:
        """Show `text`, with a button if `action` is not empty; an empty text hides the bar."""
        if text:  # a hidden bar may still need the height of the previous text
            self._words.setText(text)
            self.setAccessibleName(text)
            self._act = act
            self._button.set_label(action)
            self._button.setVisible(act is not None)
            self.fit()
        self.setVisible(bool(text))

    def keep_space(self, keep: bool) -> None:
        """Set whether the bar, when it is hidden, leaves its space empty, so that the content below doesn't move."""
        policy = self.sizePolicy()
        policy.setRetainSizeWhenHidden(keep and (policy.retainSizeWhenHidden() or not self.isHidden()))
        self.setSizePolicy(policy)

    @Slot()
    def _clicked(self) -> None:
        if self._act is not None:
            self._act()

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_bar(self, tokens(self.palette()).line_highlight)


def paint_bar(bar: QWidget, background: QColor) -> None:
    """Paint the background of a bar above the results, with a line at its lower edge."""
    painter = QPainter(bar)
    painter.fillRect(bar.rect(), background)
    painter.fillRect(0, bar.height() - 1, bar.width(), 1, tokens(bar.palette()).line)
