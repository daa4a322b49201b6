"""The complete viewer in use."""

import json
import shutil
import threading

import msgspec
import pytest
from PySide6.QtCore import QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QAccessible, QGuiApplication, QImage, QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLabel, QPushButton, QWidget

from gui.style.theme import theme_tokens
from gui.viewer import base_viewer, external_programs
from gui.viewer.markdown_parts import StepwiseLayout
from gui.viewer.match_list import Hit, MatchScrollBar
from gui.viewer.panel import CHOOSE_RESULT, ViewerPanel
from gui.viewer.source_view import SourceView
from tests.helpers.fake_insight import FakeInsight
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_records import with_text
from tests.helpers.windows import finish_jobs

GREENHOUSE = "projects/greenhouse.md"


def current(panel: ViewerPanel) -> tuple[int, str]:
    """Return the line and the word of the framed hit."""
    hit = panel.source.current_hit
    assert hit is not None
    return hit.line, panel.source.text_at(hit.line)[hit.start : hit.end]


def hint(panel: ViewerPanel) -> str:
    """Return the message that is shown over the text."""
    return panel.hint.findChild(QLabel).text() if panel.hint.isVisible() else ""


def has_tick(strip: QImage) -> bool:
    """Whether this part of a scroll bar has the mark of a hit."""
    tick = theme_tokens("light").mark_tick
    return any(strip.pixelColor(strip.width() // 2, y) == tick for y in range(strip.height()))


def ticked_lines(view: SourceView) -> set[int]:
    """Return the lines with a mark in the scroll bar."""
    bar = view.findChild(MatchScrollBar)
    strip = bar.grab().toImage()
    lines = range(1, view.line_count + 1)
    return {line for line in lines if has_tick(strip.copy(0, bar.y_of(line), strip.width(), 1))}


def laid_out(panel: ViewerPanel) -> bool:
    """Whether the rendered page and its scroll bar have their final height; Qt adjusts the bar in a later turn."""
    page = panel.rendered
    if not page.findChild(StepwiseLayout).complete:
        return False
    hidden = max(0, page.document().size().height() - page.viewport().height())
    return abs(page.verticalScrollBar().maximum() - hidden) <= 1


def press(panel: ViewerPanel, keys: str) -> None:
    for key in keys:
        shift = Qt.KeyboardModifier.ShiftModifier if key.isupper() else Qt.KeyboardModifier.NoModifier
        QTest.keyClick(panel.page, getattr(Qt.Key, f"Key_{key.upper()}"), shift)


# --- showing ----------------------------------------------------------------------------------------------------------


def test_result_is_shown_with_its_part_highlighted(panel: ViewerPanel, find, show) -> None:
    result = find("timer", "greenhouse")
    show(result, "timer")
    assert panel.page is panel.source
    assert panel.source.highlight == (result.start_line, result.end_line)
    assert panel.header.title.text() == "Greenhouse"
    assert panel.header.crumb.text() == "projects/greenhouse.md › Watering"


def test_file_is_shown_at_line(panel: ViewerPanel, show) -> None:
    show(GREENHOUSE, 12)
    assert panel.source.highlight == (12, 12)
    assert panel.header.title.text() == "Greenhouse"


def test_other_result_of_same_file_does_not_reopen_it(panel: ViewerPanel, memory: FakeMemory, find, show) -> None:
    show(find("timer", "greenhouse"), "timer")
    lines = panel.source.lines
    memory.open_error = OSError("not again")
    show(find("zones", "greenhouse"), "zones")
    assert panel.source.lines is lines
    assert panel.source.highlight == (3, 6)


def test_newest_request_wins(panel: ViewerPanel, jobs) -> None:
    opened_files: list[str] = []
    panel.file_shown.connect(opened_files.append)
    for name in (GREENHOUSE, "daily/2026-02-08.md", "topics/shopping.md"):
        panel.show_file(name)
    finish_jobs(jobs)
    assert opened_files == ["topics/shopping.md"]


def test_empty_viewer_shows_hint(panel: ViewerPanel) -> None:
    assert panel.page is panel.empty_page
    assert panel.empty_page.sentence.text() == "The result or note that you choose opens here."
    assert panel.header.isHidden()
    panel.clear(CHOOSE_RESULT)
    assert "Enter" in panel.empty_page.sentence.text()


def test_refused_path_shows_error_and_can_be_retried(qtbot, panel: ViewerPanel, memory: FakeMemory) -> None:
    with qtbot.waitSignal(panel.file_shown) as emitted:  # for parts that wait for the file
        panel.show_file("../secret")
    assert emitted.args == ["../secret"]
    assert panel.empty_page.sentence.text() == "This path is not part of the index."
    memory.files["../secret"] = "now it is"
    with qtbot.waitSignal(panel.file_shown):
        panel.empty_page.retry.emit()


def test_deleted_file_shows_error_until_index_changes(qtbot, panel: ViewerPanel, memory: FakeMemory) -> None:
    memory.open_error = FileNotFoundError(2, "No such file", "x")
    panel.show_file(GREENHOUSE)
    qtbot.waitUntil(lambda: panel.empty_page.sentence.text() == f"{GREENHOUSE} no longer exists.")
    with qtbot.waitActive(panel):
        panel.activateWindow()
    assert panel.empty_page.take_focus()
    with qtbot.waitSignal(panel.file_shown):
        panel.refresh()
    assert panel.empty_page.has_focus()  # although its button was made again
    memory.open_error = None
    with qtbot.waitSignal(panel.file_shown):  # the sync after the folder has come back
        panel.refresh()
    assert panel.source.text_at(1) == "# Greenhouse"


@pytest.mark.parametrize("parser", ["Outline.of", "title_of"])
def test_parser_fault_shows_text_and_a_sentence(qtbot, panel: ViewerPanel, monkeypatch, parser: str) -> None:
    def faulty(*arguments: object) -> None:
        raise KeyError("type")

    monkeypatch.setattr(f"gui.viewer.file_loader.{parser}", faulty)
    with qtbot.waitSignal(panel.file_shown):
        panel.show_file(GREENHOUSE)
    assert panel.page is panel.source
    assert panel.source.lines is not None
    assert panel.source.lines.line_count > 5
    assert "structure" in panel.hint.accessibleName()


def test_only_slow_opening_is_announced(qtbot, panel: ViewerPanel, memory: FakeMemory, monkeypatch) -> None:
    go_on = threading.Event()
    locate = memory.locate
    monkeypatch.setattr(memory, "locate", lambda name: go_on.wait(60) and locate(name))
    panel.show_file(GREENHOUSE)
    assert "Opening" not in panel.empty_page.sentence.text()
    qtbot.waitUntil(lambda: panel.empty_page.sentence.text() == "Opening greenhouse…")
    with qtbot.waitSignal(panel.file_shown):
        go_on.set()
    assert panel.page is panel.source


def test_manager_change_clears_viewer(panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    panel.set_manager(None)
    assert panel.page is panel.empty_page
    assert panel.source.lines is None


def test_same_result_again_does_not_scroll(qtbot, panel: ViewerPanel, memory: FakeMemory, find, show) -> None:
    memory.files["long.md"] = "# Long\n" + "words\n" * 300 + "the timer\n" + "words\n" * 300
    result = find("timer", "long")
    show(result, "timer")
    panel.source.scroll_to_end(top=True)
    show(result, "timer")
    assert panel.source.verticalScrollBar().value() == 0


def test_first_match_is_scrolled_into_view(panel: ViewerPanel, memory: FakeMemory, find, show) -> None:
    memory.files["long.md"] = "# Long\n" + "words\n" * 60 + "the timer\n" + "words\n" * 60 + "the valve\n"
    text = memory.files["long.md"]
    for word, line in (("timer", 62), ("valve", 123)):
        at = text.index(word)
        changes = {"snippet": text, "snippet_line": 1, "match_ranges": ((at, at + 5),)}
        show(msgspec.structs.replace(with_text(find("timer", "long"), **changes), end_line=123), word)
        top = panel.source.scroll_position.top_of(line)
        assert top is not None
        assert 0 <= top < panel.source.viewport().height() - panel.source.row_height


# --- keys and focus ---------------------------------------------------------------------------------------------------


def test_tab_moves_through_header_buttons_to_text(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.setFocus()
    assert panel.source.hasFocus()
    panel.header.source_button.setFocus()
    seen = []
    while not panel.source.hasFocus() and len(seen) < 10:
        focus = panel.window().focusWidget()
        seen.append(focus.accessibleName() or focus.text())
        QTest.keyClick(focus, Qt.Key.Key_Tab)
    assert seen == ["Source", "Open in editor", "Copy citation", "More actions"]


def test_header_line_shows_focus(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    with qtbot.waitActive(panel):
        panel.activateWindow()
    assert panel.header.separator.property("role") == "line"
    panel.setFocus()
    assert panel.header.separator.property("role") == "line-active"
    panel.header.folding.more.setFocus()
    assert panel.header.separator.property("role") == "line"


def test_alt_r_toggles_rendered_page(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.setFocus()
    with qtbot.waitSignal(panel.file_shown):
        QTest.keyClick(panel.page, Qt.Key.Key_R, Qt.KeyboardModifier.AltModifier)
    assert panel.page is panel.rendered
    assert panel.rendered.hasFocus()
    QTest.keyClick(panel.page, Qt.Key.Key_R, Qt.KeyboardModifier.AltModifier)
    assert panel.page is panel.source


# --- going through hits -----------------------------------------------------------------------------------------------


def test_n_steps_through_query_words_and_wraps(qtbot, panel: ViewerPanel, find, show) -> None:
    show(find("timer", "greenhouse"), "timer irrigation")
    qtbot.waitUntil(lambda: ticked_lines(panel.source) == {4, 9, 16})
    seen = []
    for _ in range(5):
        press(panel, "n")
        seen.append(current(panel))
    assert seen == [(9, "timer"), (9, "irrigation"), (16, "timer"), (4, "irrigation"), (9, "timer")]
    press(panel, "NN")
    assert current(panel) == (16, "timer")
    assert hint(panel) == "4 of 4 · The search continues from the end."
    press(panel, "N")
    assert hint(panel) == "3 of 4"


def test_f3_steps_to_next_hit(qtbot, panel: ViewerPanel, find, show) -> None:
    show(find("timer", "greenhouse"), "timer")
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.setFocus()
    QTest.keyClick(panel.source, Qt.Key.Key_F3)
    qtbot.waitUntil(lambda: panel.source.current_hit is not None)
    assert current(panel) == (9, "timer")


def test_n_without_query_shows_hint(panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    press(panel, "n")
    assert "Ctrl+F" in hint(panel)


def test_n_without_matching_word_shows_hint(qtbot, panel: ViewerPanel, find, show) -> None:
    show(find("timer", "greenhouse"), "sprinkler")
    press(panel, "n")
    qtbot.waitUntil(lambda: hint(panel) == "This file contains none of the words searched for.")


def test_overview_strip_shows_hits(qtbot, panel: ViewerPanel, find, show) -> None:
    show(find("timer", "greenhouse"), "timer")
    qtbot.waitUntil(lambda: ticked_lines(panel.source) == {9, 16})


# --- the find bar -----------------------------------------------------------------------------------------------------


def test_find_counts_steps_and_selects_match_on_close(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    panel.find_action.trigger()
    QTest.keyClicks(panel.find_in_text.bar.box, "MAR")
    qtbot.waitUntil(lambda: panel.find_in_text.bar.count.text() == "1 of 3")
    QTest.keyClick(panel.find_in_text.bar.box, Qt.Key.Key_Return)
    assert panel.find_in_text.bar.count.text() == "2 of 3"
    QTest.keyClick(panel.find_in_text.bar.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    QTest.keyClick(panel.find_in_text.bar.box, Qt.Key.Key_Return, Qt.KeyboardModifier.ShiftModifier)
    assert panel.find_in_text.bar.count.text() == "3 of 3"
    assert hint(panel) == "The search continues from the end."
    QTest.keyClick(panel.find_in_text.bar.box, Qt.Key.Key_Escape)
    assert panel.find_in_text.bar.isHidden()
    assert panel.source.selected_word() == "Mar"
    assert panel.source.selected_lines() == (14, 14)


def test_find_without_match_shows_not_found(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    panel.find_action.trigger()
    panel.find_in_text.bar.box.setText("absent")
    qtbot.waitUntil(lambda: panel.find_in_text.bar.count.text() == "Not found")


def test_find_bar_starts_with_selected_word(panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    panel.source.selection.select((9, 4), (9, 9))
    panel.find_action.trigger()
    assert panel.find_in_text.bar.box.text() == "timer"


def test_escape_closes_find_bar_before_leaving_file(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    panel.find_action.trigger()
    with qtbot.assertNotEmitted(panel.escape_pressed):
        QTest.keyClick(panel.page, Qt.Key.Key_Escape)
    assert panel.find_in_text.bar.isHidden()
    with qtbot.waitSignal(panel.escape_pressed):
        QTest.keyClick(panel.page, Qt.Key.Key_Escape)


# --- live reload ------------------------------------------------------------------------------------------------------


def test_changed_file_is_reloaded_at_same_position(qtbot, panel: ViewerPanel, memory: FakeMemory) -> None:
    memory.files["long.md"] = "\n".join(f"line {number}" for number in range(1, 400))
    with qtbot.waitSignal(panel.file_shown):
        panel.show_file("long.md", 200)
    position, highlight = panel.source.position(), panel.source.highlight
    memory.files["long.md"] += "\nnew end"
    memory.locate("long.md")
    qtbot.waitUntil(lambda: hint(panel) == "File reloaded")
    assert panel.source.text_at(400) == "new end"
    assert (panel.source.position(), panel.source.highlight) == (position, highlight)


def test_file_changed_while_folder_reopens_is_reloaded(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    show(GREENHOUSE)
    opened, seen = panel.opened, []
    panel._watch.changed.connect(lambda: seen.append(True))
    panel.set_manager(None, reopening=True)
    memory.files[GREENHOUSE] = "# Changed\n"
    memory.locate(GREENHOUSE)
    qtbot.waitUntil(lambda: bool(seen))
    assert panel.opened is opened
    panel.set_manager(memory, reopening=True)
    qtbot.waitUntil(lambda: panel.source.text_at(1) == "# Changed")


def test_reload_ended_by_reopening_is_repeated(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    show(GREENHOUSE)
    memory.files[GREENHOUSE] = "# Changed\n"
    panel._open(reloading=True)
    panel.set_manager(None, reopening=True)
    panel.set_manager(memory, reopening=True)
    qtbot.waitUntil(lambda: panel.source.text_at(1) == "# Changed")


def test_file_replaced_by_editor_is_followed(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    show(GREENHOUSE)
    path = memory.locate(GREENHOUSE)
    for text in ("# Replaced\n", "# And again\n"):
        memory.files[GREENHOUSE] = text
        other = path.with_suffix(".tmp")
        other.write_text(text)
        other.replace(path)
        qtbot.waitUntil(lambda text=text: panel.source.text_at(1) == text.strip())


def test_deleted_file_keeps_last_text_until_restored(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    show(GREENHOUSE)
    path = memory.locate(GREENHOUSE)
    path.unlink()
    qtbot.waitUntil(lambda: panel.banner.text == "This file was deleted. Its last text is shown.")
    assert panel.source.text_at(1) == "# Greenhouse"
    assert not [button for button in panel.banner.findChildren(QPushButton) if button.text() == "Next result"]
    memory.files[GREENHOUSE] = "# Back\n"
    memory.locate(GREENHOUSE)
    qtbot.waitUntil(lambda: panel.source.text_at(1) == "# Back")
    assert panel.banner.text == ""


def test_renamed_file_is_followed_once_index_knows_it(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.insight = FakeInsight(memory)
    show(GREENHOUSE)
    panel.source.go_to_line(3)
    top = panel.source.top_line
    text = memory.files.pop(GREENHOUSE)
    memory.files["projects/glasshouse.md"] = text
    (memory.folder / GREENHOUSE).unlink()
    qtbot.waitUntil(lambda: panel.banner.text == "This file was deleted. Its last text is shown.")
    memory.insight.renamed[GREENHOUSE] = "projects/glasshouse.md"
    panel.refresh()
    qtbot.waitUntil(lambda: panel.name == "projects/glasshouse.md")
    assert panel.banner.text == ""
    assert panel.source.top_line == top
    assert panel.header.crumb.text() == "projects/glasshouse.md"


def test_deleted_result_offers_the_next(qtbot, panel: ViewerPanel, memory: FakeMemory, show, find) -> None:
    result = find("timer")
    show(result, "timer")
    memory.locate(result.path).unlink()
    qtbot.waitUntil(lambda: panel.banner.text == "This file was deleted. Its last text is shown.")
    [following] = [button for button in panel.banner.findChildren(QPushButton) if button.text() == "Next result"]
    with qtbot.waitSignal(panel.next_requested):
        following.click()


def test_file_of_restored_folder_is_reloaded_after_sync(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    show(GREENHOUSE)
    folder = memory.locate(GREENHOUSE).parent
    shutil.rmtree(folder)
    qtbot.waitUntil(lambda: panel.banner.text == "This file was deleted. Its last text is shown.")
    folder.mkdir(parents=True)
    memory.files[GREENHOUSE] = "# Back\n"
    memory.locate(GREENHOUSE)
    panel.refresh()
    qtbot.waitUntil(lambda: panel.source.text_at(1) == "# Back")


# --- buttons and menus ------------------------------------------------------------------------------------------------


def test_copy_actions_copy_citation_and_path(qtbot, panel: ViewerPanel, memory: FakeMemory, find, show) -> None:
    result = find("timer", "greenhouse")
    show(result, "timer")
    clipboard = QGuiApplication.clipboard()
    panel.file_actions.cite.trigger()
    assert clipboard.text() == result.citation
    panel.file_actions.copy_path.trigger()
    qtbot.waitUntil(lambda: clipboard.text() == str(memory.locate(GREENHOUSE)))
    panel.file_actions.copy_part.trigger()
    qtbot.waitUntil(lambda: clipboard.text().startswith("## Watering\n"))
    assert clipboard.text().splitlines()[-1] == "Ask Ines whether her timer has the same firmware (v1.4.2)."
    panel.source.selection.select((9, 4), (10, 6))
    panel.file_actions.copy.trigger()
    qtbot.waitUntil(lambda: clipboard.text().endswith("valve\nsticks"))
    panel.file_actions.cite.trigger()
    assert clipboard.text() == f"{GREENHOUSE}#L9-L10"


def test_editor_opens_at_line_of_part(qtbot, panel: ViewerPanel, memory: FakeMemory, find, show, monkeypatch) -> None:
    started: list[tuple] = []
    monkeypatch.setattr(
        external_programs, "open_in_editor", lambda *arguments: started.append(arguments) or "It failed."
    )
    panel.external.editor_command = "ed {path} {line}"
    show(find("timer", "greenhouse"), "timer")
    with qtbot.waitSignal(panel.external.editor_failed) as failed:
        panel.file_actions.edit.trigger()
    assert failed.args == ["It failed.", GREENHOUSE, 7]
    assert started == [(memory.locate(GREENHOUSE), 7, "ed {path} {line}")]


def test_wrap_toggle_is_in_menu_and_on_alt_z(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    assert panel.source.wrap
    menu = panel.header.folding.more.menu()
    menu.aboutToShow.emit()
    assert "Wrap lines" in [action.text() for action in menu.actions()]
    with qtbot.waitActive(panel):
        panel.activateWindow()
    panel.setFocus()
    QTest.keyClick(panel.source, Qt.Key.Key_Z, Qt.KeyboardModifier.AltModifier)
    assert not panel.source.wrap


def test_every_focusable_widget_has_accessible_name(panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    panel.find_action.trigger()
    nameless = [
        widget
        for widget in panel.findChildren(QWidget)
        if widget.focusPolicy() != Qt.FocusPolicy.NoFocus
        and widget.isVisibleTo(panel)
        and not QAccessible.queryAccessibleInterface(widget).text(QAccessible.Text.Name)
    ]
    assert nameless == []


# --- the rendered page ------------------------------------------------------------------------------------------------


@pytest.fixture
def render(qtbot, panel: ViewerPanel, memory: FakeMemory):
    """Show a text as a rendered page."""

    def render_and_wait(text: str, line: int | None = None) -> None:
        memory.files["page.md"] = text
        with qtbot.waitSignal(panel.file_shown):
            panel.choose_rendered(True)
            panel.show_file("page.md", line)

    return render_and_wait


def test_page_shows_text_and_loads_no_resource(panel: ViewerPanel, render) -> None:
    render("# Head\n\n![a photo](http://example.org/x.png) <img src='http://e.org/z'>")
    assert panel.page is panel.rendered
    text = panel.rendered.toPlainText()
    assert "Head" in text
    assert "[image: a photo]" in text
    assert "[image: z]" in text
    image = panel.rendered.loadResource(2, QUrl("file:///etc/hostname"))  # with None, Qt would read the file
    assert (image.width(), image.height()) == (1, 1)


@pytest.mark.parametrize("ratio", [1, 2])
def test_page_marks_hits_down_to_its_lower_edge(qtbot, panel: ViewerPanel, render, find, ratio: int) -> None:
    render("timer\n\n" * 30)
    panel.show_result(find("timer", "page"), "timer")
    view = panel.rendered.viewport()
    image = QImage(view.size() * ratio, QImage.Format.Format_RGB32)
    image.setDevicePixelRatio(ratio)

    def marked_rows() -> set[int]:
        view.render(image)
        mark = theme_tokens("light").mark.rgb()
        rows = range(0, image.height(), ratio)
        return {y // ratio for y in rows if any(image.pixel(x, y) == mark for x in range(0, 200 * ratio, ratio))}

    qtbot.waitUntil(lambda: max(marked_rows(), default=0) > view.height() - 40)


@pytest.mark.parametrize("toggled", [False, True])
def test_page_opens_folded_callouts_for_a_query(qtbot, panel: ViewerPanel, render, find, toggled: bool) -> None:
    render("# Head\n\n> [!faq]- Fold\n> a timer\n")
    page = panel.rendered
    assert "timer" not in page.toPlainText()
    if toggled:
        page.toggle_fold(3)
        qtbot.waitUntil(lambda: "timer" in page.toPlainText())
    with qtbot.waitSignal(panel.file_shown):
        panel.show_result(find("timer", "page"), "timer")
    qtbot.waitUntil(lambda: "timer" in page.toPlainText() and has_tick(page.verticalScrollBar().grab().toImage()))


def test_page_opens_callouts_for_each_query(qtbot, panel: ViewerPanel, render, find) -> None:
    render("# Head\n\n> [!faq]- Fold\n> a timer and a kettle\n")
    page = panel.rendered

    def look_for(query: str) -> None:
        panel.show_result(find("timer", "page"), query)
        qtbot.waitUntil(lambda: has_tick(page.verticalScrollBar().grab().toImage()))

    look_for("timer")
    page.toggle_fold(3)
    qtbot.waitUntil(lambda: "timer" not in page.toPlainText())
    look_for("kettle")
    assert "kettle" in page.toPlainText()
    page.toggle_fold(3)
    qtbot.waitUntil(lambda: "kettle" not in page.toPlainText())
    panel.show_result(find("timer", "page"), "kettle")  # once more, and the user's choice stays
    qtbot.wait(0)
    assert "kettle" not in page.toPlainText()


def wide_table(columns: int) -> str:
    rows = [f"column_number_{n}" for n in range(columns)], ["---"] * columns, [f"kettle_{n}" for n in range(columns)]
    return "\n".join("|".join(["", *row, ""]) for row in rows)


def check_hits_of_wide_table(qtbot, panel: ViewerPanel, render) -> None:
    render(f"# Head\n\n```\ncode\n```\n\n{wide_table(12)}\n")
    page = panel.rendered
    bar, view = page.horizontalScrollBar(), page.viewport()
    qtbot.waitUntil(lambda: laid_out(panel) and bar.maximum() > 500)
    text = next(number for number, text in enumerate(page.blocks.texts, 1) if text == "kettle_9")
    first = next(number for number, text in enumerate(page.blocks.texts, 1) if text == "kettle_0")
    for line, name in ((text, "kettle_9"), (first, "kettle_0"), (text, "kettle_9")):
        hit = Hit(line, 0, len(name))
        assert page.level(hit) is None
        page.show_hit(hit)
        assert page.level(hit) is not None
        cursor = page.textCursor()
        cursor.setPosition(page.document().findBlockByNumber(line - 1).position())
        left = page.cursorRect(cursor).left()
        assert 0 <= left < view.width()
        image = view.grab().toImage()
        frame = theme_tokens("light").accent
        rows = range(image.height())
        assert any(image.pixelColor(x, y) == frame for x in range(max(0, left - 4), left + 1) for y in rows)


def test_hit_of_a_wide_table_is_scrolled_into_view(qtbot, panel: ViewerPanel, render) -> None:
    check_hits_of_wide_table(qtbot, panel, render)


@pytest.mark.usefixtures("right_to_left")
def test_wide_table_scrolls_in_right_to_left_window(qtbot, request: pytest.FixtureRequest) -> None:
    panel, render = request.getfixturevalue("panel"), request.getfixturevalue("render")
    check_hits_of_wide_table(qtbot, panel, render)


def test_code_box_moves_with_a_page_scrolled_sideways(qtbot, panel: ViewerPanel, render) -> None:
    render(f"```\ncode\n```\n\n{wide_table(12)}\n")
    bar, view = panel.rendered.horizontalScrollBar(), panel.rendered.viewport()
    qtbot.waitUntil(lambda: laid_out(panel) and bar.maximum() > 500)

    def right_edge() -> int:
        image, ground = view.grab().toImage(), theme_tokens("light").alternate
        y = round(
            panel.rendered.document().documentLayout().blockBoundingRect(panel.rendered.document().begin()).center().y()
        )
        return max(x for x in range(image.width()) if image.pixelColor(x, y) == ground)

    before = right_edge()
    bar.setValue(100)
    assert right_edge() == before - 100


def test_tables_fit_a_page_of_other_width(qtbot, panel: ViewerPanel, render) -> None:
    render(wide_table(4))
    bar = panel.rendered.horizontalScrollBar()
    panel.resize(1000, panel.height())
    qtbot.waitUntil(lambda: laid_out(panel) and not bar.maximum())
    panel.resize(400, panel.height())
    qtbot.waitUntil(lambda: laid_out(panel) and bar.maximum() > 0)
    panel.resize(1000, panel.height())
    qtbot.waitUntil(lambda: laid_out(panel) and not bar.maximum())


def test_hidden_page_keeps_its_position_when_resized(qtbot, panel: ViewerPanel, render) -> None:
    render("\n\n".join(f"## Day {number}\n\n" + "text " * 80 for number in range(60)))
    bar = panel.rendered.verticalScrollBar()
    qtbot.waitUntil(lambda: laid_out(panel) and bar.maximum() > 2000)
    bar.setValue(1500)
    panel.hide()
    panel.resize(panel.width() - 40, panel.height())
    panel.show()
    qtbot.waitUntil(lambda: laid_out(panel) and bar.value() > 1000)


def test_clear_hides_the_message_on_the_file(panel: ViewerPanel, show, find) -> None:
    show(find("timer"), "timer")
    panel.hint.show_message("1 of 2")
    panel.clear()
    assert panel.hint.isHidden()


def test_page_starts_at_heading_of_part(qtbot, panel: ViewerPanel, render) -> None:
    render("\n\n".join(f"## Day {number}\n\n" + "text\n" * 8 for number in range(40)) + "\n# End\n" * 30, 200)
    qtbot.waitUntil(lambda: laid_out(panel))
    first, last = (
        panel.rendered.cursorForPosition(corner).blockNumber()
        for corner in (panel.rendered.viewport().rect().topLeft(), panel.rendered.viewport().rect().bottomRight())
    )
    visible_lines = [panel.rendered.document().findBlockByNumber(number).text() for number in range(first, last + 1)]
    wanted = panel.opened.outline.heading_above(panel.source.position()[0])
    assert wanted is not None
    assert wanted.key in {text.replace(" ", "").lower() for text in visible_lines[:3]}


def test_n_steps_through_hits_on_page(qtbot, panel: ViewerPanel, memory: FakeMemory, find) -> None:
    memory.files["page.md"] = "# Timers\n\n" + "words\n\n" * 90 + "the timer 🌱 timer\n"
    panel.choose_rendered(True)
    with qtbot.waitSignal(panel.file_shown):
        panel.show_result(find("timer", "page"), "timer")
    qtbot.waitUntil(lambda: has_tick(panel.rendered.verticalScrollBar().grab().toImage()))
    panel.rendered.verticalScrollBar().setValue(0)
    panel.rendered.viewport().grab()
    for line, start in ((1, 0), (92, 4), (92, 12)):
        press(panel, "n")
        hit = panel.rendered.current_hit
        assert hit is not None
        assert (hit.line, hit.start) == (line, start)
        assert panel.rendered.level(hit) is not None
    panel.rendered.viewport().grab()


def test_source_button_returns_to_source(qtbot, panel: ViewerPanel, render) -> None:
    render("# Head\n\ntext")
    with qtbot.waitSignal(panel.file_shown):
        panel.header.source_button.click()
    assert panel.page is panel.source
    assert panel.source.text_at(3) == "text"


def test_large_file_stays_source_with_reason(panel: ViewerPanel, render) -> None:
    render("# Head\n\n" + "words and words\n" * 80_000)
    assert panel.page is panel.source
    assert hint(panel) == "This file has 1.3 MB, too much to render. Its source is shown."


def test_unsliceable_part_stays_source_with_reason(panel: ViewerPanel, render) -> None:
    render("# Head\n\n" + "words and words " * 20_000)
    assert panel.page is panel.source
    assert hint(panel) == "A part of this file is too long to render. Its source is shown."


def test_changed_page_keeps_scroll_position(qtbot, panel: ViewerPanel, memory: FakeMemory, render) -> None:
    text = "\n\n".join(f"## Day {number}\n\nwords" for number in range(80))
    render(text)
    qtbot.waitUntil(lambda: laid_out(panel))
    panel.rendered.verticalScrollBar().setValue(900)
    memory.files["page.md"] = text + "\n\n## New end\n"
    memory.locate("page.md")
    qtbot.waitUntil(lambda: "New end" in panel.rendered.toPlainText() and laid_out(panel))
    assert panel.rendered.verticalScrollBar().value() == 900


def test_resized_page_waits_for_layout_and_keeps_position(qtbot, panel: ViewerPanel, render) -> None:
    """Qt would lay out everything above the view in one turn, which takes 0.3 s in a long page."""
    render("\n\n".join(f"Day {number}. " + "Words and more words. " * 20 for number in range(2_000)))
    view = panel.rendered
    qtbot.waitUntil(lambda: laid_out(panel))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    position = view.position()
    assert position[0] > 500
    panel.resize(panel.width() - 200, panel.height())
    qtbot.waitUntil(lambda: not laid_out(panel))
    assert view.verticalScrollBar().value() == 0
    assert view.position() == position
    qtbot.waitUntil(lambda: laid_out(panel))
    assert view.verticalScrollBar().value() > 0
    assert view.position() == position


def test_scrolling_during_layout_moves_on_from_position(qtbot, panel: ViewerPanel, render) -> None:
    render("\n\n".join(f"Day {number}. " + "Words and more words. " * 20 for number in range(2_000)))
    view = panel.rendered
    qtbot.waitUntil(lambda: laid_out(panel))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    number, _above = view.position()
    panel.resize(panel.width() - 200, panel.height())
    qtbot.waitUntil(lambda: view.verticalScrollBar().value() == 0 and view.verticalScrollBar().maximum() > 1000)
    view.verticalScrollBar().setValue(600)
    qtbot.waitUntil(lambda: laid_out(panel))
    assert view.position()[0] > number


@pytest.mark.parametrize("by", ["wheel", "page up", "shift space", "up"])
def test_scrolling_up_during_layout_moves_on_from_position(qtbot, panel: ViewerPanel, render, by: str) -> None:
    render("\n\n".join(f"Day {number}. " + "Words and more words. " * 20 for number in range(2_000)))
    view = panel.rendered
    qtbot.waitUntil(lambda: laid_out(panel))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    number, _above = view.position()
    panel.resize(panel.width() - 200, panel.height())
    assert view.verticalScrollBar().value() == 0
    for _ in range(10):
        if by == "wheel":
            at = QPointF(view.viewport().rect().center())
            none = Qt.KeyboardModifier.NoModifier, Qt.ScrollPhase.NoScrollPhase
            turn = QWheelEvent(at, at, QPoint(), QPoint(0, 120), Qt.MouseButton.NoButton, *none, False)
            QApplication.sendEvent(view.viewport(), turn)
        elif by == "page up":
            QTest.keyClick(view, Qt.Key.Key_PageUp)
        elif by == "up":
            QTest.keyClick(view, Qt.Key.Key_Up)
        else:
            QTest.keyClick(view, Qt.Key.Key_Space, Qt.KeyboardModifier.ShiftModifier)
    qtbot.waitUntil(lambda: laid_out(panel))
    assert 1 < view.position()[0] < number


def test_home_during_layout_scrolls_to_top(qtbot, panel: ViewerPanel, render) -> None:
    render("\n\n".join(f"Day {number}. " + "Words and more words. " * 20 for number in range(2_000)))
    view = panel.rendered
    qtbot.waitUntil(lambda: laid_out(panel))
    view.verticalScrollBar().setValue(view.verticalScrollBar().maximum() // 2)
    panel.resize(panel.width() - 200, panel.height())
    assert view.position()[0] > 1
    QTest.keyClick(view, Qt.Key.Key_Home)
    assert view.position()[0] == 1
    qtbot.waitUntil(lambda: laid_out(panel))
    assert view.position()[0] == 1


def test_resized_page_shows_requested_heading(qtbot, panel: ViewerPanel, render) -> None:
    render("\n\n".join(f"## Day {number}\n\n" + "Words and more words. " * 20 for number in range(2_000)))
    qtbot.waitUntil(lambda: laid_out(panel))
    panel.rendered.verticalScrollBar().setValue(panel.rendered.verticalScrollBar().maximum() // 2)
    panel.resize(panel.width() - 200, panel.height())
    panel.rendered.go_to_heading(None)
    qtbot.waitUntil(lambda: laid_out(panel))
    assert panel.rendered.verticalScrollBar().value() == 0


def test_other_page_starts_at_top(qtbot, panel: ViewerPanel, memory: FakeMemory, render, show) -> None:
    render("\n\n".join(f"## Day {number}\n\nwords" for number in range(80)), 100)
    qtbot.waitUntil(lambda: panel.rendered.verticalScrollBar().value() > 0)
    show("topics/shopping.md")
    qtbot.waitUntil(lambda: laid_out(panel))
    assert panel.rendered.verticalScrollBar().value() == 0


def test_links_open_web_and_indexed_files_only(
    qtbot, panel: ViewerPanel, memory: FakeMemory, render, monkeypatch
) -> None:
    opened: list[str] = []
    monkeypatch.setattr(base_viewer.QDesktopServices, "openUrl", lambda url: opened.append(url.toString()))
    render("# Head\n\n[out](https://example.org/a) [file](file:///etc/passwd)")
    panel.follow_link(QUrl("https://example.org/a"))
    panel.follow_link(QUrl("file:///etc/passwd"))
    assert opened == ["https://example.org/a"]
    assert hint(panel) == "This kind of link can't be opened."
    panel.follow_link(QUrl("../outside.md"))
    qtbot.waitUntil(lambda: "not in the index" in hint(panel))
    with qtbot.waitSignal(panel.file_shown) as signal:
        panel.follow_link(QUrl("topics/shopping.md"))
    assert signal.args == ["topics/shopping.md"]


def test_theme_change_rebuilds_page(qtbot, panel: ViewerPanel, appearance, render) -> None:
    render("# Head\n\n[link](https://example.org)")
    before = panel.rendered.document()
    appearance.set_theme("dark")
    qtbot.waitUntil(lambda: panel.rendered.document() is not before)
    assert "Head" in panel.rendered.toPlainText()


def test_header_names_encoding_other_than_utf8(panel: ViewerPanel, memory: FakeMemory, show, tmp_path) -> None:
    note = tmp_path / "mac.md"
    note.write_bytes("# Küche\rDie Brühe köchelt.\rSüß".encode("cp1252"))
    memory.locate = lambda path: note
    show(GREENHOUSE, 2, 2)
    assert panel.header.crumb.text().endswith(" · Windows-1252")
    assert panel.source.text_at(2) == "Die Brühe köchelt."
    assert panel.opened.title == "Küche"
    note.write_text("# Küche\nDie Brühe wärmt.\n", "utf-8")
    panel.clear()
    show(GREENHOUSE, 2, 2)
    assert "Windows" not in panel.header.crumb.text()
    assert panel.source.text_at(2) == "Die Brühe wärmt."


def test_org_file_has_its_headings_code_and_title(panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.files["garden.org"] = (
        "#+title: Garden\n* Beds\n#+begin_src sh\n* no heading ends it\n#+end_src\n** Pumps\ntext\n"
    )
    show("garden.org", 7, 7)
    assert panel.header.title.text() == "Garden"
    assert [heading.title for heading in panel.opened.outline.headings] == ["Beds", "no heading ends it", "Pumps"]
    memory.files["garden.adoc"] = "= Garden\n\n== Beds\n\n----\n== code\n----\n"
    show("garden.adoc", 3, 3)
    assert [heading.title for heading in panel.opened.outline.headings] == ["Garden", "Beds"]
    assert panel.opened.outline.code_block(6) == (5, 7)


_WORDS = "\nwords\n" * 90
_OTHER_FORMATS = {
    "garden.org": f"#+title: Garden\n* Beds\nSow *early* in [[file:note.md][spring]].\n{_WORDS}* Paths\nthe slate\n",
    "garden.rst": f"Beds\n====\nSow **early** in `spring <note.md>`_.\n{_WORDS}\nPaths\n=====\nthe slate\n",
    "garden.REST": f"Beds\n====\nSow **early** in spring.\n{_WORDS}\nPaths\n=====\nthe slate\n",
    "garden.adoc": f"= Beds\n\nSow *early* in link:note.md[spring].\n{_WORDS}\n== Paths\nthe slate\n",
    "garden.asc": f"= Beds\n\nSow *early* in spring.\n{_WORDS}\n== Paths\nthe slate\n",
}


@pytest.mark.parametrize("name", _OTHER_FORMATS)
def test_other_formats_have_a_page_with_hits(panel: ViewerPanel, memory: FakeMemory, find, qtbot, name: str) -> None:
    memory.files[name] = _OTHER_FORMATS[name]
    panel.choose_rendered(True)
    with qtbot.waitSignal(panel.file_shown):
        panel.show_result(find("slate", name), "slate")
    qtbot.waitUntil(lambda: panel.page is panel.rendered)
    qtbot.waitUntil(lambda: has_tick(panel.rendered.verticalScrollBar().grab().toImage()))
    text = panel.rendered.toPlainText()
    assert text.removeprefix("Garden\n").startswith("Beds\nSow early in spring.\nwords")
    press(panel, "n")
    hit = panel.rendered.current_hit
    assert hit is not None
    assert panel.rendered.blocks.texts[hit.line - 1] == "the slate"
    assert panel.rendered.level(hit) is not None


def test_links_of_other_formats_open_notes(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.files["note.md"] = "# Spring"
    for name in ("garden.org", "garden.rst", "garden.adoc"):
        memory.files[name] = _OTHER_FORMATS[name]
        panel.choose_rendered(True)
        show(name)
        qtbot.waitUntil(lambda: panel.page is panel.rendered)
        with qtbot.waitSignal(panel.location_chosen) as opened:
            panel.follow_link(QUrl("note.md"))
        assert opened.args[0].path == "note.md"
        qtbot.waitUntil(lambda: panel.name == "note.md")


def test_links_within_a_page_find_their_headings(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.files["garden.org"] = f"#+title: Garden\n* Beds\n{_WORDS}* Paths\n{_WORDS}"
    panel.choose_rendered(True)
    show("garden.org")
    qtbot.waitUntil(lambda: panel.page is panel.rendered)
    scrolled = panel.rendered.verticalScrollBar()
    panel.follow_link(QUrl("#Paths"))
    qtbot.waitUntil(lambda: scrolled.value() > 0)
    there = scrolled.value()
    for missing in ("Ponds", "^ponds"):
        panel.follow_link(QUrl(f"#{missing}"))
        sentence = f"This page has no heading or block named “{missing.strip('^')}”."
        qtbot.waitUntil(lambda sentence=sentence: hint(panel) == sentence)
        assert scrolled.value() == there
    panel.follow_link(QUrl("#"))
    assert scrolled.value() == 0


def test_link_followed_before_layout_keeps_its_target(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    memory.files["garden.md"] = f"# Beds\n\n{_WORDS}\n\n# Paths\n\n{_WORDS}"
    scrolled = panel.rendered.verticalScrollBar()
    positions = []

    def follow() -> None:
        panel.rendered.go_to_anchor("paths")
        positions.append(scrolled.value())

    panel.rendered.rendered.connect(follow)  # emitted before the layout begins
    panel.choose_rendered(True)
    show("garden.md")
    qtbot.waitUntil(lambda: positions and panel.page is panel.rendered)
    qtbot.wait(100)
    assert scrolled.value() == positions[-1] > 0


def test_documents_have_no_page_and_text_keeps_its_lines(qtbot, panel: ViewerPanel, memory: FakeMemory, show) -> None:
    panel.resize(1400, 500)
    panel.choose_rendered(True)
    memory.files["garden.html"] = "Beds\n"
    with qtbot.assertNotEmitted(panel._source_and_page.notified):
        show("garden.html")
    assert panel.page is panel.source
    assert panel.header.rendered_button.isHidden()
    memory.files["garden.txt"] = "Beds\nPaths\n"
    show("garden.txt")
    qtbot.waitUntil(lambda: panel.page is panel.rendered)
    assert panel.rendered.toPlainText() == "Beds\nPaths"
    assert not panel.header.rendered_button.isHidden()


def test_canvas_is_readable_text(panel: ViewerPanel, memory: FakeMemory, show) -> None:
    card = {"id": "a", "type": "text", "x": 0, "y": 0, "width": 9, "height": 9, "text": "# Beds\nPump"}
    memory.files["plan.canvas"] = json.dumps({"nodes": [card]})
    show("plan.canvas", 2, 2)
    assert panel.source.text_at(2) == "Pump"
    assert panel.header.title.text() == "plan"


@pytest.mark.parametrize("rendered", [False, True])
def test_wheel_with_ctrl_asks_for_another_text_size(qtbot, panel: ViewerPanel, show, rendered: bool) -> None:
    show(GREENHOUSE)
    panel.resize(500, 160)
    panel.choose_rendered(rendered)
    qtbot.waitUntil(lambda: panel.page is (panel.rendered if rendered else panel.source))
    steps: list[int] = []
    panel.zoom_requested.connect(steps.append)
    before, middle = panel.page.font(), panel.page.mapTo(panel, panel.page.rect().center())
    for turn in (60, 60, -120, 60):
        QTest.wheelEvent(
            panel.windowHandle(), QPointF(middle), QPoint(0, turn), QPoint(), Qt.KeyboardModifier.ControlModifier
        )
    assert steps == [1, -1]
    assert panel.page.font() == before
    assert panel.page.verticalScrollBar().value() == 0


def test_rendered_page_has_the_keys_of_a_text(qtbot, panel: ViewerPanel, show) -> None:
    show(GREENHOUSE)
    panel.resize(500, 160)
    panel.choose_rendered(True)
    qtbot.waitUntil(lambda: panel.page is panel.rendered and laid_out(panel))
    page, bar = panel.rendered, panel.rendered.verticalScrollBar()
    qtbot.keyClick(page, Qt.Key.Key_End, Qt.KeyboardModifier.ControlModifier)
    assert bar.value() == bar.maximum() > 0
    qtbot.keyClick(page, Qt.Key.Key_Home, Qt.KeyboardModifier.ControlModifier)
    assert bar.value() == 0
    qtbot.keyClick(page, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClick(page, Qt.Key.Key_C, Qt.KeyboardModifier.ControlModifier)
    assert len(QGuiApplication.clipboard().text()) > 100
