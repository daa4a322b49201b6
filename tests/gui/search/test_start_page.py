"""The page before the first query: recent searches, changed notes, and an example."""

import time

import msgspec
import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel, QPushButton

from engine import ChangedNote
from engine.base.errors import IndexBusy
from gui.search.panel import SearchPanel
from gui.widgets.placeholder_page import LINK_PADDING
from gui.widgets.query_box import QueryBox
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import make_progress
from tests.helpers.windows import finish_jobs

pytestmark = pytest.mark.usefixtures("short_waits")
NOTE = ChangedNote(path="projects/greenhouse.md", title="Greenhouse", modified=time.time() - 7200)


@pytest.fixture
def memory(memory: FakeMemory) -> FakeMemory:
    memory.insight = FakeInsight(memory)
    memory.insight.notes = (NOTE,)
    return memory


def _buttons(panel: SearchPanel) -> list[str]:
    return [button.text() for button in panel.body.page.findChildren(QPushButton) if button.isVisible()]


def _press(qtbot, panel: SearchPanel, words: str) -> None:
    button = next(b for b in panel.body.page.findChildren(QPushButton) if b.text() == words)
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)


def test_changed_note_is_listed_and_opened(qtbot, panel: SearchPanel, memory: FakeMemory) -> None:
    panel.show_status(memory.status())
    qtbot.waitUntil(lambda: "Greenhouse" in _buttons(panel))
    assert "2 h ago" in [label.text() for label in panel.body.page.findChildren(QLabel)]
    with qtbot.waitSignal(panel.view.start_lists.note_chosen) as chosen:
        _press(qtbot, panel, "Greenhouse")
    assert chosen.args == [NOTE]


def test_page_is_busy_until_list_arrives_or_fails(qtbot, panel: SearchPanel, memory: FakeMemory, monkeypatch) -> None:
    def fail(*_: object) -> None:
        raise IndexBusy("The index is being updated.")

    monkeypatch.setattr(memory.insight, "changed_notes", fail)
    panel.show_status(msgspec.structs.replace(memory.status(), files=5))
    assert panel.start.busy
    qtbot.waitUntil(lambda: not panel.start.busy)


def test_links_align_with_heading_and_sentence(qtbot, panel: SearchPanel, memory: FakeMemory) -> None:
    panel.show_status(memory.status())
    page = panel.body.page
    qtbot.waitUntil(lambda: "Greenhouse" in _buttons(panel))

    def text_begins(words: str) -> int:
        widgets = [*page.findChildren(QLabel), *page.findChildren(QPushButton)]
        found = next(widget for widget in widgets if widget.isVisible() and widget.text() == words)
        inside = LINK_PADDING if isinstance(found, QPushButton) else found.contentsMargins().left()
        return found.mapTo(page, QPoint(inside, 0)).x()

    panel.body.resize(900, 700)
    QApplication.processEvents()
    starts = {words: text_begins(words) for words in ("Greenhouse", "Recently changed", "Down", page.sentence.text())}
    assert len(set(starts.values())) == 1, starts


def test_full_list_is_read_again_once_files_are_indexed(qtbot, panel: SearchPanel, memory: FakeMemory, jobs) -> None:
    def notes(word: str) -> tuple[ChangedNote, ...]:
        return tuple(ChangedNote(path=f"{word}{n}.md", title=f"{word} {n}", modified=time.time()) for n in range(5))

    status = memory.status()
    syncing = msgspec.structs.replace(status, files=5, syncing=make_progress(phase="indexing"))
    memory.insight.notes = notes("First")
    panel.show_status(syncing)
    qtbot.waitUntil(lambda: "First 4" in _buttons(panel))
    memory.insight.notes = notes("Second")
    panel.show_status(msgspec.structs.replace(syncing, files=6))
    finish_jobs(jobs)
    assert "First 4" in _buttons(panel)
    panel.show_status(msgspec.structs.replace(status, files=6, syncing=make_progress(phase="embedding")))
    qtbot.waitUntil(lambda: "Second 4" in _buttons(panel))


def test_recent_search_is_listed_and_run_again(qtbot, panel: SearchPanel, memory: FakeMemory) -> None:
    edit = panel.header.findChild(QueryBox).edit
    panel.show_status(memory.status())
    panel.search("timer")
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_results)
    edit.clear()
    qtbot.waitUntil(lambda: "timer" in _buttons(panel))
    _press(qtbot, panel, "timer")
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_results)
    assert edit.text() == "timer"


def test_first_user_gets_an_example_and_the_map(qtbot, panel: SearchPanel, memory: FakeMemory) -> None:
    memory.files["travel.md"] = "# planes de viaje\n\nTrip to Kyoto"
    found = memory.search
    outcome = found("planes")
    assert outcome.results
    by_meaning = msgspec.structs.replace(outcome.results[0], score=0.6, text_share=0.0)
    memory.search = lambda query, **_: msgspec.structs.replace(outcome, results=(by_meaning,))
    panel.set_manager(memory)
    panel.show_status(msgspec.structs.replace(memory.status(), provider="embedded", pending_vectors=0))
    qtbot.waitUntil(lambda: "“planes de viaje”" in _buttons(panel))
    with qtbot.waitSignal(panel.view.start_lists.map_requested):
        _press(qtbot, panel, "Map")
    memory.search = found
    _press(qtbot, panel, "“planes de viaje”")
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_results)
    assert panel.header.findChild(QueryBox).edit.text() == "planes de viaje"


def test_map_is_offered_once_passages_have_vectors(qtbot, panel: SearchPanel, memory: FakeMemory) -> None:
    status = memory.status()
    for none in ({"provider": "none"}, {"provider": "embedded", "pending_vectors": status.chunks}):
        panel.show_status(msgspec.structs.replace(status, **none))
        qtbot.waitUntil(lambda: "Greenhouse" in _buttons(panel))
        assert "Map" not in _buttons(panel)
    panel.show_status(msgspec.structs.replace(status, provider="openai", pending_vectors=0))
    qtbot.waitUntil(lambda: "Map" in _buttons(panel))
    with qtbot.waitSignal(panel.view.start_lists.map_requested):
        _press(qtbot, panel, "Map")
    panel.search("timer")
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_results)
    panel.header.findChild(QueryBox).edit.clear()
    qtbot.waitUntil(lambda: {"timer", "Map"} <= set(_buttons(panel)))


def test_page_without_files_lists_nothing(panel: SearchPanel, memory: FakeMemory) -> None:
    panel.show_status(msgspec.structs.replace(memory.status(), files=0))
    assert _buttons(panel) == []
