"""Prints the open conversation or note, or saves it as PDF.

A PDF is created in memory and written whole, so that an incomplete one never replaces an older file. Secrets are masked
on paper even while they are shown on the screen.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QBuffer, QIODevice, QLocale, QMarginsF, Qt, QUrl, Slot
from PySide6.QtGui import QDesktopServices, QPagedPaintDevice, QPageLayout, QPageSize, QPdfWriter
from PySide6.QtWidgets import QFileDialog, QProgressDialog

from engine import CancelToken, MemorySearchManager, to_slug, tr, tr_count
from gui.conversation.display_entries import Conversation, prepare
from gui.conversation.loader import OpenedSession
from gui.conversation.row_folding import PackedRows, Rows
from gui.core.jobs import JobSlot
from gui.core.window_context import Controller, WindowContext
from gui.core.workspace import OpenWorkspace
from gui.sharing.export import documents_folder, note_paths, save_whole
from gui.sharing.print_pages import Paper, PrintRun, Steps, conversation_steps, note_steps, paper_style
from gui.shell.views import Views
from gui.text.plain_text import progress_dialog, set_progress_text
from gui.text.session_texts import UNTITLED
from gui.viewer.markdown_page import PageStyle
from gui.viewer.markdown_parts import markdown_slices
from gui.viewer.outline import page_source, title_of
from gui.viewer.text_lines import FileLines

if TYPE_CHECKING:
    from PySide6.QtPrintSupport import QPrinter

_KEY = "print"
_MARGIN_MM = 18.0
_DOTS_PER_INCH = 600
_DIALOG_DELAY_MS = 400


@dataclass(frozen=True)
class Printable:
    """A conversation or note that is loaded and ready to print."""

    title: str
    steps: Callable[[Paper, PageStyle], Steps]


class PrintController(Controller):
    """Prints the open file or session; one print runs at a time."""

    def __init__(self, context: WindowContext, views: Views) -> None:
        super().__init__(context)
        self._views = views
        self._job = JobSlot(self, self._jobs)
        self._run: PrintRun | None = None
        self._progress: QProgressDialog | None = None
        self._folder = ""
        self._workspace.closed.connect(self._job.cancel)

    # --- for the window ---------------------------------------------------------------------------------------------

    @Slot()
    def save_pdf(self) -> None:
        """Ask for a file name, and save the open file or session as PDF."""
        title = self._title()
        if title:
            start = Path(self._folder or documents_folder()) / f"{to_slug(title) or 'conversation'}.pdf"
            name, _ = QFileDialog.getSaveFileName(self._window, tr("Save as PDF"), str(start), "PDF (*.pdf)")
            if name:
                path = Path(name)
                ended = path if path.suffix.lower() == ".pdf" else path.with_name(f"{path.name}.pdf")
                self._folder = str(path.parent)
                self.write_pdf(ended, usual_layout(), may_replace=ended == path)

    @Slot()
    def print_(self) -> None:
        """Show the print dialog, and print the open file or session."""
        if not self._title():
            return
        from PySide6.QtPrintSupport import QPrintDialog, QPrinter  # imported only for printing

        printer = QPrinter(QPrinter.PrinterMode.HighResolution)
        printer.setPageLayout(usual_layout())
        printer.setDocName(self._title())
        dialog = QPrintDialog(printer, self._window)
        dialog.setOption(QPrintDialog.PrintDialogOption.PrintPageRange, False)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.accepted.connect(lambda _: self._print_with(printer))
        dialog.setWindowModality(Qt.WindowModality.WindowModal)
        dialog.show()  # the dialog's own `open` takes a slot by name

    def _print_with(self, printer: "QPrinter") -> None:
        """Print with the chosen printer, which may be a file."""
        from PySide6.QtPrintSupport import QPrinter

        if printer.outputFormat() == QPrinter.OutputFormat.PdfFormat:
            self.write_pdf(Path(printer.outputFileName()), printer.pageLayout())
        else:
            self._prepare(partial(self._print_on, printer))

    def write_pdf(self, path: Path, layout: QPageLayout, *, may_replace: bool = True) -> None:
        """Save as PDF at `path`; `may_replace`: whether the user agreed to replace an existing file."""
        self._prepare(partial(self._print_to, path, layout, may_replace))

    def close(self) -> None:
        """Cancel a print at exit: a device must not be destroyed while it is painted on."""
        self._job.cancel()
        if self._run is not None:
            self._run.cancel()
            self._clean_up()

    # --- reading ----------------------------------------------------------------------------------------------------

    def _title(self) -> str:
        """Return the title of the open file or session; empty during a print or, after a message, if none is open."""
        session, name = self._views.read_session, self._views.read_name
        if self._run is None and not self._job.busy:
            if session is not None:
                return session.conversation.session.summary.title or tr(UNTITLED)
            if name:
                return name.rpartition("/")[2].removesuffix(".md")
            self._banner.show_message(tr("There is nothing to print: open a note or a session first."), "off", key=_KEY)
        return ""

    def _prepare(self, on_ready: Callable[[OpenWorkspace, Printable], None]) -> None:
        """Load the content to print off the GUI thread, then call `on_ready`."""
        opened, session, name = self._workspace.current, self._views.read_session, self._views.read_name
        if opened is None or not (session or name):
            return

        ready = partial(on_ready, opened)
        if session is None:
            self._job.read(lambda token: _note(opened.all_workspaces, name, token), ready, self._fail)
        elif session.request.reveal and session.conversation.session.masked:

            def masked(loaded: tuple[Conversation, Rows]) -> None:
                conversation, rows = loaded
                rows.fold_like(session.rows)
                ready(_session(conversation, rows))

            self._job.read(lambda token: _masked(opened.all_workspaces, session, token), masked, self._fail)
        else:
            ready(_session(session.conversation, session.rows))

    # --- printing ---------------------------------------------------------------------------------------------------

    def _print_to(
        self, path: Path, layout: QPageLayout, may_replace: bool, opened: OpenWorkspace, document: Printable
    ) -> None:
        buffer = QBuffer()
        buffer.open(QIODevice.OpenModeFlag.WriteOnly)
        writer = QPdfWriter(buffer)
        buffer.setParent(writer)  # the device must outlive its writer
        writer.setResolution(_DOTS_PER_INCH)
        writer.setPageLayout(layout)
        writer.setTitle(document.title)
        writer.setCreator("Mnemoscope")

        def save(run: PrintRun) -> None:
            data, pages = bytes(buffer.data().data()), run.paper.pages
            notes = note_paths(opened)
            work = partial(_save, path, data, notes, may_replace)
            self._job.write(work, lambda _: self._report_saved(path, pages), self._fail)

        self._begin(writer, document, save)

    def _print_on(self, printer: "QPrinter", _: OpenWorkspace, document: Printable) -> None:
        def report(run: PrintRun) -> None:
            printed, name = run.paper.pages, printer.printerName()
            sent = tr_count("{count:,} page sent to {name}.", "{count:,} pages sent to {name}.", printed, name=name)
            self._banner.show_message(sent, "fine", key=_KEY)

        self._begin(printer, document, report, printer.abort)

    def _begin(
        self,
        device: QPagedPaintDevice,
        document: Printable,
        finish: Callable[[PrintRun], None],
        abort: Callable[[], object] = lambda: None,
    ) -> None:
        style = paper_style()
        paper = Paper(device, document.title, style)
        if not paper.ok:
            self._fail(tr("The printer cannot be used: choose another one."))
            return
        run = self._run = PrintRun(paper, document.steps(paper, style), self)
        dialog = self._progress = progress_dialog(self._window, tr("Preparing the pages…"), tr("Cancel"), 1000)
        dialog.setWindowTitle(tr("Print"))
        dialog.setMinimumDuration(_DIALOG_DELAY_MS)
        dialog.setAutoClose(False)
        dialog.setAutoReset(False)

        def end(whole: bool) -> None:
            self._clean_up()
            if whole:
                finish(run)
            else:
                self._fail(tr("The printer stopped before the last page."))

        def cancel() -> None:
            run.cancel()
            abort()
            self._clean_up()

        run.progressed.connect(self._show_progress)
        run.finished.connect(end)
        dialog.canceled.connect(cancel)
        run.start()

    @Slot(float, int)
    def _show_progress(self, done: float, pages: int) -> None:
        if self._progress is not None:
            set_progress_text(self._progress, tr_count("{count:,} page so far…", "{count:,} pages so far…", pages))
            self._progress.setValue(round(done * 999))

    def _clean_up(self) -> None:
        if self._run is not None:
            self._run.deleteLater()
        if self._progress is not None:
            self._progress.blockSignals(True)  # closing the dialog does not cancel
            self._progress.close()
            self._progress.deleteLater()
        self._run = self._progress = None

    def _report_saved(self, path: Path, pages: int) -> None:
        self._banner.show_message(
            tr_count("{count:,} page saved as {path}.", "{count:,} pages saved as {path}.", pages, path=path),
            "fine",
            (tr("Open"), partial(QDesktopServices.openUrl, QUrl.fromLocalFile(str(path)))),
            (tr("Show in file manager"), partial(self._views.viewer.external.reveal_path, path)),
            key=_KEY,
        )

    def _fail(self, sentence: str) -> None:
        self._banner.show_message(sentence, "degraded", key=_KEY)


def _save(path: Path, data: bytes, notes: tuple[Path, ...], may_replace: bool, _: CancelToken) -> None:
    """Write the PDF to a file. On a pool thread."""
    save_whole(path, data, notes=notes, may_replace=may_replace)


def usual_layout() -> QPageLayout:
    """Return the default page layout (A4 or Letter) of the user's region."""
    letter = QLocale().measurementSystem() == QLocale.MeasurementSystem.ImperialUSSystem
    size = QPageSize(QPageSize.PageSizeId.Letter if letter else QPageSize.PageSizeId.A4)
    margins = QMarginsF(_MARGIN_MM, _MARGIN_MM, _MARGIN_MM, _MARGIN_MM)
    return QPageLayout(size, QPageLayout.Orientation.Portrait, margins, QPageLayout.Unit.Millimeter)


def _session(conversation: Conversation, rows: Rows) -> Printable:
    """Copy the conversation with its current folding, so that later changes don't affect the print."""
    now, packed = time.time(), PackedRows(rows.rows.numbers[:])
    title = conversation.session.summary.title or tr(UNTITLED)
    return Printable(title, lambda paper, style: conversation_steps(paper, style, conversation, packed, now))


def _masked(manager: MemorySearchManager, session: OpenedSession, token: CancelToken) -> tuple[Conversation, Rows]:
    """Read the session again, with its secrets masked. On a pool thread."""
    text = manager.read_session(session.request.path, reveal=False, cancel=token)
    conversation = prepare(text, token)
    return conversation, Rows(conversation)


def _note(manager: MemorySearchManager, name: str, token: CancelToken) -> Printable:
    """Read a note for printing. Runs on a pool thread."""
    lines = FileLines(manager.open_file(name, cancel=token))
    try:
        text, outline = page_source(lines, name, token)
        title = title_of(lines, name)
        slices = []
        for part in markdown_slices(text, outline):
            token.checkpoint()
            slices.append(part)
    finally:
        lines.close()
    now = time.time()
    return Printable(title, lambda paper, style: note_steps(paper, style, name, slices, now))
