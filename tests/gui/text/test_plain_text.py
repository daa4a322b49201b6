"""Text of users' files is shown literally and makes Qt read no file."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PySide6.QtCore import QEvent, QObject, Qt, QUrl
from PySide6.QtGui import Qt as GuiQt
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import QLabel, QPushButton, QWidget

from gui.sharing.print_pages import paper_style
from gui.text.plain_text import (
    SealedDocument,
    as_notification,
    as_tip,
    code_point_offset,
    message_box,
    progress_dialog,
    rich_document,
    set_rich,
    set_tip,
    set_whats_this,
    tip_of,
    utf16_length,
    utf16_ranges,
    whats_this_of,
)
from gui.viewer.markdown_page import page_steps
from gui.widgets.rows import RowModel

PIECES = ["<b>", "</b>", "<img src='/x'>", "<!--", "&lt;", "&amp;", "&", "<", ">", '"', "\n", "  ", "<qt>", "<br>", "a"]
ANY_PIECE = st.text(st.characters(min_codepoint=32, codec="utf-8"), max_size=3)
# Qt takes the first character of a text as its byte order mark.
TEXTS = (
    st.lists(st.sampled_from(PIECES) | ANY_PIECE).map("".join).filter(lambda text: text[:1] not in ("\ufeff", "\ufffe"))
)
IMAGES = (
    "![a]({0})",
    "[![a]({0})](b)",
    "# ![a]({0})",
    "> - ![a]({0})",
    "|![a]({0})|\n|-|\n|![b]({0})|",
    "![a][b]\n\n[b]: {0}",
    '<img src="{0}">',
    "![a](file://{0})",
)

TEXT = st.text(st.sampled_from("aé水\U0001f331\U0001d54f "), max_size=20)


@pytest.fixture
def tripwire(tmp_path) -> Iterator[tuple[str, Callable[[], bool]]]:
    """Return the path of a named pipe, and a function that says whether anything opened it to read.

    A second process waits at its other end.
    """
    pipe, opened = tmp_path / "picture.png", tmp_path / "opened"
    if sys.platform == "win32":
        pytest.skip("needs named pipes with a path")
    os.mkfifo(pipe)
    script = 'exec 3>"$1"; : > "$2"'
    waiting = subprocess.Popen([shutil.which("sh") or "sh", "-c", script, "sh", str(pipe), str(opened)])
    yield str(pipe), opened.exists
    waiting.kill()
    waiting.wait()


def hostile(path: str) -> str:
    return f'<b>x</b><img src="{path}"> <img src="{QUrl.fromLocalFile(path).toString()}">'


def test_read_of_a_watched_file_is_detected(tripwire) -> None:
    path, opened = tripwire
    Path(path).read_bytes()
    assert opened()


@given(TEXTS)
def test_tip_of_returns_any_text(qapp, text: str) -> None:
    button = QWidget()
    set_tip(button, text)
    assert tip_of(button) == text
    set_whats_this(button, text)
    assert whats_this_of(button) == text


def test_equal_tip_does_not_notify_widget_again(qapp) -> None:
    button, changes = QPushButton(), []

    class Watcher(QObject):
        def eventFilter(self, watched: QObject, event: QEvent) -> bool:
            changes.append(event.type())
            return False

    watcher = Watcher()
    button.installEventFilter(watcher)
    for text in ("<b>", "<b>", "other"):
        set_tip(button, text)
    assert changes.count(QEvent.Type.ToolTipChange) == 2


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(TEXTS, st.booleans())
def test_tip_shows_any_text_literally(qapp, text: str, wrap: bool) -> None:
    tip = as_tip(text, wrap=wrap)
    if not GuiQt.mightBeRichText(tip):
        assert tip == text
        return
    document = SealedDocument()
    document.setHtml(tip)
    tip_text = document.toPlainText().replace("\xa0", " ")
    assert tip_text.split() == text.replace("\xa0", " ").split()
    if not wrap:
        assert tip_text.strip("\n") == text.replace("\xa0", " ").strip("\n")


@given(TEXTS)
def test_notification_has_no_tag_and_no_entity(text: str) -> None:
    notification = as_notification(text)
    assert not set("<>") & set(notification)
    assert "&lt;" not in notification
    assert len(notification) == len(text)


def test_labels_boxes_and_tips_read_no_file(qtbot, tripwire) -> None:
    path, opened = tripwire
    text = hostile(path)
    label = QLabel()
    qtbot.addWidget(label)
    set_rich(label, [(text, "color:red"), (text, "")])
    box = message_box(None, text, text, text)
    qtbot.addWidget(box)
    dialog = progress_dialog(None, text, "Cancel", 1)
    qtbot.addWidget(dialog)
    button = QPushButton(text)
    qtbot.addWidget(button)
    tip = QLabel(as_tip(text))  # as the label of a tooltip is made
    qtbot.addWidget(tip)
    for widget in (label, box, dialog, button, tip):
        widget.show()
        widget.grab()
    assert all(
        text in found.text() for found in (*box.findChildren(QLabel), *dialog.findChildren(QLabel)) if found.text()
    )
    assert not opened()


@pytest.mark.parametrize("markdown", IMAGES)
def test_pages_of_notes_read_no_file(qapp, tripwire, markdown: str) -> None:
    path, opened = tripwire
    document = _page(markdown.format(path))
    document.setTextWidth(300)
    assert document.size().height() > 0
    assert path not in document.toPlainText() or "<img" in markdown
    assert not opened()


def _page(markdown: str) -> QTextDocument:
    steps = page_steps([markdown], paper_style())
    while True:
        try:
            next(steps)
        except StopIteration as end:
            return end.value.document


class _Rows(RowModel):
    def spoken(self, row: object) -> str:
        return str(row)

    def tip(self, row: object) -> str:
        return str(row)


def test_tip_of_a_row_is_escaped(qapp) -> None:
    model = _Rows()
    model.set_rows(["<b>Tom & Jerry</b>\nnext", ""])
    tips = [model.data(model.index(row), Qt.ItemDataRole.ToolTipRole) for row in (0, 1)]
    assert tips == ["<qt>&lt;b&gt;Tom &amp; Jerry&lt;/b&gt;<br>next</qt>", None]


def test_documents_read_no_file(qapp, tripwire) -> None:
    path, opened = tripwire
    rich = rich_document([(hostile(path), "font-weight:bold")])
    assert hostile(path) in rich.toPlainText()
    html, markdown = SealedDocument(), SealedDocument()
    html.setHtml(f'<link rel="stylesheet" href="{path}"><body background="{path}">{hostile(path)}')
    markdown.setMarkdown(f"![a]({path}) ![b](file://{path})")
    for document in (rich, html, markdown):
        document.setTextWidth(300)
        assert document.size().height() > 0
    assert not opened()


def units(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def test_ranges_shift_after_emoji() -> None:
    assert utf16_ranges("a\U0001f331b", [(0, 1), (1, 2), (2, 3)]) == [(0, 1), (1, 3), (3, 4)]


@given(TEXT)
def test_length_matches_encoder(text: str) -> None:
    assert utf16_length(text) == units(text)


@given(TEXT, st.data())
def test_ranges_match_encoder(text: str, data: st.DataObject) -> None:
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=6)))
    ranges = list(zip(cuts[::2], cuts[1::2], strict=False))
    assert utf16_ranges(text, ranges) == [(units(text[:start]), units(text[:end])) for start, end in ranges]


@given(TEXT)
def test_offsets_round_trip(text: str) -> None:
    for offset in range(len(text) + 1):
        assert code_point_offset(text, units(text[:offset])) == offset


def test_offset_inside_surrogate_pair_maps_to_its_start() -> None:
    assert code_point_offset("ab\U0001f331c\U0001f331", 3) == 2
    assert code_point_offset("ab\U0001f331c\U0001f331", 6) == 4
