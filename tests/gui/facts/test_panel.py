"""The facts view in a real window, on real rows: everything can be read, changed and undone."""

from collections.abc import Callable
from unittest.mock import Mock

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from PySide6.QtWidgets import QAbstractButton, QLabel, QPushButton

from engine import Fact, FactRefused, Facts
from gui.facts.list_and_editor import FactModel, FactRow
from gui.facts.panel import FactsPanel
from gui.window.main_window import MainWindow
from tests.helpers.chips import choose_from_chip
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.windows import at_rest, finish_jobs

Key = Qt.Key
Control = Qt.KeyboardModifier.ControlModifier
SECRET = "The key is sk-proj-abcdEFGH1234ijklMNOP5678qrstUVWX9012yzab"


@pytest.fixture
def facts(memory: FakeMemory) -> Facts:
    """Three saved facts, one pending, one forgotten."""
    stored = memory.facts
    for text, category in (
        ("Otter is deployed on Tuesdays", "decision"),
        ("Ines is allergic to hazelnuts", "entity"),
        ("I prefer green tea", "preference"),
    ):
        stored.add(text, category=category)
    stored.add("My starter is called Otto", origin="capture", pending=True, session_key="agent:main:3")
    stored.forget([stored.add("Hazel is backed up on Sundays", origin="agent").fact.id], "agent")
    return stored


@pytest.fixture
def panel(qtbot, opened: MainWindow, facts: Facts) -> FactsPanel:
    opened.resize(1280, 800)
    qtbot.keyClick(opened, Key.Key_4, Control)
    panel = opened.views.facts
    qtbot.waitUntil(lambda: at_rest(opened) and panel.body.list.current is not None)
    return panel


@pytest.fixture
def empty(qtbot, opened: MainWindow) -> FactsPanel:
    opened.resize(1280, 800)
    qtbot.keyClick(opened, Key.Key_4, Control)
    qtbot.waitUntil(lambda: at_rest(opened) and opened.views.facts.store.facts is not None)
    return opened.views.facts


def listed(panel: FactsPanel) -> list[str]:
    rows = panel.body.list.rows
    return [rows.row(number).fact.text for number in range(rows.rowCount())]


def texts(facts: Facts) -> set[str]:
    return {fact.text for fact in facts.all() if fact.remembered}


def fact_of(facts: Facts, text: str) -> Fact:
    return next(fact for fact in facts.all() if fact.text == text)


def chip(panel: FactsPanel, words: str) -> QAbstractButton:
    """The filter whose label begins with these words."""
    return next(chip for chip in panel.filters.findChildren(QAbstractButton) if chip.text().startswith(words))


def press(qtbot, panel: FactsPanel, words: str) -> None:
    """The visible button of the editor with these words."""
    [button] = [
        button
        for button in panel.body.editor.findChildren(QPushButton)
        if button.text() == words and button.isVisible()
    ]
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def visible(panel: FactsPanel) -> set[str]:
    return {button.text() for button in panel.body.editor.findChildren(QPushButton) if button.isVisible()}


def settle(qtbot, panel: FactsPanel, until: Callable[[], bool]) -> None:
    qtbot.waitUntil(lambda: until() and not panel.busy)


def test_newest_facts_come_first_with_details(panel):
    assert listed(panel) == ["I prefer green tea", "Ines is allergic to hazelnuts", "Otter is deployed on Tuesdays"]
    spoken = panel.body.list.rows.index(0).data(Qt.ItemDataRole.AccessibleTextRole)
    assert spoken.startswith("I prefer green tea. Preference · importance 70% · by you, ")
    assert panel.body.editor.text.toPlainText() == "I prefer green tea"


def test_empty_view_offers_first_fact(qtbot, empty, memory):
    page = empty.body.page
    assert "No facts yet" in page.accessibleName()
    new, more = page.findChildren(QPushButton)
    assert more.text() == "Learn more"
    qtbot.mouseClick(new, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(empty.body.editor.text.hasFocus)
    qtbot.keyClicks(empty.body.editor.text, "I prefer green tea")
    qtbot.keyClick(empty.body.editor.text, Key.Key_Return, Control)
    settle(qtbot, empty, lambda: listed(empty) == ["I prefer green tea"])
    [fact] = memory.facts.all()
    assert (fact.origin, fact.category) == ("user", "preference")
    assert empty.body.list.hasFocus()


def test_edited_text_is_saved_and_undone(qtbot, panel, facts):
    qtbot.keyClick(panel.body.list, Key.Key_Return)
    qtbot.waitUntil(panel.body.editor.text.hasFocus)
    assert "Save" not in visible(panel)
    panel.body.editor.text.selectAll()
    qtbot.keyClicks(panel.body.editor.text, "I prefer black tea")
    assert {"Save", "Discard"} <= visible(panel)
    qtbot.keyClick(panel.body.editor.text, Key.Key_Return, Control)
    settle(qtbot, panel, lambda: "I prefer black tea" in texts(facts))
    assert panel.body.notice.isVisible()
    panel.body.list.setFocus()
    qtbot.keyClick(panel.body.list, Key.Key_Z, Control)
    settle(qtbot, panel, lambda: "I prefer green tea" in texts(facts))
    assert panel.body.editor.text.toPlainText() == "I prefer green tea"


def test_edit_is_saved_on_leaving_the_fact(qtbot, panel, facts):
    panel.body.editor.text.setPlainText("I prefer white tea")
    qtbot.keyClick(panel.body.list, Key.Key_Down)
    settle(qtbot, panel, lambda: "I prefer white tea" in texts(facts))
    assert panel.body.list.current.text == "Ines is allergic to hazelnuts"
    panel.body.editor.text.setPlainText("Ines is allergic to walnuts")
    qtbot.keyClick(panel.body.window(), Key.Key_1, Control)
    settle(qtbot, panel, lambda: "Ines is allergic to walnuts" in texts(facts))


def test_refused_text_stays_editable(qtbot, panel, facts):
    panel.body.editor.text.setPlainText(SECRET)
    panel.body.editor.save()
    settle(qtbot, panel, lambda: "secret" in panel.body.notice.accessibleName())
    assert panel.body.editor.text.toPlainText() == SECRET
    assert "I prefer green tea" in texts(facts)
    panel.body.editor.text.setPlainText("x" * 4001)
    sentences = [label.text() for label in panel.body.editor.findChildren(QLabel) if label.isVisible()]
    assert any("1 character too many" in sentence for sentence in sentences)
    qtbot.keyClick(panel.body.editor.text, Key.Key_Escape)
    assert panel.body.editor.text.toPlainText() == "I prefer green tea"


def test_undo_restores_edit_discarded_by_escape(qtbot, panel):
    text = panel.body.editor.text
    panel.body.editor.take_focus()
    qtbot.keyClicks(text, ", with ginger")
    assert text.toPlainText() == "I prefer green tea, with ginger", "the fact was added at the end"
    qtbot.keyClick(text, Key.Key_Escape)
    assert text.toPlainText() == "I prefer green tea"
    qtbot.keyClick(text, Key.Key_Z, Control)
    assert text.toPlainText() == "I prefer green tea, with ginger"


def test_category_and_importance_save_immediately(qtbot, panel, facts):
    editor = panel.body.editor
    editor.category.setCurrentIndex(editor.category.findData("other"))
    editor.category.activated.emit(editor.category.currentIndex())
    settle(qtbot, panel, lambda: fact_of(facts, "I prefer green tea").category == "other")
    editor.importance.setCurrentIndex(editor.importance.findText("100%"))
    editor.importance.activated.emit(editor.importance.currentIndex())
    settle(qtbot, panel, lambda: fact_of(facts, "I prefer green tea").importance == 1.0)
    panel.changes.undo()
    panel.changes.undo()
    settle(qtbot, panel, lambda: fact_of(facts, "I prefer green tea").category == "preference")
    assert fact_of(facts, "I prefer green tea").importance == 0.7


def test_forget_selects_next_fact_and_can_be_undone(qtbot, panel, facts):
    panel.body.list.setFocus()
    for _ in range(2):
        before = panel.body.list.current
        qtbot.keyClick(panel.body.list, Key.Key_Delete)
        settle(qtbot, panel, lambda before=before: panel.body.list.current != before)
    assert listed(panel) == ["Otter is deployed on Tuesdays"]
    assert panel.body.list.hasFocus()
    for text in ("Ines is allergic to hazelnuts", "I prefer green tea"):
        qtbot.keyClick(panel.body.list, Key.Key_Z, Control)
        settle(qtbot, panel, lambda text=text: panel.body.list.current.text == text)
    assert len(listed(panel)) == 3
    panel.changes.undo()  # nothing is left to undo
    assert len(texts(facts)) == 3


def test_waiting_fact_is_approved_and_undone(qtbot, panel, facts):
    chip(panel, "To approve").click()
    settle(qtbot, panel, lambda: listed(panel) == ["My starter is called Otto"])
    assert chip(panel, "To approve").text() == "To approve (1)"
    assert {"Approve", "Forget"} <= visible(panel)
    press(qtbot, panel, "Approve")
    settle(qtbot, panel, lambda: "My starter is called Otto" in texts(facts))
    assert listed(panel) == []
    assert "Nothing waits" in panel.body.page.accessibleName()
    panel.changes.undo()
    settle(qtbot, panel, lambda: listed(panel) == ["My starter is called Otto"])


def test_forgotten_fact_is_restored_or_deleted(qtbot, panel, facts):
    chip(panel, "Forgotten").click()
    settle(qtbot, panel, lambda: listed(panel) == ["Hazel is backed up on Sundays"])
    assert panel.body.editor.text.isReadOnly()
    press(qtbot, panel, "Restore")
    settle(qtbot, panel, lambda: "Hazel is backed up on Sundays" in texts(facts))
    panel.changes.undo()
    settle(qtbot, panel, lambda: listed(panel) == ["Hazel is backed up on Sundays"])
    press(qtbot, panel, "Delete permanently…")
    assert len(facts.all()) == 5
    press(qtbot, panel, "Don't delete")
    press(qtbot, panel, "Delete permanently…")
    press(qtbot, panel, "Delete permanently")
    settle(qtbot, panel, lambda: listed(panel) == [])
    assert not panel.body.editor.isVisible()
    assert len(facts.all()) == 4
    panel.changes.undo()  # nothing is left to undo
    settle(qtbot, panel, lambda: len(facts.all()) == 4)


def test_new_fact_can_be_undone_and_duplicate_is_selected(qtbot, panel, facts):
    editor = panel.body.editor
    position = editor.text.pos()
    panel.begin_new()
    assert "New fact" in {label.text() for label in editor.findChildren(QLabel)}
    editor.text.parentWidget().layout().activate()
    assert editor.text.pos() == position
    panel.body.editor.text.setPlainText("We meet on Mondays")
    panel.body.editor.save()
    settle(qtbot, panel, lambda: "We meet on Mondays" in texts(facts))
    assert panel.body.list.current.text == "We meet on Mondays"
    panel.changes.undo()
    settle(qtbot, panel, lambda: "We meet on Mondays" not in {fact.text for fact in facts.all()})
    panel.begin_new()
    panel.body.editor.text.setPlainText("ines is allergic to hazelnuts!")
    panel.body.editor.save()
    settle(qtbot, panel, lambda: "already exists" in panel.body.notice.accessibleName())
    assert panel.body.list.current.text == "Ines is allergic to hazelnuts"


def test_refused_new_fact_stays_editable(qtbot, panel):
    panel.begin_new()
    panel.body.editor.text.setPlainText(SECRET)
    panel.body.editor.save()
    settle(qtbot, panel, lambda: "secret" in panel.body.notice.accessibleName())
    assert panel.body.editor.is_new
    assert panel.body.editor.text.toPlainText() == SECRET


def test_query_filters_list_and_escape_resets(qtbot, panel):
    qtbot.keyClicks(panel.box.edit, "haz")
    settle(qtbot, panel, lambda: listed(panel) == ["Ines is allergic to hazelnuts"])
    qtbot.keyClick(panel.box.edit, Key.Key_Down)
    assert panel.body.list.hasFocus()
    qtbot.keyClicks(panel.body.list, "x")
    assert panel.box.query == "hazx"
    settle(qtbot, panel, lambda: listed(panel) == [])
    qtbot.keyClick(panel.box.edit, Key.Key_Escape)
    settle(qtbot, panel, lambda: len(listed(panel)) == 3)
    choose_from_chip(panel.filters, "Any kind", "Decision")
    assert listed(panel) == ["Otter is deployed on Tuesdays"]
    qtbot.keyClick(panel.box.edit, Key.Key_Escape)
    assert len(listed(panel)) == 3


def test_agent_fact_appears_without_losing_edit(qtbot, panel, facts):
    panel.body.editor.text.setPlainText("I prefer no tea")
    facts.add("Kept from outside", origin="agent")
    panel.store.reread()
    settle(qtbot, panel, lambda: "Kept from outside" in listed(panel))
    assert panel.body.list.current.text == "I prefer green tea"
    assert panel.body.editor.text.toPlainText() == "I prefer no tea"


def test_read_only_facts_cannot_be_edited(qtbot, opened, memory, facts):
    memory.user_data._read_only = "The disk is full."
    qtbot.keyClick(opened, Key.Key_4, Control)
    panel = opened.views.facts
    qtbot.waitUntil(lambda: not panel.busy and panel.body.list.current is not None)
    assert panel.body.editor.text.isReadOnly()
    assert not panel.body.new_button.isEnabled()
    qtbot.keyClick(panel.body.list, Key.Key_Delete)
    assert len(texts(facts)) == 3


def test_filters_leave_the_box_room_for_its_hint(qtbot, panel, opened):
    edit = panel.box.edit
    words = edit.placeholderText()
    hint = edit.fontMetrics().horizontalAdvance(words)
    for width in range(1400, 1000, -40):
        opened.resize(width, 800)
        qtbot.waitUntil(lambda width=width: opened.width() == width)
        qtbot.wait(1)
        assert edit.width() > hint
        assert edit.placeholderText() == words


def test_failed_read_is_reported(qtbot, opened, memory, facts, jobs, monkeypatch):
    refused = FactRefused("They cannot be read.")
    for error in (OSError(5, "No such device"), refused):
        monkeypatch.setattr(memory.facts, "all", Mock(side_effect=error))
        opened.frame.header.offer("facts", False)
        opened.views.refresh()
        finish_jobs(jobs)
        assert opened.frame.header.offered == ["facts"]
    assert "facts" not in opened.views.panels
    panel = opened.views.facts
    panel.set_manager(memory)
    qtbot.keyClick(opened, Key.Key_4, Control)
    qtbot.waitUntil(lambda: panel.store.problem == "They cannot be read.")
    assert not panel.body.new_button.isEnabled()


def test_number_of_waiting_facts_moves_no_filter(panel, facts):
    width = panel.filters.sizeHint().width()
    assert any(fact.pending for fact in facts.all())
    panel.filters.show_counts(())
    assert panel.filters.sizeHint().width() == width


def test_list_and_editor_share_a_narrower_window(qtbot, panel):
    shares = []
    for width in (1280, 760, 1280):
        panel.body.window().resize(width, 800)
        qtbot.waitUntil(lambda width=width: panel.body.width() == width)
        shares.append(panel.body.list.width() / width)
    assert shares == pytest.approx([0.6] * 3, abs=0.02)


def test_narrow_window_shows_list_or_editor(qtbot, panel):
    panel.body.window().resize(560, 500)
    qtbot.waitUntil(lambda: not panel.body.editor.isVisible())
    panel.focus_list()
    qtbot.keyClick(panel.body.list, Key.Key_Return)
    qtbot.waitUntil(panel.body.editor.text.hasFocus)
    assert not panel.body.list.isVisible()
    qtbot.keyClick(panel.body.editor.text, Key.Key_Escape)
    qtbot.waitUntil(panel.body.list.hasFocus)


def test_cleared_manager_empties_panel(qtbot, panel):
    panel.set_manager(None)
    assert listed(panel) == []
    assert panel.body.editor.fact is None
    assert not panel.box.isEnabled()


def test_reopened_folder_keeps_typed_text_undo_and_search(qtbot, panel, memory, facts):
    panel.body.editor.text.setPlainText("I prefer white tea")
    panel.body.editor.save()
    settle(qtbot, panel, lambda: "I prefer white tea" in texts(facts))
    panel.search("tea")
    settle(qtbot, panel, lambda: listed(panel) == ["I prefer white tea"])
    panel.body.editor.text.setPlainText("I prefer no tea")
    panel.set_manager(None, reopening=True)
    assert panel.box.isEnabled()
    panel.set_manager(memory, reopening=True)
    settle(qtbot, panel, lambda: True)
    assert listed(panel) == ["I prefer white tea"]
    assert panel.body.editor.text.toPlainText() == "I prefer no tea"
    assert "I prefer white tea" in texts(facts)
    panel.changes.undo()
    settle(qtbot, panel, lambda: "I prefer green tea" in texts(facts))


def test_change_made_while_folder_reopens_is_saved_then(qtbot, panel, memory, facts):
    panel.set_manager(None, reopening=True)
    panel.body.editor.text.setPlainText("I prefer white tea")
    panel.body.editor.save()
    assert panel.busy
    panel.set_manager(memory, reopening=True)
    settle(qtbot, panel, lambda: "I prefer white tea" in texts(facts))


def test_change_that_met_a_closed_memory_is_repeated(qtbot, panel, facts, memory):
    def refuse(_fact: Fact) -> None:
        raise FactRefused("The memory is closed.")

    old = Facts(memory.user_data, lambda: None, lambda _: None)
    old.change = refuse
    panel.store.service = old
    panel.body.editor.text.setPlainText("I prefer white tea")
    panel.body.editor.save()
    panel.set_manager(None, reopening=True)
    panel.set_manager(memory, reopening=True)
    settle(qtbot, panel, lambda: "I prefer white tea" in texts(facts))


def test_typed_text_is_saved_before_another_folder_opens(
    qtbot, panel, opened, facts, memory, jobs, monkeypatch, tmp_path
):
    order = []
    monkeypatch.setattr(memory, "close", lambda: order.append("closed"))  # the folder is deleted only after this
    save = jobs.save

    def follow(work, *then):
        order.append("job")
        return save(work, *then)

    monkeypatch.setattr(jobs, "save", follow)
    panel.body.editor.text.setPlainText("I prefer white tea")
    opened.workspace.closed.connect(lambda: order.append("told"))
    opened.folders.open(tmp_path)
    assert order.index("job") < order.index("told")
    qtbot.waitUntil(lambda: "I prefer white tea" in texts(facts))
    monkeypatch.undo()
    qtbot.waitUntil(lambda: at_rest(opened))


def test_typed_text_is_saved_though_facts_are_being_read(qtbot, panel, facts):
    panel.store.reread()
    panel.body.editor.text.setPlainText("I prefer white tea")
    panel.set_manager(None)
    qtbot.waitUntil(lambda: "I prefer white tea" in texts(facts))


def test_model_passes_qt_model_tester(qtbot, facts):
    model = FactModel()
    QAbstractItemModelTester(model, QAbstractItemModelTester.FailureReportingMode.Fatal)
    model.set_rows([FactRow(fact) for fact in facts.all()])
    assert model.index(0).data(Qt.ItemDataRole.ToolTipRole) == "<qt>Hazel is backed up on Sundays</qt>"
    model.set_rows([])
