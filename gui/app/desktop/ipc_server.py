"""Receives the requests of later starts in the running program."""

import logging
import os
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from gui.app.desktop.ipc_protocol import LONGEST, REFUSED, TAKEN, IpcAddress, decode

log = logging.getLogger(__name__)

MOST_CALLERS = 32
"""Most open connections; another one closes the oldest, so that a real start is always answered."""
CALLER_SECONDS = 2.0
"""A later start gives up after 1.5 seconds; a connection without a message is closed after this."""


class IpcServer(QObject):
    """Listens from its creation until `close`; a stale socket is replaced.

    Signals: asked: Message. Its sender has been answered already.
    """

    asked = Signal(object)

    def __init__(self, address: IpcAddress, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = address.name
        self._callers: list[_Caller] = []
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._welcome)
        if not self._server.listen(self._name):
            log.warning("Later starts cannot reach this program: %s", self._server.errorString())
        self._made = _identity(self._name)

    def close(self) -> None:
        """Stop listening. If another program has taken over the address, it keeps it."""
        if self._server.isListening() and self._made != _identity(self._name):
            _close_beside(self._server, self._name)
        else:
            self._server.close()

    @Slot()
    def _welcome(self) -> None:
        while self._server.hasPendingConnections():
            caller = _Caller(self._server.nextPendingConnection(), self)
            caller.asked.connect(self.asked)
            caller.done.connect(self._forget)
            self._callers.append(caller)
            caller.begin()
            if len(self._callers) > MOST_CALLERS:
                self._callers[0].hang_up()

    @Slot(object)
    def _forget(self, caller: "_Caller") -> None:
        if caller in self._callers:
            self._callers.remove(caller)


class _Caller(QObject):
    """One connection, until it is answered, closed by the other side, or silent for too long.

    Signals: asked: Message. Its sender has been answered already. done: the connection is closed (this object).
    """

    asked = Signal(object)
    done = Signal(object)

    def __init__(self, line: QLocalSocket, parent: QObject) -> None:
        super().__init__(parent)
        self._line = line
        self._heard = b""
        line.setParent(self)
        line.setReadBufferSize(LONGEST + 1)
        line.readyRead.connect(self._read)
        line.disconnected.connect(self._end)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self.hang_up)

    def begin(self) -> None:
        """Read data that has arrived already, and wait for the rest."""
        self._timer.start(round(CALLER_SECONDS * 1000))
        if self._line.bytesAvailable():
            self._read()

    @Slot()
    def _read(self) -> None:
        self._heard += bytes(self._line.readAll().data())
        if b"\n" not in self._heard and len(self._heard) <= LONGEST:
            return
        message = decode(self._heard.partition(b"\n")[0])
        self._line.readyRead.disconnect(self._read)
        self._line.write(REFUSED if message is None else TAKEN)
        self._line.flush()
        self._line.disconnectFromServer()
        if message is not None:
            self.asked.emit(message)

    @Slot()
    def hang_up(self) -> None:
        """Close the connection without an answer."""
        self._line.abort()
        self._end()

    @Slot()
    def _end(self) -> None:
        self._timer.stop()
        self.done.emit(self)
        self.deleteLater()


def _identity(name: str) -> tuple[int, int] | None:
    """Identify the socket's file; None if there is none, as for a pipe."""
    try:
        found = Path(name).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _close_beside(server: QLocalServer, name: str) -> None:
    """Close the server without Qt removing the file of that name, which belongs to another program by now."""
    aside = Path(f"{name}.{os.getpid()}")
    try:
        Path(name).rename(aside)
    except OSError:
        server.close()
        return
    server.close()
    aside.rename(name)
