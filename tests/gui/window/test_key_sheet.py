import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtWidgets import QApplication, QLabel

from gui.commands.keymap import keymap
from gui.style.theme import tokens
from gui.widgets.labels import KeyCaps
from gui.widgets.layouts import open_dialog
from gui.window.key_sheet import KeySheet


@pytest.fixture
def key_sheet(qtbot, opened):
    qtbot.keyClick(opened, Qt.Key.Key_F1)
    qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None)
    sheet = QApplication.activeModalWidget().findChild(KeySheet)
    qtbot.waitUntil(lambda: sheet.complete)
    return sheet


def test_sheet_lists_every_window_key(key_sheet):
    listing = " | ".join(key_sheet.visible_rows)
    rows = ("Ctrl+1: Search notes", "F1 or ?: Keyboard shortcuts", "Alt+Z: Wrap lines", "J, K: Next and previous")
    for row in rows:
        assert row in listing


def test_typing_filters_rows(qtbot, key_sheet):
    assert key_sheet.edit.hasFocus()
    qtbot.keyClicks(key_sheet.edit, "wrap lin")
    assert key_sheet.visible_rows == ["Alt+Z: Wrap lines"]
    qtbot.keyClicks(key_sheet.edit, "xyz")
    assert key_sheet.visible_rows == []
    key_sheet.edit.setText("ctrl+shift+k")
    assert key_sheet.visible_rows == ["Ctrl+Shift+K: Search within these results"]


def test_typing_before_the_list_is_complete_searches_all_keys(qtbot, opened):
    sheet = KeySheet()
    open_dialog("Keyboard shortcuts", sheet, opened)
    assert not sheet.complete
    sheet.edit.setText("wrap lin")
    assert sheet.visible_rows == ["Alt+Z: Wrap lines"]


class _PaintedHeights(QObject):
    """Records the height of each key cap when it is painted, as a multiple of the height of its text."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[float] = []

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, KeyCaps):
            self.seen.append(watched.height() / watched.heightForWidth(watched.width()))
        return False


@pytest.mark.parametrize("columns", [1, 2])
def test_rows_have_their_height_while_the_list_is_filled(qtbot, qapp, appearance, columns):
    sheet = KeySheet(columns)
    qtbot.addWidget(sheet)
    sheet.resize(1400, 500)
    heights = _PaintedHeights()
    qapp.installEventFilter(heights)
    sheet.show()
    while not sheet.complete:
        qapp.processEvents()
        sheet.grab()
    qapp.removeEventFilter(heights)
    assert heights.seen
    assert min(heights.seen) >= 1
    assert max(heights.seen) < 2.5


def test_sheet_shows_own_keys(qtbot, key_sheet, opened):
    keymap().set_own({"file.wrap": ["F7"], "view.search": []})
    fresh = KeySheet()
    open_dialog("Keyboard shortcuts", fresh, opened)
    qtbot.waitUntil(lambda: fresh.complete)
    listing = " | ".join(fresh.visible_rows)
    assert "F7: Wrap lines" in listing
    assert "Search notes and sessions" not in listing


def test_change_button_opens_keyboard_settings(qtbot, key_sheet, opened):
    qtbot.mouseClick(key_sheet.change, Qt.MouseButton.LeftButton)
    dialog = opened.settings.dialog
    qtbot.waitUntil(lambda: dialog is not None and dialog.isVisible() and dialog.ready)
    assert dialog.page == "keyboard"


def rows(sheet: KeySheet) -> list[tuple[QLabel, QLabel]]:
    """Return the keys and the command of each row; a title spans both columns."""
    grid = sheet.area.widget().layout().itemAt(0).layout()
    items = [(grid.itemAtPosition(number, 0), grid.itemAtPosition(number, 1)) for number in range(grid.rowCount())]
    labels = [(key.widget(), words.widget()) for key, words in items if key and words]
    return [(key, words) for key, words in labels if key is not words]


def test_wide_window_shows_keys_in_two_columns(qtbot, opened):
    for width, columns in ((900, 1), (1600, 2)):
        opened.resize(width, 800)
        qtbot.waitUntil(lambda width=width: opened.width() == width)
        with qtbot.waitActive(opened):
            opened.activateWindow()
        qtbot.keyClick(opened, Qt.Key.Key_F1)
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is not None)
        dialog = QApplication.activeModalWidget()
        qtbot.waitUntil(lambda dialog=dialog: dialog.findChild(KeySheet).complete)
        lefts = {cap.mapTo(dialog, QPoint()).x() for cap in dialog.findChildren(KeyCaps)}
        assert len(lefts) == columns
        dialog.reject()
        qtbot.waitUntil(lambda: QApplication.activeModalWidget() is None)


def test_each_key_is_painted_as_a_cap(qtbot, key_sheet):
    caps = next(caps for caps in key_sheet.findChildren(KeyCaps) if caps.text() == "F1 or ?")
    image, colours = caps.grab().toImage(), tokens(caps.palette())
    line = [image.pixelColor(x, caps.fontMetrics().height() // 2) for x in range(image.width())]
    assert sum(colour == colours.edge for colour in line) == 4  # both sides of two caps


def test_narrow_sheet_divides_width_between_keys_and_labels(qtbot, window, appearance):
    appearance.set_font_scale(2.0)
    narrow = KeySheet()
    qtbot.addWidget(narrow)
    narrow.resize(700, 500)
    narrow.show()
    qtbot.waitUntil(lambda: narrow.complete)
    QApplication.processEvents()
    widths = [max(label.width() for label in column) for column in zip(*rows(narrow), strict=True)]
    assert min(widths) > 0.3 * 700
    assert sum(widths) < narrow.area.viewport().width()


def test_keys_align_left_in_mirrored_layout(qtbot, qapp, opened):
    """Names of keys are read from left to right in every language."""
    qapp.setLayoutDirection(Qt.LayoutDirection.RightToLeft)
    try:
        mirrored = KeySheet()
        qtbot.waitUntil(lambda: mirrored.complete)
    finally:
        qapp.setLayoutDirection(Qt.LayoutDirection.LeftToRight)
    sides = {key.alignment() & Qt.AlignmentFlag.AlignHorizontal_Mask for key, _ in rows(mirrored)}
    assert sides == {Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignAbsolute}
    mirrored.deleteLater()
