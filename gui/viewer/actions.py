"""Actions on the shown file: copy parts of it, open it in another program, or find similar passages."""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QAction, QClipboard, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QWidget

from engine import LAST_LINE, Passage, beginning_of, cite, is_document, marked, tr
from gui.commands.commands import EDIT, FILE_SESSIONS, LIKE, LINK, allow, give_key, key_action
from gui.commands.keymap import command
from gui.core.capabilities import Gate
from gui.core.jobs import Jobs
from gui.core.key_listing import missing
from gui.core.location import Location
from gui.viewer.external_programs import ExternalOpener
from gui.viewer.file_loader import ViewTarget
from gui.viewer.rendered_view import RenderedView
from gui.viewer.source_view import SourceView

_CITE = command("file.cite", marked("Copy citation"), "file", "Ctrl+Shift+C")
_COPY_PATH = command("file.copy-path", marked("Copy path"), "file")
_COPY_PART = command("file.copy-part", marked("Copy the matching passage"), "file")
_REVEAL = command("file.reveal", marked("Show in file manager"), "file")
_OBSIDIAN = command("file.obsidian", marked("Open in Obsidian"), "file")
_COPY = command("file.copy", marked("Copy selection"), "file", QKeySequence.StandardKey.Copy)
_SELECT_ALL = command("file.select-all", marked("Select all"), "file", QKeySequence.StandardKey.SelectAll)
_MAX_LINES = 400_000
"""Maximum number of lines copied; a longer clipboard stalls the programs that paste it."""
_LONGEST_SELECTION = 200
"""Maximum number of lines that are compared, from the start of the selection: no passage is similar to a whole book."""
_LONGEST_TEXT = 4000
"""Maximum number of characters that are compared."""
_FIRST_LINES = 3
_PARAGRAPH, _LINE_END = "\u2029", "\u2028"


class FileActions(QObject):
    """The actions on a file for buttons and menus: they apply to the current target and its selected lines.

    Signals:
        notified: a message about the result.
        link_requested: copy a link to this `Location`.
        sessions_requested: search for the sessions that used the file with this name.
    """

    notified = Signal(str)
    link_requested = Signal(object)
    sessions_requested = Signal(str)

    def __init__(self, jobs: Jobs, external: ExternalOpener, source: SourceView, panel: QWidget) -> None:
        super().__init__(panel)
        self._jobs = jobs
        self._external = external
        self._source = source
        self._target: ViewTarget | None = None
        self.page_at: Callable[[int], int] = lambda line: 0
        """Returns the number of the page with a line of the shown file; 0 without pages."""
        self._in_vault = False
        self.edit = self._action(EDIT.label, self._open_in_editor)
        self.cite = self._action(_CITE.label, self._copy_citation)
        self.link = self._action(LINK.label, self._request_link)
        self.copy_path = self._action(_COPY_PATH.label, self._copy_path)
        self.copy_part = self._action(_COPY_PART.label, self._copy_part)
        self.reveal = self._action(_REVEAL.label, self._reveal)
        self.obsidian = self._action(_OBSIDIAN.label, self._open_in_obsidian)
        self.sessions = self._action(FILE_SESSIONS.label, self._request_sessions)
        self._sessions_gate = Gate(self.sessions, "insight")
        self.copy = self._action(tr("Copy"), self._copy_selection)
        self.select_all = self._action(_SELECT_ALL.label, source.select_all)
        for action, known in (
            (self.edit, EDIT),
            (self.cite, _CITE),
            (self.link, LINK),
            (self.copy_path, _COPY_PATH),
            (self.copy_part, _COPY_PART),
            (self.reveal, _REVEAL),
            (self.obsidian, _OBSIDIAN),
            (self.sessions, FILE_SESSIONS),
        ):
            give_key(panel, action, known)
        for action, known in ((self.copy, _COPY), (self.select_all, _SELECT_ALL)):
            give_key(source, action, known, Qt.ShortcutContext.WidgetShortcut)
        source.selected.connect(self._offer_selection)
        source.addActions([self.cite, self.link, self.sessions])
        source.setContextMenuPolicy(Qt.ContextMenuPolicy.ActionsContextMenu)

    def set_target(self, target: ViewTarget | None) -> None:
        """Set the file, and the matching part of it, that the actions apply to; None if no file is shown."""
        self._target = target
        for action in (self.edit, self.cite, self.copy_path, self.reveal):
            allow(action, target is not None, missing("file"))
        document = target is not None and is_document(target.name)
        self.edit.setText(tr("Open in its program") if document else EDIT.label)
        self.set_vault(self._in_vault)
        self._sessions_gate.allow(target is not None, missing("file"))
        allow(self.copy_part, target is not None and target.part is not None, tr("This file has no matching passage."))

    def set_vault(self, in_vault: bool) -> None:
        """Set whether the shown file is in an Obsidian vault."""
        self._in_vault = in_vault
        allow(self.obsidian, in_vault and self._target is not None, tr("This note is not in an Obsidian vault."))

    def _action(self, text: str, run: Callable[[], None]) -> QAction:
        action = QAction(text, self)
        action.triggered.connect(run)
        return action

    # --- copying --------------------------------------------------------------------------------------------------

    def _copy_citation(self) -> None:
        """Copy a citation of the selected lines or, without a selection, of the part that the search found."""
        if self._target is not None:
            lines = self._cited_lines
            cited = cite(self._target.name, *lines, page=self.page_at(lines[0])) if lines else self._target.name
            QGuiApplication.clipboard().setText(cited)
            self.notified.emit(tr("Copied {place}", place=cited))

    @property
    def _cited_lines(self) -> tuple[int, int] | tuple[()]:
        """First and last line of the selection, else of the part that the search found; empty if there is neither."""
        return self._source.selected_lines() or (self._target.part if self._target else None) or ()

    def _request_link(self) -> None:
        """Emit a request for a link to the lines that a copied citation would name."""
        if self._target is not None:
            self.link_requested.emit(Location(self._target.name, *self._cited_lines))
            self.notified.emit(tr("Link copied"))

    def _request_sessions(self) -> None:
        if self._target is not None:
            self.sessions_requested.emit(self._target.name)

    def _copy_path(self) -> None:
        if self._target is not None:
            self._external.locate(self._target.name, self._copy_location)

    def _copy_location(self, location: Path) -> None:
        QGuiApplication.clipboard().setText(str(location))
        self.notified.emit(tr("Path copied"))

    def _copy_part(self) -> None:
        lines, part = self._source.lines, self._target.part if self._target is not None else None
        if lines is not None and part is not None:
            self._copy(lambda: lines.full_lines(*part), tr("Text copied"))

    def _copy_selection(self) -> None:
        lines, ends = self._source.lines, self._source.selection.ends
        if lines is None or ends is None:
            return
        if ends[1][0] - ends[0][0] > _MAX_LINES:
            message = tr("The selection has more than {most:,} lines; select less to copy it.", most=_MAX_LINES)
            self.notified.emit(message)
            return
        self._copy(lambda: lines.between(*ends), "")

    def _offer_selection(self) -> None:
        """Make the selected text available for pasting with the middle mouse button, where the system supports it."""
        lines, ends = self._source.lines, self._source.selection.ends
        if lines is None or ends is None or not QGuiApplication.clipboard().supportsSelection():
            return
        if ends[1][0] - ends[0][0] <= _MAX_LINES:
            self._copy(lambda: lines.between(*ends), "", QClipboard.Mode.Selection)

    def _copy(self, read: Callable[[], str], sentence: str, mode: QClipboard.Mode = QClipboard.Mode.Clipboard) -> None:
        def put(text: str) -> None:
            QGuiApplication.clipboard().setText(text, mode)
            if sentence:
                self.notified.emit(sentence)

        self._jobs.read(lambda _: read(), put, self.notified.emit)

    # --- other programs -------------------------------------------------------------------------------------------

    def _open_in_editor(self) -> None:
        if self._target is not None:
            self._external.edit(self._target.name, self._source.current_line())

    def _reveal(self) -> None:
        if self._target is not None:
            self._external.reveal(self._target.name)

    def _open_in_obsidian(self) -> None:
        if self._target is not None:
            self._external.open_in_obsidian(self._target.name)


class SimilarAction(QObject):
    """Finds passages similar to the selection or, without one, to the part that the search found.

    The action is in the menus of source and page, and its key works anywhere in the panel.

    Signals:
        requested: a `Passage` and its first words.
        notified: why it is impossible.
    """

    requested = Signal(object, str)
    notified = Signal(str)

    def __init__(self, jobs: Jobs, source: SourceView, rendered: RenderedView, panel: QWidget) -> None:
        super().__init__(panel)
        self._jobs = jobs
        self._source = source
        self._rendered = rendered
        self._target: ViewTarget | None = None
        self.action = key_action(panel, LIKE)
        self.action.triggered.connect(self._request_similar)
        self._gate = Gate(self.action, "similar")
        source.addAction(self.action)
        rendered.addAction(self.action)
        self.set_target(None)

    def set_target(self, target: ViewTarget | None) -> None:
        """Set the open file and part to find similar passages for; None disables the action."""
        self._target = target
        self._gate.allow(target is not None)

    def _request_similar(self) -> None:
        target, lines = self._target, self._source.lines
        if target is None or lines is None:
            return
        if self._rendered.isVisible():
            text = self._rendered.textCursor().selectedText().replace(_PARAGRAPH, "\n").replace(_LINE_END, "\n")
            if text.strip():
                # A page does not know its lines: the engine finds the text in the file.
                text = beginning_of(text, _LONGEST_TEXT)
                self._emit_request(Passage(path=target.name, start_line=1, end_line=LAST_LINE, text=text))
                return
        ends = None if self._rendered.isVisible() else self._source.selection.ends
        if ends is None:
            line = self._source.current_line()
            first, last = target.part or (line, line)
            passage = Passage(path=target.name, start_line=first, end_line=last)
            self._read(
                lambda: lines.full_lines(first, min(last, first + _FIRST_LINES)),
                lambda text: self._emit_request(passage, text),
            )
            return
        begin, end = ends
        end = min(end, (begin[0] + _LONGEST_SELECTION, 0))
        on = {"start_line": begin[0], "end_line": max(begin[0], end[0] - (end[1] == 0))}
        self._read(
            lambda: beginning_of(lines.between(begin, end), _LONGEST_TEXT),
            lambda text: self._emit_request(Passage(path=target.name, text=text, **on)),
        )

    def _read(self, read: Callable[[], str], then: Callable[[str], None]) -> None:
        self._jobs.read(lambda _: read(), then, self.notified.emit)

    def _emit_request(self, passage: Passage, words: str = "") -> None:
        self.requested.emit(passage, words or passage.text)
