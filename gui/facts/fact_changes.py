"""Changes facts: each change is stored off the GUI thread, and shown as a message with an undo button."""

from collections.abc import Callable
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal, Slot

from engine import Fact, FactCategory, Facts, MemorySearchManager, SavedFact, marked, tr
from gui.core.jobs import Job, Jobs
from gui.facts import wording
from gui.facts.list_and_editor import FactsBody
from gui.widgets.accessibility import announce

_MAX_STEPS = 100

Act = Callable[[Facts], Any]
OnDone = Callable[[Any], None]
OnError = Callable[[str], None]

_POLL_MS = 2000
"""Interval of checks for facts that agents have saved in other processes."""


class UndoStep(NamedTuple):
    id: str
    """Id of the changed fact."""
    undo: Act
    """Restores the previous state."""
    message: str
    """Message after undoing."""


class UndoStack:
    """Stores the changes that can be undone; falsy if there are none."""

    def __init__(self) -> None:
        self._steps: list[UndoStep] = []

    def __bool__(self) -> bool:
        return bool(self._steps)

    def add(self, id_: str, undo: Act, message: str) -> None:
        self._steps.append(UndoStep(id_, undo, message))
        del self._steps[:-_MAX_STEPS]

    def pop(self) -> UndoStep | None:
        """Remove and return the last step; None if there is none."""
        return self._steps.pop() if self._steps else None

    def forget(self, id_: str) -> None:
        """Drop the changes of the fact with this id, since it was permanently deleted."""
        self._steps = [step for step in self._steps if step.id != id_]

    def clear(self) -> None:
        self._steps.clear()


def _ignore(_: object) -> None:
    """Do nothing with a result."""


class FactStore(QObject):
    """Reads and changes the facts of the open memory; runs one job at a time, so that changes are written in order."""

    changed = Signal()
    """`facts` or `problem` has changed."""

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.service: Facts | None = None
        """The facts service of the open memory; None without one."""
        self._steps: list[_Step] = []
        self._job: Job | None = None
        self._stamp: tuple[int, int] | None = None
        self.facts: tuple[Fact, ...] | None = None
        """All facts, newest first; None before they were read."""
        self.problem = ""
        """Why nothing can be changed, or even read."""
        self._clock = QTimer(self, interval=_POLL_MS)
        self._clock.timeout.connect(self.reread)

    @property
    def busy(self) -> bool:
        return self._job is not None or bool(self._steps)

    def fact(self, id_: str) -> Fact | None:
        """Return the fact as last read; None if it doesn't exist."""
        return next((fact for fact in self.facts or () if fact.id == id_), None)

    def set_manager(self, manager: MemorySearchManager | None, *, reopening: bool = False) -> None:
        """Set the memory whose facts are read, None for none; waiting changes of the previous one are still written.

        `reopening`: it is one of the same folder; changes wait until it is open.
        """
        if reopening:
            self.service = None if manager is None else manager.facts
            self._stamp = None
            if manager is not None:
                self.reread()
                self._run()
            return
        service, waiting = self.service, [step.act for step in self._steps if step.act is not _ignore]
        if service is not None and waiting:
            self._jobs.save(lambda _: [act(service) for act in waiting], _ignore, _ignore)
        self.service = None if manager is None else manager.facts
        self._job = None
        self._steps.clear()
        self._stamp, self.facts, self.problem = None, None, ""
        self.changed.emit()

    def watch(self, watching: bool) -> None:
        """Set whether the view is visible: only then the facts are read again after changes by other programs."""
        if watching:
            self.reread()
            self._clock.start()
        else:
            self._clock.stop()

    @Slot()
    def reread(self) -> None:
        """Read the facts again, unless a queued step will do so.

        A running step doesn't count, since it may have read them before the change.
        """
        if not self._steps:
            self.run_change(_ignore)

    def run_change(self, act: Act, on_done: OnDone = _ignore, on_error: OnError = _ignore) -> None:
        """Run `act`, which changes facts; `on_done` receives its result, after `facts` was updated.

        While the folder is being reopened, it waits.
        """
        if self.service is not None or self.facts is not None:
            self._steps.append(_Step(act, on_done, on_error))
            self._run()

    def _run(self) -> None:
        service = self.service
        if self._job is not None or not self._steps or service is None:
            return
        step, known = self._steps.pop(0), self._stamp

        def work(_: object) -> _StepResult:
            result = step.act(service)
            stamp = service.stamp()
            return _StepResult(result, service.read_only_reason, stamp, None if stamp == known else service.all())

        def on_done(done: _StepResult) -> None:
            if self._job is job:
                self._job = None
                self._show(done.problem, done.stamp if service is self.service else None, done.facts)
                step.on_done(done.result)
                self._run()

        def on_error(sentence: str) -> None:
            if self._job is job:
                self._job = None
                if service is not self.service:
                    self._steps.insert(0, step)  # its memory was closed before
                else:
                    if self.facts is None:
                        self._show(sentence, (0, 0), ())
                    step.on_error(sentence)
                self._run()

        job = self._job = self._jobs.save(work, on_done, on_error)

    def _show(self, problem: str, stamp: tuple[int, int] | None, facts: tuple[Fact, ...] | None) -> None:
        new = facts is not None or problem != self.problem
        self.problem, self._stamp = problem, stamp
        if facts is not None:
            self.facts = facts
        if new:
            self.changed.emit()


class FactChanges(QObject):
    """Runs the changes that the list and the editor request, and can undo them."""

    added = Signal()
    """A new fact was saved, or an existing one found: show it."""

    def __init__(self, store: FactStore, body: FactsBody, parent: QObject) -> None:
        super().__init__(parent)
        self._store = store
        self._body = body
        self._undo = UndoStack()
        self._pending_id = ""
        """Id of the fact that was added or restored, until the list contains it."""
        editor = body.editor
        body.list.forget_requested.connect(self._forget)
        editor.text.undo_requested.connect(self.undo)
        editor.add_requested.connect(self._add)
        editor.change_requested.connect(self._change)
        editor.approve_requested.connect(self._approve)
        editor.forget_requested.connect(self._forget)
        editor.restore_requested.connect(self._restore)
        editor.erase_requested.connect(self._erase)

    def clear(self) -> None:
        """Clear the undo stack, since facts of another memory are shown."""
        self._undo.clear()

    def select_pending(self) -> None:
        """Select the added or restored fact, once the list contains it."""
        if self._pending_id and self._body.list.go_to(self._pending_id):
            self._pending_id = ""

    @Slot()
    def undo(self) -> None:
        """Undo the last change of a fact."""
        step = self._undo.pop()
        if step is not None:
            self._pending_id = step.id
            self._store.run_change(step.undo, lambda _: self._show_message(step.message), self.show_error)

    @Slot(str, object, float)
    def _add(self, text: str, category: FactCategory | None, importance: float) -> None:
        def add(facts: Facts) -> object:
            from engine import category_of  # compiles its patterns

            return facts.add(text, category=category or category_of(text), importance=importance)

        def done(saved: SavedFact) -> None:
            fact = saved.fact
            self._pending_id = fact.id
            if saved.duplicate:
                self._show_message(tr("This fact already exists."))
            else:
                self._undo.add(fact.id, lambda facts: facts.erase([fact.id]), tr("The new fact was undone."))
                self._show_message(tr("Saved: {fact}", fact=wording.short(fact.text)))
            self.added.emit()

        def refused(sentence: str) -> None:
            self._body.begin_new(text)
            self.show_error(sentence)

        self._store.run_change(add, done, refused)

    @Slot(object)
    def _change(self, fact: Fact) -> None:
        before = self._store.fact(fact.id)
        if before is None:
            return

        def refused(sentence: str) -> None:
            if self._body.list.go_to(fact.id):
                self._body.editor.show_fact(before, editable=True)
                self._body.editor.text.setPlainText(fact.text)
            self.show_error(sentence)

        done, undone = marked("Changed: {fact}"), marked("Change undone: {fact}")
        self._run_change(before, lambda facts: facts.change(fact), done, undone, refused)

    @Slot(object)
    def _approve(self, fact: Fact) -> None:
        done, undone = marked("Approved: {fact}"), marked("Awaiting approval again: {fact}")
        self._run_change(fact, lambda facts: facts.approve([fact.id]), done, undone)

    @Slot(object)
    def _forget(self, fact: Fact) -> None:
        if fact.forgotten is None and not self._store.problem:
            done, undone = marked("Forgotten: {fact}"), marked("Restored: {fact}")
            self._run_change(fact, lambda facts: facts.forget([fact.id]), done, undone)

    @Slot(object)
    def _restore(self, fact: Fact) -> None:
        done, undone = marked("Restored: {fact}"), marked("Forgotten again: {fact}")
        self._run_change(fact, lambda facts: facts.restore([fact.id]), done, undone)

    @Slot(object)
    def _erase(self, fact: Fact) -> None:
        self._undo.forget(fact.id)
        self._store.run_change(
            lambda facts: facts.erase([fact.id]),
            lambda _: self._show_message(tr("Deleted permanently.")),
            self.show_error,
        )

    def _run_change(
        self, before: Fact, act: Act, done: str, undone: str, refused: Callable[[str], None] | None = None
    ) -> None:
        """Run a change; `before` can be restored afterwards. `done` and `undone` are sentences with the field
        `{fact}`."""

        def report(_: object) -> None:
            name = wording.short(before.text)
            self._undo.add(before.id, lambda facts: facts.revert_to(before), tr(undone, fact=name))
            self._show_message(tr(done, fact=name))

        self._store.run_change(act, report, refused or self.show_error)

    def _show_message(self, sentence: str) -> None:
        """Show a message about the change, with an undo button."""
        if self._undo:
            self._body.notice.show_notice(sentence, tr("Undo"), self.undo)
        else:
            self._body.notice.show_notice(sentence)
        announce(self._body, sentence)

    def show_error(self, sentence: str) -> None:
        """Show a message that a change failed, and why."""
        self._body.notice.show_notice(sentence)
        announce(self._body, sentence)


class _StepResult(NamedTuple):
    """Result of a step, and the state of the facts after it."""

    result: Any
    problem: str
    """Why nothing can be changed; empty if facts can be changed."""
    stamp: tuple[int, int]
    facts: tuple[Fact, ...] | None
    """All facts; None if they are the same as before."""


class _Step(NamedTuple):
    act: Act
    on_done: OnDone
    on_error: OnError
