"""A process that extracts the text of documents, and its client.

It reads no file and writes none: a document's bytes come through a pipe, its text goes back. A document may take a
minute of CPU time and, on Linux, one gigabyte; then the process is ended. It also ends when it is idle for some
seconds, and when the pipe closes, which happens when the program dies.
"""

import contextlib
import logging
import os
import signal
import sys
import time
from collections import OrderedDict
from collections.abc import Callable
from hashlib import sha256
from multiprocessing.connection import Connection
from threading import Lock
from typing import TYPE_CHECKING

import msgspec

from engine.base import ChildProcess, skip_reasons
from engine.base.cancellation import CancelToken
from engine.base.errors import PARSER_FAULTS
from engine.corpus.documents import DocumentError, check

if TYPE_CHECKING:
    from engine.corpus.documents.text_collector import DocumentText

SECONDS = 60
"""CPU time to read one document; on Windows, time by the clock."""
MEMORY = 1024 * 1024 * 1024
"""Bytes of memory of the process, where the system can limit them."""
_LONGER = 1 if sys.platform == "win32" else 5
"""Factor by which a document may take longer by the clock than by its CPU time, since the machine may be busy."""
_STARTING = 60
"""Maximum number of seconds until the process is ready."""
_IDLE = 10
_GRACE = 10
"""Seconds that the process gives the program to end it, before it ends itself."""
_NICENESS = 5
_POLL = 0.05
"""Seconds between checks of the cancel token."""
_MAX_CACHED = 8_000_000
"""Characters of all cached texts, with which a document opens faster the second time."""


class _Answer(msgspec.Struct, frozen=True):
    text: str = ""
    rule: str = ""
    detail: str = ""
    """Why there is no text."""


class DocumentReader:
    """Extracts documents, each in an idle process or a new one. Thread-safe."""

    def __init__(self, seconds: float = SECONDS, memory: int = MEMORY) -> None:
        self._seconds = seconds
        self._memory = memory
        self._lock = Lock()
        self._idle: Worker | None = None
        self._cached: OrderedDict[bytes, str] = OrderedDict()
        self._characters = 0

    def text_of(self, data: bytes, name: str, cancel: CancelToken | None = None) -> str:
        """The text of the document with this name. Raises `DocumentError`, `Cancelled`."""
        check(name, len(data))
        ending = name[name.rfind(".") :].lower()
        key = sha256(ending.encode() + data).digest()
        with self._lock:
            if key in self._cached:
                self._cached.move_to_end(key)
                return self._cached[key]
            idle, self._idle = self._idle, None
        worker, answer = self._request(idle, ending, data, cancel)
        with self._lock:
            spare, self._idle = self._idle, worker
        if spare is not None:
            spare.end()
        if answer.rule:
            raise DocumentError(answer.rule, answer.detail)
        self._cache(key, answer.text)
        return answer.text

    def _request(
        self, idle: "Worker | None", ending: str, data: bytes, cancel: CancelToken | None
    ) -> "tuple[Worker, _Answer]":
        """Return the answer of the idle process, or of a new one if that has ended, and the process."""
        if idle is not None and idle.is_alive():
            with contextlib.suppress(Ended):  # it may end just now, since it was idle for long
                return idle, idle.extract(ending, data, self._seconds, cancel)
        try:
            worker = Worker(self._memory, self._seconds)
        except OSError:
            raise DocumentError("no-reader", skip_reasons.NO_READER.message()) from None
        try:
            return worker, worker.extract(ending, data, self._seconds, cancel)
        except Ended:
            raise DocumentError("unfinished", skip_reasons.READER_DIED.message()) from None

    def close(self) -> None:
        """Stop the process that extracts text, if it is idle."""
        with self._lock:
            worker, self._idle = self._idle, None
        if worker is not None:
            worker.end()

    def _cache(self, key: bytes, text: str) -> None:
        with self._lock:
            self._characters += len(text) - len(self._cached.get(key, ""))
            self._cached[key] = text
            while self._characters > _MAX_CACHED:
                self._characters -= len(self._cached.popitem(last=False)[1])


class Ended(Exception):
    """The process that extracts text ended before it answered."""


class Worker(ChildProcess):
    """Starts one process that extracts the text of documents, and communicates with it."""

    def __init__(self, memory: int, seconds: float) -> None:
        """Start the process and wait until it can read. Raises `OSError` if it cannot start."""
        super().__init__(serve, memory, seconds, name="mnemoscope-documents")
        try:
            ready = self._pipe.poll(_STARTING) and self._pipe.recv_bytes()
        except (EOFError, OSError):  # Windows raises the latter for a process that has died
            ready = b""
        if not ready:
            self.end()
            raise ChildProcessError

    def is_alive(self) -> bool:
        """Whether the process waits for a document. Closes it if it has ended."""
        with contextlib.suppress(OSError):  # which Windows raises if it has just died
            if self._process.is_alive() and not self._pipe.poll():
                return True
        self.end()
        return False

    def extract(self, ending: str, data: bytes, seconds: float, cancel: CancelToken | None) -> _Answer:
        """Have the process extract the text of a document, and wait for it.

        The process is over after `Ended`, `DocumentError` for one that takes too long, and `Cancelled`.
        """
        try:
            self._pipe.send_bytes(ending.encode())
            self._pipe.send_bytes(data)
            deadline = time.monotonic() + _LONGER * seconds
            answered = False
            while not answered:
                if cancel is not None:
                    paused = time.monotonic()
                    cancel.checkpoint()  # waits while the sync is paused
                    deadline += time.monotonic() - paused
                if time.monotonic() >= deadline:
                    raise DocumentError("unfinished", skip_reasons.SLOW_DOCUMENT.message(seconds=round(seconds)))
                answered = self._pipe.poll(_POLL)
            return msgspec.msgpack.decode(self._pipe.recv_bytes(), type=_Answer)
        except (EOFError, OSError, msgspec.MsgspecError):
            slow = self._has_used_its_time()
            self.end()
            if slow:
                raise DocumentError("unfinished", skip_reasons.SLOW_DOCUMENT.message(seconds=round(seconds))) from None
            raise Ended from None
        except BaseException:
            self.end()
            raise

    def _has_used_its_time(self) -> bool:
        """Whether the process has ended because a document took too much CPU time."""
        self._process.join(1)
        return sys.platform != "win32" and self._process.exitcode == -signal.SIGPROF


def serve(pipe: Connection, memory: int, seconds: float) -> None:
    """Report that the process is ready, then answer each pair of a file ending and a document with an `_Answer`.

    Ends when the pipe closes or nothing arrives for a while. Except on Windows, it also ends when one document takes
    `seconds` of CPU time, or much longer by the clock, because the program that would end it may have died.
    """
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl+C in a terminal is for the program, which then closes the pipe
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    _limit_memory(memory)
    logging.disable()  # libraries warn of features that they lack, on the terminal of a command
    with open(os.devnull, "wb") as nowhere:  # an MCP server writes its messages to the same output
        os.dup2(nowhere.fileno(), 1)
    alarm = getattr(signal, "alarm", lambda _: None)
    with contextlib.suppress(EOFError, OSError):
        pipe.send_bytes(b"ready")
        while pipe.poll(_IDLE):
            ending, data = pipe.recv_bytes().decode(), pipe.recv_bytes()
            alarm(round(_LONGER * seconds) + _GRACE)
            _limit_cpu(seconds)
            answer = msgspec.msgpack.encode(_answer(data, ending))
            _limit_cpu(0)
            alarm(0)
            pipe.send_bytes(answer)


def _limit_cpu(seconds: float) -> None:
    """End this process after so much CPU time, if the system can; 0 for no limit."""
    if sys.platform != "win32":
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _limit_memory(memory: int) -> None:
    if sys.platform == "linux":
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (memory, memory))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer(data: bytes, ending: str) -> _Answer:
    from engine.corpus.documents.text_collector import DocumentText, TextFull

    text = DocumentText()
    try:
        with contextlib.suppress(TextFull):
            _read(data, ending, text)
        return _Answer(text.finish())
    except DocumentError as problem:
        return _Answer("", problem.rule, problem.detail)
    except (MemoryError, RecursionError):
        return _Answer("", "unfinished", skip_reasons.READER_DIED.message())
    except PARSER_FAULTS as error:
        return _Answer("", "unfinished", skip_reasons.fault(error))


def _read(data: bytes, ending: str, text: "DocumentText") -> None:
    from engine.corpus.documents import epub, mail, note_exports, office, pdf, rtf, slides

    readers: dict[str, Callable[[bytes, DocumentText], None]] = {
        ".pdf": pdf.read_pdf,
        ".docx": office.read_docx,
        ".odt": office.read_odt,
        ".rtf": rtf.read_rtf,
        ".pptx": slides.read_pptx,
        ".odp": slides.read_odp,
        ".epub": epub.read_epub,
        ".html": note_exports.read_page,
        ".htm": note_exports.read_page,
        ".mht": mail.read_mht,
        ".mhtml": mail.read_mht,
        ".eml": mail.read_eml,
        ".emlx": mail.read_eml,
        ".mbox": mail.read_mbox,
        ".enex": note_exports.read_enex,
        ".opml": note_exports.read_opml,
        ".jex": note_exports.read_jex,
        ".textpack": note_exports.read_bundles,
        ".bear2bk": note_exports.read_bundles,
    }
    readers.get(ending, note_exports.read_json)(data, text)


DOCUMENTS = DocumentReader()
"""The reader that the whole program shares."""
