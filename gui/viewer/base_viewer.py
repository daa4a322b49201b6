"""Base class of the viewers of files and sessions: a header above pages, the find bar, links, keys, and the focus."""

from collections.abc import Callable
from pathlib import Path
from posixpath import dirname, join, normpath

from PySide6.QtCore import QEvent, QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QFocusEvent, QKeyEvent, QWheelEvent
from PySide6.QtWidgets import QApplication, QFrame, QLineEdit, QVBoxLayout, QWidget

from engine import CancelToken, MemorySearchManager, MnemoscopeError, marked, split_name, tr
from gui.commands.commands import FIND, NEXT_MATCH, PREVIOUS_MATCH, key_action
from gui.core.jobs import Jobs, JobSlot
from gui.core.location import Location
from gui.text.right_to_left import margins
from gui.viewer.chunks.card import ChunkCard
from gui.viewer.link_card import LinkCard
from gui.viewer.markdown_extensions import NOTE_SCHEME, TAG_SCHEME
from gui.viewer.match_navigator import FindMessages, MatchNavigator
from gui.widgets.icons import IconButton, add_clear_button
from gui.widgets.labels import label, line
from gui.widgets.layouts import PageStack, column_of, row_of
from gui.widgets.message_banner import Banner
from gui.widgets.placeholder_page import EmptyPage, Hint

NOT_INDEXED = marked("This link opens a file that is not in the index.")
_WHEEL_NOTCH = 120
_EXTERNAL = ("http", "https", "mailto")


class LinkFollower(QObject):
    """Opens the links of a page.

    Signals:
        file_chosen: a `Location` in another file.
        image_chosen: the path of an image in the searched folders.
        heading_chosen: a heading or another anchor of this page, as in links.
        missing_note_clicked: the name in a link to a note that doesn't exist.
        search_requested: the query for a tag.
        notified: why a link was not opened.
    """

    file_chosen = Signal(object)
    image_chosen = Signal(object)
    heading_chosen = Signal(str)
    missing_note_clicked = Signal(str)
    search_requested = Signal(str)
    notified = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._job = JobSlot(self, jobs)

    def cancel(self) -> None:
        """Stop looking up a link, since another file is shown."""
        self._job.cancel()

    def follow(self, url: QUrl, from_file: str, manager: MemorySearchManager) -> None:
        """Open a link that is written in the file named `from_file`."""
        self.cancel()
        target, anchor = (part(url, QUrl.ComponentFormattingOption.FullyDecoded) for part in (QUrl.path, QUrl.fragment))
        if url.scheme() in _EXTERNAL:
            QDesktopServices.openUrl(url)
        elif url.scheme() == TAG_SCHEME:
            self.search_requested.emit(f"tag:{target}")
        elif url.host() or url.scheme() not in ("", NOTE_SCHEME):
            self.notified.emit(tr("This kind of link can't be opened."))
        elif not target:
            self.heading_chosen.emit(anchor)
        else:
            self._job.read(
                lambda token: _locate(manager, target, anchor, from_file, token),
                self._choose,
                lambda _: self._report_missing(target, url.scheme() == NOTE_SCHEME),
            )

    def open_anchor(self, anchor: str, from_file: str, manager: MemorySearchManager) -> None:
        """Open the lines of `from_file` that a link in it names, unless they are below a heading of that name."""
        self.cancel()
        missing = tr("This page has no heading or block named “{name}”.", name=anchor.removeprefix("^"))
        self._job.read(
            lambda token: _anchor_location(manager, anchor, from_file, token),
            lambda location: self._choose(location) if location else self.notified.emit(missing),
            self.notified.emit,
        )

    def _choose(self, location: Location | Path) -> None:
        (self.image_chosen if isinstance(location, Path) else self.file_chosen).emit(location)

    def _report_missing(self, target: str, named: bool) -> None:
        if named:
            self.missing_note_clicked.emit(target)
        else:
            self.notified.emit(tr(NOT_INDEXED))


def _anchor_location(manager: MemorySearchManager, anchor: str, from_file: str, token: CancelToken) -> Location | None:
    """Find the location of an anchor in the file `from_file`. Pool thread; raises `MnemoscopeError`."""
    linked = None if manager.insight is None else manager.insight.linked_text("", anchor, from_file, token)
    return Location(from_file, linked.line) if linked is not None and linked.anchored else None


def note_url(name: str, anchor: str) -> QUrl:
    """Return a link to a heading or block (`anchor`) of the note `name` in the same workspace."""
    url = QUrl()
    url.setScheme(NOTE_SCHEME)
    url.setPath(f"/{split_name(name)[1]}", QUrl.ParsingMode.DecodedMode)
    url.setFragment(anchor, QUrl.ParsingMode.DecodedMode)
    return url


def _locate(
    manager: MemorySearchManager, target: str, anchor: str, from_file: str, token: CancelToken
) -> Location | Path:
    """Find the note that a link names, by the index or else by path; or an image. Raises `MnemoscopeError`.

    Runs on a pool thread.
    """
    insight = manager.insight
    if insight is not None:
        linked = insight.linked_text(target, anchor, from_file, token)
        if linked is not None:
            return Location(linked.path, linked.line if linked.line > 1 or anchor else None)
    name = normpath(join(dirname(from_file), target))
    try:
        manager.locate(name)
    except MnemoscopeError:
        image = None if insight is None else insight.images_of(from_file).locate(target)
        if image is None:
            raise
        return image
    return Location(name)


class FindBar(QFrame):
    """The find bar: a line edit, a count of matches, and buttons for the next and previous match.

    Signals:
        needle_changed: the text to find.
        step_requested: True for the next match, False for the previous.
        closed: the user closed the bar.
    """

    needle_changed = Signal(str)
    step_requested = Signal(bool)
    closed = Signal()

    def __init__(self, placeholder: str) -> None:
        super().__init__()
        self.setProperty("role", "side")
        self.box = QLineEdit(self)
        self.box.setPlaceholderText(placeholder)
        self.box.setAccessibleName(placeholder)
        add_clear_button(self.box)
        self.box.textChanged.connect(self.needle_changed)
        self.box.installEventFilter(self)
        self.count = label(role="meta", parent=self)
        self.count.setMinimumWidth(72)
        self.count.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        before = IconButton("chevron-up", tr("Previous match"), parent=self)
        before.set_accessible(tr("Previous match"), tr("Previous match (Shift+Enter)"))
        after = IconButton("chevron-down", tr("Next match"), parent=self)
        after.set_accessible(tr("Next match"), tr("Next match (Enter)"))
        close = IconButton("close", tr("Close the find bar"), parent=self)
        close.set_accessible(tr("Close the find bar"), tr("Close (Esc)"))
        before.clicked.connect(lambda: self.step_requested.emit(False))
        after.clicked.connect(lambda: self.step_requested.emit(True))
        close.clicked.connect(self.closed)
        row = row_of((self.box, 1), self.count, before, after, close, spacing=4, margins=margins(12, 6, 8, 6))
        column_of(row, line(), spacing=0, parent=self)

    def open(self, needle: str) -> None:
        """Show and focus the bar; an empty `needle` keeps its last text."""
        self.show()
        if needle and needle != self.box.text():
            self.box.setText(needle)
        elif self.box.text():
            self.needle_changed.emit(self.box.text())
        self.box.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.box.selectAll()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle Enter and Shift+Enter (next and previous match); the line edit itself would ignore Shift."""
        enter = (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if isinstance(event, QKeyEvent) and event.type() == QEvent.Type.KeyPress and event.key() in enter:
            self.step_requested.emit(not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            return True
        return super().eventFilter(watched, event)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.closed.emit()
        else:
            super().keyPressEvent(event)


class FindInText(QObject):
    """Connects the find bar with navigation between hits."""

    def __init__(self, jobs: Jobs, parent: QObject, words: FindMessages) -> None:
        super().__init__(parent)
        self.bar = FindBar(tr(words.find))
        self.bar.hide()
        self.hits = MatchNavigator(jobs, self, words)
        self.bar.needle_changed.connect(self.hits.find)
        self.bar.step_requested.connect(self.step)
        self.hits.counted.connect(self.bar.count.setText)

    @property
    def open(self) -> bool:
        """Whether the find bar is open."""
        return not self.bar.isHidden()

    def step(self, forward: bool) -> None:
        """Go to the next hit or, if not `forward`, the previous one."""
        self.hits.step(forward=forward)

    def close(self) -> bool:
        """Close the bar and remove its highlights; returns whether the bar had the keyboard focus."""
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self.bar.isAncestorOf(focus)
        self.bar.hide()
        self.hits.find("")
        return had_focus


class BaseViewer(QWidget):
    """Shows one of several pages, or an empty one with a message; the page gets the panel's keyboard focus.

    Signals:
        escape_pressed: Esc without an open find bar; the window moves the focus back to the list.
        zoom_requested: 1 for larger text, -1 for smaller: the wheel was turned with Ctrl.
    """

    escape_pressed = Signal()
    zoom_requested = Signal(int)

    def __init__(self, jobs: Jobs, words: FindMessages, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._stack = PageStack()
        self.empty_page = EmptyPage()
        self.page: QWidget = self.empty_page
        self.card: ChunkCard | None = None
        self._turned = 0
        """How far the wheel was turned with Ctrl since the last change of the size; fine wheels report small parts."""
        self._cards: tuple[ChunkCard | LinkCard, ...] = ()
        self.hint = Hint(self._stack)
        self.banner = Banner()
        self.banner.left.connect(self.setFocus)
        self.find_in_text = FindInText(jobs, self, words)
        self.find_in_text.bar.closed.connect(self._close_find)
        self.find_in_text.hits.notice.connect(lambda words, low: self.hint.show_message(words, at_top=low))
        self.find_action = key_action(self, FIND, tr(words.find))
        self.find_action.triggered.connect(self._open_find)
        for hit, forward in ((NEXT_MATCH, True), (PREVIOUS_MATCH, False)):
            step = key_action(self, hit)
            step.triggered.connect(lambda _=False, forward=forward: self.find_in_text.step(forward))

    @property
    def painted(self) -> bool:
        """Whether the last frame of the page showed all visible text."""
        return bool(getattr(self.page, "painted", True))

    def _build_layout(self, header: QWidget, show_active: Callable[[bool], None], *pages: QWidget) -> None:
        """Create the layout: header, messages, find bar, and one of `pages` or the empty page.

        `show_active` is called with True or False when one of `pages` gets or loses the focus.
        """
        self._show_active = show_active
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for part in (header, self.banner, self.find_in_text.bar):
            column.addWidget(part)
        column.addWidget(self._stack, 1)
        for page in (self.empty_page, *pages):
            self._stack.addWidget(page)
        for page in pages:
            page.installEventFilter(self)

    def _add_cards(self, chunk: ChunkCard, *others: LinkCard) -> None:
        """Add cards below the pages; Esc closes an open card first."""
        self.card = chunk
        self._cards = (chunk, *others)
        for card in self._cards:
            self._column.addWidget(card)
            card.left.connect(self.setFocus)

    def _show_page(self, page: QWidget) -> None:
        had_focus = self.page.hasFocus()
        self.page = page
        self._stack.setCurrentWidget(page)
        if had_focus:
            page.setFocus()

    def _open_find(self) -> None:
        """Open the find bar, if a text is shown."""
        raise NotImplementedError

    def _close_find(self) -> None:
        if self.find_in_text.open and self.find_in_text.close():
            self.page.setFocus()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in (QEvent.Type.FocusIn, QEvent.Type.FocusOut):
            self._show_active(event.type() == QEvent.Type.FocusIn)
        return super().eventFilter(watched, event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Pass the focus to the page; with a focus proxy, Tab would skip the buttons above."""
        self.page.setFocus(event.reason())

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Handle the wheel with Ctrl, which no page uses itself."""
        if not event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            super().wheelEvent(event)
            return
        self._turned += event.angleDelta().y()
        if abs(self._turned) >= _WHEEL_NOTCH:
            self.zoom_requested.emit(1 if self._turned > 0 else -1)
            self._turned = 0
        event.accept()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Handle keys that the page does not use itself."""
        match event.key():
            case Qt.Key.Key_N:
                self.find_in_text.step(not event.modifiers() & Qt.KeyboardModifier.ShiftModifier)
            case Qt.Key.Key_Escape if self.find_in_text.open:
                self._close_find()
            case Qt.Key.Key_Escape if opened := [card for card in self._cards if not card.isHidden()]:
                opened[-1].close_card()
            case Qt.Key.Key_Escape:
                self.escape_pressed.emit()
            case _:
                super().keyPressEvent(event)
