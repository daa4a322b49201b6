"""Sharing: links, drags, exports, prints."""

from PySide6.QtGui import QKeySequence

from engine import marked
from gui.commands.commands import EXPORT, Commands
from gui.controllers.drag import DragController
from gui.controllers.folders import FolderController
from gui.controllers.links import LinkController
from gui.controllers.open_result import ResultOpener
from gui.controllers.printing import PrintController
from gui.core.window_context import WindowContext
from gui.sharing.export import Exports
from gui.shell.views import Views


class SharingFeatures:
    """What the window makes by one line."""

    def __init__(
        self,
        context: WindowContext,
        views: Views,
        folders: FolderController,
        ways: ResultOpener,
    ) -> None:
        workspace, banner, jobs, window = context.workspace, context.notices, context.jobs, context.window
        self._views = views
        self.links = LinkController(context, views, folders, ways)
        self.exports = Exports(workspace, views.search, views.viewer.external, banner, jobs, window)
        self.printing = PrintController(workspace, views, banner, jobs, window)
        self.dragging = DragController(workspace, views, banner, jobs, window)

    def add_commands(self, commands: Commands) -> None:
        """Add the commands for export and printing to the menu."""
        print_keys = (key.toString() for key in QKeySequence.keyBindings(QKeySequence.StandardKey.Print))
        commands.menu.addSeparator()
        commands.add(EXPORT.name, EXPORT.english, self.exports.choose, *EXPORT.keys)
        on_paper = [
            commands.add("share.print", marked("Print…"), self.printing.print_, *print_keys),
            commands.add("share.pdf", marked("Save as PDF…"), self.printing.save_pdf),
        ]
        for reader in (self._views.viewer, self._views.conversation):
            reader.offer(on_paper)

    def close(self) -> None:
        """Remove temporary files for printing and dragging when the program ends."""
        self.printing.close()
        self.dragging.close()
