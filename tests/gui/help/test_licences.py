from PySide6.QtCore import Qt
from PySide6.QtWidgets import QDialog, QLabel, QPushButton

from gui.controllers import help as help_controller
from gui.help.licence_window import LicenceWindow
from gui.help.licences import Component

COMPONENTS = (
    Component("beta", "2.0", "MIT", "A second thing.", ("Permission is hereby granted\nby its authors.",)),
    Component("Alpha", "1.0", "LGPL-3.0-only", "The first.", ("first text", "GNU words of a second text")),
    Component("gamma", "3", "licence not stated", "", ()),
)


def licences(qtbot, window, monkeypatch) -> LicenceWindow:
    monkeypatch.setattr(help_controller, "read_components", lambda: COMPONENTS)
    window.about.show_licences()
    sheet = window.findChild(LicenceWindow)
    qtbot.waitUntil(lambda: window.about.ready)
    return sheet


def close(qtbot, window):
    for dialog in window.findChildren(QDialog):
        dialog.reject()
    qtbot.waitUntil(lambda: window.findChild(QDialog) is None)


def names(sheet):
    model = sheet.table.model()
    return [model.index(row, 0).data() for row in range(model.rowCount())]


def count(sheet):
    return next(label.text() for label in sheet.findChildren(QLabel) if "component" in label.text())


def test_about_opens_licences_of_installation(qtbot, opened):
    opened.about.show()
    next(button for button in opened.findChildren(QPushButton) if button.text() == "Licences…").click()
    sheet = opened.findChild(LicenceWindow)
    qtbot.waitUntil(lambda: opened.about.ready)
    assert "numpy" in names(sheet)
    close(qtbot, opened)


def test_components_are_sorted_and_first_text_is_shown(qtbot, opened, monkeypatch):
    sheet = licences(qtbot, opened, monkeypatch)
    assert names(sheet) == ["Alpha", "beta", "gamma"]
    assert count(sheet) == "3 components"
    assert sheet.text.toPlainText().startswith("first text")
    assert "GNU words" in sheet.text.toPlainText()
    sheet.table.selectRow(2)
    assert sheet.text.toPlainText() == "No licence text is included."
    close(qtbot, opened)


def test_query_searches_names_and_texts(qtbot, opened, monkeypatch):
    sheet = licences(qtbot, opened, monkeypatch)
    qtbot.keyClicks(sheet.box, "gnu ALPHA")
    assert names(sheet) == ["Alpha"]
    assert count(sheet) == "1 component of 3"
    assert sheet.text.textCursor().selectedText() == "GNU"
    sheet.box.setText("nowhere")
    assert names(sheet) == []
    assert count(sheet) == "0 components of 3"
    assert sheet.text.toPlainText() == ""
    close(qtbot, opened)


def test_escape_clears_box_then_closes(qtbot, opened, monkeypatch):
    sheet = licences(qtbot, opened, monkeypatch)
    sheet.box.setText("beta")
    qtbot.keyClick(sheet.box, Qt.Key.Key_Escape)
    assert (sheet.box.text(), names(sheet)) == ("", ["Alpha", "beta", "gamma"])
    qtbot.keyClick(sheet.box, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: opened.findChild(QDialog) is None)


def test_sheet_closed_while_reading_loads_next_time(qtbot, opened, monkeypatch):
    monkeypatch.setattr(help_controller, "read_components", lambda: COMPONENTS)
    opened.about.show_licences()
    close(qtbot, opened)
    assert opened.about.ready
    assert names(licences(qtbot, opened, monkeypatch)) == ["Alpha", "beta", "gamma"]
    close(qtbot, opened)


def test_read_failure_is_shown_in_window(qtbot, opened, monkeypatch):
    def fail():
        raise OSError(2, "No such file or directory", "bundled.json")

    monkeypatch.setattr(help_controller, "read_components", fail)
    opened.about.show_licences()
    qtbot.waitUntil(lambda: opened.about.ready)
    sheet = opened.findChild(LicenceWindow)
    assert any("no such file" in label.text().lower() for label in sheet.findChildren(QLabel))
    close(qtbot, opened)
