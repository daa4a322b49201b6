"""Changes of facts: each is shown as a message with an undo action."""

from collections.abc import Callable
from typing import NamedTuple

from PySide6.QtCore import QObject, Signal, Slot

from engine import Fact, FactCategory, Facts, KeptFact, category_of, marked, tr
from gui.facts import wording
from gui.facts.fact_store import Act, FactStore
from gui.facts.list_and_editor import FactsBody
from gui.widgets.announcer import announce

_MOST = 100


class UndoStep(NamedTuple):
    id: str
    """Of the fact that it is about."""
    back: Act
    """Restores the previous state."""
    taken_back: str
    """Message after undoing."""


class UndoStack:
    """Falsy where nothing is left to take back."""

    def __init__(self) -> None:
        self._steps: list[UndoStep] = []

    def __bool__(self) -> bool:
        return bool(self._steps)

    def add(self, id_: str, back: Act, taken_back: str) -> None:
        self._steps.append(UndoStep(id_, back, taken_back))
        del self._steps[:-_MOST]

    def pop(self) -> UndoStep | None:
        return self._steps.pop() if self._steps else None

    def forget(self, id_: str) -> None:
        """Forget this fact here too: it was permanently deleted."""
        self._steps = [step for step in self._steps if step.id != id_]

    def clear(self) -> None:
        self._steps.clear()


class FactChanges(QObject):
    """Does what the list and the editor ask for."""

    added = Signal()
    """A new fact was saved, or an existing one found: show it."""

    def __init__(self, shelf: FactStore, body: FactsBody, parent: QObject) -> None:
        super().__init__(parent)
        self._saved = shelf
        self._body = body
        self._undo = UndoStack()
        self._go_next = ""
        """Id of the fact that was added or put back, until the list has it."""
        editor = body.editor
        body.list.forget_wanted.connect(self._forget)
        editor.undo_wanted.connect(self.undo)
        editor.add_wanted.connect(self._add)
        editor.change_wanted.connect(self._change)
        editor.approve_wanted.connect(self._approve)
        editor.forget_wanted.connect(self._forget)
        editor.restore_wanted.connect(self._restore)
        editor.erase_wanted.connect(self._erase)

    def clear(self) -> None:
        """The facts are other ones: nothing of those before can be taken back."""
        self._undo.clear()

    def go_on(self) -> None:
        """The list has changed: select the added or restored fact, once it is there."""
        if self._go_next and self._body.list.go_to(self._go_next):
            self._go_next = ""

    @Slot()
    def undo(self) -> None:
        """Undo the last change."""
        step = self._undo.pop()
        if step is not None:
            self._go_next = step.id
            self._saved.do(step.back, lambda _: self._say(step.taken_back), self.complain)

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
            self.added.emit()

        def refused(sentence: str) -> None:
            self._body.begin_new(text)
            self.complain(sentence)

        self._saved.do(add, done, refused)

    @Slot(object)
    def _change(self, fact: Fact) -> None:
        before = self._saved.fact(fact.id)
        if before is None:
            return

        def refused(sentence: str) -> None:
            if self._body.list.go_to(fact.id):
                self._body.editor.show_fact(before, editable=True)
                self._body.editor.put_typed(fact.text)
            self.complain(sentence)

        done, undone = marked("Changed: {fact}"), marked("It is as it was before: {fact}")
        self._do(before, lambda facts: facts.change(fact), done, undone, refused)

    @Slot(object)
    def _approve(self, fact: Fact) -> None:
        done, undone = marked("Approved: {fact}"), marked("It waits again: {fact}")
        self._do(fact, lambda facts: facts.approve([fact.id]), done, undone)

    @Slot(object)
    def _forget(self, fact: Fact) -> None:
        if fact.forgotten is None and not self._saved.problem:
            done, undone = marked("Forgotten: {fact}"), marked("It is remembered again: {fact}")
            self._do(fact, lambda facts: facts.forget([fact.id]), done, undone)

    @Slot(object)
    def _restore(self, fact: Fact) -> None:
        done, undone = marked("Put back: {fact}"), marked("It is forgotten again: {fact}")
        self._do(fact, lambda facts: facts.restore([fact.id]), done, undone)

    @Slot(object)
    def _erase(self, fact: Fact) -> None:
        self._undo.forget(fact.id)
        self._saved.do(
            lambda facts: facts.erase([fact.id]), lambda _: self._say(tr("Deleted for good.")), self.complain
        )

    def _do(self, before: Fact, act: Act, done: str, undone: str, refused: Callable[[str], None] | None = None) -> None:
        """Do it; `before` can be restored afterwards. `done` and `undone` are sentences with the field `{fact}`."""

        def tell(_: object) -> None:
            name = wording.short(before.text)
            self._undo.add(before.id, lambda facts: facts.put_back(before), tr(undone, fact=name))
            self._say(tr(done, fact=name))

        self._saved.do(act, tell, refused or self.complain)

    def _say(self, sentence: str) -> None:
        """Show the change, with an undo action."""
        if self._undo:
            self._body.notice.show_notice(sentence, tr("Undo"), self.undo)
        else:
            self._body.notice.show_notice(sentence)
        announce(self._body, sentence)

    def complain(self, sentence: str) -> None:
        """What could not be done, and why."""
        self._body.notice.show_notice(sentence)
        announce(self._body, sentence)
