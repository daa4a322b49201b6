"""Shared fixtures of the window's tests: jobs that are ended after a test, and a fake memory."""

import gc
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QEvent, QLocale, Qt, QTranslator
from PySide6.QtGui import QAction, QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QWidget

import engine
from engine import set_language
from gui.app.qt_setup import apply_language, collect_due, silence_font_messages
from gui.commands.keymap import keymap
from gui.core.capabilities import capabilities
from gui.core.jobs import Jobs
from gui.core.window_context import AppPaths
from gui.core.window_state import WindowState
from gui.core.workspace import Workspace
from gui.style.appearance import Appearance
from gui.window.main_window import MainWindow
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.windows import at_rest


@pytest.fixture(scope="session", autouse=True)
def _collector_off() -> None:
    """Disable automatic garbage collection, as the program does: another thread could collect a widget."""
    gc.disable()


@pytest.fixture(scope="session", autouse=True)
def _no_standstill() -> None:
    """Handle Qt's messages as the program does, which prevents a deadlock."""
    silence_font_messages()


@pytest.fixture(scope="session", autouse=True)
def _plain_application(qapp) -> None:
    """Give the first test the font and the colours that `appearance` leaves to all later ones."""
    appearance = Appearance(qapp, "light")
    qapp.setStyleSheet("")
    appearance.deleteLater()


@pytest.fixture(autouse=True)
def _as_before(qapp, _collector_off: None, _plain_application: None) -> Iterator[None]:
    """Collect garbage, and fail a test that leaves the application changed, since it would affect later tests."""
    before = _look(qapp)
    yield
    collect_due()
    assert _look(qapp) == before, "the test changed the application"


def _look(app: QApplication) -> tuple[object, ...]:
    language = QLocale().name(), app.translate("QShortcut", "Ctrl")
    return app.styleSheet(), app.font(), app.palette(), app.layoutDirection(), app.overrideCursor() is None, language


@pytest.fixture(autouse=True)
def _released_mouse() -> Iterator[None]:
    """Release the button that Qt's double click leaves pressed: pages don't scroll to a control while one is."""
    yield
    if QGuiApplication.mouseButtons() != Qt.MouseButton.NoButton:
        QTest.mouseRelease(QWidget(), Qt.MouseButton.LeftButton)


@pytest.fixture(autouse=True)
def _usual_keys_and_features() -> Iterator[None]:
    """Reset what is global: the keys, and the features that the memory doesn't support."""
    yield
    keymap().set_own({})
    capabilities.cache_clear()


@pytest.fixture
def jobs(qapp) -> Iterator[Jobs]:
    jobs = Jobs()
    yield jobs
    assert jobs.shutdown(60_000)
    qapp.processEvents()
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # closed windows, before their workspace
    assert jobs.shutdown(60_000)  # jobs that these events began
    jobs.deleteLater()  # with the workspace: its connections hold the window


@pytest.fixture
def memory() -> Iterator[FakeMemory]:
    memory = FakeMemory()
    yield memory
    memory.close()


@pytest.fixture
def remembers() -> bool:
    """Whether the window saves the user's choices, which a demo does not. Tests replace it by parametrization."""
    return True


@pytest.fixture
def window(qtbot, appearance, jobs, memory, remembers, monkeypatch) -> Iterator[MainWindow]:
    """An active window with no workspace yet; any folder opens `memory`."""
    monkeypatch.setattr(engine, "open_memory", lambda *_args, **_options: memory, raising=False)
    with appearance.bare():
        window = MainWindow(Workspace(jobs), jobs, appearance, WindowState(), paths=AppPaths(), remembers=remembers)
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    yield window
    assert window.shut_down(60_000)


@pytest.fixture
def opened(qtbot, window, memory) -> MainWindow:
    """The window with the garden open, indexed and idle."""
    window.folders.open(memory.folder)
    qtbot.waitUntil(lambda: at_rest(window))
    return window


@pytest.fixture
def right_to_left(qapp) -> Iterator[None]:
    """Use a right-to-left layout, set before the first widget is created."""
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    yield
    qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)


@pytest.fixture
def appearance(qapp) -> Iterator[Appearance]:
    """The light theme at scale 1; the next test finds the plain application again."""
    appearance = Appearance(qapp, "light")
    yield appearance
    QCoreApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)  # closed widgets need no repaint
    appearance.set_theme("light")
    appearance.set_font_scale(1.0)
    qapp.setStyleSheet("")
    appearance.deleteLater()


@pytest.fixture
def german(qapp) -> Iterator[None]:
    """Show the window's and Qt's own texts in German."""
    before = QLocale()
    apply_language(qapp, "de")
    yield
    for translator in qapp.findChildren(QTranslator):
        qapp.removeTranslator(translator)
        translator.deleteLater()
    QLocale.setDefault(before)
    set_language("en")


@pytest.fixture
def opened_menus(monkeypatch) -> list[dict[str, QAction]]:
    """Return the entries of each context menu that is opened, by their texts; Qt can't show one without a screen."""
    opened: list[dict[str, QAction]] = []
    monkeypatch.setattr(
        QMenu, "popup", lambda menu, _at: opened.append({entry.text(): entry for entry in menu.actions()})
    )
    return opened
