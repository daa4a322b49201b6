"""The view of facts: a list and one of them to read and change, with a way back from everything that is done here.

It owns two widgets that the window places apart: `header` for the top bar and `body` below it.
"""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QObject, QTimer, Signal, Slot
from PySide6.QtGui import QKeySequence
from PySide6.QtWidgets import QWidget

from engine import (
    FORGOTTEN_DAYS,
    Fact,
    FactCategory,
    Facts,
    FactsFound,
    KeptFact,
    MemorySearchManager,
    category_of,
    marked,
    tr,
)
from gui.facts import wording
from gui.facts.body import NEW, FactsBody
from gui.facts.filters import FactFilters, state_of
from gui.facts.shelf import Act, FactShelf
from gui.facts.undoing import UndoList
from gui.job_slot import JobSlot
from gui.jobs import Jobs
from gui.keys.binding import key_action
from gui.keys.keymap import command
from gui.search.query_box import QueryBox
from gui.search.state_page import Action
from gui.widgets.announcing import announce
from gui.widgets.folding_row import FoldingRow
from gui.widgets.guide_link import guide_action

_UNDO = command("facts.undo", "Take back what was done last", "facts", QKeySequence.StandardKey.Undo)
_BOX_LETTERS = 34
"""Where the box cannot have that many, the filters go below it."""
_PAUSE_MS = 150
_MIN_SCORE = 0.25
"""Less than agents are told of: a person sees at a glance what does not belong."""


class FactsPanel(QObject):
    """Everything between the facts that are kept and the one that is shown."""

    left = Signal()
    """Escape where nothing is left to go back from."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.shelf = FactShelf(jobs, self)
        self.box = QueryBox(tr("Find a fact by words or meaning"), tr("Find a fact"))
        self.filters = FactFilters()
        self.body = FactsBody()
        self.header: QWidget = FoldingRow(self.box, self.filters, _BOX_LETTERS)
        self._finding = JobSlot(self)
        self._found: tuple[str, FactsFound] | None = None
        """What was asked last, and its answer."""
        self._pause = QTimer(self, singleShot=True, interval=_PAUSE_MS)
        self._undo = UndoList()
        self._go_next = ""
        self._typed_before: tuple[str, str] | None = None
        """Id of a fact, empty for a new one, and what was typed into it in an earlier run."""
        self.new_action = key_action(self.body, NEW)
        self.undo_action = key_action(self.body, _UNDO)
        self._connect()
        self._show()

    def _connect(self) -> None:
        body, editor = self.body, self.body.editor
        self.shelf.changed.connect(self._take_facts)
        self.filters.changed.connect(self._filter)
        self.box.text_changed.connect(self._typed)
        self.box.into_list.connect(self.focus_list)
        self.box.accepted.connect(self._accept)
        self.box.left.connect(self._clear_filters)
        self._pause.timeout.connect(self._find)
        self.new_action.triggered.connect(self.begin_new)
        self.undo_action.triggered.connect(self.undo)
        body.new_button.clicked.connect(self.begin_new)
        body.list.chosen.connect(self._choose)
        body.list.opened.connect(body.go_to_editor)
        body.list.forget_wanted.connect(self._forget)
        body.list.left.connect(self.box.focus)
        body.list.typed.connect(self.box.type_key)
        editor.left.connect(self._leave_editor)
        editor.undo_wanted.connect(self.undo)
        editor.add_wanted.connect(self._add)
        editor.change_wanted.connect(self._change)
        editor.approve_wanted.connect(self._approve)
        editor.forget_wanted.connect(self._forget)
        editor.restore_wanted.connect(self._restore)
        editor.erase_wanted.connect(self._erase)
        body.installEventFilter(self)

    # --- for the window ---------------------------------------------------------------------------------------------

    @property
    def busy(self) -> bool:
        """Whether what is shown is not all there is, or not all was written."""
        return self.shelf.busy or self._finding.busy or self._pause.isActive()

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Show the facts of this memory, as soon as someone looks."""
        self._save_typed()
        self._finding.cancel()
        self._found = None
        self._undo.clear()
        self.body.notice.show_notice("")
        self.body.editor.clear()
        self.box.setEnabled(manager is not None)
        self.shelf.set_manager(manager)
        self.shelf.watch(manager is not None and self.body.isVisible())

    @Slot()
    def focus_box(self) -> None:
        self.box.focus_all()

    @Slot()
    def focus_list(self) -> None:
        """To the facts, or to what can be done without them; else to the box."""
        if not self.body.focus_list():
            self.box.focus()

    def search(self, text: str) -> None:
        """Put `text` into the box and look for it at once."""
        self.box.edit.setText(text)
        self._pause.stop()
        self._find()

    @Slot()
    def begin_new(self) -> None:
        """Write a new fact."""
        if self.shelf.kept is not None and not self.shelf.problem:
            self._save_typed()
            self.body.begin_new()

    def go_on_writing(self, id_: str, text: str) -> None:
        """Have this in the editor again, as soon as the facts are known; a fact that is gone becomes a new one."""
        self._typed_before = (id_, text)
        self._write_on()

    def _write_on(self) -> None:
        if self._typed_before is None or self.shelf.facts is None or self.shelf.problem:
            return
        (id_, text), self._typed_before = self._typed_before, None
        fact = self._known(id_)
        if fact is not None and fact.forgotten is None:
            self.filters.choose(state_of(fact), None)
            self._show()
        if fact is not None and self.body.list.go_to(id_):
            self.body.go_to_editor()
            self.body.editor.put_typed(text)
        else:
            self._save_typed()
            self.body.begin_new(text)

    @Slot()
    def undo(self) -> None:
        """Take back what was done last."""
        step = self._undo.pop()
        if step is not None:
            self._go_next = step.id
            self.shelf.do(step.back, lambda _: self._say(step.taken_back), self._complain)

    # --- what is listed ---------------------------------------------------------------------------------------------

    @Slot()
    def _take_facts(self) -> None:
        if self._found is not None and self.shelf.facts is not None:
            self._find()
        self._show()
        self._write_on()

    @Slot()
    def _filter(self) -> None:
        self._save_typed()
        self._show()

    @Slot()
    def _typed(self) -> None:
        if self.box.query:
            self._pause.start()
        else:
            self._find()

    @Slot()
    def _find(self) -> None:
        self._pause.stop()
        kept, text = self.shelf.kept, self.box.query
        if kept is None or not text:
            self._finding.cancel()
            self._found = None
            self._show()
            return
        self._finding.put(
            self._jobs.read(
                lambda token: kept.find(text, max_results=None, min_score=_MIN_SCORE, everything=True, cancel=token),
                partial(self._take_found, text),
                self._find_failed,
            )
        )

    def _take_found(self, text: str, found: FactsFound) -> None:
        self._finding.done()
        self._found = text, found
        self._show()

    def _find_failed(self, sentence: str) -> None:
        self._finding.done()
        self._complain(sentence)

    @Slot()
    def _accept(self) -> None:
        """Enter in the box: find now, then into the list."""
        if self._pause.isActive():
            self._find()
        else:
            self.focus_list()

    @Slot()
    def _clear_filters(self) -> None:
        """Escape in the empty box."""
        if self.filters.narrows or self.filters.state != "remembered":
            self.filters.choose("remembered", None)
            self._filter()
        else:
            self.left.emit()

    def _show(self) -> None:
        facts, body = self.shelf.facts, self.body
        body.new_button.setEnabled(self.shelf.kept is not None and not self.shelf.problem)
        if facts is None:
            body.show_page("", tr("Reading the facts…") if self.shelf.kept is not None else "")
            return
        self.filters.show_counts(facts)
        listed = self._listed(facts)
        body.note(self.shelf.problem or (self._found[1].notice if self._found else ""))
        if not listed:
            self._show_nothing(facts)
            return
        everything = sum(state_of(fact) == self.filters.state for fact in facts)
        body.show_facts(listed, wording.count_text(len(listed), everything))
        if self._go_next and body.list.go_to(self._go_next):
            self._go_next = ""
        if not body.editor.is_new:
            self._choose(body.list.current)

    def _listed(self, facts: Sequence[Fact]) -> list[Fact]:
        if self._found is None:
            return [fact for fact in facts if self.filters.fits(fact)]
        known = {fact.id: fact for fact in facts}
        ids = [one.fact.id for one in self._found[1].results]
        return [known[id_] for id_ in ids if id_ in known and self.filters.fits(known[id_])]

    def _show_nothing(self, facts: Sequence[Fact]) -> None:
        words = tr(wording.NOTHING), tr(wording.NOTHING_MORE)
        actions: tuple[Action, ...] = ()
        if self._found is not None or self.filters.narrows:
            words = tr(wording.NO_MATCH), tr(wording.NO_MATCH_MORE)
        elif self.filters.state == "waiting":
            words = tr(wording.NONE_WAITS), tr(wording.NONE_WAITS_MORE)
        elif self.filters.state == "forgotten":
            words = tr(wording.NONE_FORGOTTEN), tr(wording.NONE_FORGOTTEN_MORE, days=FORGOTTEN_DAYS)
        elif not self.shelf.problem:
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
        editor.show_fact(fact, editable=not self.shelf.problem)

    def _save_typed(self) -> None:
        """Nothing that was typed is lost by going elsewhere."""
        if self.body.editor.is_changed:
            self.body.editor.save()

    @Slot()
    def _leave_editor(self) -> None:
        self._save_typed()
        self.body.go_to_list()
        self._show()
        self.focus_list()

    @Slot(str, object, float)
    def _add(self, text: str, category: FactCategory | None, importance: float) -> None:
        def add(facts: Facts) -> object:
            return facts.add(text, category=category or category_of(text), importance=importance)

        def done(kept: KeptFact) -> None:
            fact = kept.fact
            self._go_next = fact.id
            if kept.duplicate:
                self._say(tr("This fact is known already."))
            else:
                self._undo.add(fact.id, lambda facts: facts.erase([fact.id]), tr("The new fact is gone again."))
                self._say(tr("Remembered: {fact}", fact=wording.short(fact.text)))
            self._show()
            self.focus_list()

        def refused(sentence: str) -> None:
            self.body.begin_new(text)
            self._complain(sentence)

        self.shelf.do(add, done, refused)

    @Slot(object)
    def _change(self, fact: Fact) -> None:
        before = self._known(fact.id)
        if before is None:
            return

        def refused(sentence: str) -> None:
            if self.body.list.go_to(fact.id):
                self.body.editor.show_fact(before, editable=True)
                self.body.editor.put_typed(fact.text)
            self._complain(sentence)

        done, undone = marked("Changed: {fact}"), marked("It is as it was before: {fact}")
        self._do(before, lambda facts: facts.change(fact), done, undone, refused)

    @Slot(object)
    def _approve(self, fact: Fact) -> None:
        done, undone = marked("Approved: {fact}"), marked("It waits again: {fact}")
        self._do(fact, lambda facts: facts.approve([fact.id]), done, undone)

    @Slot(object)
    def _forget(self, fact: Fact) -> None:
        if fact.forgotten is None and not self.shelf.problem:
            done, undone = marked("Forgotten: {fact}"), marked("It is remembered again: {fact}")
            self._do(fact, lambda facts: facts.forget([fact.id]), done, undone)

    @Slot(object)
    def _restore(self, fact: Fact) -> None:
        done, undone = marked("Put back: {fact}"), marked("It is forgotten again: {fact}")
        self._do(fact, lambda facts: facts.restore([fact.id]), done, undone)

    @Slot(object)
    def _erase(self, fact: Fact) -> None:
        self._undo.forget(fact.id)
        self.shelf.do(
            lambda facts: facts.erase([fact.id]), lambda _: self._say(tr("Deleted for good.")), self._complain
        )

    def _do(self, before: Fact, act: Act, done: str, undone: str, refused: Callable[[str], None] | None = None) -> None:
        """Do it; afterwards `before` can be had again. `done` and `undone` are sentences with the field `{fact}`."""

        def tell(_: object) -> None:
            name = wording.short(before.text)
            self._undo.add(before.id, lambda facts: facts.put_back(before), tr(undone, fact=name))
            self._say(tr(done, fact=name))

        self.shelf.do(act, tell, refused or self._complain)

    def _known(self, id_: str) -> Fact | None:
        return next((fact for fact in self.shelf.facts or () if fact.id == id_), None)

    # --- saying -----------------------------------------------------------------------------------------------------

    def _say(self, sentence: str) -> None:
        """What was done, and the way back from it."""
        if self._undo:
            self.body.notice.show_notice(sentence, tr("Undo"), self.undo)
        else:
            self.body.notice.show_notice(sentence)
        announce(self.body, sentence)

    def _complain(self, sentence: str) -> None:
        self.body.notice.show_notice(sentence)
        announce(self.body, sentence)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Show:
            self.shelf.watch(True)
        elif event.type() == QEvent.Type.Hide:
            self._save_typed()
            self.shelf.watch(False)
        return super().eventFilter(watched, event)
