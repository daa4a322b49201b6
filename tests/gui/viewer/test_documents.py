"""A document in the viewer: its text with page numbers, its type, and its own program opened at the page."""

import sys
from pathlib import Path

import pytest
from PySide6.QtCore import QProcess
from PySide6.QtGui import QGuiApplication

from engine import parse_citation
from gui.viewer import external_programs
from gui.viewer.external_programs import open_in_reader, reader_command
from gui.viewer.panel import ViewerPanel
from tests.helpers.document_files import pdf
from tests.helpers.fake_memory import FakeMemory

REPORT = Path("/n/a report.pdf")


@pytest.fixture
def report(memory: FakeMemory) -> str:
    """Return the name of a document with 40 pages of three lines."""
    pages = [[f"Line {line} of {page}" for line in (1, 2, 3)] for page in range(1, 41)]
    memory.files["papers/report.pdf"] = pdf(pages, title="Annual report").decode("ascii")
    return "papers/report.pdf"


def test_viewer_shows_text_and_names_the_page(panel: ViewerPanel, show, report: str) -> None:
    show(report, 4 + 6 * 11 + 3, 4 + 6 * 11 + 4)
    assert panel.source.text_at(panel.source.current_line()).endswith(" of 12")
    assert panel.header.title.text() == "Annual report"
    assert panel.header.crumb.text() == "Text of page 12 of 40 · papers/report.pdf"


def test_copied_citation_names_the_page(panel: ViewerPanel, show, report: str) -> None:
    clipboard = QGuiApplication.clipboard()
    first = 4 + 6 * 11 + 3
    show(report, first, first + 1)
    panel.file_actions.cite.trigger()
    assert clipboard.text() == f"{report}#L{first}-L{first + 1} (page 12)"
    cited = parse_citation(clipboard.text())
    assert cited is not None
    assert (cited.path, cited.first, cited.last) == (report, first, first + 1)
    show(report)
    panel.file_actions.cite.trigger()
    assert clipboard.text() == report


def test_named_page_follows_scrolling(qtbot, panel: ViewerPanel, show, report: str) -> None:
    show(report)
    assert panel.header.crumb.text().startswith("Text of page 1 of 40")
    panel.source.go_to_line(panel.source.line_count)
    qtbot.waitUntil(lambda: "Text of page 3" in panel.header.crumb.text() or "page 4" in panel.header.crumb.text())


def test_header_of_html_file_says_text_of_document(panel: ViewerPanel, show, memory: FakeMemory) -> None:
    memory.files["page.html"] = "<h1>Plan</h1><p>Words"
    show("page.html")
    assert panel.source.text_at(3) == "Words"
    assert panel.header.crumb.text().startswith("Text of the document")
    panel.choose_rendered(True)
    assert panel.page is panel.source


def test_only_notes_offer_the_rendered_page(panel: ViewerPanel, show, report: str) -> None:
    panel.resize(1400, 500)
    show(report)
    assert panel.header.rendered_button.isHidden()
    panel.header.toggle_mode()
    assert panel.page is panel.source
    show("projects/greenhouse.md")
    assert not panel.header.rendered_button.isHidden()


def test_document_without_text_says_why(qtbot, panel: ViewerPanel, memory: FakeMemory) -> None:
    memory.files["scan.pdf"] = pdf([[]]).decode("ascii")
    panel.show_file("scan.pdf")
    qtbot.waitUntil(lambda: panel.page is panel.empty_page and "OCR" in panel.empty_page.accessibleName())


def test_document_opens_in_its_program_at_its_page(
    qtbot, panel: ViewerPanel, show, report: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: list[tuple[str, int]] = []
    monkeypatch.setattr(external_programs, "open_in_reader", lambda path, page: opened.append((path.name, page)) or "")
    show(report, 4 + 6 * 11 + 3)
    assert panel.file_actions.edit.text() == "Open in its program"
    panel.file_actions.edit.trigger()
    qtbot.waitUntil(lambda: opened == [("report.pdf", 12)])
    show("projects/greenhouse.md")
    assert panel.file_actions.edit.text() == "Open in editor"


@pytest.mark.parametrize(
    ("reader", "command"),
    [
        ("org.gnome.Evince.desktop", ["/bin/evince", "-i", "12", str(REPORT)]),
        ("okularApplication_pdf.desktop", ["/bin/okular", "-p", "12", str(REPORT)]),
        ("firefox_firefox.desktop", ["/bin/firefox", "file:///n/a%20report.pdf#page=12"]),
        ("qpdfview.desktop", ["/bin/qpdfview", f"{REPORT}#12"]),
        ("unknown.desktop", None),
        ("", None),
    ],
)
def test_reader_gets_the_page(reader: str, command: list[str] | None) -> None:
    assert reader_command(REPORT, 12, reader, lambda program: f"/bin/{program}") == command


def test_path_with_fields_is_not_expanded() -> None:
    path = Path("/n/{page} {url}.pdf")
    assert reader_command(path, 12, "qpdfview", lambda program: program) == ["qpdfview", f"{path}#12"]


@pytest.mark.skipif(sys.platform != "linux", reason="uses the desktop services of Linux")
def test_reader_of_the_desktop_is_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, output in (("xdg-mime", "org.kde.okular.desktop"), ("okular", "")):
        (tmp_path / name).write_text(f"#!/bin/sh\necho {output}\n")
        (tmp_path / name).chmod(0o700)
    monkeypatch.setenv("PATH", str(tmp_path))
    started: list[list[str]] = []
    monkeypatch.setattr(
        QProcess, "startDetached", lambda program, arguments: started.append([program, *arguments]) or (True, 1)
    )
    assert open_in_reader(REPORT, 12) == ""
    assert started == [[str(tmp_path / "okular"), "-p", "12", str(REPORT)]]
