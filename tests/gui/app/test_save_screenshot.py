"""The picture of the window waits until its text is painted and the start page is complete."""

from itertools import chain, repeat
from pathlib import Path

from PySide6.QtCore import Qt

from gui.app.save_screenshot import Screenshot
from gui.app.start_view import show_view
from gui.core.jobs import Jobs
from gui.core.status_feed import StatusFeed
from gui.core.workspace import Workspace
from gui.diagnostics.panel import DiagnosticsPanel
from gui.quick_search import QuickPanel, QuickWindow
from gui.search.start_page import StartPage
from gui.viewer.base_viewer import BaseViewer
from gui.viewer.panel import ViewerPanel
from gui.window.main_window import MainWindow
from tests.helpers.fake_insight import FakeInsight, make_group
from tests.helpers.fake_records import make_progress


def take_picture(
    qtbot, window: MainWindow, jobs: Jobs, file: Path, view: str = "search", query: str = "", problem: str = ""
) -> None:
    quick = QuickWindow(QuickPanel(jobs))
    qtbot.addWidget(quick)
    shot = Screenshot(window, quick, view, query, file)
    with qtbot.waitSignal(shot.finished) as ended:
        pass
    assert ended.args == [problem]


def test_picture_waits_for_painted_text(qtbot, opened, jobs, monkeypatch, tmp_path):
    opened.search.search("timer")
    qtbot.waitUntil(lambda: bool(opened.viewer.name))
    answers, given = chain([False, False], repeat(True)), []
    monkeypatch.setattr(BaseViewer, "painted", property(lambda _: given.append(next(answers)) or given[-1]))
    take_picture(qtbot, opened, jobs, tmp_path / "a.png")
    assert given == [False, False, True]
    assert (tmp_path / "a.png").exists()


def test_views_without_sessions_can_be_captured(qtbot, opened, jobs, tmp_path):
    assert not opened.views.sessions.view.has_rows
    views = ("viewer", "sessions", "chunks", "explanation", "index", "duplicates", "diagnostics", "sources")
    for view in views:
        show_view(opened, view, "")
        take_picture(qtbot, opened, jobs, tmp_path / view, view, "" if view == "sources" else "timer")
    assert len({(tmp_path / view).read_bytes() for view in views}) == len(views)


def test_picture_of_passage_shows_it_after_repeated_search(qtbot, opened, jobs, monkeypatch, tmp_path):
    shown = []
    monkeypatch.setattr(ViewerPanel, "show_chunk", lambda panel: shown.append(panel.name))
    show_view(opened, "chunks", "timer")
    qtbot.waitUntil(lambda: len(shown) == 1)
    take_picture(qtbot, opened, jobs, tmp_path / "a.png", "chunks", "timer")
    assert len(shown) == 2


def test_picture_of_outdated_duplicates_compares_again(qtbot, opened, memory, jobs, monkeypatch, tmp_path):
    memory.insight = FakeInsight(memory)
    memory.insight.groups = (make_group("a.md", "b.md"),)
    memory.insight.seconds = 60.0  # too long to search again after each change
    opened.workspace.feed.refresh()
    show_view(opened, "duplicates", "")
    page = opened.views.index.duplicates
    qtbot.waitUntil(lambda: not page.busy)
    page.refresh()
    assert page.outdated
    take_picture(qtbot, opened, jobs, tmp_path / "a.png", "duplicates")
    assert not page.outdated


def test_picture_of_duplicates_of_a_busy_index_ends(qtbot, opened, memory, jobs, monkeypatch, tmp_path):
    memory.insight = FakeInsight(memory)
    show_view(opened, "duplicates", "")
    monkeypatch.setattr(type(opened.views.index.duplicates), "outdated", property(lambda _: True))
    take_picture(qtbot, opened, jobs, tmp_path / "a.png", "duplicates")
    assert (tmp_path / "a.png").exists()


def test_picture_waits_for_start_page(qtbot, opened, jobs, monkeypatch, tmp_path):
    answers, given = chain([True, True, True, True, True], repeat(False)), []
    monkeypatch.setattr(StartPage, "busy", property(lambda _: given.append(next(answers)) or given[-1]))
    take_picture(qtbot, opened, jobs, tmp_path / "a.png")
    assert given == [True] * 5 + [False] * 3


def test_picture_waits_for_diagnostics(qtbot, opened, jobs, monkeypatch, tmp_path):
    qtbot.keyClick(opened, Qt.Key.Key_D, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: opened.dock.diagnostics.isVisible() and not opened.dock.diagnostics.busy)
    answers, given = chain([True, True], repeat(False)), []
    monkeypatch.setattr(DiagnosticsPanel, "busy", property(lambda _: given.append(next(answers)) or given[-1]))
    take_picture(qtbot, opened, jobs, tmp_path / "a.png")
    assert given == [True] * 2 + [False] * 3


def test_picture_waits_for_sync_and_for_status_after_it(qtbot, opened, jobs, monkeypatch, tmp_path):
    for kind, name in ((Workspace, "is_updating"), (StatusFeed, "busy")):
        with monkeypatch.context() as patched:
            answers, given = chain([True] * 9, repeat(False)), []
            patched.setattr(kind, name, property(lambda _, a=answers, g=given: g.append(next(a)) or g[-1]))
            take_picture(qtbot, opened, jobs, tmp_path / "a.png")
        assert given[:9] == [True] * 9
        assert len(given) >= 12


def test_picture_without_folder_shows_first_page_or_says_so(qtbot, window, jobs, tmp_path):
    window.folders.show_welcome()
    take_picture(qtbot, window, jobs, tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()
    for view, query in (("index", ""), ("settings", ""), ("quick", ""), ("search", "timer")):
        take_picture(qtbot, window, jobs, tmp_path / "b.png", view, query, "No folder is open: add --workspace DIR.")
    assert not (tmp_path / "b.png").exists()


def test_picture_shows_index_that_takes_too_long(qtbot, opened, memory, jobs, monkeypatch, tmp_path):
    memory.set_status(syncing=make_progress(phase="indexing"), last_sync=None)
    qtbot.waitUntil(lambda: opened.workspace.status.syncing is not None)
    monkeypatch.setattr(Screenshot, "_seconds", 100.0)
    take_picture(qtbot, opened, jobs, tmp_path / "a.png")
    assert (tmp_path / "a.png").exists()
