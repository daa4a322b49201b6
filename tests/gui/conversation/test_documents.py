"""Documents of a conversation are made in small steps, one per turn of the event loop."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QObject
from PySide6.QtGui import QGuiApplication, QTextDocument

from engine import CancelToken
from gui.conversation import row_layout
from gui.conversation.display_entries import prepare
from gui.conversation.loader import OpenedSession, ResultLocation, SessionImages, SessionRequest
from gui.conversation.row_folding import Rows
from gui.conversation.row_layout import PieceDocuments, PieceStyle
from gui.style.theme import theme_tokens
from gui.style.typography import fixed_font
from gui.viewer.external_programs import ExternalOpener
from gui.viewer.markdown_page import PageStyle
from tests.helpers.fake_memory import FakeMemory
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


def test_image_of_a_message_opens_from_the_transcript(qtbot, jobs, monkeypatch) -> None:
    turns = [("user", (("text", "[image]\nand\n[image: PNG, 1 KB]"), ("text", "See:\n\n[image]")))]
    talk = prepare(make_session(turns), CancelToken())
    assert "[Image](image:0/0)" in talk.markdown(0)
    assert "[Image: PNG, 1 KB](image:0/1)" in talk.markdown(0)
    assert "[Image](image:1/0)" in talk.markdown(1)
    memory = FakeMemory()
    pictures = {(0, 1): (b"\x89PNG", "png"), (1, 0): (b"\xff\xd8\xff", "jpeg")}
    monkeypatch.setattr(memory, "session_image", lambda _, *numbers, cancel: pictures.get(numbers))
    opened: list[Path] = []
    monkeypatch.setattr(ExternalOpener, "open_image", lambda _, path: opened.append(path))
    images = SessionImages(jobs, jobs)
    request = OpenedSession(SessionRequest("s", None, ""), talk, Rows(talk), ResultLocation(0, None))
    for number, address in enumerate(("0/1", "1/0"), 1):
        images.open(memory, request, address)
        qtbot.waitUntil(lambda number=number: len(opened) == number)
    assert [(path.read_bytes(), path.suffix[1:]) for path in opened] == [*pictures.values()]
    with qtbot.waitSignal(images.failed) as failed:
        images.open(memory, request, "0/0")
    assert failed.args == ["The data of this image is not in the transcript."]
    memory.close()


_ADDRESSES = "", "0", "1/0", "0/", "x/0", "0/x", "-1/0", "0/0/0", "/0/0", "\u00b2/0", "9" * 5000 + "/0"


@pytest.mark.parametrize("address", _ADDRESSES, ids=range(len(_ADDRESSES)))
def test_image_link_in_a_message_itself_is_harmless(jobs, qtbot, address) -> None:
    talk = prepare(make_session((("assistant", (("text", f"[Image](image:{address})"),)),)), CancelToken())
    memory = FakeMemory()
    images = SessionImages(jobs, jobs)
    request = OpenedSession(SessionRequest("s", None, ""), talk, Rows(talk), ResultLocation(0, None))
    with qtbot.waitSignal(images.failed) as failed:
        images.open(memory, request, address)
    assert failed.args == ["This kind of link can't be opened."]
    memory.close()


@pytest.mark.parametrize("name", ["a_b_c.png", "~~old~~ `x` *y*.png", "A &amp; B <b>.png", "!(1).png", "x\\_.png"])
def test_name_of_an_image_is_shown_as_written(qtbot, name) -> None:
    turns = (("assistant", (("text", f"See\n\n[image: {name}]"),)),)
    talk = prepare(make_session(turns), CancelToken())
    document = QTextDocument()
    document.setMarkdown(talk.markdown(0))
    assert document.toPlainText() == f"See\nImage: {name}"


@pytest.mark.parametrize("lines", [0, 3000])
@pytest.mark.parametrize("fence", ["```", "~~~"])
def test_image_in_a_code_block_is_no_link(fence, lines) -> None:
    code = "x = 1\n" * lines
    text = f"So:\n\n{fence}\n{code}[image: a.png]\n{code}{fence}"
    talk = prepare(make_session((("assistant", (("text", text),)),)), CancelToken())
    assert all("](image:" not in talk.markdown(piece) for piece in range(len(talk.pieces)))
