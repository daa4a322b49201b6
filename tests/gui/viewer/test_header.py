"""When the window gets narrow, first the path is shortened, then the buttons, and last the title."""

from collections.abc import Iterator
from itertools import pairwise

import pytest
from PySide6.QtCore import QEvent, QObject
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QWidget

from gui.viewer.header import ViewerHeader

PATH = "projects/garden/greenhouse.md › Watering"


@pytest.fixture
def header(qtbot, appearance) -> Iterator[ViewerHeader]:
    window = QWidget()
    qtbot.addWidget(window)
    actions = [QAction(text, window) for text in ("Open in editor", "Copy citation", "Copy path")]
    header = ViewerHeader(actions[:2], actions[2:], window)
    header.show_title("Greenhouse", PATH)
    window.show()
    yield header
    window.hide()


def visible_buttons(header: ViewerHeader, width: int) -> list[str]:
    header.resize(width, header.sizeHint().height())
    return [button.text() for button in header.folding.buttons if not button.isHidden()]


def menu_texts(header: ViewerHeader) -> list[str]:
    """Texts of the menu's current entries."""
    menu = header.folding.more.menu()
    menu.aboutToShow.emit()
    return [action.text() for action in menu.actions() if not action.isSeparator()]


def test_wide_header_shows_everything(header: ViewerHeader) -> None:
    assert visible_buttons(header, 1000) == ["Open in editor", "Copy citation"]
    assert header.crumb.width() >= header.crumb.sizeHint().width()
    assert menu_texts(header) == ["Copy path"]


def test_path_is_cut_before_buttons_are_hidden(header: ViewerHeader) -> None:
    for width in range(1000, 200, -5):
        if len(visible_buttons(header, width)) < 2:
            break
        cut = header.crumb.width() < header.crumb.sizeHint().width()
    assert cut


def test_buttons_move_to_menu_before_path_becomes_too_short(header: ViewerHeader) -> None:
    for width in range(1000, 500, -5):
        if visible_buttons(header, width):
            assert header.crumb.width() >= 14 * header.crumb.fontMetrics().averageCharWidth()


def test_buttons_move_to_menu_before_title_is_cut(header: ViewerHeader) -> None:
    for width in range(1000, 240, -10):
        folded = 2 - len(visible_buttons(header, width))
        assert len(menu_texts(header)) == 1 + folded + header.source_button.isHidden()
        assert header.title.width() >= header.title.sizeHint().width()
    assert menu_texts(header) == ["Show rendered", "Open in editor", "Copy citation", "Copy path"]


def test_header_parts_do_not_overlap_at_any_width(header: ViewerHeader) -> None:
    for width in range(header.minimumSizeHint().width(), 900, 7):
        visible_buttons(header, width)
        parts = [
            header.title,
            header.crumb,
            header.source_button,
            header.rendered_button,
            *header.folding.buttons,
            header.folding.more,
        ]
        boxes = [part.geometry() for part in parts if not part.isHidden() and part.width()]
        assert all(left.right() < right.left() for left, right in pairwise(boxes))
        assert boxes[-1].right() <= width


def test_mode_can_be_chosen_from_menu(qtbot, header: ViewerHeader) -> None:
    visible_buttons(header, 240)
    menu_texts(header)
    with qtbot.waitSignal(header.rendered_chosen) as chosen:
        header.folding.more.menu().actions()[0].trigger()
    assert chosen.args == [True]
    assert menu_texts(header)[0] == "Show source"


def test_end_of_long_title_is_cut_before_buttons_move(header: ViewerHeader) -> None:
    header.show_title("A long title of a note about the greenhouse " * 5, PATH)
    assert visible_buttons(header, 1000) == ["Open in editor", "Copy citation"]
    assert header.title.width() < header.title.sizeHint().width()
    assert header.title.width() >= 36 * header.title.fontMetrics().averageCharWidth()
    assert header.crumb.width() >= 14 * header.crumb.fontMetrics().averageCharWidth()


class LayoutRequests(QObject):
    """Counts the requests of a widget to be laid out again."""

    count = 0

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        self.count += event.type() == QEvent.Type.LayoutRequest
        return False


def test_header_at_rest_requests_no_layout(header: ViewerHeader) -> None:
    requests = LayoutRequests(header)
    header.installEventFilter(requests)
    for has_page in (True, False):
        header.offer_modes(has_page)
        for width in range(1000, 240, -20):
            header.resize(width, header.sizeHint().height())
            for _ in range(4):
                QApplication.processEvents()
            requests.count = 0
            for _ in range(4):
                QApplication.processEvents()
            assert requests.count == 0, width


def test_mode_buttons_are_shown_only_with_page(header: ViewerHeader) -> None:
    visible_buttons(header, 1000)
    for has_page in (True, False, True):
        header.offer_modes(has_page)
        assert header.source_button.isHidden() is not has_page
        assert header.rendered_button.isHidden() is not has_page
