"""The settings dialog: a search over all options, a list of pages, the selected page, and a footer."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path

from PySide6.QtCore import QEvent, QObject, QSize, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import (
    QDialog,
    QListWidget,
    QScrollArea,
    QSizePolicy,
    QWidget,
)

from engine import EmbeddingEstimate, MemorySearchManager, Settings, tr
from gui.core.capabilities import capabilities
from gui.core.jobs import Jobs
from gui.settings.dialog_footer import DialogFooter
from gui.settings.edited_options import SettingsModel
from gui.settings.option_pages import (
    GUIDE,
    PAGES,
    SET_ASIDE,
    WITHOUT_ROWS,
    SettingsPage,
    placed_options,
    whole_page,
)
from gui.settings.option_row import DialogPage, OptionsPage
from gui.settings.page_factory import PageMaker, Pages
from gui.settings.search_results_page import ResultsPage
from gui.settings.system_setting import SystemSwitch
from gui.style.stylesheet import scaled
from gui.widgets.accessibility import insert_after, stop_before, stops
from gui.widgets.buttons import guide_button
from gui.widgets.form_controls import ComboBox
from gui.widgets.labels import line
from gui.widgets.layouts import PageStack, column_of, lay_out_now, row_of
from gui.widgets.message_banner import MessagePage
from gui.widgets.query_box import SearchField

_WIDTH, _HEIGHT = 860, 690
_TYPING_MS = 120
_OWN = 2
"""Number of stacked widgets that aren't pages."""
_LIST_WIDTH = 150
_NARROW = 600
"""Minimum width for the list of pages, in logical pixels at scale 1."""


class PageChoice(QObject):
    """The list of the settings pages, or in a narrow dialog a menu of them.

    Signals:
        chosen: the user selected another page.
    """

    chosen = Signal()

    def __init__(self, names: Sequence[SettingsPage], parent: QObject) -> None:
        super().__init__(parent)
        self._names = tuple(names)
        self.list = QListWidget()
        self.list.setAccessibleName(tr("Pages"))
        self.list.setFrameShape(QListWidget.Shape.NoFrame)
        self.edge = line(vertical=True)
        self.box = ComboBox(tr("Page"))
        self.box.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)  # no title is cut
        self.box.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)
        for name in names:
            self.list.addItem(tr(PAGES[name]))
            self.box.addItem(tr(PAGES[name]), name)
        self.list.currentRowChanged.connect(lambda _: self.chosen.emit())
        self.box.activated.connect(self.list.setCurrentRow)

    @property
    def any(self) -> bool:
        """Whether a page was selected yet."""
        return self.list.currentRow() >= 0

    @property
    def name(self) -> SettingsPage:
        """The name of the selected page, else of the first."""
        return self._names[max(0, self.list.currentRow())]

    def choose(self, name: SettingsPage) -> None:
        self.list.setCurrentRow(self._names.index(name))

    def show_chosen(self, on: bool) -> None:
        """Mark the selected page or, while search results are shown, none."""
        item = self.list.currentItem()
        if item is not None:
            item.setSelected(on)
        self.box.choose(self.name)

    def fold(self, width: int) -> None:
        """Show the list or the menu, depending on the dialog's width."""
        narrow = width < scaled(_NARROW)
        self.list.scheduleDelayedItemsLayout()  # fonts and margins of the style sheet apply by now
        titles = self.list.sizeHintForColumn(0) + 2 * self.list.frameWidth()
        self.list.setFixedWidth(max(scaled(_LIST_WIDTH), titles))
        for widget in (self.list, self.edge):
            widget.setVisible(not narrow)
        self.box.setVisible(narrow)


class SettingsDialog(QDialog):
    """The settings dialog of one workspace.

    It stays open while options are changed, and closes when a page with a form is saved.

    Signals:
        saved: a form was saved, or pending changes were applied: the approved estimate, None for none.
        refused: changes were not saved, after the dialog was closed: one sentence.
        set_aside_requested: rename the settings file, which can't be used.
        file_requested: open the settings file in the desktop's program for it.
        restart_requested: restart the program, after the dialog has closed and everything is saved: the language then.
    """

    saved = Signal(object)
    refused = Signal(str)
    set_aside_requested = Signal()
    file_requested = Signal()
    restart_requested = Signal(str)

    def __init__(
        self,
        jobs: Jobs,
        config: Path | None = None,
        parent: QWidget | None = None,
        makers: dict[SettingsPage, PageMaker] | None = None,
        switches: Sequence[SystemSwitch] = (),
    ) -> None:
        """`makers` create pages of other parts of the window; `switches`: settings stored by the system."""
        super().__init__(parent)
        self.setWindowTitle(tr("Settings"))
        self.model = SettingsModel(jobs, config, self)
        self._stack = PageStack()
        self.pages = Pages(jobs, config, self.model, makers or {}, switches, self._stack)
        self.results = ResultsPage(self.model, switches)
        self._message = MessagePage()
        self.footer = DialogFooter(self.model)
        self.query_field = SearchField(tr("Search all settings"))
        self._search_timer = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self.page_choice = PageChoice(self.pages.names, self)
        self._requested: SettingsPage = "general"
        """The page or part that was opened last by its name."""
        self._restart_language = ""
        """The language in which the program restarts once the dialog has closed; empty if it doesn't."""
        self._opens_at_page = False
        """Whether the dialog was opened for one page, whose first control then gets the focus."""
        for widget in (self.results, self._message):
            self._stack.addWidget(widget)
        self._lay_out()
        self._connect()

    def _lay_out(self) -> None:
        head = row_of((self.query_field, 1), self.page_choice.box, spacing=8, margins=(16, 10, 16, 10))
        row = row_of(self.page_choice.list, self.page_choice.edge, (self._stack, 1), spacing=0)
        column_of(head, line(), (row, 1), line(), self.footer, spacing=0, parent=self)

    def _connect(self) -> None:
        self._search_timer.timeout.connect(self._search)
        self.query_field.list_requested.connect(self._show_found)
        self.query_field.textEdited.connect(lambda _: self._search_timer.start())
        self.query_field.textChanged.connect(self._cleared)
        self.page_choice.chosen.connect(self._choose)
        self.results.option_requested.connect(self._show_option)
        self.pages.page_requested.connect(self.show_page)
        self.pages.saved.connect(self._saved)
        self.pages.edited.connect(self._form_edited)
        self.pages.save_button.connect(self.footer.add_button)
        self.footer.add_button(guide_button(lambda: GUIDE[self.page]))
        model = self.model
        model.loaded.connect(self._loaded)
        model.applied.connect(lambda: self.saved.emit(None))
        model.refused.connect(self._refused)
        model.unreadable.connect(self._unreadable)
        model.restart_requested.connect(self._restart)
        self.footer.closing.connect(self._finish)
        self.finished.connect(self._stop)
        capabilities().changed.connect(self._follow_features)
        for keys, run in ((QKeySequence.StandardKey.Find, self._find), (QKeySequence.StandardKey.Undo, self._undo)):
            QShortcut(keys, self, run)

    # --- from outside -----------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether no lookup, test or save is running."""
        return self.model.ready and self.pages.ready and self.results.ready and not self._search_timer.isActive()

    @property
    def page(self) -> SettingsPage:
        """The name of the page selected in the list."""
        return self.page_choice.name

    def begin(
        self,
        folder: Path,
        settings: Settings,
        manager: MemorySearchManager | None,
        page: SettingsPage | None = None,
    ) -> None:
        """Open the dialog with the current settings of the workspace `folder`, whose memory is `manager`.

        `page`: None for the last one shown, at first *General* unless an engine without models needs a decision. Typing
        then searches the options: in the first field of a page, it would change an option by mistake.
        """
        self._opens_at_page = page is not None
        self._restart_language = ""
        self.renew(folder, settings, manager)
        self.query_field.clear()
        if page is None and not self.page_choice.any:
            page = "engine" if self.pages.models_unsupported else "general"
        around = self.parentWidget() or self
        available = around.screen().availableSize()
        # Before it opens, since Qt centres it over the window then.
        self.resize(QSize(scaled(_WIDTH), scaled(_HEIGHT)).boundedTo(available))
        self.open()
        self.page_choice.fold(self.width())
        self.show_page(page or self.page)
        if not self._opens_at_page:
            self._find()

    def renew(self, folder: Path, settings: Settings, manager: MemorySearchManager | None) -> None:
        """Update the dialog after the workspace was opened again, perhaps with changes saved here."""
        self.pages.renew(folder, settings, manager)
        self.model.begin(folder)

    @Slot()
    def _follow_features(self) -> None:
        """Show the page, or why the engine doesn't support it."""
        if self.isVisible():
            self._choose()

    def refresh(self) -> None:
        """Update the parts that depend on the index, since it has changed."""
        self.pages.refresh(self.page)

    def close_without_saving(self) -> None:
        """Close the dialog and drop pending changes, since the workspace was closed."""
        self._restart_language = ""
        self.model.discard()
        self.model.stop_reopening()
        super().reject()

    def search(self, query: str) -> None:
        """Search the options, as if the user had typed `query`."""
        self.query_field.setText(query)
        self._search()

    # --- pages ------------------------------------------------------------------------------------------------------

    @Slot(str)
    def show_page(self, name: SettingsPage) -> None:
        """Show a page, or the page that contains this part, and focus its first control."""
        self.query_field.clear()
        self._requested = name
        if whole_page(name) == self.page:
            self._choose()
        self.page_choice.choose(whole_page(name))
        self._take_focus()

    @Slot(str)
    def _show_option(self, key: str) -> None:
        """Show the page of an option, and focus its field if the page has a row for it."""
        name = placed_options()[key].page
        self.show_page(name)
        page = self.pages.page(name)
        if isinstance(page, OptionsPage) and name not in WITHOUT_ROWS:
            page.show_row(key)

    def _show_part(self, part: DialogPage) -> None:
        """Scroll to a part of the current page, and focus its first control if it has one."""
        part.take_focus()
        around = part.parentWidget()
        while around is not None and not isinstance(around, QScrollArea):
            around = around.parentWidget()
        if around is not None:
            QTimer.singleShot(0, part, partial(around.ensureWidgetVisible, part))  # once it is laid out

    @Slot()
    def _choose(self) -> None:
        """Show the selected page, or the results of the search while there is one."""
        self.page_choice.show_chosen(True)
        if self.query_field.text().strip() and self.model.is_loaded:
            self._search()
            return
        page = self.pages.page(self.page) if self.model.is_loaded or self.pages.needs_no_settings(self.page) else None
        if page is not None and self._stack.indexOf(page) < 0:
            self._stack.addWidget(page)
            insert_after(stop_before(self.footer), stops(page))
        if page is not None:
            self._stack.setCurrentWidget(page)
        self.pages.show_buttons(self.page if page is not None else None)
        self.refresh()

    def _take_focus(self) -> None:
        page = self._stack.currentWidget()
        whole = whole_page(self._requested)
        part = (
            self.pages.page(self._requested) if self._requested != whole == self.page and self.model.is_loaded else page
        )
        other = part is not page and page is not self._message and page is self.pages.page(whole)
        if other and isinstance(part, DialogPage):
            self._show_part(part)
        elif isinstance(page, DialogPage | MessagePage) and page is not self._message:
            page.take_focus()

    @Slot()
    def _search(self) -> None:
        self._search_timer.stop()
        query = self.query_field.text().strip()
        if not query:
            self._choose()
        elif self.model.is_loaded:
            self.results.search(query, self.pages.names)
            self._stack.setCurrentWidget(self.results)
            lay_out_now(self.results.scroller)  # the page has grown with its rows while it was hidden
            self.page_choice.show_chosen(False)
            self.pages.show_buttons(None)

    @Slot(str)
    def _cleared(self, text: str) -> None:
        if not text:
            self._search_timer.stop()
            self._choose()

    # --- signals of the model ---------------------------------------------------------------------------------------

    @Slot()
    def _loaded(self) -> None:
        current = self._stack.currentWidget()
        if current is self.results and self.results.query and self.results.query == self.query_field.text().strip():
            return  # its rows show the new values
        other = current is self._message or current is self.results or self._stack.count() == _OWN
        if other or self.pages.current is None or current is not self.pages.page(self.page):
            self._choose()
            is_typing = self.focusWidget() is self.query_field and not self._opens_at_page
            if self._stack.currentWidget() is not self.results and not is_typing:
                self._take_focus()

    @Slot(object, str)
    def _refused(self, keys: tuple[str, ...], sentence: str) -> None:
        """Show why changes were not saved, at the first option of them; after closing, in the window."""
        titles = ", ".join(placed_options()[key].title for key in keys)
        named = tr("Not saved: {options}. {reason}", options=titles, reason=sentence)
        if not self.isVisible():
            self.refused.emit(named)
            return
        page = self._stack.currentWidget()
        if not (isinstance(page, DialogPage) and keys[0] in page.rows):
            self.show_page(placed_options()[keys[0]].page)
            page = self._stack.currentWidget()
        if isinstance(page, DialogPage):
            page.show_row(keys[0])
            page.show_error(keys[0], named if len(keys) > 1 else sentence)

    @Slot(str)
    def _unreadable(self, sentence: str) -> None:
        again = (tr("Try again"), self.model.read_again)
        aside = (tr(SET_ASIDE), self.set_aside_requested.emit)
        edit = (tr("Open the settings file"), self.file_requested.emit)
        self._message.show_message(tr("The settings file cannot be used"), sentence, again, edit, aside)
        self._stack.setCurrentWidget(self._message)
        self.pages.show_buttons(None)

    @Slot(object)
    def _saved(self, agreed: EmbeddingEstimate | None) -> None:
        self.model.stop_reopening()  # the folder is opened again for the form
        if not self.model.pending:  # otherwise it stays open with the remaining changes
            self._finish(drop_form=False)
        self.saved.emit(agreed)

    @Slot(bool)
    def _finish(self, drop_form: bool) -> None:
        """Close the dialog; if a form is not saved, ask first, unless `drop_form`."""
        form = self.pages.unsaved
        if form is None or drop_form:
            self.accept()
        else:
            self._confirm_form(form)

    @Slot(str)
    def _restart(self, language: str) -> None:
        """Close the dialog, which may ask about unsaved changes first, and then restart the program."""
        self._restart_language = language
        self.reject()

    @Slot()
    def _form_edited(self) -> None:
        if self.pages.unsaved is None:
            self.footer.withdraw_question()

    @Slot()
    def _undo(self) -> None:
        key = self.model.undo()
        page = self._stack.currentWidget()
        if isinstance(page, DialogPage) and key in page.rows:
            page.show_row(key)

    @Slot()
    def _find(self) -> None:
        self.query_field.setFocus(Qt.FocusReason.ShortcutFocusReason)
        self.query_field.selectAll()

    @Slot()
    def _stop(self) -> None:
        self._search_timer.stop()
        self.pages.stop()
        self._stack.setCurrentWidget(self._message)
        self.pages.drop()
        self.results.clear()
        self.model.reopen_now()
        if self._restart_language:
            self.model.call_when_saved(partial(self.restart_requested.emit, self._restart_language))

    # --- Qt ---------------------------------------------------------------------------------------------------------

    def reject(self) -> None:
        """Close the dialog; with unsaved changes, ask first whether to save or discard them."""
        page = self._stack.currentWidget()
        if isinstance(page, DialogPage):
            page.save_typed()
        form = self.pages.unsaved
        if self.model.pending:
            self.footer.confirm()
        elif form is not None:
            self._confirm_form(form)
        else:
            super().reject()

    def _confirm_form(self, form: SettingsPage) -> None:
        self.show_page(form)
        self.footer.confirm(form=True)
        page = self.pages.form(form)
        if page is not None:
            page.save_button.setFocus(Qt.FocusReason.OtherFocusReason)

    @Slot()
    def _show_found(self) -> None:
        self._search()
        self._take_focus()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.query_field.text():
            self.query_field.clear()  # Escape clears the search before it closes the window
        else:
            super().keyPressEvent(event)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self.page_choice.fold(self.width())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.ActivationChange and self.isActiveWindow() and self.model.is_loaded:
            self.model.read_again()  # the file may have been edited meanwhile
