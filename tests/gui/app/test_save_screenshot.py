"""The picture of the window waits until its text is painted and the start page is complete."""

from itertools import chain, repeat

from gui.app.save_screenshot import Screenshot
from gui.quick_search import QuickPanel, QuickWindow
from gui.search.start_page import StartPage
from gui.viewer.base_viewer import BaseViewer


def test_picture_waits_for_painted_text(qtbot, opened, jobs, monkeypatch, tmp_path):
    opened.search.search("timer")
    qtbot.waitUntil(lambda: bool(opened.viewer.name))
    answers, asked = chain([False, False], repeat(True)), []
    monkeypatch.setattr(BaseViewer, "painted", property(lambda _: asked.append(next(answers)) or asked[-1]))
    quick = QuickWindow(QuickPanel(jobs))
    qtbot.addWidget(quick)
    shot = Screenshot(opened, quick, "search", "", tmp_path / "a.png")
    with qtbot.waitSignal(shot.finished) as ended:
        pass
    assert ended.args == [""]
    assert asked == [False, False, True]
    assert (tmp_path / "a.png").exists()


def test_picture_waits_for_start_page(qtbot, opened, jobs, monkeypatch, tmp_path):
    answers, asked = chain([True, True, True, True, True], repeat(False)), []
    monkeypatch.setattr(StartPage, "busy", property(lambda _: asked.append(next(answers)) or asked[-1]))
    quick = QuickWindow(QuickPanel(jobs))
    qtbot.addWidget(quick)
    shot = Screenshot(opened, quick, "search", "", tmp_path / "a.png")
    with qtbot.waitSignal(shot.finished) as ended:
        pass
    assert ended.args == [""]
    assert asked == [True] * 5 + [False] * 3
