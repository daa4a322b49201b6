"""Receives the requests of later starts of the program over a local socket."""

import logging
import os
from pathlib import Path

from PySide6.QtCore import QObject, QTimer, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from gui.app.single_instance import ACCEPTED, LONGEST, REFUSED, IpcAddress, decode

log = logging.getLogger(__name__)

MAX_CALLERS = 32
"""Maximum number of open connections; one more closes the oldest, so that a real start is always answered."""
CALLER_SECONDS = 2.0
"""A later start gives up after 1.5 seconds; a connection without a message is closed after this."""


class IpcServer(QObject):
    """Receives messages from later starts of the program until `close`; replaces a stale socket.

    Signals: message_received: an IpcMessage, whose sender has been answered already.
    """

    message_received = Signal(object)

    def __init__(self, address: IpcAddress, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = address.name
        self._callers: list[_Caller] = []
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._accept_connection)
        if not self._server.listen(self._name):
            log.warning("Later starts cannot reach this program: %s", self._server.errorString())
        self._identity = _identity(self._name)

    def close(self) -> None:
        """Stop listening; if another program listens at the address by now, its socket stays."""
        if self._server.isListening() and self._identity != _identity(self._name):
            _close_keeping_file(self._server, self._name)
        else:
            self._server.close()

    @Slot()
    def _accept_connection(self) -> None:
        while self._server.hasPendingConnections():
            caller = _Caller(self._server.nextPendingConnection(), self)
            caller.message_received.connect(self.message_received)
            caller.done.connect(self._forget)
            self._callers.append(caller)
            caller.begin()
            if len(self._callers) > MAX_CALLERS:
                self._callers[0].hang_up()

    @Slot(object)
    def _forget(self, caller: "_Caller") -> None:
        if caller in self._callers:
            self._callers.remove(caller)


class _Caller(QObject):
    """A connection from a later start, until it is answered, closed or silent for too long.

    Signals:
        message_received: an IpcMessage, whose sender has been answered already.
        done: the connection is closed (this object).
    """

    message_received = Signal(object)
    done = Signal(object)

    def __init__(self, line: QLocalSocket, parent: QObject) -> None:
        super().__init__(parent)
        self._line = line
        self._received = b""
        line.setParent(self)
        line.setReadBufferSize(LONGEST + 1)
        line.readyRead.connect(self._read)
        line.disconnected.connect(self._end)
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self.hang_up)

    def begin(self) -> None:
        """Read data that has arrived already, and wait for the rest."""
        self._timer.start(round(CALLER_SECONDS * 1000))
        if self._line.bytesAvailable():
            self._read()

    @Slot()
    def _read(self) -> None:
        self._received += bytes(self._line.readAll().data())
        if b"\n" not in self._received and len(self._received) <= LONGEST:
            return
        message = decode(self._received.partition(b"\n")[0])
        self._line.readyRead.disconnect(self._read)
        self._line.write(REFUSED if message is None else ACCEPTED)
        self._line.flush()
        self._line.disconnectFromServer()
        if message is not None:
            self.message_received.emit(message)

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
    """Return device and inode of the socket file; None if there is none, as for a pipe."""
    try:
        status = Path(name).stat()
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _close_keeping_file(server: QLocalServer, name: str) -> None:
    """Close the server without Qt removing the socket file, which belongs to another program by now."""
    aside = Path(f"{name}.{os.getpid()}")
    try:
        Path(name).rename(aside)
    except OSError:
        server.close()
        return
    server.close()
    aside.rename(name)
