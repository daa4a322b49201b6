"""The program that runs hears what later starts ask for."""

import logging
import os
from pathlib import Path

from PySide6.QtCore import QObject, Signal, Slot
from PySide6.QtNetwork import QLocalServer, QLocalSocket

from gui.staying.address import Address
from gui.staying.message import LONGEST, REFUSED, TAKEN, Message, decode

log = logging.getLogger(__name__)


class Listener(QObject):
    """Listens from its making until `close`; a socket that was left over is replaced.

    Signals:
        asked: Message. Its sender has been answered already.
    """

    asked = Signal(object)

    def __init__(self, address: Address, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._name = address.name
        self._server = QLocalServer(self)
        self._server.setSocketOptions(QLocalServer.SocketOption.UserAccessOption)
        self._server.newConnection.connect(self._welcome)
        if not self._server.listen(self._name):
            log.warning("Later starts cannot reach this program: %s", self._server.errorString())
        self._made = _identity(self._name)

    def close(self) -> None:
        """Hear no more. Whoever has taken over the address meanwhile keeps it."""
        if self._server.isListening() and self._made != _identity(self._name):
            _close_beside(self._server, self._name)
        else:
            self._server.close()

    @Slot()
    def _welcome(self) -> None:
        while self._server.hasPendingConnections():
            _Caller(self._server.nextPendingConnection(), self)


class _Caller(QObject):
    """One later start, until it has been answered or has gone."""

    def __init__(self, line: QLocalSocket, listener: Listener) -> None:
        super().__init__(listener)
        self._line = line
        self._listener = listener
        self._heard = b""
        line.setParent(self)
        line.readyRead.connect(self._read)
        line.disconnected.connect(self.deleteLater)
        if line.bytesAvailable():
            self._read()

    @Slot()
    def _read(self) -> None:
        self._heard += bytes(self._line.readAll().data())
        if b"\n" not in self._heard and len(self._heard) <= LONGEST:
            return
        message: Message | None = decode(self._heard.partition(b"\n")[0])
        self._line.readyRead.disconnect(self._read)
        self._line.write(REFUSED if message is None else TAKEN)
        self._line.flush()
        self._line.disconnectFromServer()
        if message is not None:
            self._listener.asked.emit(message)


def _identity(name: str) -> tuple[int, int] | None:
    """Of the socket's file; None where it has none, as a pipe."""
    try:
        found = Path(name).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _close_beside(server: QLocalServer, name: str) -> None:
    """Qt removes the file of that name, whosever it is by now."""
    aside = Path(f"{name}.{os.getpid()}")
    try:
        Path(name).rename(aside)
    except OSError:
        server.close()
        return
    server.close()
    aside.rename(name)
