from itertools import combinations
from operator import ne
from typing import get_args

import pytest
from PySide6.QtCore import QEvent, QMimeData, QObject, QPoint, QPointF, QRect, QSize, Qt, QUrl
from PySide6.QtGui import QColor, QDragEnterEvent, QDropEvent, QFontMetrics, QImage, QShowEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QMenu, QPushButton, QScrollArea, QVBoxLayout, QWidget

from gui.sources.folder_rows import dropped_folder
from gui.style.stylesheet import font_at
from gui.style.theme import tokens
from gui.text.right_to_left import text_direction
from gui.text.status_texts import State
from gui.widgets.form_controls import Chip, ComboBox, TextField
from gui.widgets.icons import IconButton, add_clear_button, application_icon
from gui.widgets.labels import ElidedLabel, breakable, elide
from gui.widgets.layouts import ColumnWithFooter, FoldingRow, PageStack, column_page, scrolling_column
from gui.widgets.list_header import ListHeader, Order
from gui.widgets.message_banner import Banner, MessagePage, NoticeBar
from gui.widgets.placeholder_page import Offer, StatePage
from gui.widgets.state_dot import StateDot, StateLabel


def test_path_cut_at_left_loses_whole_folders(qapp):
    metrics, path = QFontMetrics(font_at(13)), "knowledge/docs/databases/postgresql.md"
    fits = metrics.horizontalAdvance("…/databases/postgresql.md")
    left = Qt.TextElideMode.ElideLeft
    assert elide(metrics, path, left, fits + 1) == "…/databases/postgresql.md"
    assert elide(metrics, path, left, fits - 1) == "…/postgresql.md"
    last = elide(metrics, path, left, metrics.horizontalAdvance("…gresql.md"))
    assert last.startswith("…")
    assert path.endswith(last[1:])


def test_path_with_headings_loses_whole_names(qapp):
    metrics, middle = QFontMetrics(QApplication.font()), Qt.TextElideMode.ElideMiddle
    crumb = "notes/garden/pump.md › In/Out › Valve of the pump"
    for cut in ("…/pump.md › In/Out › Valve of the pump", "… › In/Out › Valve of the pump", "… › Valve of the pump"):
        assert elide(metrics, crumb, middle, metrics.horizontalAdvance(cut)) == cut
    assert elide(metrics, crumb, middle, metrics.horizontalAdvance("Valve of…")) == "Valve of…"
    path = elide(metrics, "notes/garden/pump.md", middle, metrics.horizontalAdvance("notes…mp.md"))
    assert (path[:5], path[-3:]) == ("notes", ".md")


def test_elided_label_shows_full_text_in_tooltip(qtbot):
    cut = ElidedLabel("memory/projects/greenhouse.md", Qt.TextElideMode.ElideMiddle)
    qtbot.addWidget(cut)
    cut.resize(80, 20)
    cut.show()
    assert cut.toolTip() == "memory/projects/greenhouse.md"
    cut.resize(600, 20)
    assert cut.toolTip() == ""
    cut.set_tip("Changed today")
    assert cut.toolTip() == "Changed today"
    assert cut.accessibleName() == "memory/projects/greenhouse.md"


def test_page_that_is_shown_again_is_painted_once(qtbot):
    painted: list[str] = []

    class Words(QLabel):
        def paintEvent(self, event):
            painted.append(self.text())

    stack, pages = PageStack(), [QWidget(), QWidget()]
    qtbot.addWidget(stack)
    for number, page in enumerate(pages):
        page.setAutoFillBackground(True)
        column = QVBoxLayout(page)
        for words in (f"first {number}", f"second {number}"):
            column.addWidget(Words(words))
        stack.addWidget(page)
    stack.show()
    qtbot.waitUntil(lambda: painted == ["first 0", "second 0"])
    for show in (stack.setCurrentIndex, lambda number: stack.setCurrentWidget(pages[number])):
        for number in (1, 0):
            painted.clear()
            show(number)
            qtbot.waitUntil(lambda: bool(painted))
            assert painted == [f"first {number}", f"second {number}"]
    for enabled in (True, False):
        stack.setUpdatesEnabled(enabled)
        stack.setCurrentIndex(1 - stack.currentIndex())
        assert stack.updatesEnabled() == enabled


def test_counts_of_equal_width_need_no_new_layout(qtbot, qapp):
    requests: list[QObject] = []

    class Watcher(QObject):
        def eventFilter(self, watched, event):
            if event.type() == QEvent.Type.LayoutRequest:
                requests.append(watched)
            return False

    header = ListHeader((Order("relevance", "Relevance", "relevance", "Best first"),))
    qtbot.addWidget(header)
    header.show()
    watcher = Watcher(header)
    header.installEventFilter(watcher)
    for counts, asks in (("12", True), ("12", False), ("21", False), ("1,234", True)):
        qapp.processEvents()
        requests.clear()
        header.show_counts(f"{counts} results", counts, legend=False, sortable=True)
        qapp.processEvents()
        assert bool(requests) == asks, counts


def test_clear_button_has_a_name_and_the_colour_of_the_theme(qtbot, appearance):
    field = QLineEdit("text")
    qtbot.addWidget(field)
    add_clear_button(field)
    button = field.findChild(QPushButton)
    assert button.accessibleName() == "Clear"
    for theme in ("light", "dark"):
        appearance.set_theme(theme)
        image = button.icon().pixmap(16).toImage()
        assert _has_pixel(image, image.rect(), tokens(field.palette()).text)


@pytest.mark.parametrize("direction", [Qt.LayoutDirection.LeftToRight, Qt.LayoutDirection.RightToLeft])
def test_clear_button_grows_with_text_and_does_not_cover_it(qtbot, appearance, direction):
    field = QLineEdit("text")
    field.setLayoutDirection(direction)
    qtbot.addWidget(field)
    add_clear_button(field)
    field.show()
    button = field.findChild(QPushButton)
    for scale, size in ((1.0, 16), (2.0, 32), (0.8, 12)):
        appearance.set_font_scale(scale)
        field.resize(field.sizeHint())
        qtbot.waitUntil(lambda: button.width() == button.sizeHint().width())
        assert button.iconSize() == QSize(size, size)
        assert field.rect().contains(button.geometry())
        margins = field.textMargins()
        free = field.rect().adjusted(margins.left() + 8, 0, -margins.right() - 8, 0)  # the sheet's padding is 8
        assert not free.intersects(button.geometry())


def test_clear_button_clears_field_like_typing(qtbot, appearance):
    field = QLineEdit()
    qtbot.addWidget(field)
    add_clear_button(field)
    field.show()
    button = field.findChild(QPushButton)
    assert button.isHidden()
    field.setText("text")
    assert button.isVisible()
    with qtbot.waitSignal(field.textEdited) as edited:
        qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert (edited.args, field.text(), button.isHidden()) == ([""], "", True)
    assert field.textMargins().right() == 0
    field.undo()
    assert field.text() == "text"


@pytest.mark.qt_log_ignore("This plugin does not support grabbing the keyboard")  # a popup on the offscreen platform
def test_combo_popup_has_one_frame_and_an_accent_on_its_row(qtbot, appearance):
    combo = ComboBox("Theme")
    qtbot.addWidget(combo)
    combo.addItems(["Light", "Dark", "High contrast"])
    combo.setCurrentIndex(1)
    combo.show()
    combo.showPopup()
    view, popup = combo.view(), combo.view().window()
    qtbot.waitUntil(popup.isVisible)
    colours, image = tokens(combo.palette()), popup.grab().toImage()
    row = QRect(view.viewport().mapTo(popup, view.visualRect(combo.model().index(1, 0)).topLeft()), QSize(2, 8))
    others = [row.translated(0, offset * view.sizeHintForRow(0)) for offset in (-1, 1)]
    assert _has_pixel(image, row, colours.accent)
    assert not any(_has_pixel(image, other, colours.accent) for other in others)
    middle = popup.height() // 2 + view.sizeHintForRow(0)
    line = [image.pixelColor(x, middle) for x in range(popup.width() // 4)]
    assert sum(colour == colours.edge for colour in line) == 1
    combo.hidePopup()


def _has_pixel(image: QImage, area: QRect, colour: QColor) -> bool:
    return any(
        image.pixelColor(x, y) == colour
        for x in range(area.left(), area.right() + 1)
        for y in range(area.top(), area.bottom() + 1)
    )


def test_empty_pages_begin_at_the_same_height(qtbot, appearance):
    """Title and sentence are in a column of limited width, near the top and in the middle of a wide page."""
    place = {}
    for size in ((400, 300), (900, 300), (900, 900), (1600, 900)):
        page = StatePage()
        qtbot.addWidget(page)
        page.resize(*size)
        page.show_state("Nothing here", "Choose something else.")
        page.show()
        title = next(part for part in page.findChildren(QLabel) if part.text() == "Nothing here")
        qtbot.waitUntil(lambda title=title: title.width() > 100)
        place[size] = title.mapTo(page, QPoint())
        width = page.viewport().width()
        assert title.width() <= 460
        assert place[size].x() == max(32, (width - 524) // 2 + 32)
    assert {at.y() for at in place.values()} == {40}


def test_label_is_elided_to_minimum_or_hidden(qtbot):
    words = ElidedLabel("154 passages. Similar ones sit together", fewest=10)
    qtbot.addWidget(words)
    words.show()
    letter = words.fontMetrics().averageCharWidth()
    words.resize(letter * 14, 20)
    number = QRect(0, 0, words.fontMetrics().horizontalAdvance("154 "), 20)
    whole = words.grab(number).toImage()
    words.resize(letter * 60, 20)
    assert words.grab(number).toImage() == whole
    words.resize(letter * 6, 20)
    hidden = words.grab().toImage()
    assert len({hidden.pixel(x, y) for x in range(hidden.width()) for y in range(hidden.height())}) == 1
    assert whole != hidden.copy(number)
    assert words.toolTip() == words.text()


def test_elided_label_at_size_hint_is_not_cut(qtbot, appearance):
    for scale in (0.8, 1.0, 1.15, 1.3, 1.5, 2.0):
        appearance.set_font_scale(scale)
        text = ElidedLabel("irrigation timer, 12,480 of 26,043")
        qtbot.addWidget(text)
        text.show()
        text.resize(text.sizeHint())
        assert text.toolTip() == "", scale


def test_chip_width_is_constant_when_checked(qtbot):
    chip = Chip("Sessions")
    qtbot.addWidget(chip)
    before = chip.sizeHint()
    qtbot.mouseClick(chip, Qt.MouseButton.LeftButton)
    assert chip.isChecked()
    assert chip.sizeHint() == before
    assert not Chip("Any time", QMenu(chip)).isCheckable()
    named = Chip("Notes", QMenu(chip), symbol="folder")
    assert named.sizeHint().width() > Chip("Notes", QMenu(chip)).sizeHint().width() + 14


def _ink(button: QPushButton) -> str:
    picture = button.icon().pixmap(16, 16).toImage().convertToFormat(QImage.Format.Format_ARGB32)
    pixels = [picture.pixelColor(x, y) for x in range(16) for y in range(16)]
    return max(pixels, key=lambda colour: colour.alpha()).name()


def test_icon_follows_theme_font_scale_and_screen(qtbot, qapp, appearance, monkeypatch):
    button = IconButton("close", "Close")
    qtbot.addWidget(button)
    button.show()
    light = _ink(button)
    appearance.set_theme("dark")
    qapp.processEvents()
    assert _ink(button) != light
    appearance.set_font_scale(2.0)
    qapp.processEvents()
    assert button.iconSize().width() == 32
    monkeypatch.setattr(button, "devicePixelRatioF", lambda: 3.0)
    button.grab()
    assert button.icon().availableSizes() == [QSize(96, 96)]
    assert not application_icon().isNull()


def test_state_label_names_state_in_text(qtbot):
    state_label = StateLabel()
    qtbot.addWidget(state_label)
    state_label.show_state("degraded", "not loaded")
    assert state_label.accessibleName() == "not loaded (degraded)"
    assert not state_label.dot.isHidden()
    state_label.show_state(None, "512")
    assert state_label.dot.isHidden()


def test_banner_shows_one_message_and_runs_action(qtbot):
    banner = Banner()
    qtbot.addWidget(banner)
    ran: list[str] = []
    banner.show_message("The sync failed.", "degraded", ("Try again", lambda: ran.append("again")), key="sync")
    banner.clear("another matter")
    assert banner.text == "The sync failed."
    button = next(button for button in banner.findChildren(QPushButton) if button.text() == "Try again")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    assert ran == ["again"]
    assert banner.text == ""


def test_banner_action_may_show_next_message(qtbot):
    banner = Banner()
    qtbot.addWidget(banner)
    banner.show_message("Damaged.", "degraded", ("Rebuild…", lambda: banner.show_message("Really?", "working")))
    qtbot.mouseClick(banner.findChildren(QPushButton)[-1], Qt.MouseButton.LeftButton)
    assert banner.text == "Really?"


def test_narrow_banner_places_actions_below_text(qtbot, appearance):
    banner = Banner()
    qtbot.addWidget(banner)
    nothing = ("Embed for about $1.09", lambda: None), ("Not now", lambda: None)
    with qtbot.waitExposed(banner):
        banner.resize(1200, 60)
        banner.show()
    banner.show_message("A long sentence about the texts to embed, and about their cost. " * 3, "working", *nothing)
    places = {}
    for width in (1200, 420, 1200):
        banner.resize(width, banner.heightForWidth(width))
        banner.layout().activate()
        words = next(label for label in banner.findChildren(QLabel) if label.wordWrap())
        button = next(b for b in banner.findChildren(QPushButton) if b.text() == "Not now" and not b.isHidden())
        places[width] = button.y() > words.geometry().bottom()
        assert button.width() >= button.minimumSizeHint().width()
        assert words.height() >= words.heightForWidth(words.width())
    assert places == {1200: False, 420: True}


def test_cleared_banner_passes_focus_on_only_if_it_had_it(qtbot):
    window = QWidget()
    banner, box = Banner(window), QLineEdit(window)
    banner.left.connect(box.setFocus)
    qtbot.addWidget(window)
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    for keys_in_it in (True, False):
        box.clearFocus()
        banner.show_message("The engine is asked again.", "working", key="engine")
        if keys_in_it:
            banner.findChild(IconButton).setFocus()
        with qtbot.assertNotEmitted(banner.left) if not keys_in_it else qtbot.waitSignal(banner.left):
            banner.clear("engine")
        assert box.hasFocus() == keys_in_it


def test_low_message_page_scrolls(qtbot, appearance):
    appearance.set_font_scale(2.0)
    page = MessagePage()
    qtbot.addWidget(page)
    page.show_message("This index can't be inspected", "It is kept elsewhere. " * 6, ("Choose another", lambda: None))
    page.resize(300, 120)
    with qtbot.waitExposed(page):
        page.show()
    button = next(button for button in page.findChildren(QPushButton))
    labels = [label for label in page.findChildren(QLabel) if label.text()]
    qtbot.waitUntil(lambda: all(label.height() >= label.heightForWidth(label.width()) for label in labels))
    page.take_focus()
    qtbot.waitUntil(lambda: page.rect().contains(button.mapTo(page, button.rect().center())))


def test_tab_reaches_message_page_actions_in_place(qtbot):
    window = QWidget()
    first, page, last = QLineEdit(window), MessagePage(window), QLineEdit(window)
    qtbot.addWidget(window)
    page.show_message("It cannot be opened", "It is gone.", ("Try again", last.clear), ("Choose", last.clear))
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    first.setFocus()
    met = []
    for _ in range(3):
        qtbot.keyClick(window.focusWidget(), Qt.Key.Key_Tab)
        met.append(window.focusWidget())
    assert [button.text() for button in met[:2]] == ["Try again", "Choose"]
    assert met[2] is last


def test_message_page_replaces_buttons(qtbot):
    page = MessagePage()
    qtbot.addWidget(page)
    page.show_message("It cannot be opened", "The folder is gone.", ("Try again", lambda: None))
    page.show_message("The settings cannot be used", "Line 3.", ("Open", lambda: None), ("Again", lambda: None))
    buttons = [button for button in page.findChildren(QPushButton) if not button.isHidden()]
    assert [button.text() for button in buttons] == ["Open", "Again"]
    assert [button.property("role") for button in buttons] == ["primary", None]
    assert page.text == "The settings cannot be used: Line 3."


def test_narrow_row_folds(qtbot):
    box, chips = QLineEdit(), QLabel("x" * 30)
    row = FoldingRow(box, chips, characters=40)
    qtbot.addWidget(row)
    row.resize(1200, 60)
    row.show()
    qtbot.waitUntil(lambda: box.y() + box.height() // 2 == chips.y() + chips.height() // 2)
    row.resize(380, 100)
    qtbot.waitUntil(lambda: chips.y() >= box.y() + box.height())


def test_row_with_whole_width_ignores_text_of_filters(qtbot):
    box, chip = QLineEdit(), Chip("notes", yields=True)
    row = FoldingRow(box, chip, 40, 100)
    qtbot.addWidget(row)
    letter = QFontMetrics(font_at(13)).averageCharWidth()
    row.resize(104 * letter, 60)
    row.show()
    qtbot.waitUntil(lambda: chip.x() > box.x() + box.width() and chip.y() < box.y() + box.height())
    chip.setText("notes of a very long name " * 8)
    chip.updateGeometry()
    qtbot.waitUntil(lambda: box.width() == 40 * letter)
    assert chip.x() > box.x() + box.width()
    row.resize(96 * letter, 100)
    qtbot.waitUntil(lambda: chip.y() >= box.y() + box.height())


def test_folded_row_uses_full_width_below_reserved_area(qtbot):
    box, chips = QLineEdit(), QLabel("x" * 30)
    row = FoldingRow(box, chips, characters=40)
    qtbot.addWidget(row)
    row.reserve(100)
    row.resize(chips.sizeHint().width() + 80, 100)
    row.show()
    qtbot.waitUntil(lambda: chips.y() >= box.y() + box.height() and chips.width() == chips.sizeHint().width())
    assert box.x() + box.width() <= row.width() - 100


def test_second_line_begins_below_first_if_it_fits(qtbot):
    holder, box, chips = QWidget(), QLineEdit(), QLabel("x" * 30)
    below = QPushButton("Switch", holder)
    row = FoldingRow(box, chips, characters=60, parent=holder)
    qtbot.addWidget(holder)
    row.reserve(60, 200)
    row.resize(chips.sizeHint().width() + 260, 100)
    holder.resize(1200, 200)
    holder.show()
    qtbot.waitUntil(lambda: chips.y() >= box.y() + box.height() and chips.x() == box.x() > 200)
    row.resize(chips.sizeHint().width() + 180, 100)
    qtbot.waitUntil(lambda: chips.x() < 200 < box.x())
    assert chips.width() == chips.sizeHint().width()
    assert holder.childAt(QPoint(5, 5)) is below


def test_dropped_folder_accepts_one_local_folder(tmp_path):
    (tmp_path / "a.md").write_text("x")

    def dragged(*urls: QUrl) -> QMimeData:
        data = QMimeData()
        data.setUrls(list(urls))
        return data

    folder = QUrl.fromLocalFile(str(tmp_path))
    assert dropped_folder(dragged(folder)) == tmp_path
    assert dropped_folder(dragged(folder, folder)) is None
    assert dropped_folder(dragged(QUrl.fromLocalFile(str(tmp_path / "a.md")))) is None
    assert dropped_folder(dragged(QUrl("https://example.org/notes"))) is None
    assert dropped_folder(QMimeData()) is None


def test_long_path_gets_break_opportunities():
    assert breakable("a/b-2.md and c_d") == "a/\u200bb-\u200b2.\u200bmd and c_\u200bd"
    assert breakable("1.2 bar. Then -") == "1.2 bar. Then -"
    assert breakable("only .md, and a/.config") == "only .md, and a/\u200b.config"


@pytest.mark.parametrize(
    ("text", "at_left"), [("English words", True), ("\u05e9\u05dc\u05d5\u05dd", False), ("1 · 2", True)]
)
def test_text_direction_follows_content(text: str, at_left: bool) -> None:
    assert (text_direction(text) == Qt.LayoutDirection.LeftToRight) == at_left


def test_long_combo_box_choice_is_elided(qtbot, appearance):
    combo = ComboBox("Left note", Qt.TextElideMode.ElideLeft)
    qtbot.addWidget(combo)
    combo.addItem("travel/packing-list-2025.md · lines 1–30")
    combo.resize(400, 28)
    combo.show()
    assert combo.shown_text() == combo.currentText()
    combo.resize(160, 28)
    assert combo.shown_text().startswith("…")
    assert combo.shown_text().endswith("lines 1–30")
    assert not combo.grab().isNull()


def test_states_differ_without_colour(qtbot, appearance):
    shapes = []
    for state in get_args(State):
        dot = StateDot()
        dot.set_state(state)
        qtbot.addWidget(dot)
        dot.setFixedSize(20, 20)
        picture = dot.grab().toImage()
        ground = picture.pixelColor(0, 0)
        shapes.append([picture.pixelColor(x, y) != ground for x in range(20) for y in range(20)])
    for one, other in combinations(shapes, 2):
        assert sum(map(ne, one, other)) > 30


def test_column_width_follows_font_scale(qtbot, appearance):
    page = column_page(QVBoxLayout(), 300)
    qtbot.addWidget(page)
    page.resize(1000, 200)
    page.show()
    middle = page.findChild(QWidget)
    for scale, width in ((1.0, 300), (2.0, 600), (0.8, 300)):
        appearance.set_font_scale(scale)
        qtbot.waitUntil(lambda width=width: middle.width() == width)


def test_footer_settles_at_every_size(qtbot, monkeypatch):
    column, footer = QVBoxLayout(), QWidget()
    column.addWidget(QLabel("A page"))
    column.addStretch(1)
    words = QLabel("What would be sent, and to whom, before anything is saved. " * 6)
    words.setWordWrap(True)
    QVBoxLayout(footer).addWidget(words)
    whole = ColumnWithFooter(column, 300, footer)
    qtbot.addWidget(whole)
    whole.show()
    moved: list[int] = []
    add = QVBoxLayout.addWidget
    monkeypatch.setattr(QVBoxLayout, "addWidget", lambda *of: [moved.append(1), add(*of)][1])
    for height in range(100, 700, 10):
        moved.clear()
        whole.resize(900, height)
        qtbot.wait(10)
        assert len(moved) <= 1, height


@pytest.mark.parametrize("height", [100, 700])
def test_footer_is_hidden_with_its_line(qtbot, height):
    column, footer, words = QVBoxLayout(), QWidget(), QLabel("What would be sent, before anything is saved.")
    column.addWidget(QLabel("A page"))
    column.addStretch(1)
    QVBoxLayout(footer).addWidget(words)
    whole = ColumnWithFooter(column, 300, footer)
    qtbot.addWidget(whole)
    whole.show_footer(False)
    whole.resize(900, height)
    whole.show()
    [scroll] = whole.findChildren(QScrollArea)
    for _ in range(2):
        qtbot.waitUntil(lambda: not words.isVisible() and scroll.height() == height)
        whole.show_footer(True)
        qtbot.waitUntil(words.isVisible)
        whole.show_footer(False)


def test_moving_footer_keeps_the_focus(qtbot):
    column, footer, button = QVBoxLayout(), QWidget(), QPushButton("Save")
    column.addWidget(QLabel("A page"))
    column.addStretch(1)
    words = QLabel("What would be sent, and to whom, before anything is saved. " * 6)
    words.setWordWrap(True)
    foot = QVBoxLayout(footer)
    foot.addWidget(words)
    foot.addWidget(button)
    whole = ColumnWithFooter(column, 300, footer)
    qtbot.addWidget(whole)
    with qtbot.waitActive(whole):
        whole.show()
        whole.activateWindow()
    button.setFocus()
    parents = set()
    for height in (700, 100, 700):
        whole.resize(900, height)
        qtbot.wait(10)
        parents.add(footer.parentWidget())
        assert button.hasFocus()
    assert len(parents) == 2


def test_down_stops_at_the_last_button_of_a_page(qtbot, appearance):
    window = QWidget()
    qtbot.addWidget(window)
    page, below = StatePage(), QPushButton("Status")
    column = QVBoxLayout(window)
    column.addWidget(page)
    column.addWidget(below)
    page.show_state("Nothing here", "", actions=[("Clear", lambda: None), ("Choose", lambda: None)])
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    page.take_focus()
    focused = []
    for _ in range(3):
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Down)
        focused.append(QApplication.focusWidget().text())
    assert focused == ["Choose"] * 3
    qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
    assert below.hasFocus()


def test_buttons_with_same_labels_stay_and_do_the_new_action(qtbot, appearance):
    page, done = StatePage(), []
    qtbot.addWidget(page)

    def show(name: str, *more: str) -> list[QPushButton]:
        offer = Offer(f"No note contains {name}.", "Search by meaning", lambda: done.append(name))
        actions = [(words, lambda words=words: done.append((name, words))) for words in ("Guide", *more)]
        page.show_state(name, "Nothing found", offers=[offer], actions=actions)
        QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete)
        return page.findChildren(QPushButton)

    before = show("first")
    after = show("second")
    assert after == before
    assert after[0].accessibleDescription() == "No note contains second."
    assert [part.text() for part in page.findChildren(QLabel)].count("No note contains second.") == 1
    for button in show("third"):
        button.click()
    assert done == ["third", ("third", "Guide")]
    assert not set(show("fourth", "More")) & set(before)


def test_page_title_follows_text_size(qtbot, appearance):
    page = StatePage()
    qtbot.addWidget(page)
    page.show_state("Nothing here", "Choose something else.")
    page.show()
    labels = [part for part in page.findChildren(QLabel) if part.isVisible()]
    before = [part.font().pixelSize() for part in labels]
    appearance.set_font_scale(2.0)
    assert [part.font().pixelSize() for part in labels] == [2 * pixels for pixels in before]


def test_longer_sentence_gets_its_room_immediately(qtbot, appearance):
    page = StatePage()
    qtbot.addWidget(page)
    page.resize(260, 120)
    page.show_state("Nothing here", "Reading files.")
    page.show()
    page.show_state("Nothing here", "Reading files, of which there are more than fit into one line of this page.")
    content = page.widget()
    assert content.height() == content.heightForWidth(content.width()) > page.viewport().height()


def test_menu_of_icon_button_stays_within_window(qtbot, appearance):
    window = QWidget()
    qtbot.addWidget(window)
    window.setGeometry(0, 0, 300, 200)
    menu = QMenu(window)
    menu.addAction("Entry of the menu")
    buttons = [IconButton("more", name, parent=window) for name in ("First", "Last")]
    for button in buttons:
        button.resize(30, 24)
        button.setMenu(menu)
    buttons[1].move(260, 0)
    window.show()
    menu.resize(menu.sizeHint())
    places = []
    for button in buttons:
        menu.move(button.mapToGlobal(QPoint(0, 24)))
        QApplication.sendEvent(menu, QShowEvent())  # opening it would grab the keyboard
        places.append(menu.geometry())
    assert places[0].left() == buttons[0].mapToGlobal(QPoint()).x()
    assert places[1].right() == buttons[1].mapToGlobal(QPoint(29, 0)).x()


def test_column_keeps_its_place_next_to_scroll_bar(qtbot, appearance):
    column = QVBoxLayout()
    part = QLabel("Text")
    column.addWidget(part)
    area = scrolling_column(column, 200)
    qtbot.addWidget(area)
    area.resize(400, 300)
    area.show()
    before = part.mapTo(area, QPoint()).x()
    part.setMinimumHeight(900)
    qtbot.waitUntil(area.verticalScrollBar().isVisible)
    qtbot.waitUntil(lambda: part.mapTo(area, QPoint()).x() == before)


def test_notice_in_narrow_list_has_its_button_below(qtbot, appearance):
    bar = NoticeBar()
    qtbot.addWidget(bar)
    bar.show_notice("Der Index hat sich geändert, seit diese Gruppen gefunden wurden.", "Neu vergleichen", bar.update)
    text, button = bar.findChild(QLabel), bar.findChild(QPushButton)
    for width, below in ((900, False), (260, True), (900, False)):
        bar.resize(width, bar.heightForWidth(width))
        bar.layout().activate()
        assert (button.y() >= text.geometry().bottom()) is below, width
        assert not bar.layout().expandingDirections() & Qt.Orientation.Vertical, "the list gets the rest of the height"
    bar.resize(500, 60)
    bar.layout().activate()
    assert button.x() > text.x()
    bar.show_notice(
        "Der Index hat sich geändert.", "Ergebnisse unter der Mindestpunktzahl wieder ausblenden", bar.update
    )
    bar.layout().activate()
    assert button.x() == text.x(), "a longer button moves below at the same width"
    assert bar.minimumSizeHint().width() < 260, "a narrow list shortens the button"
    bar.resize(260, bar.heightForWidth(260))
    bar.layout().activate()
    image = bar.grab().toImage()

    def start(part: QWidget) -> int:
        rows = range(part.y() + 2, part.geometry().bottom() - 1)
        return next(x for x in range(260) if any(image.pixel(x, y) != image.pixel(1, y) for y in rows))

    assert abs(start(button) - start(text)) <= 2, "the button is aligned with the text"
    bar.resize(260, 100)
    bar.show_notice("Der Index hat sich geändert.")
    bar.layout().activate()
    assert text.width() == bar.width() - 2 * text.x(), "nothing is reserved for a hidden button"


def test_files_dropped_on_text_field_are_paths(qtbot, appearance, tmp_path):
    field = TextField("Folders")
    qtbot.addWidget(field)
    folders = [tmp_path / "a b", tmp_path / "ü"]
    files, text = QMimeData(), QMimeData()
    files.setUrls([QUrl.fromLocalFile(str(folder)) for folder in folders])
    text.setUrls([QUrl("https://example.org/a")])
    for dropped, lines in ((files, list(map(str, folders))), (text, ["https://example.org/a"])):
        field.clear()
        values = Qt.DropAction.CopyAction, dropped, Qt.MouseButton.LeftButton, Qt.KeyboardModifier.NoModifier
        for event in (QDragEnterEvent(QPoint(9, 9), *values), QDropEvent(QPointF(9, 9), *values)):
            QApplication.sendEvent(field.viewport(), event)
        assert field.toPlainText().splitlines() == lines
    files.setUrls([QUrl.fromLocalFile(str(tmp_path / str(number))) for number in range(99)])
    field.selectAll()
    field.insertFromMimeData(files)
    assert field.viewport().rect().contains(field.cursorRect()), "the end of pasted text is in view, as with Qt"
