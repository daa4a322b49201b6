"""The printed content, read back from the PDF."""

from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest
from PySide6.QtCore import QBuffer, QIODevice, QPoint, Qt
from PySide6.QtGui import QGuiApplication, QPdfWriter
from PySide6.QtPrintSupport import QPrintDialog, QPrinter
from PySide6.QtWidgets import QFileDialog, QMenu, QProgressDialog, QPushButton

from engine import CancelToken
from gui.controllers.printing import usual_layout
from gui.conversation.display_entries import prepare
from gui.conversation.row_folding import Detail, Rows
from gui.core.location import Location
from gui.sharing.print_pages import Paper, conversation_steps, note_steps, paper_style
from gui.style.theme import theme_tokens
from gui.window.main_window import MainWindow
from tests.helpers.fake_sessions import SESSIONS, VALVE
from tests.helpers.pdf_text import pdf_pages, pdf_text

NOTE = "projects/greenhouse.md"
LONG_CODE = "value = " + "x" * 400 + "_END"


@pytest.fixture
def read_session(qtbot, opened) -> MainWindow:
    with qtbot.waitSignal(opened.views.conversation.session_shown):
        opened.views.show_location(Location(VALVE, 1))
    return opened


@pytest.fixture
def read_note(qtbot, opened) -> MainWindow:
    opened.views.show_location(Location(NOTE, 1))
    qtbot.waitUntil(lambda: opened.viewer.name == NOTE)
    return opened


@pytest.fixture
def saved(qtbot) -> Callable[[MainWindow, Path], bytes]:
    """Save the current document of the window as a PDF, and return its bytes."""

    def save(window: MainWindow, path: Path) -> bytes:
        window.sharing.printing.write_pdf(path, usual_layout())
        qtbot.waitUntil(lambda: f"saved as {path}" in window.banner.text)
        return path.read_bytes()

    return save


@pytest.fixture
def asks_for_file(read_session, monkeypatch) -> Callable[[], bool]:
    """Try to save as PDF, and cancel. Returns whether the window asked for a file: it does not while it prints."""

    def ask() -> bool:
        dialogs: list[object] = []
        monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *dialog: dialogs.append(dialog) or ("", ""))
        read_session.sharing.printing.save_pdf()
        return bool(dialogs)

    return ask


@pytest.fixture
def print_to(read_note, monkeypatch) -> Callable[[Path], None]:
    """Print the note to this file with a fake printer, since the machine may have none."""

    def run(path: Path) -> None:
        def accept(dialog: QPrintDialog) -> None:
            dialog.printer().setOutputFormat(QPrinter.OutputFormat.PdfFormat)
            dialog.printer().setOutputFileName(str(path))
            monkeypatch.setattr(QPrinter, "outputFormat", lambda _: QPrinter.OutputFormat.NativeFormat)
            dialog.accepted.emit(dialog.printer())

        monkeypatch.setattr(QPrintDialog, "show", accept)
        read_note.sharing.printing.print_()

    return run


def _pdf(make: Callable[[Paper], Iterator[float]]) -> bytes:
    buffer = QBuffer()
    buffer.open(QIODevice.OpenModeFlag.WriteOnly)
    writer = QPdfWriter(buffer)
    writer.setPageLayout(usual_layout())
    paper = Paper(writer, "A title", paper_style())
    done = list(make(paper))
    assert done == sorted(done)
    assert paper.finish()
    data = bytes(buffer.data().data())
    assert len(pdf_pages(data)) == paper.pages
    return data


def _conversation(detail: Detail, text: str = "") -> bytes:
    session = SESSIONS[VALVE]
    if text:
        first = msgspec.structs.replace(session.messages[0], text=text)
        session = msgspec.structs.replace(session, messages=(first, *session.messages[1:]))
    conversation = prepare(session, CancelToken())
    rows = Rows(conversation)
    rows.set_detail(detail)
    return _pdf(lambda paper: conversation_steps(paper, paper_style(), conversation, rows.rows, 1_770_000_000.0))


def _note(*slices: str) -> bytes:
    return _pdf(lambda paper: note_steps(paper, paper_style(), NOTE, slices, 1_770_000_000.0))


def _bare(text: str) -> str:
    return "".join(text.split())


# --- conversations --------------------------------------------------------------------------------------------------


def test_printed_conversation_has_speakers_text_and_page_headers(read_session, saved, tmp_path):
    data = saved(read_session, tmp_path / "a.pdf")
    text = pdf_text(data)
    session = SESSIONS[VALVE]
    assert _bare(session.summary.title) in text
    assert "ClaudeCode" in text
    assert "You" in text
    assert "Assistant" in text
    assert "Printed" in text
    for message in session.messages:
        if message.kind == "text" and not set("`*\n") & set(message.text) and "sk-test" not in message.text:
            assert _bare(message.text) in text
    assert "sk-test-0123456789abcdefghij" not in text
    pages = pdf_pages(data)
    for number, page in enumerate(pages, 1):
        assert f"Page{number}" in _bare(page)
        assert _bare(session.summary.title)[:20] in _bare(page)


def test_printed_tools_follow_tool_detail():
    call = next(message for message in SESSIONS[VALVE].messages if message.kind == "tool-result" and message.text)
    hidden, short, full = (pdf_text(_conversation(detail)) for detail in ("hidden", "short", "full"))
    call_text = _bare(call.text)[:30]
    assert len(hidden) < len(short) < len(full)
    assert call_text in full
    assert call_text not in hidden
    assert "lines" in short
    assert "2toolcalls" in short


def test_long_code_lines_are_wrapped():
    assert _bare(LONG_CODE) in pdf_text(_conversation("short", f"```python\n{LONG_CODE}\n```"))


def test_printed_summary_names_failed_calls():
    session = SESSIONS[VALVE]
    failed = [msgspec.structs.replace(message, failed=message.kind == "tool-result") for message in session.messages]
    conversation = prepare(msgspec.structs.replace(session, messages=tuple(failed)), CancelToken())
    rows = Rows(conversation)
    rows.set_detail("short")
    pdf = _pdf(lambda paper: conversation_steps(paper, paper_style(), conversation, rows.rows, 1_770_000_000.0))
    assert "failed" in _bare(" ".join(pdf_pages(pdf))).casefold()


def test_images_of_a_printed_session_are_no_links():
    pdf = _conversation("full", "[image: PNG, 1 KB]\n\n[manual](https://example.org)")
    assert b"https://example.org" in pdf
    assert b"image:" not in pdf


def test_long_message_continues_over_pages_without_loss():
    lines = [f"Line number {number} of a long message." for number in range(300)]
    data = _conversation("short", "\n".join(lines))
    assert len(pdf_pages(data)) > 5
    text = pdf_text(data)
    positions = [text.find(_bare(line)) for line in lines]
    assert -1 not in positions
    assert positions == sorted(positions)
    assert all(text.count(_bare(line)) == 1 for line in lines)  # nor prints one twice where a page ends


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_printing_always_uses_light_theme(appearance, theme):
    appearance.set_theme(theme)
    style = paper_style()
    assert style.colours == theme_tokens("light")
    assert pdf_text(_conversation("short")) == pdf_text(_conversation("short"))


def test_revealed_secrets_are_masked_in_print(qtbot, read_session, memory, saved, tmp_path):
    conversation = read_session.views.conversation
    masked = saved(read_session, tmp_path / "masked.pdf")
    assert SESSIONS[VALVE].masked or conversation.opened.conversation.session.masked
    for words in ("Reveal…", "Reveal secrets"):
        next(b for b in conversation.banner.findChildren(QPushButton) if b.text() == words).click()
    qtbot.waitUntil(lambda: conversation.opened is not None and conversation.opened.request.reveal)
    again = saved(read_session, tmp_path / "revealed.pdf")
    assert _without_times(pdf_text(again)) == _without_times(pdf_text(masked))
    assert memory.session_reads[-1] == (VALVE, False)


def _without_times(text: str) -> str:
    """Return the text without the time of printing."""
    start = text.index("Printed")
    return text[:start] + text[start + 30 :]


# --- notes ----------------------------------------------------------------------------------------------------------


def test_note_is_printed_rendered(read_note, saved, tmp_path):
    text = pdf_text(saved(read_note, tmp_path / "a.pdf"))
    assert _bare(NOTE) in text
    assert "Greenhouse" in text
    assert "#" not in text  # rendered, not its source
    assert _bare("swapped the CR2032; the old one read 2.71 V") in text


def test_all_table_rows_and_slices_are_printed():
    table = "# One\n\n| a | b |\n|---|---|\n" + "".join(f"| left {n} | right {n} |\n" for n in range(120))
    data = _note(f"---\n\nshown\n\n---\n{table}", "## Two\n\n---\n\nThe end.\n")
    text = pdf_text(data)
    assert len(pdf_pages(data)) > 2
    assert all(f"left{n}" in text and f"right{n}" in text for n in range(120))
    assert text.index("shown") < text.index("left119") < text.index("Two") < text.index("Theend.")


def test_no_page_ends_with_heading():
    for filling in range(30, 60):
        note = "".join(f"Line {n}\n\n" for n in range(filling)) + "# The heading\n\nIts text.\n"
        for page in pdf_pages(_note(note)):
            bare = _bare(page)
            assert ("Theheading" in bare) == ("Itstext." in bare)


def test_empty_note_prints_one_page():
    assert len(pdf_pages(_note("\n"))) == 1


# --- files and printers ---------------------------------------------------------------------------------------------


def test_save_as_pdf_adds_extension_and_replaces_nothing(qtbot, read_note, tmp_path, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: (str(tmp_path / "out"), ""))
    next(action for action in read_note.actions() if action.text() == "Save as PDF…").trigger()
    qtbot.waitUntil(lambda: (tmp_path / "out.pdf").exists() and "saved as" in read_note.banner.text)
    (tmp_path / "out.pdf").write_bytes(b"mine")
    read_note.sharing.printing.save_pdf()
    qtbot.waitUntil(lambda: "already exists" in read_note.banner.text)
    assert (tmp_path / "out.pdf").read_bytes() == b"mine"


def test_failed_pdf_save_keeps_existing_file(qtbot, read_session, tmp_path, monkeypatch):
    target = tmp_path / "a.pdf"
    target.write_bytes(b"older")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("gui.sharing.export.os.fsync", full)
    read_session.sharing.printing.write_pdf(target, usual_layout())
    qtbot.waitUntil(lambda: "is full" in read_session.banner.text)
    assert target.read_bytes() == b"older"
    assert [path.name for path in tmp_path.iterdir()] == ["a.pdf"]


def test_printing_long_conversation_can_be_cancelled(qtbot, read_session, asks_for_file, tmp_path):
    session = SESSIONS[VALVE]
    many = tuple(
        msgspec.structs.replace(session.messages[0], text=f"Message {n}", line=n + 1, ordinal=n + 1)
        for n in range(10_000)
    )
    opened = read_session.views.conversation.opened
    conversation = prepare(msgspec.structs.replace(session, messages=many), CancelToken())
    object.__setattr__(opened, "conversation", conversation)
    object.__setattr__(opened, "rows", Rows(conversation))
    read_session.sharing.printing.write_pdf(tmp_path / "a.pdf", usual_layout())
    progress = read_session.findChild(QProgressDialog)
    qtbot.waitUntil(lambda: progress.value() > 0)
    progress.findChild(QPushButton).click()
    qtbot.waitUntil(lambda: read_session.findChild(QProgressDialog) is None)
    assert not list(tmp_path.iterdir())
    assert asks_for_file(), "it can be printed again"


def test_printer_receives_pages(qtbot, read_note, print_to, tmp_path):
    print_to(tmp_path / "spooled.pdf")
    qtbot.waitUntil(lambda: "sent to" in read_note.banner.text)
    assert "Greenhouse" in pdf_text((tmp_path / "spooled.pdf").read_bytes())


@pytest.mark.qt_log_ignore("QPainter::begin")
def test_unusable_printer_is_reported(qtbot, read_note, print_to, tmp_path):
    print_to(tmp_path / "no/such/folder/a.pdf")
    qtbot.waitUntil(lambda: read_note.banner.text == "The printer cannot be used: choose another one.")


def test_nothing_to_print_shows_notice(opened, monkeypatch):
    monkeypatch.setattr(QFileDialog, "getSaveFileName", lambda *_: pytest.fail("the file dialog opened"))
    opened.sharing.printing.save_pdf()
    assert opened.banner.text == "There is nothing to print: open a note or a session first."
    assert QGuiApplication.modalWindow() is None


def test_print_to_file_writes_complete_pdf(qtbot, read_note, tmp_path, monkeypatch):
    target = tmp_path / "chosen.pdf"

    def accept(dialog: QPrintDialog) -> None:
        dialog.printer().setOutputFormat(QPrinter.OutputFormat.PdfFormat)
        dialog.printer().setOutputFileName(str(target))
        dialog.accepted.emit(dialog.printer())

    monkeypatch.setattr(QPrintDialog, "show", accept)
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, *_: menus.append(menu))  # nothing here can take the keyboard
    qtbot.keyClick(read_note, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    [share] = menus
    assert share.activeAction().text() == "Print…"
    share.activeAction().trigger()
    qtbot.waitUntil(lambda: f"saved as {target}" in read_note.banner.text)
    assert "Greenhouse" in pdf_text(target.read_bytes())


def test_closing_cancels_running_print(qtbot, read_session, asks_for_file, tmp_path):
    read_session.sharing.printing.write_pdf(tmp_path / "a.pdf", usual_layout())
    assert not asks_for_file(), "one print at a time"
    read_session.sharing.close()
    assert asks_for_file()
    assert not list(tmp_path.iterdir())


def test_menus_offer_print_and_save_as_pdf(read_session, monkeypatch):
    menus: list[QMenu] = []
    monkeypatch.setattr(QMenu, "popup", lambda menu, *_: menus.append(menu))  # nothing here can take the keyboard
    conversation = read_session.views.conversation
    conversation.view.current.go_to(0)
    conversation.view.menu_requested.emit(QPoint())
    assert len(menus) == 1
    for header in (conversation.header, read_session.viewer.header):
        menus.append(header.folding.more.menu())
        menus[-1].aboutToShow.emit()
    taken = ["Export session…", "Continue in another agent"]
    for menu, more in zip(menus, (taken, taken, []), strict=True):
        share = menu.actions()[-1]
        assert share.text() == "Share…"
        assert [action.text() for action in share.menu().actions()] == ["Print…", "Save as PDF…", *more]
