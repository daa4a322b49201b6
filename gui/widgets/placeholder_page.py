"""Pages in place of content (one sentence, and actions), and a temporary hint over content.

The position of the sentence is the same in lists, readers and whole views: a column of limited width, in the middle of
a wide page, that begins near the top, where the first line of the content would be.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple, cast

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent, QKeyEvent, QPaintEvent, QPalette, QShowEvent
from PySide6.QtWidgets import (
    QApplication,
    QBoxLayout,
    QFrame,
    QGridLayout,
    QLabel,
    QPushButton,
    QSizePolicy,
    QStyle,
    QStyleOptionButton,
    QStylePainter,
    QWidget,
)

from engine import marked, tr
from gui.commands.commands import PALETTE, follow_keys
from gui.commands.keymap import keymap
from gui.style.stylesheet import set_role
from gui.style.typography import Resized
from gui.text.plain_text import PositionTip
from gui.text.right_to_left import margins
from gui.widgets.accessibility import announce, insert_after, mark_position, stops
from gui.widgets.labels import breakable, elide, label
from gui.widgets.layouts import VerticalScrollArea, column_of, lay_out_now, row_of

KEYS = (
    (marked("Down"), marked("go to the results")),
    (marked("Enter"), marked("open the result")),
    (marked("Esc"), marked("back to the search box, then clear it")),
    (marked("Up"), marked("list saved and recent searches")),
)
COMMANDS = ((PALETTE, marked("list all actions")), ("help.keys", marked("list all keys")))
"""Commands whose first keys are shown."""
_WIDEST = 460
"""Width of the column."""
_MARGIN, _TOP = 32, 40
LINK_PADDING = 4
"""Pixels between the edge of a link and its text."""
_BUTTONS_PER_ROW = 2
"""Maximum number of buttons side by side in a narrow list."""

Action = tuple[str, Callable[[], object]]
"""Label and function of a button."""
_MIN_CHARACTERS = 8


class ElidedButton(QPushButton):
    """A button that may be narrower than its label, which is then shortened."""

    def __init__(self, words: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._words = ""
        self.set_label(words)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)
        PositionTip(self, lambda _: "" if self.visible_label == self._words else self._words)

    def set_label(self, words: str) -> None:
        """Replace the whole label."""
        if words != self._words:
            self._words = words
            self.setText(words.replace("&", "&&"))
            self.setAccessibleName(words)

    def minimumSizeHint(self) -> QSize:
        hint = self.sizeHint()
        few = self.fontMetrics().averageCharWidth() * _MIN_CHARACTERS
        return QSize(min(hint.width(), few + self._button_padding()), hint.height())

    @property
    def visible_label(self) -> str:
        """The visible label, shortened if there is little room."""
        available = self.width() - self._button_padding()
        return elide(self.fontMetrics(), self._words, Qt.TextElideMode.ElideRight, available)

    def _button_padding(self) -> int:
        """Return the pixels of the button around its label."""
        return self.sizeHint().width() - self.fontMetrics().horizontalAdvance(self._words)

    def paintEvent(self, event: QPaintEvent) -> None:
        option = QStyleOptionButton()
        self.initStyleOption(option)
        option.text = self.visible_label.replace("&", "&&")
        QStylePainter(self).drawControl(QStyle.ControlElement.CE_PushButton, option)


class Offer(NamedTuple):
    """A suggested action, with a sentence that gives the reason."""

    sentence: str
    label: str
    """Label of its button."""
    act: Callable[[], object]


class StatePage(Resized, VerticalScrollArea):
    """Page shown instead of content: title, sentence, keys, optional table and buttons."""

    def __init__(self, parent: QWidget | None = None, *, outdent: int = 0) -> None:
        """`outdent`: pixels that a table extends to the left of the sentences, such as the padding of its links."""
        super().__init__(parent)
        self._outdent = outdent
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setBackgroundRole(QPalette.ColorRole.Base)
        self._tab_position = mark_position(self)
        self._page = page = QWidget()
        self.setWidget(page)  # first: see `scrolling_column`
        middle = QWidget(page)
        middle.setMaximumWidth(_WIDEST + 2 * _MARGIN)
        row_of(None, (middle, 1000), None, parent=page)
        roles = ("group", "", "meta")
        self._title, self.sentence, self._keys = (label(role=role, wrap=True, parent=middle) for role in roles)
        sentences = self._title, self.sentence, self._keys
        around = margins(_MARGIN - outdent, _TOP, _MARGIN, 24)
        self._column = column_of(*sentences, None, spacing=8, margins=around, parent=middle)
        for words in sentences:
            words.setContentsMargins(margins(outdent, 0, 0, 0))
            words.hide()
        self._table: QWidget | None = None
        self._below: QWidget | None = None
        """The buttons with their reasons; None if there are no buttons."""
        self._buttons: list[QPushButton] = []
        self._labels: tuple[list[str], list[str]] = ([], [])
        """Labels of the buttons with a reason, and of the others."""
        self._acts: list[Callable[[], object]] = []
        """Functions of the buttons."""
        self._reasons: list[QLabel] = []
        self._rows: list[QBoxLayout] = []

    def show_state(
        self,
        title: str,
        sentence: str,
        *,
        keys: str = "",
        offers: Sequence[Offer] = (),
        actions: Sequence[Action] = (),
        table: QWidget | None = None,
    ) -> None:
        """Replace the page's contents; the focus stays on its buttons. `keys`: a second sentence; `table`: always the
        same widget, or None.

        Buttons with the same labels stay: while the user types, most empty answers differ only in their sentences.
        """
        focused = self.has_focus()
        set_role(self.sentence, "meta" if title else "")
        for words, text in ((self._title, title), (self.sentence, sentence), (self._keys, keys)):
            words.setText(text)
            words.setVisible(bool(text))
        name = " ".join(part for part in (title, sentence, keys) if part)
        self._page.setAccessibleName(name)
        self.setAccessibleName(name)
        if table is not None and self._table is None:
            self._table = table
            self._column.insertWidget(self._column.indexOf(self._keys) + 1, table)
            insert_after(self._tab_position, stops(table))
        if self._table is not None:
            self._table.setVisible(table is not None)
        self._acts = [*(offer.act for offer in offers), *(act for _, act in actions)]
        labels = [offer.label for offer in offers], [text for text, _ in actions]
        if labels != self._labels:
            self._labels = labels
            self._replace_buttons(*labels)
        for why, button, offer in zip(self._reasons, self._buttons, offers, strict=False):
            why.setText(breakable(offer.sentence))
            button.setAccessibleDescription(offer.sentence)
        if focused and not self.has_focus():
            self.take_focus()  # else the next pane would get the focus of the replaced button
        if self.isVisible():
            lay_out_now(self)  # a sentence with more lines would squash the table below it for a moment

    def _replace_buttons(self, offers: list[str], actions: list[str]) -> None:
        """Replace the buttons below sentences and table: those of `offers`, each with its reason, and the others."""
        if self._below is not None:
            self._column.removeWidget(self._below)
            self._below.hide()  # a visible widget without a parent would become the active window
            self._below.setParent(None)
            self._below.deleteLater()  # one of its buttons may have been pressed
        self._below, self._buttons, self._reasons, self._rows = None, [], [], []
        if not (offers or actions):
            return
        self._below = below = QWidget()
        column = column_of(spacing=8, margins=margins(self._outdent, 0, 0, 0), parent=below)
        for text in offers:
            self._reasons.append(label("", "meta", wrap=True))
            column.addSpacing(6)
            column.addWidget(self._reasons[-1])
            column.addWidget(self._button(text), 0, Qt.AlignmentFlag.AlignLeft)
        others = [self._button(text) for text in actions]
        for start in range(0, len(others), _BUTTONS_PER_ROW):
            row = QBoxLayout(QBoxLayout.Direction.LeftToRight)
            row.setSpacing(8)
            for button in others[start : start + _BUTTONS_PER_ROW]:
                row.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
            row.addStretch(1)
            column.addSpacing(0 if start else 8)
            column.addLayout(row)
            self._rows.append(row)
        added = stops(below)  # before they are in the window, whose tab order has a thousand widgets
        self._column.insertWidget(self._column.count() - 1, below)
        below.show()  # immediately, so that its buttons can take the focus
        insert_after(self._tab_position, added)
        self.fit()

    def set_sentence(self, sentence: str) -> None:
        """Replace the sentence alone."""
        self.sentence.setText(sentence)
        self.sentence.show()

    def has_focus(self) -> bool:
        """Whether one of the page's buttons has the focus."""
        focused = QApplication.focusWidget()
        return isinstance(focused, QPushButton) and self.isAncestorOf(focused)

    def take_focus(self) -> bool:
        """Focus the first button; returns False if there is none."""
        page = self._page
        buttons = (stop for stop in stops(page) if isinstance(stop, QPushButton) and stop.isVisibleTo(page))
        first = next(buttons, None)
        if first is not None:
            first.setFocus(Qt.FocusReason.OtherFocusReason)
            self.ensureWidgetVisible(first)  # also if nothing had the focus before
        return first is not None

    def fit(self) -> None:
        """Stack buttons that don't fit next to each other."""
        available = min(_WIDEST, self.viewport().width() - 2 * _MARGIN)
        for row in self._rows:
            widgets = [item.widget() for number in range(row.count()) if (item := row.itemAt(number))]
            width = sum(widget.sizeHint().width() + row.spacing() for widget in widgets if widget is not None)
            directions = QBoxLayout.Direction
            row.setDirection(directions.LeftToRight if width - row.spacing() <= available else directions.TopToBottom)

    def _button(self, text: str) -> QPushButton:
        button, number = ElidedButton(text), len(self._buttons)
        button.clicked.connect(lambda _checked: self._acts[number]())
        button.installEventFilter(self)
        self._buttons.append(button)
        return button

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Keep the focus on the last button when Down is pressed, as in a list: Qt would move it to the next pane."""
        down = event.type() == QEvent.Type.KeyPress and cast("QKeyEvent", event).key() == Qt.Key.Key_Down
        if down and self._buttons and watched is self._buttons[-1]:
            return True
        return super().eventFilter(watched, event)


class KeyTable(QWidget):
    """A table of important keys, each with its function."""

    def __init__(self) -> None:
        super().__init__()
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(6)
        self._shown: list[tuple[str, QLabel]] = []
        """Labels of keys by command name."""
        for key, does in KEYS:
            self._add(label(tr(key)), does)
        for name, does in COMMANDS:
            text_label = label(wrap=True)
            text_label.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
            self._shown.append((name, text_label))
            self._add(text_label, does)
        self._grid.setColumnStretch(1, 1)
        follow_keys(self, self._show_keys)

    def _add(self, key: QLabel, does: str) -> None:
        row = self._grid.rowCount()
        self._grid.addWidget(key, row, 0)
        self._grid.addWidget(label(tr(does), "meta", wrap=True), row, 1)

    def _show_keys(self) -> None:
        for name, text_label in self._shown:
            # Three keys break in a narrow list.
            text_label.setText((keymap().first_key(name) or tr("no key")).replace("+", "+\u200b"))

    def showEvent(self, event: QShowEvent) -> None:
        """Update the keys: the table may have been made before the window's commands."""
        super().showEvent(event)
        self._show_keys()


_SHOWN_MS = 2_500
_HINT_MARGIN = 16


class NothingToRead(NamedTuple):
    """The sentences shown while nothing is selected, to be translated by `tr`."""

    sentence: str
    keys: str = ""


NOTHING_FOUND = NothingToRead("")
"""An empty page: the list of results says that nothing was found."""


class Hint(QFrame):
    """A temporary message over the lower or upper edge of another widget; it takes no mouse or key events."""

    def __init__(self, over: QWidget) -> None:
        super().__init__(over)
        self._over = over
        self._at_top = False
        set_role(self, "card")
        self.setAttribute(Qt.WidgetAttribute.WA_TransparentForMouseEvents)
        self._text = label()
        row_of(self._text, margins=(12, 6, 12, 6), parent=self)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.hide)
        self.hide()
        over.installEventFilter(self)

    def show_message(self, sentence: str, milliseconds: int = _SHOWN_MS, *, at_top: bool = False) -> None:
        """Show a sentence at the lower edge, or `at_top` if the text below is being read; an empty one hides it."""
        if not sentence:
            self.hide()
            return
        self._at_top = at_top
        self._text.setText(sentence)
        self.setAccessibleName(sentence)
        self._place()
        self.show()
        self.raise_()
        announce(self, sentence)
        self._timer.start(milliseconds)

    def _place(self) -> None:
        over = self._over
        available = max(1, over.width() - 2 * _HINT_MARGIN)
        self._text.setWordWrap(False)
        if self.sizeHint().width() > available:
            self._text.setWordWrap(True)
        width = min(available, self.sizeHint().width())
        height = max(self.sizeHint().height(), self.heightForWidth(width))
        top = _HINT_MARGIN if self._at_top else over.height() - height - _HINT_MARGIN
        self.setGeometry((over.width() - width) // 2, top, width, height)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Resize and not self.isHidden():
            self._place()
        return super().eventFilter(watched, event)

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()
        super().hideEvent(event)


class EmptyPage(StatePage):
    """The page shown instead of a text: one sentence and at most one button.

    Signals:
        retry: the button was pressed.
    """

    retry = Signal()

    def show_message(self, sentence: str, *, keys: str = "", retry: bool = False) -> None:
        """Replace the sentence; `keys`: a second one."""
        self.show_state("", sentence, keys=keys, actions=((tr("Try again"), self.retry.emit),) if retry else ())
