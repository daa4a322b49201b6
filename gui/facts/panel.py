"""The facts view: a list and an editor, with undo for every change.

It owns two widgets that the window places separately: `header` for the top bar and `body` below it.
"""

from collections.abc import Iterable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QButtonGroup, QMenu, QWidget

from engine import FORGOTTEN_DAYS, Fact, FactCategory, FactsFound, FactState, MemorySearchManager, marked, tr
from gui.commands.commands import key_action
from gui.commands.keymap import command
from gui.core.jobs import Jobs, JobSlot
from gui.core.view_spec import ViewPanel
from gui.facts import wording
from gui.facts.fact_changes import FactChanges, FactStore
from gui.facts.list_and_editor import NEW, FactsBody
from gui.facts.wording import CATEGORIES
from gui.text.plain_text import set_tip
from gui.widgets.buttons import guide_action
from gui.widgets.form_controls import Chip
from gui.widgets.layouts import FoldingRow, row_of
from gui.widgets.placeholder_page import Action
from gui.widgets.query_box import QueryBox

# --- The chips next to the box of facts: state and category ----------------------------------------------------------


_STATES: tuple[tuple[FactState, str, str], ...] = (
    ("remembered", marked("Saved"), marked("Facts for agents")),
    ("pending", marked("To approve"), marked("Facts that await your approval")),
    ("forgotten", marked("Forgotten"), marked("Forgotten facts that can be restored")),
)
_WAITING = marked("To approve ({count:,})")
_ANY = marked("Any kind")


class FactFilters(QWidget):
    """The filter chips of the facts view; `changed` is emitted when the user changes one."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.state: FactState = "remembered"
        self.category: FactCategory | None = None
        row = row_of(spacing=8, parent=self)
        group = QButtonGroup(self)
        self._chips: dict[FactState, Chip] = {}
        for state, words, tip in _STATES:
            # The number is known after the first picture, and must not move the search box.
            chip = Chip(tr(words), longest=tr(_WAITING, count=99) if state == "pending" else "")
            set_tip(chip, tr(tip))
            chip.setChecked(state == self.state)
            chip.clicked.connect(partial(self._choose_state, state))
            group.addButton(chip)
            row.addWidget(chip)
            self._chips[state] = chip
        menu = QMenu(self)
        menu.aboutToShow.connect(partial(self._fill, menu))
        self._kind = Chip(tr(_ANY), menu, yields=True)
        row.addWidget(self._kind)

    @property
    def narrows(self) -> bool:
        """Whether a filter is selected."""
        return self.category is not None

    def matches(self, fact: Fact) -> bool:
        return fact.state == self.state and self.category in (None, fact.category)

    def show_counts(self, facts: Iterable[Fact]) -> None:
        """Show the number of facts that await approval."""
        waiting = sum(fact.state == "pending" for fact in facts)
        chip = self._chips["pending"]
        words = tr(_WAITING, count=waiting) if waiting else tr("To approve")
        if chip.text() != words:
            chip.setText(words)
            chip.updateGeometry()

    def choose(self, state: FactState, category: FactCategory | None) -> None:
        """Select filters of the facts view without emitting a signal."""
        self.state, self.category = state, category
        self._chips[state].setChecked(True)
        self._kind.setText(tr(_ANY if category is None else CATEGORIES[category]))
        self._kind.set_narrows(category is not None)
        self._kind.updateGeometry()

    @Slot()
    def _choose_state(self, state: FactState) -> None:
        self._choose(state, self.category)

    def _choose(self, state: FactState, category: FactCategory | None) -> None:
        if (state, category) != (self.state, self.category):
            self.choose(state, category)
            self.changed.emit()

    @Slot()
    def _fill(self, menu: QMenu) -> None:
        menu.clear()
        choices: list[tuple[FactCategory | None, str]] = [(None, _ANY), *CATEGORIES.items()]
        for category, words in choices:
            action = menu.addAction(tr(words))
            action.setCheckable(True)
            action.setChecked(category == self.category)
            action.triggered.connect(lambda _=False, category=category: self._choose(self.state, category))


# ---------------------------------------------------------------------------------------------------------------------

_UNDO = command("facts.undo", "Undo", "facts", QKeySequence.StandardKey.Undo)
_BOX_CHARACTERS = 54
"""Minimum width of the box in characters; if it would be narrower, the filters move below it."""
_PAUSE_MS = 150
_MIN_SCORE = 0.25
"""Minimum score, lower than for agents: a user sees quickly which results don't fit."""


class FactSearch(QObject):
    """Searches the facts for the text in the search box, in the background.

    `found` has the results for the last text, None without one; it stays until the next results arrive.
    """

    changed = Signal()
    """`found` has changed."""
    failed = Signal(str)
    """The search failed; carries one sentence."""

    def __init__(self, box: QueryBox, store: FactStore, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._box = box
        self._saved = store
        self._job = JobSlot(self, jobs)
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._pause.timeout.connect(self.search_now)
        self.found: FactsFound | None = None
        box.text_changed.connect(self._typed)

    @property
    def pending(self) -> bool:
        """Whether a search waits for a pause in typing."""
        return self._pause.isActive()

    @property
    def busy(self) -> bool:
        """Whether `found` does not yet have the results for the text in the box."""
        return self.pending or self._job.busy

    def forget(self) -> None:
        """Cancel a running search and drop its results, since the facts have changed."""
        self._job.cancel()
        self.found = None

    def repeat(self) -> None:
        """Search again in another memory of the same folder; `found` stays until the answer."""
        self._job.cancel()
        if self._saved.service is not None and self._box.query:
            self.search_now()

    @Slot()
    def search_now(self) -> None:
        """Search for the text in the box immediately."""
        self._pause.stop()
        service, text = self._saved.service, self._box.query
        if service is None and text and self._saved.facts is not None:
            return  # the folder is being reopened, and then the search is repeated
        if service is None or not text:
            self.forget()
            self.changed.emit()
            return
        self._job.read(
            lambda token: service.find(text, max_results=None, min_score=_MIN_SCORE, everything=True, cancel=token),
            self._set_found,
            self.failed.emit,
        )

    @Slot()
    def _typed(self) -> None:
        if self._box.query:
            self._pause.start()
        else:
            self.search_now()

    def _set_found(self, facts: FactsFound) -> None:
        self.found = facts
        self.changed.emit()


class FactsPanel(QObject, ViewPanel):
    """The facts view: shows the stored facts in a list and an editor, and saves changes."""

    left = Signal()
    """Escape was pressed and nothing is left to close."""
    content_known = Signal(bool)
    """Whether there is a fact, or a problem to show; emitted whenever the facts were read."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.store = FactStore(jobs, self)
        self.box = QueryBox(tr("Search facts by words or meaning"), tr("Find a fact"))
        self.filters = FactFilters()
        self.body: FactsBody = FactsBody(parent)
        self.header = FoldingRow(self.box, self.filters, _BOX_CHARACTERS)
        self._finder = FactSearch(self.box, self.store, jobs, self)
        self.changes = FactChanges(self.store, self.body, self)
        self._typed_before: tuple[str, str] | None = None
        """Id of a fact, empty for a new one, and the text typed into it in an earlier run."""
        self.new_action = key_action(self.body, NEW)
        self.undo_action = key_action(self.body, _UNDO)
        self._connect()
        self._show()

    def _connect(self) -> None:
        body, editor = self.body, self.body.editor
        self.store.changed.connect(self._show_facts)
        self.filters.changed.connect(self._filter)
        self.box.edit.list_requested.connect(self.focus_list)
        self.box.edit.accepted.connect(self._accept)
        self.box.edit.left.connect(self._clear_filters)
        self._finder.changed.connect(self._show)
        self._finder.failed.connect(self.changes.show_error)
        self.new_action.triggered.connect(self.begin_new)
        self.undo_action.triggered.connect(self.changes.undo)
        body.new_button.clicked.connect(self.begin_new)
        body.list.current_changed.connect(self._choose)
        body.list.opened.connect(body.go_to_editor)
        body.list.left.connect(self.box.focus)
        body.list.typed.connect(self.box.type_key)
        editor.left.connect(self._leave_editor)
        self.changes.added.connect(self._show_added)
        body.installEventFilter(self)

    # --- for the window ---------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether facts are being read, searched or written."""
        return self.store.busy or self._finder.busy

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Show the facts of this memory; those of other programs are followed once the view is visible.

        `reopening`: it is one of the same folder; typed text, the list and changes to undo stay.
        """
        if reopening:
            self.store.set_manager(manager, reopening=True)
            self._finder.repeat()
            return
        self._save_typed()
        self._finder.forget()
        self.changes.clear()
        self.body.notice.show_notice("")
        self.body.editor.clear()
        self.box.setEnabled(manager is not None)
        self.store.set_manager(manager)
        self.store.reread()
        self.store.watch(manager is not None and self.body.isVisible())

    def refresh(self) -> None:
        """Read the facts again after a change of the index, since an agent may have saved some."""
        self.store.reread()

    @Slot()
    def focus_list(self) -> None:
        """Focus the list, or the buttons shown without facts; else the box."""
        if not self.body.focus_list():
            self.box.focus()

    def search(self, text: str) -> None:
        """Enter `text` in the box and search for it."""
        self.box.edit.setText(text)
        self._finder.search_now()

    @Slot()
    def begin_new(self) -> None:
        """Start a new fact in the editor."""
        if self.store.service is not None and not self.store.problem:
            self._save_typed()
            self.body.begin_new()

    def resume_draft(self, id_: str, text: str) -> None:
        """Restore an unsaved text in the editor once the facts are read; if its fact was deleted, as a new fact."""
        self._typed_before = (id_, text)
        self._write_on()

    def _write_on(self) -> None:
        if self._typed_before is None or self.store.facts is None or self.store.problem:
            return
        (id_, text), self._typed_before = self._typed_before, None
        fact = self.store.fact(id_)
        if fact is not None and fact.forgotten is None:
            self.filters.choose(fact.state, None)
            self._show()
        if fact is not None and self.body.list.go_to(id_):
            self.body.go_to_editor()
            self.body.editor.text.setPlainText(text)
        else:
            self._save_typed()
            self.body.begin_new(text)

    # --- list -------------------------------------------------------------------------------------------------------

    @Slot()
    def _show_facts(self) -> None:
        if self.store.facts is not None or self.store.problem:
            self.content_known.emit(bool(self.store.facts or self.store.problem))
        if self._finder.found is not None and self.store.facts is not None:
            self._finder.search_now()
        self._show()
        self._write_on()

    @Slot()
    def _filter(self) -> None:
        self._save_typed()
        self._show()

    @Slot()
    def _accept(self) -> None:
        """Handle Enter in the box: search immediately, then focus the list."""
        if self._finder.pending:
            self._finder.search_now()
        else:
            self.focus_list()

    @Slot()
    def _clear_filters(self) -> None:
        """Remove the filters, after Escape in the empty box."""
        if self.filters.narrows or self.filters.state != "remembered":
            self.filters.choose("remembered", None)
            self._filter()
        else:
            self.left.emit()

    @Slot()
    def _show(self) -> None:
        facts, body = self.store.facts, self.body
        body.new_button.setEnabled(self.store.service is not None and not self.store.problem)
        if facts is None:
            body.show_page("", tr("Reading the facts…") if self.store.service is not None else "")
            return
        self.filters.show_counts(facts)
        listed = self._listed(facts)
        body.note(self.store.problem or (self._finder.found.notice if self._finder.found else ""))
        if not listed:
            self._show_nothing(facts)
            return
        everything = sum(fact.state == self.filters.state for fact in facts)
        body.show_facts(listed, wording.count_text(len(listed), everything))
        self.changes.select_pending()
        if not body.editor.is_new:
            self._choose(body.list.current)

    def _listed(self, facts: Sequence[Fact]) -> list[Fact]:
        found = self._finder.found
        if found is None:
            return [fact for fact in facts if self.filters.matches(fact)]
        known = {fact.id: fact for fact in facts}
        ids = [match.fact.id for match in found.results]
        return [known[id_] for id_ in ids if id_ in known and self.filters.matches(known[id_])]

    def _show_nothing(self, facts: Sequence[Fact]) -> None:
        words = tr(wording.NOTHING), tr(wording.NOTHING_MORE)
        actions: tuple[Action, ...] = ()
        if self._finder.found is not None or self.filters.narrows:
            words = tr(wording.NO_MATCH), tr(wording.NO_MATCH_MORE)
        elif self.filters.state == "pending":
            words = tr(wording.NONE_WAITS), tr(wording.NONE_WAITS_MORE)
        elif self.filters.state == "forgotten":
            words = tr(wording.NONE_FORGOTTEN), tr(wording.NONE_FORGOTTEN_MORE, days=FORGOTTEN_DAYS)
        elif not self.store.problem:
            actions = ((tr(wording.NEW), self.begin_new), guide_action("facts"))
        if not self.body.editor.is_new:
            self._save_typed()
            self.body.editor.clear()
        self.body.show_page(*words, actions, counts=tr("No facts"))

    # --- one fact ---------------------------------------------------------------------------------------------------

    @Slot(object)
    def _choose(self, fact: Fact | None) -> None:
        editor = self.body.editor
        if fact is None:
            return
        if editor.is_new or (editor.fact is not None and editor.fact.id != fact.id):
            self._save_typed()
        editor.show_fact(fact, editable=not self.store.problem)

    def _save_typed(self) -> None:
        """Save typed text before another fact is shown."""
        if self.body.editor.is_changed:
            self.body.editor.save()

    @Slot()
    def _leave_editor(self) -> None:
        self._save_typed()
        self.body.go_to_list()
        self._show()
        self.focus_list()

    @Slot()
    def _show_added(self) -> None:
        self._show()
        self.focus_list()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self.store.watch(True)
        elif event.type() == QEvent.Type.Hide:
            self._save_typed()
            self.store.watch(False)
        return super().eventFilter(watched, event)
