"""Every view of the program with the sample notes, as an assistive tool finds it; new views are included.

It is shown in the trial language, which leaves untranslatable text unaccented.
"""

import re
from collections.abc import Iterator
from itertools import chain

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QApplication, QFileDialog, QMenu, QPushButton, QToolButton, QWidget

from engine import set_language, tr
from gui.app.command_line import view_names
from gui.app.crash_controller import CrashDialog
from tests.helpers.every_view import kind_of
from tests.helpers.spoken import disorder, faults, of, walk, windows

ELSEWHERE: set[str] = {"crash"}
"""Views shown by the program after an error, and tested separately below."""
UNTRANSLATED: set[str] = {"licences"}
"""Views whose texts aren't translated."""
LEADS_OUT = {"Quit", "Update now", "Rebuild index…"}
"""Commands that end the program, or change the index under the test."""
_SAID = (QAccessible.Text.Name, QAccessible.Text.Description, QAccessible.Text.Help)
_WORD = re.compile(r"[A-Za-z]{3,}")
_TRIED = re.compile(r"\[[^\[\]]*\]")


@pytest.fixture
def trial() -> Iterator[None]:
    set_language("en-XA")
    yield
    set_language("en")


def texts_in(window: QWidget) -> Iterator[str]:
    """Yield the names, descriptions and tooltips of everything visible, and the texts of its menus."""
    yield window.windowTitle()
    for one in walk(of(window)):
        yield from (one.text(kind) for kind in _SAID)
    for widget in window.findChildren(QWidget):
        if widget.isVisible():
            yield widget.toolTip()
            if isinstance(widget, QPushButton | QToolButton) and widget.menu() is not None:
                yield from texts_of_menu(widget.menu())


def texts_of_menu(menu: QMenu) -> Iterator[str]:
    menu.aboutToShow.emit()
    for action in menu.actions():
        yield action.text()
        if action.menu() is not None:
            yield from texts_of_menu(action.menu())


def plain(text: str) -> str:
    """Return the untranslated rest of a text."""
    while (shorter := _TRIED.sub("", text)) != text:
        text = shorter
    return text.strip()


@pytest.mark.parametrize("kind", ["searches", "settings", "others"])
def test_every_view_is_accessible_in_order_and_translatable(trial, program, kind):
    content = program.content()
    indexed = (tr("Stems"), tr("Heading words"))  # of the index, which has no language
    found: dict[str, str] = {}
    for view in (one for one in view_names() if kind_of(one) == kind and one not in ELSEWHERE):
        program.go(view)
        for surface in windows():
            for fault in (*faults(surface), *disorder(surface)):
                found.setdefault(fault, f"{view}: {fault}")
        texts = chain.from_iterable(texts_in(window) for window in windows() if view not in UNTRANSLATED)
        for text in texts:
            left = "" if text.startswith(indexed) else plain(text)
            if _WORD.search(left) and not content.has(left):
                found.setdefault(left, f"{view} is not translated: {text[:100]!r}")
    assert not found, "\n" + "\n".join(found.values())


@pytest.mark.qt_log_ignore("grabbing the keyboard", "support raise", extend=True)  # from opened menus
def test_every_command_opens_accessible_windows(program, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getExistingDirectory", lambda *_: "")
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: ("", ""))
    program.go("search")
    for action in program.window.actions():
        if action.isEnabled() and action.text() not in LEADS_OUT:
            action.trigger()
            for _ in range(3):
                QApplication.processEvents()
            wrong = [fault for surface in windows() for fault in faults(surface)]
            assert not wrong, f"{action.text()}: {wrong}"
            program.close_others()


def test_painted_views_expose_role_and_text_of_each_part(program):
    program.go("chunks")
    source = of(program.window.viewer.source)
    assert source.role() == QAccessible.Role.Document
    lines = [one.text(QAccessible.Text.Name) for one in walk(source)][1:]
    assert "22: ## Watering, passage 2 begins" in lines
    program.go("sessions")
    program.window.views.focus_reader()
    conversation = next(one for one in walk(of(program.window)) if one.text(QAccessible.Text.Name) == "Conversation")
    assert conversation.role() == QAccessible.Role.List
    assert conversation.childCount() >= 1
    assert all(
        ": " in conversation.child(index).text(QAccessible.Text.Name) for index in range(conversation.childCount())
    )
    program.go("index")
    charts = [one for one in walk(of(program.window)) if one.role() == QAccessible.Role.Chart]
    names = {one.text(QAccessible.Text.Name).split(":")[0]: one for one in charts}
    assert {"Passage sizes", "On disk", "Map of the index"} <= set(names)
    assert all(one.childCount() for one in charts)
    sizes = names["Passage sizes"]
    assert "characters" in sizes.child(0).text(QAccessible.Text.Name)


def test_crash_dialog_is_accessible(qtbot, program):
    program.window.show()
    dialog = CrashDialog("It broke", "A sentence.", "A report", None, program.window, restart=True)
    assert faults(dialog) + disorder(dialog) == []
    dialog.close()
