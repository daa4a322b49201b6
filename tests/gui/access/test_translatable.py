"""All texts of the program's views in the trial language, which leaves untranslatable text unaccented."""

import re
from collections.abc import Iterator
from itertools import chain

import pytest
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QMenu, QPushButton, QToolButton, QWidget

from engine import set_language, tr
from gui.app.command_line import view_names
from tests.helpers.every_view import kind_of
from tests.helpers.spoken import of, walk, windows

ELSEWHERE: set[str] = {"crash", "licences"}
"""Views whose texts aren't translated: a report in English, and licences."""
_SAID = (QAccessible.Text.Name, QAccessible.Text.Description, QAccessible.Text.Help)
_WORD = re.compile(r"[A-Za-z]{3,}")
_TRIED = re.compile(r"\[[^\[\]]*\]")


@pytest.fixture
def trial() -> Iterator[None]:
    set_language("en-XA")
    yield
    set_language("en")


def said_in(window: QWidget) -> Iterator[str]:
    """Yield the names, descriptions and tooltips of everything visible, and the texts of its menus."""
    yield window.windowTitle()
    for one in walk(of(window)):
        yield from (one.text(kind) for kind in _SAID)
    for widget in window.findChildren(QWidget):
        if widget.isVisible():
            yield widget.toolTip()
            if isinstance(widget, QPushButton | QToolButton) and widget.menu() is not None:
                yield from said_by_menu(widget.menu())


def said_by_menu(menu: QMenu) -> Iterator[str]:
    menu.aboutToShow.emit()
    for action in menu.actions():
        yield action.text()
        if action.menu() is not None:
            yield from said_by_menu(action.menu())


def plain(text: str) -> str:
    """Return the untranslated rest of a text."""
    while (shorter := _TRIED.sub("", text)) != text:
        text = shorter
    return text.strip()


@pytest.mark.parametrize("kind", ["searches", "settings", "others"])
def test_all_announced_text_is_translatable(trial, program, kind):
    content = program.content()
    indexed = (tr("Stems"), tr("Heading words"))  # of the index, which has no language
    found: dict[str, str] = {}
    for view in (one for one in view_names() if kind_of(one) == kind and one not in ELSEWHERE):
        program.go(view)
        for text in chain.from_iterable(said_in(window) for window in windows()):
            left = "" if text.startswith(indexed) else plain(text)
            if _WORD.search(left) and not content.has(left):
                found.setdefault(left, f"{view}: {text[:100]!r}")
    assert not found, "\n" + "\n".join(found.values())
