"""Creates notes in the memory folder of a workspace: the only code of the program that writes among a user's notes.

It only adds files. A note appears whole under a new name, or not at all: it is written to a temporary file, synced, and
linked to its name, which fails if that file exists, even if another process has just created it. Nothing is written
through a link.
"""

import contextlib
import errno
import hashlib
import itertools
import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from engine.base.errors import NoteError, PathRefused
from engine.base.language import tr
from engine.base.private_files import remove_leftovers, temporary_path
from engine.corpus.indexed_folders import MEMORY_FOLDER, NOTES_MARKER, find_roots
from engine.corpus.safe_open import is_link, open_binary
from engine.records import WrittenNote
from engine.settings import Settings

_ENDING = ".md"
_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_HELD = os.open in os.supports_dir_fd
"""Whether the system opens folders by descriptor, so that they can't be replaced by a link."""
_LONGEST = 16 * 1024 * 1024
"""Maximum size of a note in bytes, far above any real note."""
_NOTES_MARKER_TEXT = (
    "Mnemoscope made this folder for notes of sessions. While this file is here, the notes around the folder are "
    "indexed as they were before.\n"
)


def write_note(workspace: Path, settings: Settings, stem: str, text: str, session: str) -> WrittenNote:
    """Create `memory/<stem>.md`, or with `-2` and so on if it exists. Raises `NoteError`, `WorkspaceError`."""
    data = text.encode("utf-8", "replace")
    if len(data) > _LONGEST:
        raise NoteError(tr("This note is too long to save. Shorten it."))
    home = workspace.resolve()
    with _sentences(home / MEMORY_FOLDER):
        _make_folder(home, settings)
        with _Folder.at(home / MEMORY_FOLDER) as folder:
            remove_leftovers(home / MEMORY_FOLDER)
            name = folder.add(stem, data)
    return WrittenNote(path=f"{MEMORY_FOLDER}/{name}", session=session, written=time.time(), digest=_digest(data))


def locate_untouched(workspace: Path, note: WrittenNote) -> Path:
    """Return the absolute path of a note, if it is unchanged since it was written.

    Raises `NoteError` for a changed or deleted one.
    """
    folder, _, name = note.path.partition("/")
    path = workspace.resolve() / folder / name
    try:
        if folder != MEMORY_FOLDER or "/" in name:
            raise PathRefused
        with open_binary(path) as file:
            same = _digest(file.read(_LONGEST + 1)) == note.digest
    except FileNotFoundError:
        raise NoteError(tr("{path} no longer exists.", path=note.path)) from None
    except (OSError, PathRefused):
        same = False
    if not same:
        raise NoteError(tr("{path} was changed after it was written, so it is not deleted.", path=note.path))
    return path


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _make_folder(home: Path, settings: Settings) -> None:
    """Create the memory folder if it is missing.

    In a folder of notes, it is created with a marker file, without which only the memory folder would be indexed.
    """
    target = home / MEMORY_FOLDER
    remove_leftovers(home)
    if os.path.lexists(target):
        return
    if find_roots(home, settings).layout == "openclaw":
        with contextlib.suppress(FileExistsError):
            target.mkdir()
        return
    # Created atomically: without its marker it would remove every other note from the index for a moment.
    aside = temporary_path(target)
    aside.mkdir()
    try:
        (aside / NOTES_MARKER).write_text(_NOTES_MARKER_TEXT, encoding="utf-8")
        aside.rename(target)
    except OSError:
        (aside / NOTES_MARKER).unlink(missing_ok=True)
        aside.rmdir()
        if not target.is_dir():  # another process has created it
            raise


class _Folder:
    """A folder whose path contains no links.

    If the system supports it, the folder is held open, so that names refer to it even if its path is replaced.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._descriptor = -1
        if is_link(os.lstat(path)):
            raise NoteError(
                tr(
                    "{path} is a symbolic link, and notes are never saved through links. Replace it with a folder.",
                    path=path,
                )
            )
        if not path.is_dir():
            raise NoteError(tr("{path} is not a folder: move it away, so that notes can be saved there.", path=path))
        if _HELD:
            self._descriptor = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)

    @classmethod
    @contextlib.contextmanager
    def at(cls, path: Path) -> Iterator["_Folder"]:
        """Open the folder for the block. Raises `NoteError` for a link and for other kinds of files."""
        folder = cls(path)
        try:
            yield folder
        finally:
            if folder._descriptor >= 0:
                os.close(folder._descriptor)

    def add(self, stem: str, data: bytes) -> str:
        """Add a file to the folder; returns its name."""
        aside = temporary_path(self._path / f"{stem}{_ENDING}").name
        try:
            self._write(aside, data)
            names = (f"{stem}{'' if number == 1 else f'-{number}'}{_ENDING}" for number in itertools.count(1))
            name = next(name for name in names if self._publish(aside, name))
        finally:
            with contextlib.suppress(OSError):
                self._unlink(aside)
        if self._descriptor >= 0:
            with contextlib.suppress(OSError):  # not every file system syncs folders; the note itself is on the disk
                os.fsync(self._descriptor)
        return name

    def _write(self, name: str, data: bytes) -> None:
        with os.fdopen(os.open(self._path_of(name), _NEW, 0o666, **self._relative_to_folder), "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())

    def _publish(self, aside: str, name: str) -> bool:
        """Link the temporary file to its name. Returns False if the name exists."""
        both: dict[str, Any] = (
            {"src_dir_fd": self._descriptor, "dst_dir_fd": self._descriptor} if self._descriptor >= 0 else {}
        )
        try:
            os.link(self._path_of(aside), self._path_of(name), **both)
        except FileExistsError:
            return False
        except OSError:  # a file system without links: the name is taken first, by an empty file
            try:
                os.close(os.open(self._path_of(name), _NEW, 0o666, **self._relative_to_folder))
            except FileExistsError:
                return False
            try:
                os.replace(self._path_of(aside), self._path_of(name), **both)
            except OSError:
                self._unlink(name)
                raise
        return True

    def _unlink(self, name: str) -> None:
        os.unlink(self._path_of(name), **self._relative_to_folder)

    def _path_of(self, name: str) -> str:
        return name if self._descriptor >= 0 else str(self._path / name)

    @property
    def _relative_to_folder(self) -> dict[str, Any]:
        return {"dir_fd": self._descriptor} if self._descriptor >= 0 else {}


@contextlib.contextmanager
def _sentences(folder: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise NoteError(
                tr("The disk of {folder} is full. Free some space, then save the note again.", folder=folder)
            ) from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            raise NoteError(tr("Can't write to the folder {folder}. Make it writable.", folder=folder)) from error
        reason = (error.strerror or str(error)).rstrip(".")
        raise NoteError(
            tr("The note cannot be written to {folder}: {reason}.", folder=folder, reason=reason)
        ) from error
