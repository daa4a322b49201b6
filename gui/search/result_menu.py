"""What can be done with one result besides opening it."""

from collections.abc import Sequence

from PySide6.QtGui import QAction, QGuiApplication, QKeySequence
from PySide6.QtWidgets import QMenu, QWidget

from engine import MemorySearchResult, result_quote, split_name, tr_count
from gui.commands.binding import show_keys_of
from gui.commands.commands import EDIT, EXPLAIN, EXPORT, LIKE, LINK, WITHIN
from gui.commands.keymap import Command, command
from gui.core.capabilities import Gates, MissingFeatures

CITE = command("results.cite", "Copy citation", "results", QKeySequence.StandardKey.Copy)
COPY_PATH = command("results.copy-path", "Copy path", "results")
QUOTE = command("results.copy-quote", "Copy as a Markdown quote", "results")
COPY_SNIPPET = command("results.copy-snippet", "Copy snippet", "results")
SWITCH_TO = command("results.switch-workspace", "Switch to this workspace", "results")
REVEAL = command("results.reveal", "Reveal in file manager", "results")


def copy_text(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def copy_citations(results: Sequence[MemorySearchResult]) -> None:
    """Copy the citations of the results, one per line."""
    copy_text("\n".join(result.citation for result in results))


def copy_quotes(results: Sequence[MemorySearchResult]) -> None:
    copy_text("\n\n".join(map(result_quote, results)))


class ResultMenu(QMenu):
    """The context menu of `result`, or of several that are selected with it.

    Copying happens here; the other actions are for the owner to connect.
    """

    def __init__(
        self,
        result: MemorySearchResult,
        selected: Sequence[MemorySearchResult],
        lacks: MissingFeatures,
        parent: QWidget,
    ) -> None:
        super().__init__(parent)
        self.setToolTipsVisible(True)
        self.like = self._entry(LIKE)
        self.within = self._entry(WITHIN)
        self.addSeparator()
        self._entry(CITE).triggered.connect(lambda: copy_citations(selected))
        self._entry(QUOTE).triggered.connect(lambda: copy_quotes(selected))
        for known, copied in ((COPY_PATH, result.path), (COPY_SNIPPET, result.snippet)):
            self._entry(known).triggered.connect(lambda _=False, copied=copied: copy_text(copied))
        self.link = self._entry(LINK)
        self.addSeparator()
        self.why = self._entry(EXPLAIN)
        self.addSeparator()
        self.editor = self._entry(EDIT)
        self.reveal = self._entry(REVEAL)
        self.switch = self._entry(SWITCH_TO)
        self.switch.setVisible(bool(split_name(result.path)[0]))
        self.addSeparator()
        self.export = self._entry(EXPORT)
        if len(selected) > 1:
            self.export.setText(tr_count("Export {count:,} result…", "Export {count:,} results…", len(selected)))
        gates = Gates()
        gates.hear(lacks)
        gates.add(self.like, "alike")
        gates.add(self.within, "narrowing")
        gates.add(self.why, "explanation")

    def _entry(self, known: Command) -> QAction:
        made = self.addAction(known.words)
        show_keys_of(made, known.name)
        return made
