import json
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QLabel, QPushButton, QScrollArea, QWidget

from engine import FileIssue, Probe, set_language
from gui.diagnostics.group_view import DiagnosticRow
from gui.diagnostics.panel import DiagnosticsPanel
from gui.widgets.table import IssuesTable
from tests.helpers.fake_records import make_progress, make_status, make_summary

FAILED = (FileIssue(path="a.md", rule="not-utf-8", detail="Byte 0xE9 at line 3."),)
SKIPPED = (FileIssue(path="node_modules", rule="ignored-folder", detail="Never indexed."),)


@pytest.fixture
def panel(qtbot, appearance, jobs, memory) -> DiagnosticsPanel:
    return _shown(qtbot, _panel(jobs, memory))


def _panel(jobs, memory) -> DiagnosticsPanel:
    panel = DiagnosticsPanel(jobs)
    panel.set_manager(memory)
    return panel


def _shown(qtbot, panel: DiagnosticsPanel) -> DiagnosticsPanel:
    qtbot.addWidget(panel)
    panel.resize(330, 760)
    panel.show()
    panel.show_status(make_status())
    qtbot.waitUntil(lambda: any(row.isVisible() for row in panel.findChildren(DiagnosticRow)))
    return panel


def _rows(panel: DiagnosticsPanel) -> dict[str, DiagnosticRow]:
    """Return rows by their label; the last of several rows with one label."""
    return {row.label.text(): row for row in panel.findChildren(DiagnosticRow) if not row.isHidden()}


def _press(qtbot, panel: DiagnosticsPanel, words: str) -> None:
    button = next(b for b in panel.findChildren(QPushButton) if b.text() == words and not b.isHidden())
    qtbot.keyClick(button, Qt.Key.Key_Space)


def test_values_change_in_place(qtbot, panel):
    panel.show_status(make_status(files=10))
    row = _rows(panel)["Files"]
    panel.show_status(make_status(files=11, syncing=make_progress()))
    assert _rows(panel)["Files"] is row
    assert row.value.word.text() == "11"
    qtbot.waitUntil(lambda: "Running" in _rows(panel))
    panel.show_status(make_status(files=12))
    assert "Running" not in _rows(panel)


def test_diagnostic_groups_appear_only_when_all_are_built(qtbot, appearance, jobs, memory):
    panel = _panel(jobs, memory)
    qtbot.addWidget(panel)
    panel.show()
    panel.show_status(make_status())
    built: list[int] = []
    visible_counts: list[int] = []

    def look() -> bool:
        rows = panel.findChildren(DiagnosticRow)
        built.append(len(rows))
        visible_counts.append(sum(row.isVisible() for row in rows))
        return visible_counts[-1] > 0

    qtbot.waitUntil(look)
    assert built[0] < built[-1] == visible_counts[-1]
    assert not any(visible_counts[:-1])


def test_show_files_during_build_scrolls_to_table(qtbot, appearance, jobs, memory):
    panel = _panel(jobs, memory)
    qtbot.addWidget(panel)
    with qtbot.waitActive(panel):
        panel.show()
        panel.activateWindow()
    panel.show_status(make_status(failed_files=FAILED))
    panel.show_files("failed")
    table = panel.findChild(IssuesTable)
    qtbot.waitUntil(lambda: table.hasFocus() and not table.visibleRegion().isEmpty())


def test_no_status_hides_rows_and_disables_copy(panel):
    panel.show_status(make_status())
    panel.show_status(None)
    assert not any(row.isVisible() for row in panel.findChildren(DiagnosticRow))
    assert not next(b for b in panel.findChildren(QPushButton) if b.text() == "Copy as JSON").isEnabled()


def test_remedy_buttons_emit_action_requested(qtbot, panel):
    actions: list[str] = []
    panel.action_requested.connect(actions.append)
    panel.show_status(make_status(dirty=True))
    _press(qtbot, panel, "Update now")
    panel.show_status(make_status(index_error="It was damaged."))
    _press(qtbot, panel, "Rebuild index…")
    assert actions == ["sync", "rebuild"]


def test_probe_result_appears_in_its_row(qtbot, panel, memory):
    panel.show_status(make_status())
    with qtbot.waitSignal(panel.refresh_requested):
        _press(qtbot, panel, "Test the model")
    assert _rows(panel)["Provider"].reason.text() == "The test succeeded."
    memory.vectors = False
    _press(qtbot, panel, "Test the model")
    qtbot.waitUntil(lambda: _rows(panel)["Provider"].reason.text() == "No provider is configured.")


def test_failed_probe_shows_reason(qtbot, panel, memory, monkeypatch):
    monkeypatch.setattr(memory, "probe_vector", lambda: Probe(ok=False, error="No wheel for this platform."))
    panel.show_status(make_status())
    _press(qtbot, panel, "Try to load sqlite-vec")
    qtbot.waitUntil(lambda: _rows(panel)["sqlite-vec"].reason.text() == "No wheel for this platform.")


def test_issues_table_switches_between_failed_and_skipped(qtbot, panel):
    table = panel.findChild(IssuesTable)
    panel.show_status(make_status())
    assert not table.isVisible()
    panel.show_status(make_status(failed_files=FAILED, skipped_files=SKIPPED))
    assert table.model().index(0, 0).data() == "a.md"
    _press(qtbot, panel, "Skipped 1")
    assert table.model().index(0, 0).data() == "node_modules"
    panel.show_status(make_status(failed_files=FAILED))
    assert table.model().index(0, 0).data() == "a.md"
    revealed: list[str] = []
    panel.reveal_requested.connect(revealed.append)
    table.doubleClicked.emit(table.model().index(0, 0))
    assert revealed == ["a.md"]


def test_show_failed_files_scrolls_to_table(qtbot, panel):
    panel.show_status(make_status(failed_files=FAILED, skipped_files=SKIPPED))
    table = panel.findChild(IssuesTable)
    qtbot.waitUntil(lambda: _scroll(panel).verticalScrollBar().maximum() > 0)
    _press(qtbot, panel, "Show failed files")
    qtbot.waitUntil(lambda: _scroll(panel).verticalScrollBar().value() > 0)
    top = table.mapTo(panel, QPoint(0, 0)).y()
    assert 0 <= top < panel.height()


def test_status_is_copied_as_json(qtbot, panel):
    panel.show_status(make_status(files=10_006))
    _press(qtbot, panel, "Copy as JSON")
    copied = json.loads(QGuiApplication.clipboard().text())
    assert copied["files"] == 10_006
    assert copied["sourceCounts"][0]["source"] == "memory"


def polls(panel: DiagnosticsPanel) -> bool:
    timers = panel.findChildren(QTimer, options=Qt.FindChildOption.FindDirectChildrenOnly)
    return any(timer.isActive() and not timer.isSingleShot() for timer in timers)


def test_panel_polls_only_while_visible(qtbot, panel):
    requests: list[int] = []
    panel.refresh_requested.connect(lambda: requests.append(1))
    assert polls(panel)
    panel.hide()
    assert not polls(panel)
    panel.show_status(make_status(files=5))
    panel.show()
    assert polls(panel)
    assert requests == [1]
    assert _rows(panel)["Files"].value.word.text() == "5"


def test_recent_syncs_chart_names_newest(qtbot, panel):
    panel.show_status(make_status(recent_syncs=(make_summary(chunks_indexed=3, vectors_embedded=0),)))
    history = next(part for part in panel.findChildren(QWidget) if part.accessibleName().startswith("Recent updates"))
    qtbot.waitUntil(lambda: "3 passages" in history.accessibleName())
    panel.show_status(make_status(recent_syncs=()))
    assert history.accessibleName() == "Recent updates: No update yet."


def test_tab_order_follows_visual_order(qtbot, panel):
    panel.show_status(make_status(dirty=True))
    panel.show_status(make_status(failed_files=FAILED, last_sync=make_summary(error="The disk is full.")))
    with qtbot.waitActive(panel):
        panel.activateWindow()
    focus = next(b for b in panel.findChildren(QPushButton) if b.text() == "Show failed files")
    qtbot.waitUntil(focus.isVisible)
    focus.setFocus()
    seen = []
    while focus.accessibleName() not in seen:
        seen.append(focus.accessibleName())
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
        focus = panel.focusWidget()
    assert seen[:5] == [
        "Not indexed: Show failed files",
        "Provider: Test the model",
        "sqlite-vec: Try to load sqlite-vec",
        "Last update: Update now",
        seen[4],
    ]
    assert seen[4].startswith("Recent updates")


def test_read_only_index_reveals_index_file(qtbot, panel):
    panel.show_status(make_status(index_error="No rights.", custom={"readOnly": "No rights."}))
    with qtbot.waitSignal(panel.reveal_requested) as signal:
        _press(qtbot, panel, "Show the index file")
    assert signal.args == [make_status().db_path]


def _scroll(panel: DiagnosticsPanel) -> QScrollArea:
    return panel.findChild(QScrollArea)


def _cut(panel: DiagnosticsPanel) -> list[str]:
    """Return the texts that are not completely visible."""
    found, room = [], _scroll(panel).viewport().width()
    for widget in _scroll(panel).widget().findChildren(QWidget):
        if not widget.isVisible() or not isinstance(widget, QLabel | QPushButton):
            continue
        outside = widget.mapTo(_scroll(panel).widget(), QPoint(widget.width(), 0)).x() > room
        wraps = isinstance(widget, QLabel) and widget.wordWrap()
        least = widget.minimumSizeHint().width() if wraps else widget.sizeHint().width()
        height = widget.heightForWidth(widget.width()) if wraps else widget.sizeHint().height()
        if outside or widget.width() < least or widget.height() < height:
            found.append(widget.text())
    return found


@pytest.fixture
def long_words() -> Iterator[None]:
    set_language("en-XA")
    yield
    set_language("en")


@pytest.mark.usefixtures("long_words")
@pytest.mark.parametrize("scale", [0.8, 1.0, 1.3, 2.0])
def test_no_text_is_cut_at_any_font_scale(qtbot, appearance, jobs, memory, scale):
    panel = _shown(qtbot, _panel(jobs, memory))
    appearance.set_font_scale(scale)
    lost = f"Nothing could be written to /home/someone/indexes/{'0123456789abcdef' * 3}/index.sqlite."
    statuses = (
        make_status(syncing=make_progress()),
        make_status(
            failed_files=FAILED * 1234,
            skipped_files=SKIPPED * 12_345,
            recent_syncs=tuple(make_summary(chunks_indexed=number, vectors_embedded=0) for number in range(20)),
            last_sync=make_summary(error=lost),
            workspace_dir=f"/home/someone/{'x' * 60}/notes",
        ),
        make_status(backend="qmd", unsupported={"path-states": "qmd does not report why a file is found or not."}),
    )
    for width in (0, 330, 460):
        panel.resize(max(width, panel.minimumWidth()), 900)
        for status in statuses:
            panel.show_status(status)
            qtbot.waitUntil(lambda: not _cut(panel))
        assert _scroll(panel).widget().width() <= _scroll(panel).viewport().width(), width


def test_values_wrap_below_labels_when_narrow(qtbot, appearance, panel):
    panel.show_status(make_status())
    row = _rows(panel)["Files"]
    assert row.value.y() == row.label.y()
    appearance.set_font_scale(2.0)
    qtbot.waitUntil(lambda: row.value.y() >= row.label.geometry().bottom())
    panel.resize(700, 760)
    qtbot.waitUntil(lambda: row.value.y() == row.label.y())
