"""Records files that are skipped until they change: those that crashed the program twice, and those without text."""

import contextlib
import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import msgspec

from engine.base import lazy_logger, skip_reasons
from engine.base.errors import PARSER_FAULTS
from engine.base.index_rule_versions import DOCUMENTS_VERSION
from engine.base.private_files import replace_file
from engine.corpus.documents import NOT_NOTES
from engine.corpus.folder_walk import FoundFile
from engine.corpus.note_reader import Unreadable
from engine.records import FileIssue

log = lazy_logger(__name__)

CRASHED = "crashed"
"""Rule of a file that is skipped because it crashed processes."""
_MAX_CRASHES = 2
"""Number of crashes until a file is skipped; after one, which may be a kill or a power failure, it is read last."""


_UNFINISHED = "unfinished"
"""Rule of a document whose reader crashed or took too long, which may be due to other work on the machine."""
WITHOUT_TEXT = ("encrypted", "no-text", "damaged")
"""Rules of documents whose text can't be read, such as scans: they are found by their names."""
_PERMANENT = (*WITHOUT_TEXT, _UNFINISHED, NOT_NOTES, "binary", "unknown-format")
"""Rules of files that are not read again, since that would have the same result."""


class _Suspect(msgspec.Struct, array_like=True):
    mtime_ns: int
    size: int
    crashes: int
    rule: str = ""
    detail: str = ""
    """Why it could not be read, if that is known."""
    version: int = 0
    """`DOCUMENTS_VERSION` at that time: another reader may succeed."""


class CrashRecord:
    """Records which file is being read, to find files that crash the process.

    Stored in two small files of a folder. Only the holder of the index lock may use it, on one thread at a time. The
    file name is written before reading, without fsync: written data survives the end of the process.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._current_path = folder / "reading"
        self._suspects_path = folder / "reading-crashed.json"
        self._current_file: int | None = None
        self._suspects: dict[str, _Suspect] = {}
        self._unsaved = False

    @contextlib.contextmanager
    def during_sync(self, *, forget: bool) -> Iterator[None]:
        """Load the record of earlier crashes for the duration of a sync. `forget`: try all files again."""
        self._suspects = {} if forget else self._read_suspects()
        self._unsaved = forget
        with contextlib.suppress(OSError):
            self._count_interrupted_read()
            self._current_file = os.open(self._current_path, os.O_RDWR | os.O_CREAT, 0o600)
        try:
            yield
        finally:
            if self._current_file is not None:
                os.close(self._current_file)
                self._current_file = None
            with contextlib.suppress(OSError):
                self._current_path.unlink()
            if self._unsaved:
                self._write_suspects()

    def crashes(self, file: FoundFile) -> int:
        """Return how many processes crashed while reading the file in its present state."""
        suspect = self._suspect(file)
        return 0 if suspect is None else suspect.crashes

    def without_suspects(self, files: list[FoundFile]) -> list[FoundFile]:
        """Return the files that have crashed no process in their present state."""
        return [file for file in files if not self.crashes(file)] if self._suspects else files

    def skip_until_changed(self, file: FoundFile, issue: FileIssue) -> None:
        """Skip the file from the next sync on until it changes, if reading it again would have the same result."""
        if issue.rule in _PERMANENT:
            tries = self.crashes(file) + 1 if issue.rule == _UNFINISHED else _MAX_CRASHES
            known = _Suspect(*_version(file), tries, issue.rule, issue.detail, DOCUMENTS_VERSION)
            self._suspects[file.name] = known
            self._unsaved = True

    def readable(self, files: Sequence[FoundFile]) -> tuple[list[FoundFile], list[FileIssue]]:
        """Return the files to read, those that crashed a process last, and issues for the skipped files."""
        issues = self.issues(files)
        names = {issue.path for issue in issues}
        return sorted((file for file in files if file.name not in names), key=self.crashes), issues

    def issues(self, files: Iterable[FoundFile]) -> list[FileIssue]:
        """Return the issues of those files that are skipped in their present state."""
        return [issue for file in files if (issue := self._issue(file)) is not None] if self._suspects else []

    def _issue(self, file: FoundFile) -> FileIssue | None:
        suspect = self._suspect(file)
        if suspect is None or suspect.crashes < _MAX_CRASHES:
            return None
        if suspect.rule:
            return FileIssue(path=file.name, rule=suspect.rule, detail=suspect.detail)
        return FileIssue(path=file.name, rule=CRASHED, detail=skip_reasons.CRASHED.message())

    def _suspect(self, file: FoundFile) -> _Suspect | None:
        """Return the recorded crash of this version of the file."""
        suspect = self._suspects.get(file.name) if self._suspects else None
        if suspect is None or (suspect.mtime_ns, suspect.size) != _version(file):
            return None
        return None if suspect.rule and suspect.version != DOCUMENTS_VERSION else suspect

    @contextlib.contextmanager
    def reading(self, file: FoundFile, *, partly: bool = False) -> Iterator[None]:
        """Record during the block that this file is being read, if the disk has room for it.

        An error of a parser becomes `Unreadable`, so that the caller continues with other files. `partly`: the caller
        reads the rest and then calls `end_reading`.
        """
        if self._current_file is not None:
            mtime_ns, size = _version(file)
            try:
                os.lseek(self._current_file, 0, os.SEEK_SET)
                os.write(self._current_file, f"{mtime_ns} {size} {file.name}\n".encode("utf-8", "surrogateescape"))
            except OSError:
                self.finish_reading()  # a crash must not count against the file that was recorded before
        try:
            yield
        except PARSER_FAULTS as error:
            self.end_reading(file)
            log.warning("A file ended its parser: %s", type(error).__name__)
            raise Unreadable(file.name, "broken", skip_reasons.fault(error)) from error
        except FileNotFoundError:
            self.end_reading(file)
            raise
        except Unreadable as problem:
            if problem.issue.rule not in _PERMANENT:  # `skip_until_changed` counts the others
                self.end_reading(file)
            raise
        if not partly:
            self.end_reading(file)

    def end_reading(self, file: FoundFile) -> None:
        """Forget a recorded crash of the file, since reading it has ended without one."""
        if file.name in self._suspects:
            # It was read last: a process that is killed later must not count against it.
            self.finish_reading()
            del self._suspects[file.name]
            self._write_suspects()

    def finish_reading(self) -> None:
        """Record that no file is being read."""
        if self._current_file is not None:
            with contextlib.suppress(OSError):
                os.ftruncate(self._current_file, 0)

    def _count_interrupted_read(self) -> None:
        """Add a crash to the file that an earlier process had not finished reading."""
        try:
            line = self._current_path.read_bytes().split(b"\n", 1)[0].decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            return
        mtime_ns, _, rest = line.partition(" ")
        size, _, name = rest.partition(" ")
        if not (name and mtime_ns.isdigit() and size.isdigit()):
            return
        before = self._suspects.get(name)
        same = before is not None and (before.mtime_ns, before.size) == (int(mtime_ns), int(size))
        crashes = before.crashes + 1 if before is not None and same else 1
        self._suspects[name] = _Suspect(int(mtime_ns), int(size), crashes)
        self._current_path.write_bytes(b"")  # so that the next start doesn't count this crash again
        self._write_suspects()

    def _read_suspects(self) -> dict[str, _Suspect]:
        try:
            return msgspec.json.decode(self._suspects_path.read_bytes(), type=dict[str, _Suspect])
        except (OSError, msgspec.MsgspecError, RecursionError):
            return {}

    def _write_suspects(self) -> None:
        self._unsaved = False
        with contextlib.suppress(OSError, UnicodeEncodeError):
            if self._suspects:
                replace_file(self._suspects_path, msgspec.json.encode(self._suspects))
            else:
                self._suspects_path.unlink()


def _version(file: FoundFile) -> tuple[int, int]:
    return file.mtime_ns, file.size
