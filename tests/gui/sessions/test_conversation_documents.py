"""Documents of a conversation are made in small steps, one per turn of the event loop."""

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QGuiApplication

from engine import CancelToken
from gui.conversation import row_layout
from gui.conversation.display_entries import prepare
from gui.conversation.row_layout import PieceDocuments, PieceStyle
from gui.style.theme import theme_tokens
from gui.style.typography import fixed_font
from gui.viewer.markdown_page import PageStyle
from tests.helpers.fake_sessions import make_session

CODE = "```python\n" + "return 1\n" * 200 + "```"


def make_style(width: int) -> PieceStyle:
    page = PageStyle(QGuiApplication.font(), fixed_font(), theme_tokens("light"), 1.0)
    return PieceStyle(page, width, width, (width,))


@pytest.fixture
def documents(appearance, monkeypatch) -> Iterator[PieceDocuments]:
    """Documents of two messages with code, made in turns of one step each."""
    monkeypatch.setattr(row_layout, "TURN_SECONDS", 0)
    owner = QObject()
    documents = PieceDocuments(owner)
    session = make_session([("user", (("text", CODE),)), ("assistant", (("text", CODE),))])
    documents.set_conversation(prepare(session, CancelToken()))
    documents.set_style(make_style(400))
    yield documents
    documents.set_conversation(None)


def begin(documents: PieceDocuments, piece: int) -> None:
    documents.request([piece])
    QCoreApplication.processEvents()  # one turn, and so one step
    assert documents.layout_of(piece) is None


def test_large_piece_is_built_over_several_turns(qtbot, documents: PieceDocuments) -> None:
    begin(documents, 0)
    assert documents.layout_of(0) is None
    with qtbot.waitSignal(documents.arrived):
        pass
    assert documents.layout_of(0).texts == ("return 1",) * 200
    assert documents.layout_of(0).height > 1_000


def test_started_piece_finishes_first_and_unwanted_is_dropped(qtbot, documents: PieceDocuments) -> None:
    begin(documents, 0)
    documents.request([1, 0])
    with qtbot.waitSignal(documents.arrived):
        pass
    assert documents.layout_of(0) is not None
    assert documents.layout_of(1) is None
    begin(documents, 1)
    documents.request([])
    qtbot.wait(50)
    assert documents.layout_of(1) is None


def test_width_change_restarts_piece(qtbot, documents: PieceDocuments) -> None:
    begin(documents, 0)
    documents.set_style(make_style(300))
    documents.request([0])
    with qtbot.waitSignal(documents.arrived):
        pass
    assert documents.layout_of(0).key == (300,)
    assert documents.layout_of(0).document.textWidth() == 300
