"""A card below a note that lists the links to it and its own links, each with the sentence around it."""

from collections import Counter
from collections.abc import Iterator, Sequence

from PySide6.QtCore import QElapsedTimer, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication, QFrame, QListWidget, QListWidgetItem, QWidget

from engine import CancelToken, MemorySearchManager, NoteLinkInfo, NoteLinks, marked, tr, tr_count
from gui.commands.commands import key_action, show_key_in_tooltip
from gui.commands.keymap import command
from gui.core.capabilities import Gate
from gui.core.jobs import JobOwner, Jobs, JobSlot
from gui.core.key_listing import missing
from gui.style.stylesheet import font_at
from gui.text.excerpt import opening_words
from gui.text.plain_text import set_tip
from gui.text.right_to_left import margins
from gui.widgets.accessibility import announce
from gui.widgets.icons import IconButton
from gui.widgets.labels import ElidedLabel, line
from gui.widgets.layouts import BottomCard, column_of, row_of

LINKS = command("file.links", marked("Links of this note"), "file", "Alt+B")
_SIDE = 16
_ROWS = 9
_MAX_ROWS = 500
"""Maximum number of rows of each kind."""
_LINK = Qt.ItemDataRole.UserRole + 1


class LinkCard(JobOwner, BottomCard):
    """Shows the links of the current note while the card is open; reads them in the background.

    Signals:
        chosen: open the note of this `NoteLinkInfo`.
        notified: a message for the user.
        left: the card was closed while it had the focus.
    """

    chosen = Signal(object)
    notified = Signal(str)
    left = Signal()

    def __init__(self, jobs: Jobs, panel: QWidget) -> None:
        """The key that opens the card works anywhere in `panel`."""
        super().__init__(_ROWS)
        self._job = JobSlot(self, jobs)
        self._manager: MemorySearchManager | None = None
        self._name = ""
        self._focus_pending = False
        self._found: NoteLinks | None = None
        """The links that the list shows."""
        self._since_click = QElapsedTimer()
        self.action = key_action(panel, LINKS)
        self.action.setCheckable(True)
        self.action.toggled.connect(self._toggle)
        self._gate = Gate(self.action, "insight")
        self._title = ElidedLabel()
        self._title.setProperty("role", "strong")
        close = IconButton("close", tr("Close (Esc)"))
        show_key_in_tooltip(close, tr("Close (Esc)"), LINKS.name)
        close.clicked.connect(self.close_card)
        self.list = QListWidget()
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        self.list.setWordWrap(True)
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setAccessibleName(tr("Links of this note"))
        self.list.itemClicked.connect(self._click)
        head = row_of((self._title, 1), close, margins=margins(_SIDE, 6, 8, 4))
        column_of(line(), head, (self.list, 1), spacing=0, parent=self)
        self.hide()

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory whose index is read, or None. `reopening`: the folder is the same, and the file stays."""
        self._manager = manager
        self._job.cancel()
        if not reopening:
            self.show_file("")
        elif manager is not None:
            self.refresh()

    def show_file(self, name: str) -> None:
        """Set the note whose links are shown, by its stable name; empty for none."""
        if name != self._name:
            self.list.clear()
            self._found = None
        self._name = name
        self._gate.allow(bool(name), missing("file"))
        self.refresh()

    def refresh(self) -> None:
        """Read the links again, if the card is open."""
        self._job.cancel()
        insight, name = self._manager.insight if self._manager is not None else None, self._name
        if not self.action.isChecked() or not name or insight is None:
            self.hide()
            return

        def read(token: CancelToken) -> NoteLinks:
            return insight.note_links(name, token)

        self._job.read(read, self._show, self.notified.emit)

    def close_card(self) -> None:
        """Close the card, if it is open."""
        self.action.setChecked(False)

    def _toggle(self, shown: bool) -> None:
        self._focus_pending = shown
        focus = QApplication.focusWidget()
        had_focus = focus is not None and self.isAncestorOf(focus)
        self.refresh()
        if not shown and had_focus:
            self.left.emit()

    def _show(self, links: NoteLinks) -> None:
        if links != self._found:
            self._found = links
            self._fill(links)
        was_hidden = self.isHidden()
        self.show()
        if was_hidden:
            announce(self, self.accessibleName())
        if self._focus_pending and self.list.count():
            self.list.setFocus()
        self._focus_pending = False

    def _fill(self, note_links: NoteLinks) -> None:
        row = self.list.currentRow()
        self.list.clear()
        to = tr_count("{count:,} link to this note", "{count:,} links to this note", len(note_links.backlinks))
        own = tr_count("{count:,} link in this note", "{count:,} links in this note", len(note_links.links))
        summary = tr("{backlinks}, {links}", backlinks=to, links=own)
        self._title.setText(summary)
        self.setAccessibleName(summary)
        for heading, links in ((to, note_links.backlinks), (own, note_links.links)):
            if links:
                self._add_heading(heading)
                self._add_links(links)
        if not 0 < row < self.list.count():
            row = 1 if self.list.count() else -1  # below the first heading
        self.list.setCurrentRow(row)

    def _add_heading(self, text: str) -> None:
        item = QListWidgetItem(text)
        item.setFlags(Qt.ItemFlag.NoItemFlags)
        font = font_at(13)
        font.setBold(True)
        item.setFont(font)
        self.list.addItem(item)

    def _add_links(self, links: Sequence[NoteLinkInfo]) -> None:
        for link, text in _rows(links[:_MAX_ROWS]):
            item = QListWidgetItem(text)
            item.setData(_LINK, link)
            set_tip(item, link.path)
            self.list.addItem(item)
        if len(links) > _MAX_ROWS:
            self._add_heading(tr_count("and {count:,} more link", "and {count:,} more links", len(links) - _MAX_ROWS))

    def _click(self, item: QListWidgetItem) -> None:
        """Open a clicked link; ignores the second click of a double click, when the list may have changed."""
        if self._since_click.isValid() and self._since_click.elapsed() < QApplication.doubleClickInterval():
            return
        self._since_click.start()
        self._choose(item)

    def _choose(self, item: QListWidgetItem) -> None:
        link = item.data(_LINK)
        if link is not None:
            self.chosen.emit(link)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape:
            self.close_card()
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter) and self.list.hasFocus():
            if (item := self.list.currentItem()) is not None:
                self._choose(item)
        else:
            super().keyPressEvent(event)


def _rows(links: Sequence[NoteLinkInfo]) -> Iterator[tuple[NoteLinkInfo, str]]:
    """Yield each link with its text: the other note, with its path if others have its title; and the sentence."""
    titles = Counter(title for title, _ in {(link.title, link.path) for link in links})
    for link in links:
        title = link.title or link.anchor.lstrip("^")
        if not link.path:
            title = tr("{name} (no such note)", name=title)
        elif link.anchor and not link.anchor.startswith("^"):
            title = f"{title} › {link.anchor}"
        if link.path and titles[link.title] > 1:
            title = f"{title} · {link.path}"
        yield link, "\n".join(filter(None, (title, opening_words(link.context))))
