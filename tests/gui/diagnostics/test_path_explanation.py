import pytest
from PySide6.QtCore import QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QDropEvent

from engine import PathRemedy, RuleOrigin, WorkspaceError
from gui.diagnostics.panel import DiagnosticsPanel
from gui.diagnostics.path_explainer import ACTION_WORDS, PathExplainer, dropped_path, excluded_type, path_diagnostic
from tests.helpers.fake_records import make_path_state, make_status

NAME = "projects/greenhouse.md"


@pytest.fixture
def why(qtbot, appearance, jobs, memory) -> PathExplainer:
    view = PathExplainer(jobs)
    qtbot.addWidget(view)
    view.set_manager(memory)
    view.show()
    return view


def _ask(qtbot, why: PathExplainer, path: str) -> None:
    why.edit.setFocus()
    why.edit.clear()
    qtbot.keyClicks(why.edit, path)
    qtbot.keyClick(why.edit, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: not why.busy)


def _drop(view: PathExplainer, data: QMimeData) -> None:
    event = QDropEvent(
        QPointF(5, 5),
        Qt.DropAction.CopyAction,
        data,
        Qt.MouseButton.LeftButton,
        Qt.KeyboardModifier.NoModifier,
    )
    view.edit.dropEvent(event)
    assert event.isAccepted()


def test_enter_shows_state_and_remedy(qtbot, why, memory):
    _ask(qtbot, why, NAME)
    assert memory.explained == [NAME]
    assert why.answer.word.text().startswith("indexed")
    assert why.sentence.text() == "It is indexed: 1 passage."
    assert why.button.isVisible()
    with qtbot.waitSignal(why.action_requested) as action:
        qtbot.mouseClick(why.button, Qt.MouseButton.LeftButton)
    assert action.args[0] == "open"
    assert action.args[1].path == NAME


def test_typed_name_is_explained_without_enter(qtbot, why, memory):
    why.edit.setFocus()
    qtbot.keyClicks(why.edit, NAME)
    qtbot.waitUntil(lambda: why.answer.word.text().startswith("indexed"))
    assert memory.explained == [NAME]


def test_file_without_remedy_has_no_button(qtbot, why):
    _ask(qtbot, why, "nothing.md")
    assert why.answer.word.text().startswith("not found")
    assert why.button.isHidden()


def test_empty_field_or_no_manager_explains_no_path(qtbot, why, memory):
    _ask(qtbot, why, "   ")
    why.set_manager(None)
    _ask(qtbot, why, NAME)
    assert memory.explained == []
    assert why.answer.isHidden()


def test_editing_hides_answer_and_escape_clears_text(qtbot, why):
    _ask(qtbot, why, NAME)
    qtbot.keyClicks(why.edit, "x")
    assert why.answer.isHidden()
    assert why.button.isHidden()
    qtbot.keyClick(why.edit, Qt.Key.Key_Escape)
    assert why.edit.text() == ""


def test_only_newest_request_is_answered(qtbot, why, memory):
    memory.explain_delay = 0.05
    why.enter_path(NAME)
    why.enter_path("nothing.md")
    qtbot.waitUntil(lambda: not why.busy)
    assert why.answer.word.text().startswith("not found")


def test_failed_explanation_of_path_shows_error(qtbot, why, memory):
    memory.explain_error = WorkspaceError("The folder notes does not exist.")
    _ask(qtbot, why, NAME)
    assert why.sentence.text() == "The folder notes does not exist."
    assert why.button.isHidden()


def test_dropped_file_replaces_text_and_is_explained(qtbot, why, memory, tmp_path):
    why.edit.setText("something else")
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a b.md"))])
    _drop(why, data)
    qtbot.waitUntil(lambda: not why.busy)
    assert memory.explained == [why.edit.text()]
    assert why.edit.text().endswith("a b.md")


def test_dropped_path_accepts_text_but_not_empty_data():
    text, address, nothing = QMimeData(), QMimeData(), QMimeData()
    text.setText(" notes/a.md \nnotes/b.md")
    address.setUrls([QUrl("https://example.org/a.md")])
    assert dropped_path(text) == "notes/a.md"
    assert dropped_path(nothing) == ""


def test_changed_index_refreshes_answer(qtbot, why, memory):
    why.refresh(1)
    _ask(qtbot, why, "new.md")
    why.refresh(1)
    assert len(memory.explained) == 1
    memory.files["new.md"] = "New.\n"
    why.refresh(2)
    qtbot.waitUntil(lambda: why.answer.word.text().startswith("indexed"))
    assert len(memory.explained) == 2


def test_reopened_workspace_updates_answer_and_focus(qtbot, why, memory):
    with qtbot.waitActive(why):
        why.activateWindow()
    _ask(qtbot, why, NAME)
    why.button.setFocus()
    why.set_manager(None, reopening=True)
    assert why.button.hasFocus()
    del memory.files[NAME]
    why.set_manager(memory, reopening=True)
    qtbot.waitUntil(lambda: why.answer.word.text().startswith("not found"))
    assert why.edit.hasFocus()
    why.set_manager(None)
    assert why.answer.isHidden()


@pytest.mark.parametrize(
    "state",
    ["indexed", "pending", "failed", "excluded", "outside", "too-large", "not-text", "deleted", "missing", "folder"],
)
def test_every_state_has_a_label(state):
    diagnostic = path_diagnostic(make_path_state(state=state))
    assert diagnostic.value.endswith(": greenhouse.md")
    assert "Changed" in diagnostic.tip


def test_tooltip_names_the_setting():
    origin = RuleOrigin(key="exclude", value="drafts/", layer="workspace", file="/s.toml", line=3)
    assert "exclude: drafts/" in path_diagnostic(make_path_state(state="excluded", origin=origin)).tip


@pytest.mark.parametrize(
    ("remedy", "signal", "expected"),
    [
        ("sync", "action_requested", "sync"),
        ("settings", "setting_requested", "max_file_bytes"),
        ("add", "add_requested", "/home/ada/notes/projects/greenhouse.md"),
    ],
)
def test_remedy_button_emits_signal(qtbot, appearance, jobs, memory, remedy: PathRemedy, signal: str, expected: str):
    panel = DiagnosticsPanel(jobs)
    panel.set_manager(memory)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_status(make_status())
    qtbot.waitUntil(panel.why.isVisible)
    origin = RuleOrigin(key="max_file_bytes", value="10", layer="built-in", file="", line=0)
    memory.path_states["a.md"] = make_path_state(remedy=remedy, origin=origin)
    panel.why.enter_path("a.md")
    qtbot.waitUntil(panel.why.button.isVisible)
    assert panel.why.button.text() == ACTION_WORDS[remedy]
    with qtbot.waitSignal(getattr(panel, signal)) as emitted:
        panel.why.button.click()
    assert emitted.args == [expected]


def test_excluded_type_can_be_included(qtbot, appearance, jobs, memory):
    panel = DiagnosticsPanel(jobs)
    panel.set_manager(memory)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_status(make_status())
    qtbot.waitUntil(panel.why.isVisible)
    left_out = {"state": "excluded", "rule": "extension", "source": "memory", "file": "/home/ada/notes/a.TXT"}
    memory.path_states["a.txt"] = make_path_state(**left_out)
    panel.why.enter_path("a.txt")
    qtbot.waitUntil(panel.why.button.isVisible)
    assert panel.why.button.text() == "Include .txt files"
    with qtbot.waitSignal(panel.why.type_requested) as signal:
        panel.why.button.click()
    assert signal.args == [".txt"]


def test_only_endings_of_text_can_be_included():
    left_out = {"state": "excluded", "rule": "extension", "source": "memory"}
    assert excluded_type(make_path_state(**left_out, file="/home/ada/notes/a.ORG")) == ".org"
    for ending in (".asciidoc", ".rest", ".tex", ".log", ".csv"):
        assert excluded_type(make_path_state(**left_out, file=f"/home/ada/notes/a{ending}")) == ending
    assert excluded_type(make_path_state(**left_out, file="/home/ada/notes/a.png")) == ""


def test_ask_why_focuses_field(qtbot, appearance, jobs, memory):
    panel = DiagnosticsPanel(jobs)
    panel.set_manager(memory)
    qtbot.addWidget(panel)
    with qtbot.waitActive(panel):
        panel.show()
        panel.activateWindow()
    panel.show_status(make_status())
    panel.focus_explainer()
    qtbot.waitUntil(panel.why.edit.hasFocus)
