"""The file viewer: a header, the file as source or as a rendered page, and messages."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QUrl, Signal, SignalInstance
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QWidget

from engine import LinkedText, MemorySearchManager, MemorySearchResult, MnemoscopeError, NoteLinkInfo, marked, tr
from gui.commands.commands import key_action
from gui.commands.keymap import command
from gui.core.jobs import Jobs, JobSlot
from gui.core.location import Location
from gui.viewer.actions import FileActions, SimilarAction
from gui.viewer.base_viewer import BaseViewer, LinkFollower, note_url
from gui.viewer.chunks.card import ChunkCard
from gui.viewer.chunks.inspector import ChunkInspector
from gui.viewer.chunks.view import ChunkedSource
from gui.viewer.external_programs import ExternalOpener
from gui.viewer.file_loader import FileLoader, FileWatch, OpenedFile, ViewTarget
from gui.viewer.header import TURN, ViewerHeader
from gui.viewer.link_card import LinkCard
from gui.viewer.markdown_extensions import FOLD_SCHEME
from gui.viewer.match_navigator import IN_FILE
from gui.viewer.outline import Outline
from gui.viewer.pictures import LocateImage
from gui.viewer.source_and_page import SourceAndPage
from gui.widgets.placeholder_page import NothingToRead

CHOOSE_RESULT = NothingToRead(
    marked("Choose a result with Up and Down, and press Enter to read it here."),
    marked("N and Shift+N go through the found words, Esc goes back to the results."),
)
CHOSEN_OPENS_HERE = NothingToRead(marked("The result or note that you choose opens here."))
"""While there are no results."""
_DELETED = "deleted"
_MISSED = "missed"
_WRAP = command("file.wrap", marked("Wrap lines"), "file", "Alt+Z")
_LONG_HINT_MS = 5_000


class ViewerPanel(BaseViewer):
    """Shows one result or one file at a time.

    `wrap_action` is checked while long lines are wrapped, `chunks_action` while the borders of chunks are shown.
    `external` opens files in other programs, also for the rest of the window.

    Signals:
        file_shown: the name of the file whose text, or the reason for having none, is shown.
        more_requested: find passages similar to this `Passage`, with its first words if known.
        location_chosen: open this `Location`.
        search_requested: search for these words.
        next_requested: show the next result of the search that found the shown file.
    """

    location_chosen = Signal(object)
    search_requested = Signal(str)
    next_requested = Signal()
    file_shown = Signal(str)
    more_requested = Signal(object, str)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__(jobs, IN_FILE)
        self._manager: MemorySearchManager | None = None
        self.target: ViewTarget | None = None
        self.opened: OpenedFile | None = None
        self._instead: NothingToRead | None = None
        """The message that was last shown in place of a file."""
        self._reloading = False
        self._reload_due = False
        """Whether the shown file must be read again once its folder has been reopened."""
        self.source = ChunkedSource(jobs)
        card = ChunkCard()
        self.link_card = LinkCard(jobs, self)
        self._chunks = ChunkInspector(jobs, self.source, card, self, tr("Show passage borders"))
        self._source_and_page = SourceAndPage(jobs, self.source, self.find_in_text.hits, self)
        self.rendered = self._source_and_page.rendered
        self.external = ExternalOpener(jobs, self)
        self.file_actions = FileActions(jobs, self.external, self.source, self)
        self.file_actions.page_at = lambda line: self.opened.page_at(line) if self.opened else 0
        self.similar = SimilarAction(jobs, self.source, self.rendered, self)
        self._loader = FileLoader(jobs, self)
        self._jobs, self._renaming = jobs, JobSlot(self, jobs)
        self._watch = FileWatch(self)
        self._links = LinkFollower(jobs, self)
        self._pending_anchor = ""
        """The anchor of the link that is followed."""
        self.header = self._make_header()
        self._build_layout(self.header, self.header.show_active, self.source, self.rendered)
        self._add_cards(card, self.link_card)
        self._connect()
        self.clear()

    # --- for the window -------------------------------------------------------------------------------------------

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory, or None. `reopening`: the folder is the same, and the shown file stays open."""
        self._manager = self.external.manager = manager
        self._chunks.set_manager(manager, reopening=reopening)
        self.link_card.set_manager(manager, reopening=reopening)
        self._links.cancel()
        if not reopening:
            self.clear()
        elif self.target is not None and self.target.name != self.name:
            self._loader.cancel()
            self._open(reloading=False)
        elif self.opened is not None:
            self._set_resolvers(self.opened.name)
            if self._loader.busy or self._reload_due:
                self._loader.cancel()
                self._open(reloading=True)

    def refresh(self) -> None:
        """Read chunks and links again after a change of the index; a file that is shown is watched separately."""
        if self.opened is None and not self._loader.busy:
            self._open(reloading=True)  # the folder may be back; the message stays meanwhile
        self._watch.check_again()
        self._look_for_new_name()
        self._chunks.refresh()
        self.link_card.refresh()

    def show_chunk(self) -> None:
        """Show the borders of chunks, and the details of the chunk at the user's position."""
        self._chunks.select_next(True)

    def offer(self, actions: Sequence[QAction]) -> None:
        """Add actions to the menus of the shown file."""
        self.header.offer(actions)

    @property
    def has_file(self) -> bool:
        """Whether a file is shown or being opened."""
        return self.target is not None

    @property
    def name(self) -> str:
        """The stable name of the shown file; empty if there is none."""
        return "" if self.opened is None else self.opened.name

    @property
    def view_state(self) -> tuple[str, int]:
        """The name of the shown file, and the line at the top of its source; 0 while the source is hidden."""
        name = self.opened.name if self.opened is not None else ""
        return name, self.source.top_line if name and self.page is self.source else 0

    def go_to_line(self, line: int) -> None:
        """Scroll the source to a line, if the source is shown."""
        if self.page is self.source:
            self.source.go_to_line(line)

    @property
    def scrolled(self) -> SignalInstance:
        """The signal that the value of the source's scroll bar has changed."""
        return self.source.verticalScrollBar().valueChanged

    @property
    def busy(self) -> bool:
        """Whether chunks or links of the shown file are still being read."""
        return self._chunks.busy or self.link_card.busy

    @property
    def shows_chunk(self) -> bool:
        """Whether the details of a chunk are shown."""
        return self._chunks.card_open

    def show_result(self, result: MemorySearchResult, query: str) -> None:
        """Show the part of a file that a search found, with the words of `query` highlighted."""
        target = ViewTarget.of_result(result, query)
        # The same result again, perhaps after a refresh of the list: the user's scroll position stays.
        self._show(target, reveal=self.target is None or self.target.identity != target.identity)

    def show_file(self, path: str, line: int | None = None, end: int | None = None) -> None:
        """Show a file by its stable name, scrolled to `line`, with the lines up to `end` highlighted."""
        self._show(ViewTarget.of_lines(path, line, end), reveal=True)

    def clear(self, instead: NothingToRead = CHOSEN_OPENS_HERE) -> None:
        """Show the message `instead` in place of a file."""
        self._links.cancel()
        if not self.has_file and instead is self._instead:
            return  # as for most answers while the user types
        self.target, self._instead = None, instead
        self._loader.cancel()
        self._drop_file()
        self.file_actions.set_vault(False)
        self.file_actions.set_target(None)
        self.similar.set_target(None)
        self.header.hide()
        self.hint.hide()
        self._close_find()
        self.empty_page.show_message(tr(instead.sentence), keys=tr(instead.keys))
        self._show_page(self.empty_page)

    def _show(self, target: ViewTarget, *, reveal: bool) -> None:
        """Show a target; `reveal`: scroll to it even if its file is open already."""
        if self._manager is None:
            return
        self.target = target
        self._links.cancel()
        self.file_actions.set_target(target)
        self.similar.set_target(target)
        self.header.show_title(target.file_title, target.breadcrumb)
        self.header.show()
        if self.opened is not None and self.opened.name == target.name and not self.banner.text:
            self._loader.cancel()
            self._apply(reveal=reveal)
        else:
            self._open(reloading=False)

    # --- opening --------------------------------------------------------------------------------------------------

    def _open(self, *, reloading: bool) -> None:
        self._reload_due = self._manager is None and self.target is not None
        if self._manager is not None and self.target is not None:
            self._reloading = reloading
            self._loader.open(self._manager, self.target.name)

    def _on_opened(self, opened: OpenedFile) -> None:
        reloading = self._reloading and self.opened is not None
        self._drop_file(keep_lines=True)
        old, self.opened = self.source.lines, opened
        first = 1 if self.target is None else self.target.first or 1  # where `_apply` scrolls to
        self.source.set_lines(opened.lines, opened.outline, first=None if reloading else first)
        if old is not None:
            old.close()
        self._watch.follow(opened.location)
        self.header.offer_modes(not opened.is_document)
        self._set_resolvers(opened.name)
        self._chunks.show_file(opened.name, opened.lines)
        self.link_card.show_file(opened.name)
        self.file_actions.set_vault(opened.in_vault)
        self._apply(reveal=not reloading)
        if reloading:
            self.hint.show_message(tr("File reloaded"))
        if opened.problem:
            self.hint.show_message(opened.problem, _LONG_HINT_MS)

    def _set_resolvers(self, from_file: str) -> None:
        """Let the page read the notes and find the images that the note `from_file` names; both on a pool thread."""
        manager = self._manager

        def resolve(target: str, anchor: str) -> LinkedText | None:
            try:
                insight = None if manager is None else manager.insight
                return None if insight is None else insight.linked_text(target, anchor, from_file)
            except MnemoscopeError:
                return None

        def images() -> LocateImage:
            insight = None if manager is None else manager.insight
            images = None if insight is None else insight.images_of(from_file)

            def locate(target: str) -> Path | None:
                return None if images is None else images.locate(target)

            return locate

        self.rendered.resolve, self.rendered.images = resolve, images

    def _on_failed(self, sentence: str) -> None:
        if self._reloading and self.opened is not None:
            return  # the last text stays; the watcher reports a deleted file
        self._drop_file()
        self.header.set_ready(False)
        self.empty_page.show_message(sentence, retry=True)
        self._show_page(self.empty_page)
        if self.target is not None:
            self.file_shown.emit(self.target.name)

    def _on_slow(self) -> None:
        if not self._reloading and self.target is not None:
            self.empty_page.show_message(tr("Opening {file}…", file=self.target.file_title))
            self._show_page(self.empty_page)

    def _on_vanished(self) -> None:
        found = self.target is not None and self.target.query
        following = ((tr("Next result"), self.next_requested.emit),) if found else ()
        sentence = tr("This file was deleted. Its last text is shown.")
        self.banner.show_message(sentence, "degraded", *following, key=_DELETED)
        self._look_for_new_name()

    def _look_for_new_name(self) -> None:
        """Look in the index for the new name of a file that was renamed, and show it there at the same position."""
        insight, stamp = None if self._manager is None else self._manager.insight, self._watch.last_seen
        if insight is not None and stamp is not None and self.banner.key == _DELETED:
            name, (time, size, _) = self.name, stamp
            job = self._jobs.read(lambda token: insight.renamed_note(name, time, size, token), self._follow_renamed)
            self._renaming.replace(job)

    def _follow_renamed(self, name: str) -> None:
        if name and self.target is not None and self.target.name == self.name:
            self.target = replace(self.target, name=name, title="")
            self.file_actions.set_target(self.target)
            self.similar.set_target(self.target)
            self._open(reloading=True)

    def _drop_file(self, *, keep_lines: bool = False) -> None:
        """Stop everything that reads the shown file; `keep_lines` leaves its text on the screen."""
        self._source_and_page.close_file(forget=not keep_lines)
        self._watch.follow(None)
        self._renaming.cancel()
        for key in (_DELETED, _MISSED):
            self.banner.clear(key)
        self.opened = None
        lines = self.source.lines
        if not keep_lines and lines is not None:
            self._chunks.show_file("", None)
            self.link_card.show_file("")
            self.source.set_lines(None, Outline())
            lines.close()

    # --- showing --------------------------------------------------------------------------------------------------

    def _apply(self, *, reveal: bool) -> None:
        """Show the target as source or page; `reveal` scrolls to it."""
        target, opened = self.target, self.opened
        if target is None or opened is None:
            return
        self.header.set_ready(True)
        self.source.set_highlight(target.part)
        if reveal:
            self.source.reveal_part(target.first or 1, target.focus)
        self._show_title()
        self._source_and_page.show(opened, target, keep_position=self.page is self.rendered and not reveal)

    def _show_title(self) -> None:
        """Show title, path and what the text at the current line is."""
        if (target := self.target) is not None and (opened := self.opened) is not None and opened.name == target.name:
            crumb = opened.crumb(target.breadcrumb, self.source.current_line())
            self.header.show_title(target.title or opened.title or target.file_title, crumb)

    def _show_mode(self, shown: QWidget) -> None:
        """Bring the source or the page, whose text is loaded now, to the front."""
        self.header.show_mode(rendered=shown is self.rendered)
        self._show_page(shown)
        if self.target is not None:
            self.file_shown.emit(self.target.name)

    @property
    def prefers_page(self) -> bool:
        """Whether files are shown as rendered pages, if they have one."""
        return self._source_and_page.prefers_page

    def choose_rendered(self, rendered: bool) -> None:
        """Show the file as a rendered page or as source."""
        if rendered:
            self._chunks.close_card()
        self._source_and_page.choose(rendered=rendered, keep_position=self.page is self.rendered)

    def _leave_page(self) -> None:
        """Switch to the source, since only it can show what the user requested."""
        if self.page is self.rendered:
            self.choose_rendered(False)

    # --- finding, links -------------------------------------------------------------------------------------------

    def _open_find(self) -> None:
        if self.opened is None:
            return
        rendered = self.page is self.rendered
        chosen = self.rendered.textCursor().selectedText() if rendered else self.source.selected_word()
        self.find_in_text.bar.open(chosen)

    def _close_find(self) -> None:
        if self.find_in_text.open:
            self.source.select_hit()
        super()._close_find()

    def follow_link(self, url: QUrl) -> None:
        """Open a link of the note: a web page in the browser, another note in the viewer; other kinds are refused."""
        if url.scheme() == FOLD_SCHEME and url.path().isdigit():
            self.rendered.toggle_fold(int(url.path()))
        elif self.target is not None and self._manager is not None:
            self._pending_anchor = url.fragment(QUrl.ComponentFormattingOption.FullyDecoded)
            self._links.follow(url, self.target.name, self._manager)

    def _go_to_anchor(self, name: str) -> None:
        if not name:
            self.rendered.go_to_heading(None)
        elif self.rendered.go_to_anchor(name.lower() if name.startswith("^") else name):
            return
        elif self.target is not None and self._manager is not None:
            self._links.open_anchor(name, self.target.name, self._manager)

    def _open_location(self, location: Location) -> None:
        """Emit the signal to open the note of a link, so that it is recorded in the history."""
        self.rendered.anchor = self._pending_anchor.lower() if self._pending_anchor.startswith("^") else ""
        self.location_chosen.emit(location)

    def _open_linked(self, link: NoteLinkInfo) -> None:
        """Open the other note of a link that the link card shows."""
        if not link.path:
            self._offer_search(link.title)
        elif link.backlink or not link.anchor:
            self._pending_anchor = ""
            self._open_location(Location(link.path, link.line if link.line > 1 else None))
        else:
            self.follow_link(note_url(link.path, link.anchor))

    def _offer_search(self, name: str) -> None:
        def search() -> None:
            self.search_requested.emit(name)

        self.banner.show_message(
            tr("No note is named “{name}”.", name=name), "degraded", (tr("Search"), search), key=_MISSED
        )

    # --- assembly -------------------------------------------------------------------------------------------------

    def _make_header(self) -> ViewerHeader:
        self.wrap_action = key_action(self, _WRAP)
        self.wrap_action.setCheckable(True)
        self.wrap_action.toggled.connect(self.source.set_wrap)
        self.wrap_action.setChecked(True)
        actions = self.file_actions
        self.chunks_action = self._chunks.margin_action
        menu = [
            actions.link,
            actions.copy_path,
            actions.copy_part,
            actions.reveal,
            actions.obsidian,
            self.similar.action,
            actions.sessions,
            self.link_card.action,
            None,
            self.find_action,
            self.wrap_action,
            self.chunks_action,
        ]
        return ViewerHeader([actions.edit, actions.cite], menu, self)

    def _connect(self) -> None:
        self._loader.opened.connect(self._on_opened)
        self._loader.failed.connect(self._on_failed)
        self._loader.slow.connect(self._on_slow)
        self.scrolled.connect(self._show_title)
        self._watch.changed.connect(lambda: self._open(reloading=True))
        self._watch.vanished.connect(self._on_vanished)
        self._source_and_page.mode_changed.connect(self._show_mode)
        self._source_and_page.notified.connect(lambda sentence: self.hint.show_message(sentence, _LONG_HINT_MS))
        self.rendered.anchorClicked.connect(self.follow_link)
        self._links.file_chosen.connect(self._open_location)
        self._links.image_chosen.connect(self.external.open_image)
        self._links.heading_chosen.connect(self._go_to_anchor)
        self._links.search_requested.connect(self.search_requested)
        self._links.missing_note_clicked.connect(self._offer_search)
        self._links.notified.connect(self.hint.show_message)
        self.link_card.chosen.connect(self._open_linked)
        self.link_card.notified.connect(self.hint.show_message)
        for page in (self.source, self.rendered):
            page.addAction(self.link_card.action)
        key_action(self, TURN).triggered.connect(self.header.toggle_mode)
        self.source.chunk_pressed.connect(self._chunks.choose)
        self._chunks.notified.connect(self.hint.show_message)
        self._chunks.source_requested.connect(self._leave_page)
        self._chunks.more_requested.connect(self.more_requested)
        self.similar.requested.connect(self.more_requested)
        self.similar.notified.connect(self.hint.show_message)
        self.header.rendered_chosen.connect(self.choose_rendered)
        self.empty_page.retry.connect(lambda: self._open(reloading=False))
        self.file_actions.notified.connect(self.hint.show_message)
        self.external.failed.connect(self.hint.show_message)
