"""Without a mouse, everything can be reached, the focus is always visible, and nothing traps it."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial

import pytest
from PySide6.QtCore import QEvent, QPoint, QRect, Qt
from PySide6.QtGui import QImage, QKeyEvent
from PySide6.QtTest import QSignalSpy
from PySide6.QtWidgets import QAbstractScrollArea, QApplication, QMenu, QPushButton, QWidget

from engine import MapPositions, MemorySearchResult
from gui.conversation.view import ConversationView
from gui.core.view_spec import view_specs
from gui.style import THEMES
from gui.viewer.base_viewer import BaseViewer
from gui.window.main_window import MainWindow
from tests.helpers.fake_insight import FakeInsight, make_group
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS
from tests.helpers.windows import at_rest

Key, Modifier = Qt.Key, Qt.KeyboardModifier
_PAGES = ("overview", "map", "duplicates")
VIEWS = ("nothing", *_PAGES, *(spec.name for spec in view_specs() if spec.name != "index"))
"""`nothing` is a search without results; pages of the index have their own names."""
_MAX = 250
_TRIES = 3
"""Number of comparisons, since an age in a label or a chart may change between two pictures."""
_AROUND = 4
"""Pixels around a widget that may show its focus, too."""


class _Insight(FakeInsight):
    """An insight that places every answer on the map."""

    def map_answer(self, query: str, results: Sequence[MemorySearchResult], cancel: object = None) -> MapPositions:
        return MapPositions(point=None, chunks=(None,) * len(results))


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory(sessions=SESSIONS)
    memory.insight = _Insight(memory)
    memory.insight.groups = (make_group("garden.md", "garden copy.md"), make_group("a.md", "b.md"))
    memory.facts.add("The dog is called Bo")
    memory.facts.add("Bo sleeps outside")
    yield memory
    memory.close()


def _focusable(window: QWidget) -> list[QWidget]:
    """Return all widgets that Tab should reach."""
    return [
        widget
        for widget in window.findChildren(QWidget)
        if widget.isVisible()
        and widget.isEnabled()
        and widget.focusPolicy() & Qt.FocusPolicy.TabFocus
        and widget.focusProxy() is None
        and _on_screen(widget)
    ]


def _on_screen(widget: QWidget) -> bool:
    """Whether a widget is not scrolled out of view.

    A scroll area is covered by its own viewport, which is checked instead.
    """
    seen = widget.viewport() if isinstance(widget, QAbstractScrollArea) else widget
    return not seen.visibleRegion().isEmpty()


def _tab_through(qtbot, start: QWidget, key: Qt.Key) -> list[QWidget]:
    """Return the focused widget after each key press, until the first one has the focus again."""
    reached: list[QWidget] = []
    for _ in range(_MAX):
        focus = QApplication.focusWidget()
        assert focus is not None
        if focus in reached:
            return reached
        reached.append(focus)
        qtbot.keyClick(focus, key)
    raise AssertionError("Tab never comes round")


def _named(widget: QWidget) -> str:
    text = getattr(widget, "text", None)
    words = widget.accessibleName() or (text() if callable(text) else "")
    return f"{type(widget).__name__} {words!r}"


@pytest.fixture
def in_view(qtbot, opened) -> Callable[[str], MainWindow]:
    """Return a function that opens a view of the window, with an open file if it has a viewer."""

    def show(name: str) -> MainWindow:
        opened.resize(1400, 1100)
        opened.search.search("timer" if name != "nothing" else "zzzz")
        qtbot.waitUntil(lambda: at_rest(opened))
        if name in _PAGES:
            opened.views.switch("index")
            opened.views.index.show_page(name)
            qtbot.waitUntil(lambda: not opened.views.index.busy)
        else:
            opened.views.switch("search" if name == "nothing" else name)
        qtbot.waitUntil(lambda: at_rest(opened) and not opened.views.panel.busy)
        if name == "sessions":
            qtbot.waitUntil(opened.views.conversation.findChild(ConversationView).isVisible)
        return opened

    return show


def _unreached(qtbot, window: QWidget) -> list[str]:
    """Return the widgets that Tab does not reach, or not in both directions."""
    forwards = _tab_through(qtbot, window, Key.Key_Tab)
    missed = [widget for widget in _focusable(window) if widget not in forwards]
    backwards = _tab_through(qtbot, window, Key.Key_Backtab)
    missed += [widget for widget in forwards if widget not in backwards and widget.isVisible()]
    return [_named(widget) for widget in missed]


def _pictures(window: QWidget, widget: QWidget, elsewhere: QWidget) -> Iterator[QImage]:
    panels = (panel for panel in window.findChildren(BaseViewer) if panel.isAncestorOf(widget))
    around = next(panels, widget) if isinstance(widget, QAbstractScrollArea) else widget  # whose header says it
    rect = QRect(around.mapTo(window, QPoint(0, 0)), around.size())
    rect = rect.adjusted(-_AROUND, -_AROUND, _AROUND, _AROUND).intersected(window.rect())
    for focus in (elsewhere, widget, elsewhere):
        focus.setFocus(Qt.FocusReason.TabFocusReason)
        QApplication.processEvents()
        yield window.grab(rect).toImage()


def _shows_focus(window: QWidget, widget: QWidget, elsewhere: QWidget) -> bool:
    before, during, after = _pictures(window, widget, elsewhere)
    return before == after != during


@pytest.mark.parametrize("view", VIEWS)
def test_tab_reaches_every_widget_and_focus_is_visible(qtbot, appearance, in_view, view):
    """In one of the themes, by turns: they differ only in the colours of the same style sheet."""
    window = in_view(view)
    assert not _unreached(qtbot, window)
    QApplication.setCursorFlashTime(0)
    resting = window.frame.header.menu_button, window.frame.header.dock_button
    unseen = []
    theme = THEMES[VIEWS.index(view) % len(THEMES)]
    appearance.set_theme(theme)
    for widget in _focusable(window):
        elsewhere = next(one for one in resting if one is not widget)
        if not any(_shows_focus(window, widget, elsewhere) for _ in range(_TRIES)):
            unseen.append(f"{theme}: {_named(widget)}")
    assert not unseen


def test_f6_cycles_through_panes_in_both_directions(qtbot, in_view):
    window = in_view("search")
    window.panes.show_dock(True)
    window.search.focus_box()
    box = QApplication.focusWidget()
    stops = [window.search.body.list, window.viewer, window.dock, window.sync_bar, window.frame.header]
    for stop in stops:
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_F6)
        focus = QApplication.focusWidget()
        assert stop is focus or stop.isAncestorOf(focus)
    assert QApplication.focusWidget() is box
    for stop in reversed(stops[:-1]):
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_F6, Qt.KeyboardModifier.ShiftModifier)
        focus = QApplication.focusWidget()
        assert stop is focus or stop.isAncestorOf(focus)


def test_f6_focuses_first_button_of_each_message(qtbot, in_view):
    window = in_view("search")
    for number in range(2):
        undone: list[int] = []
        window.banner.show_message(f"Search {number} was removed.", "working", ("Undo", partial(undone.append, 1)))
        window.search.focus_box()
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_F6)
        assert QApplication.focusWidget().text() == "Undo"
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_Tab)
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_Space)  # dismisses the message
        assert (window.banner.text, undone) == ("", [])


@pytest.mark.parametrize("modifier", [Modifier.ShiftModifier, Modifier.NoModifier])
@pytest.mark.parametrize("part", ["list", "note"])
def test_key_opens_the_context_menu_of_the_focus(qtbot, in_view, monkeypatch, modifier, part):
    window = in_view("search")
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, _: menus.append(menu))
    if part == "list":
        window.search.focus_list()
    else:
        window.viewer.choose_rendered(True)
        qtbot.waitUntil(lambda: at_rest(window) and window.viewer.rendered.isVisible())
        window.viewer.rendered.setFocus()
    key = Key.Key_F10 if modifier == Modifier.ShiftModifier else Key.Key_Menu
    qtbot.keyClick(QApplication.focusWidget(), key, modifier)
    assert "More like this" in [action.text() for action in menus[0].actions()]
    menus[0].aboutToHide.emit()


def test_f6_skips_hidden_panes(qtbot, in_view):
    window = in_view("facts")
    window.panes.show_dock(False)
    seen = set()
    for _ in range(6):
        qtbot.keyClick(QApplication.focusWidget(), Key.Key_F6)
        focus = QApplication.focusWidget()
        assert focus.isVisible()
        seen.add(
            next(
                part
                for part in (window.frame.header, window.views.full_width_bodies, window.sync_bar)
                if part.isAncestorOf(focus)
            )
        )
    assert len(seen) == 3


@pytest.fixture(params=["keys", "licences", "settings"])
def dialog(qtbot, opened, request) -> QWidget:
    """The list of keys, the licences, and the settings at the page for changing keys."""
    opened.resize(1400, 1100)
    if request.param == "keys":
        opened.commands.show_keys()
    elif request.param == "licences":
        opened.about.show_licences()
        qtbot.waitUntil(lambda: opened.about.ready)
    else:
        opened.settings.show_page("keyboard")
        qtbot.waitUntil(lambda: opened.settings.dialog.ready)
    modal = QApplication.activeModalWidget()
    assert modal is not None
    # On a busy machine the dialog gets the focus later than it is shown.
    qtbot.waitUntil(lambda: (focus := QApplication.focusWidget()) is not None and modal.isAncestorOf(focus))
    return modal


def test_tab_cycles_through_dialog_and_focus_is_visible(qtbot, appearance, dialog):
    assert not _unreached(qtbot, dialog)
    QApplication.setCursorFlashTime(0)
    every = _focusable(dialog)
    unseen = []
    for theme in THEMES:
        appearance.set_theme(theme)
        for widget in every:
            elsewhere = next(one for one in reversed(every) if one is not widget)
            if not any(_shows_focus(dialog, widget, elsewhere) for _ in range(_TRIES)):
                unseen.append(f"{theme}: {_named(widget)}")
    assert not unseen


def test_enter_presses_focused_button(qtbot, opened):
    toggle = next(one for one in opened.frame.header.findChildren(QPushButton) if one.text() == "Index")
    for button, key in ((toggle, Key.Key_Return), (opened.views.index.chips["map"], Key.Key_Enter)):
        button.setFocus()
        qtbot.keyClick(button, key)
    assert (opened.views.current, opened.views.index.page) == ("index", "map")


def test_only_enter_alone_presses_focused_button(qtbot, opened):
    toggle, icon = opened.views.index.chips["map"], opened.frame.header.dock_button
    opened.views.switch("index")
    for modifier, held, presses in (
        (Modifier.NoModifier, False, 1),
        (Modifier.KeypadModifier, False, 1),
        (Modifier.NoModifier, True, 0),
        (Modifier.ControlModifier, False, 0),
        (Modifier.ShiftModifier, False, 0),
        (Modifier.AltModifier, False, 0),
    ):
        for button in (toggle, icon):
            pressed = QSignalSpy(button.clicked)
            button.setFocus()
            QApplication.sendEvent(button, QKeyEvent(QEvent.Type.KeyPress, Key.Key_Return, modifier, "\r", held))
            assert pressed.count() == presses, (modifier, held)


def test_qt_itself_presses_no_button_with_enter(in_view):
    """Qt would press it repeatedly while Enter is held, and with modifiers."""
    for view in VIEWS:
        buttons = [widget for widget in _focusable(in_view(view)) if isinstance(widget, QPushButton)]
        assert len(buttons) > 5, view
        assert not [_named(button) for button in buttons if button.autoDefault()], view
