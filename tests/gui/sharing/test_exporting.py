"""Results that are written to files."""

import json
import threading
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPushButton

from gui.core.location import Location
from gui.sharing.export import MAX_RESULTS
from tests.helpers.fake_sessions import SECRET, VALVE
from tests.helpers.windows import finish_jobs


@pytest.fixture
def choose(monkeypatch, tmp_path):
    """Set the file that the user selects in the dialog."""

    def answer(name: str, kind: str = "Markdown (*.md)") -> Path:
        path = tmp_path / "out" / name if name else Path()
        path.parent.mkdir(exist_ok=True)
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(path) if name else "", kind))
        return path

    return answer


def _wait_for_message(qtbot, window, words: str) -> None:
    qtbot.waitUntil(lambda: words in window.banner.text)


@pytest.mark.qt_log_ignore("grabbing the keyboard", "support raise", extend=True)  # by the menu
def test_results_export_to_markdown(qtbot, opened, find, choose):
    find("irrigation timer")
    target = choose("found.md")
    qtbot.keyClick(opened, Qt.Key.Key_E, Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.ShiftModifier)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    menu.setActiveAction(next(action for action in menu.actions() if action.text().startswith("Export results")))
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    _wait_for_message(qtbot, opened, f"exported to {target}")
    results = opened.search.body.answer.outcome.results
    page = target.read_text("utf-8")
    assert page.startswith("# irrigation timer\n")
    assert page.endswith("\n")
    for result in results:
        assert f"`{result.citation}`" in page
    actions = {action.objectName(): action for action in opened.search.body.list.actions()}
    copying = [actions[f"results.{name}"] for name in ("cite", "copy-snippet", "copy-quote", "copy-path")]
    assert all(action.isEnabled() for action in copying)
    opened.search.search("zebra -zebra")
    qtbot.waitUntil(lambda: not opened.search.body.has_results)
    assert not any(action.isEnabled() for action in copying)
    assert {action.statusTip() for action in copying} == {"Select something in the list first."}
    assert opened.banner.text.startswith(f"{len(results)} results exported")


def test_json_export_has_command_line_keys(qtbot, opened, find, choose):
    find("irrigation timer")
    target = choose("found.json")
    opened.sharing.exports.choose()
    _wait_for_message(qtbot, opened, f"exported to {target}")
    values = json.loads(target.read_text("utf-8"))
    assert values["query"] == "irrigation timer"
    assert {"results", "total", "provider", "model", "mode", "timingsMs"} <= set(values)
    citations = [result.citation for result in opened.search.body.answer.outcome.results]
    assert [result["citation"] for result in values["results"]] == citations


def test_export_includes_only_selection(qtbot, opened, find, choose):
    find("irrigation timer")
    results = opened.search.body.list
    results.take_focus()
    qtbot.keyClick(results, Qt.Key.Key_Down, Qt.KeyboardModifier.ShiftModifier)
    selected = results.selected_results()
    assert len(selected) == 2
    target = choose("two.json")
    opened.sharing.exports.choose()
    _wait_for_message(qtbot, opened, "2 results exported")
    values = json.loads(target.read_text("utf-8"))
    assert [result["citation"] for result in values["results"]] == [result.citation for result in selected]
    assert values["total"] == 2


def test_export_fetches_results_that_are_not_shown(qtbot, window, memory, choose):
    memory.files = {f"{n:05}.md": f"# Note {n}\n\nA valve.\n" for n in range(10_000)}
    window.folders.open(memory.folder)
    from tests.helpers.windows import at_rest

    qtbot.waitUntil(lambda: at_rest(window))
    window.search.search("valve")
    qtbot.waitUntil(lambda: at_rest(window) and window.search.body.has_results, timeout=60_000)
    assert len(window.search.body.answer.outcome.results) < 10_000
    target = choose("all.md")
    window.sharing.exports.choose()
    qtbot.waitUntil(lambda: "exported to" in window.banner.text, timeout=60_000)
    assert window.banner.text.startswith("10,000 results exported")
    assert target.read_text("utf-8").count("\n## ") == 10_000
    assert memory.searches[-1][2]["max_results"] == MAX_RESULTS


def test_export_includes_all_results_of_each_file(qtbot, opened, memory, find, choose, monkeypatch):
    search = memory.search

    def limited(query, **options):
        outcome = search(query, **options)
        if options.get("per_file") == 0:
            return outcome
        return msgspec.structs.replace(outcome, results=outcome.results[:1])

    monkeypatch.setattr(memory, "search", limited)
    find("irrigation timer")
    total = opened.search.body.answer.outcome.total
    assert total > 1
    choose("all.md")
    opened.sharing.exports.choose()
    _wait_for_message(qtbot, opened, f"{total} results exported")


def test_name_without_extension_gets_one_and_replaces_nothing(qtbot, opened, find, choose):
    find("irrigation timer")
    target = choose("found", "JSON (*.json)")
    opened.sharing.exports.choose()
    _wait_for_message(qtbot, opened, "exported to")
    made = target.with_name("found.json")
    assert json.loads(made.read_text("utf-8"))["query"] == "irrigation timer"
    made.write_text("mine")
    opened.sharing.exports.choose()
    _wait_for_message(qtbot, opened, "already exists. Choose another name.")
    assert made.read_text() == "mine"


def test_export_to_note_or_missing_folder_is_refused(qtbot, opened, memory, find, choose):
    find("irrigation timer")
    choose("x.md")
    note = memory.locate("topics/shopping.md")
    before = note.read_bytes()
    opened.sharing.exports.save(note)
    _wait_for_message(qtbot, opened, "never changed")
    assert note.read_bytes() == before
    opened.sharing.exports.save(note.with_name("gone") / "a.md")
    _wait_for_message(qtbot, opened, "no longer exists")


def test_failed_search_writes_no_file(qtbot, opened, memory, find, choose, monkeypatch):
    find("irrigation timer")
    target = choose("found.md")
    monkeypatch.setattr("gui.sharing.export._found", lambda *_: (_ for _ in ()).throw(OSError(5, "Bad disk")))
    opened.sharing.exports.choose()
    _wait_for_message(qtbot, opened, "Bad disk")
    assert not target.exists()


def test_export_without_results_or_file_does_nothing(opened, find, choose):
    opened.sharing.exports.choose()
    assert opened.banner.text == "There are no results to export: search for something first."
    opened.banner.clear()
    find("irrigation timer")
    choose("")
    opened.sharing.exports.choose()
    assert not opened.banner.text


# --- the open session -------------------------------------------------------------------------------------------------


@pytest.fixture
def read_session(qtbot, opened):
    with qtbot.waitSignal(opened.views.conversation.session_shown):
        opened.views.show_location(Location(VALVE, 1))
    return opened


@pytest.mark.parametrize(("name", "start"), [("valve.html", "<!DOCTYPE html>"), ("valve.md", "# Fix the valve")])
def test_session_exports_with_masked_secrets(qtbot, read_session, choose, name, start):
    target = choose(name)
    read_session.sharing.session_exports.choose()
    _wait_for_message(qtbot, read_session, f"Session exported to {target}")
    read_session.views.switch("index")
    assert not read_session.banner.text
    page = target.read_text("utf-8")
    assert page.startswith(start)
    assert SECRET not in page
    assert page.count("<details>") == page.count("</details>") > 0


def test_session_export_is_named_after_its_title(read_session, monkeypatch):
    suggested = []
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *dialog: suggested.append(dialog[2]) or ("", ""))
    read_session.sharing.session_exports.choose()
    assert [Path(name).name for name in suggested] == ["fix-the-valve-controller.html"]


def test_session_export_without_ending_is_html(qtbot, read_session, choose):
    target = choose("valve", "HTML (*.html)")
    read_session.sharing.session_exports.choose()
    _wait_for_message(qtbot, read_session, "Session exported")
    assert target.with_name("valve.html").exists()


def test_session_export_can_be_cancelled(qtbot, read_session, memory, jobs, choose, monkeypatch):
    reading, go_on, read = threading.Event(), threading.Event(), memory.read_session

    def slow(*arguments, **options):
        reading.set()
        assert go_on.wait(60)
        return read(*arguments, **options)

    monkeypatch.setattr(memory, "read_session", slow)
    target = choose("valve.html")
    read_session.sharing.session_exports.choose()
    assert read_session.banner.text == "Exporting the session…"
    assert reading.wait(60)
    read_session.views.switch("index")  # only reports of finished exports are removed
    assert read_session.banner.text == "Exporting the session…"
    next(one for one in read_session.banner.findChildren(QPushButton) if one.text() == "Cancel").click()
    go_on.set()
    finish_jobs(jobs)
    assert not read_session.banner.text
    assert not target.exists()


def test_context_of_session_is_copied_as_long_as_set(qtbot, read_session):
    read_session.sharing.session_exports.copy_context()
    _wait_for_message(qtbot, read_session, "paste them into another agent")
    text = QGuiApplication.clipboard().text()
    assert "## Goal" in text
    assert SECRET not in text
    assert len(text) <= read_session.workspace.current.settings.sessions.context_max_chars


def test_export_without_open_session_shows_message(opened, choose):
    target = choose("none.html")
    opened.sharing.session_exports.choose()
    opened.sharing.session_exports.copy_context()
    assert "No session is open" in opened.banner.text
    assert not target.exists()
