"""Opens links: web links in the browser, other notes here."""

from posixpath import dirname, join, normpath

from PySide6.QtCore import QObject, QUrl, Signal
from PySide6.QtGui import QDesktopServices

from engine import MemorySearchManager, tr
from gui.core.jobs import Jobs

_EXTERNAL = ("http", "https", "mailto")


class LinkFollower(QObject):
    """Opens the links of a page.

    Signals: file_chosen: the stable name of another file of the index. heading_chosen: a heading of this page, as in
    links. said: why a link was not opened.
    """

    file_chosen = Signal(str)
    heading_chosen = Signal(str)
    said = Signal(str)

    def __init__(self, jobs: Jobs, parent: QObject) -> None:
        super().__init__(parent)
        self._jobs = jobs

    def follow(self, url: QUrl, home: str, manager: MemorySearchManager) -> None:
        """Open a link in the file named `home`."""
        if url.scheme() in _EXTERNAL:
            QDesktopServices.openUrl(url)
        elif url.scheme() or url.host():
            self.said.emit(tr("Links of this kind are not opened."))
        elif not url.path():
            self.heading_chosen.emit(url.fragment())
        else:
            name = normpath(join(dirname(home), url.path()))
            self._jobs.read(
                lambda _: manager.locate(name),
                lambda _: self.file_chosen.emit(name),
                lambda _: self.said.emit(tr("This link opens a file that is not in the index.")),
            )
