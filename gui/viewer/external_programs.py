"""Opens a file in an editor at a line, or shows it in the file manager. Never runs a shell."""

import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote

from PySide6.QtCore import QObject, QProcess, QUrl, Signal
from PySide6.QtDBus import QDBusConnection, QDBusMessage, QDBusPendingCall, QDBusPendingCallWatcher
from PySide6.QtGui import QDesktopServices

from engine import (
    CancelToken,
    MemorySearchManager,
    has_pages,
    is_document,
    is_json_note,
    page_of,
    structure_of,
    tr,
)
from gui.core.jobs import Jobs

Which = Callable[[str], str | None]
_OPENER_SECONDS = 2
"""Time in which the desktop reports that it has no program for a file."""

# Arguments for the line in editors with a window; in the order in which they are searched.
_LINE_ARGUMENTS = {
    "code": ("-g", "{path}:{line}"),
    "codium": ("-g", "{path}:{line}"),
    "cursor": ("-g", "{path}:{line}"),
    "zed": ("{path}:{line}",),
    "subl": ("{path}:{line}",),
    "kate": ("-l", "{line}", "{path}"),
    "kwrite": ("-l", "{line}", "{path}"),
    "gnome-text-editor": ("+{line}", "{path}"),
    "gedit": ("+{line}", "{path}"),
    "pluma": ("+{line}", "{path}"),
    "xed": ("+{line}", "{path}"),
    "mousepad": ("-l", "{line}", "{path}"),
    "geany": ("+{line}", "{path}"),
    "nvim-qt": ("{path}", "--", "+{line}"),
    "gvim": ("+{line}", "{path}"),
    "mate": ("-l", "{line}", "{path}"),
    "bbedit": ("+{line}", "{path}"),
    "notepad++": ("-n{line}", "{path}"),
}


def editor_command(
    path: Path, line: int, template: str, environment: Mapping[str, str] = os.environ, which: Which = shutil.which
) -> list[str] | None:
    """Return program and arguments that open `path` at `line`; None if no editor is known.

    `template` is the setting `window.editor`: a command with `{path}` and `{line}`; without `{path}`, the path is added
    at the end. If it is empty, $VISUAL and $EDITOR are used if they name a graphical editor, then known installed
    editors.
    """
    if template.strip():
        words = _words(template)
        if not any("{path}" in word for word in words):
            words.append("{path}")
        return _filled(words, path, line)
    for variable in ("VISUAL", "EDITOR"):
        words = _words(environment.get(variable, ""))
        if words and (arguments := _LINE_ARGUMENTS.get(_program_name(words[0]))) and which(words[0]):
            return _filled([*words, *arguments], path, line)
    for program, arguments in _LINE_ARGUMENTS.items():
        if executable := which(program):
            return _filled([executable, *arguments], path, line)
    return None


def open_in_editor(path: Path, line: int, template: str) -> str:
    """Open a file in an editor at a line; returns an empty string, or one sentence with the error.

    Not on the GUI thread: the desktop may take a second to find out that it has no program for the file.
    """
    # Line numbers of a canvas or a notebook count its text, not its JSON.
    command = editor_command(path, 1 if is_json_note(path.name) else line, template)
    if command is None:
        return "" if _open_by_desktop(path) else tr("No program is set up to open {file}.", file=path.name)
    started, _ = QProcess.startDetached(command[0], command[1:])
    return "" if started else tr("The editor {program} could not be started.", program=command[0])


def _open_by_desktop(path: Path) -> bool:
    """Open a file with its default program; returns False if there is none, which QDesktopServices never reports."""
    if sys.platform == "win32":
        try:
            os.startfile(path)
        except OSError:
            return False
        return True
    opener = shutil.which("open" if sys.platform == "darwin" else "xdg-open")
    if opener is None:
        return False
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([opener, path], stdin=quiet, stdout=quiet, stderr=quiet, start_new_session=True)
    try:
        return process.wait(_OPENER_SECONDS) == 0
    except subprocess.TimeoutExpired:
        return True  # on some desktops it runs as long as the program


# Arguments for the page in readers of PDF files, by a part of the name that the desktop has for them.
_PAGE_ARGUMENTS = {
    "evince": ("evince", "-i", "{page}", "{path}"),
    "papers": ("papers", "-i", "{page}", "{path}"),
    "atril": ("atril", "-i", "{page}", "{path}"),
    "xreader": ("xreader", "-i", "{page}", "{path}"),
    "okular": ("okular", "-p", "{page}", "{path}"),
    "zathura": ("zathura", "-P", "{page}", "{path}"),
    "qpdfview": ("qpdfview", "{path}#{page}"),
    "mupdf": ("mupdf", "{path}", "{page}"),
    "firefox": ("firefox", "{url}#page={page}"),
    "chromium": ("chromium", "{url}#page={page}"),
    "chrome": ("google-chrome", "{url}#page={page}"),
}


def reader_command(path: Path, page: int, reader: str, which: Which = shutil.which) -> list[str] | None:
    """Program and arguments that open a PDF at a page; None if they are unknown for this `reader`.

    `reader` is the name of a desktop entry, such as org.gnome.Evince.desktop.
    """
    for name, (program, *arguments) in _PAGE_ARGUMENTS.items():
        if name in reader.lower() and (executable := which(program)):
            url = QUrl.fromLocalFile(str(path)).toString(QUrl.ComponentFormattingOption.FullyEncoded)
            values = {"{page}": str(page), "{url}": url, "{path}": str(path)}
            parts = (re.split(r"(\{\w+\})", argument) for argument in arguments)
            return [executable, *("".join(values.get(part, part) for part in words) for words in parts)]
    return None


def open_in_reader(path: Path, page: int) -> str:
    """Open a document in the system's program for it, at a page if it takes one; returns an empty text, or the error.

    Not on the GUI thread.
    """
    command = reader_command(path, page, _pdf_reader()) if page and sys.platform == "linux" else None
    if command is not None and QProcess.startDetached(command[0], command[1:])[0]:
        return ""
    return "" if _open_by_desktop(path) else tr("No program is set up to open {file}.", file=path.name)


def _pdf_reader() -> str:
    """The name of the desktop entry that opens PDF files; empty if that is unknown."""
    xdg_mime = shutil.which("xdg-mime")
    if xdg_mime is None:
        return ""
    words = [xdg_mime, "query", "default", "application/pdf"]
    try:
        opener_result = subprocess.run(words, capture_output=True, timeout=_OPENER_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return opener_result.stdout.decode("utf-8", "replace").strip()


def editor_template(program: Path) -> str:
    """Return a value for the setting `window.editor` for a program that the user chose."""
    if sys.platform == "win32":
        words = [f'"{program}"']
    elif program.suffix == ".app":
        words = ["open", "-a", shlex.quote(str(program))]
    else:
        words = [shlex.quote(str(program))]
    return " ".join([*words, *_LINE_ARGUMENTS.get(_program_name(str(program)), ("{path}",))])


def reveal_in_file_manager(path: Path, owner: QObject) -> None:
    """Open the file's folder in the file manager, with the file selected where that is supported."""
    if sys.platform == "win32":
        QProcess.startDetached("explorer", ["/select,", str(path)])
    elif sys.platform == "darwin":
        QProcess.startDetached("open", ["-R", str(path)])
    else:
        _reveal_by_bus(path, owner)


def obsidian_url(path: Path) -> QUrl:
    """Return the URL that opens a note in Obsidian, which finds the vault by the path (its help, "Obsidian URI")."""
    return QUrl(f"obsidian://open?path={quote(str(path), safe='', errors='surrogateescape')}")


def _reveal_by_bus(path: Path, owner: QObject) -> None:
    bus = QDBusConnection.sessionBus()
    if not bus.isConnected():
        _open_folder(path)
        return
    message = QDBusMessage.createMethodCall(
        "org.freedesktop.FileManager1", "/org/freedesktop/FileManager1", "org.freedesktop.FileManager1", "ShowItems"
    )
    message.setArguments([[QUrl.fromLocalFile(str(path)).toString(QUrl.ComponentFormattingOption.FullyEncoded)], ""])
    watcher = QDBusPendingCallWatcher(bus.asyncCall(message), owner)

    def answered(call: QDBusPendingCall) -> None:
        if call.isError():
            _open_folder(path)
        watcher.deleteLater()

    watcher.finished.connect(answered)


def _open_folder(path: Path) -> None:
    QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))


def _words(command: str) -> list[str]:
    """Split a command line into arguments; on Windows, backslashes are part of paths."""
    try:
        if sys.platform == "win32":
            return [word.strip('"') for word in shlex.split(command, posix=False)]
        return shlex.split(command)
    except ValueError:  # an unclosed quote
        return command.split()


def _program_name(program: str) -> str:
    return Path(program).name.lower().removesuffix(".exe").removesuffix(".cmd")


def _filled(words: list[str], path: Path, line: int) -> list[str]:
    return [word.replace("{line}", str(line)).replace("{path}", str(path)) for word in words]


# --- Opens files of the open memory in other programs, for any part of the window ------------------------------------


def _page_at(manager: MemorySearchManager, name: str, line: int) -> int:
    """The page of a document that a line of its text is on; 0 if it has none."""
    if not has_pages(name):
        return 0
    with manager.open_file(name) as text:
        structure = structure_of(text.text(1, line), name)
    return 0 if structure is None or not structure.headings else page_of(structure.headings[-1].title)


class ExternalOpener(QObject):
    """Opens files in other programs, given by stable names; their paths are resolved off the GUI thread.

    Attributes:
        manager: the memory of the files; without one nothing happens.
        editor_command: the setting `window.editor`.

    Signals:
        failed: one sentence.
        editor_failed: one sentence, and the name and the line that did not open in an editor.
    """

    failed = Signal(str)
    editor_failed = Signal(str, str, int)

    def __init__(self, jobs: Jobs, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self.manager: MemorySearchManager | None = None
        self.editor_command = ""

    def edit(self, name: str, line: int) -> None:
        """Open a file in the editor, at a line; a document in the system's program for it, at the page of the line."""
        manager, command = self.manager, self.editor_command
        if manager is None:
            return

        def report(problem: str) -> None:
            if problem and is_document(name):
                self.failed.emit(problem)
            elif problem:
                self.editor_failed.emit(problem, name, line)

        def open_file(_: CancelToken) -> str:
            if is_document(name):
                return open_in_reader(manager.locate(name), _page_at(manager, name, line))
            return open_in_editor(manager.locate(name), line, command)

        self._jobs.read(open_file, report, self.failed.emit)

    def reveal(self, name: str) -> None:
        """Show a file in the file manager."""
        self.locate(name, self.reveal_path)

    def reveal_path(self, target: Path) -> None:
        """Show any path in the file manager, whether it is a file of the memory or not."""
        if target.parent.is_dir():
            reveal_in_file_manager(target, self)
        else:
            self.failed.emit(tr("{name} is not a single file, so it can't be shown.", name=target.name))

    def open_image(self, path: Path) -> None:
        """Open an image in the system's program for it."""
        self._jobs.read(lambda _: open_in_reader(path, 0), self._report, self.failed.emit)

    def _report(self, problem: str) -> None:
        if problem:
            self.failed.emit(problem)

    def open_in_obsidian(self, name: str) -> None:
        """Open a note of a vault in Obsidian."""

        def open_url(path: Path) -> None:
            if not QDesktopServices.openUrl(obsidian_url(path)):
                self.failed.emit(tr("Obsidian could not be opened. Is it installed?"))

        self.locate(name, open_url)

    def locate(self, name: str, act: Callable[[Path], None]) -> None:
        """Call `act` with the path of a file, resolved off the GUI thread; on failure emit `failed`."""
        manager = self.manager
        if manager is None:
            return

        def find(_: CancelToken) -> Path:
            return manager.locate(name)

        self._jobs.read(find, act, self.failed.emit)
