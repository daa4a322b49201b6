"""The chunks of a session: shown as rows below the conversation, one by one, with the chunk's message in view."""

from PySide6.QtCore import QObject, Slot

from engine import FileChunks, MemorySearchManager, tr
from gui.conversation.entries import Conversation
from gui.conversation.view import ConversationView
from gui.core.jobs import Jobs
from gui.viewer.base_viewer import BaseViewer
from gui.viewer.chunks.card import ChunkCard
from gui.viewer.chunks.inspector import ChunkInspector
from gui.viewer.chunks.margin_lanes import ChunkLanes


class _Messages:
    """Locations of chunks in a conversation, which has no line numbers to draw borders next to."""

    def __init__(self, view: ConversationView) -> None:
        self._view = view
        self._lanes: ChunkLanes | None = None
        self.conversation: Conversation | None = None

    def current_line(self) -> int:
        current = self._view.current.number
        if self.conversation is None or current is None:
            return 1
        return self.conversation.message(self.conversation.entries[current]).line

    def set_margin(self, shown: bool) -> None:
        """Nothing is drawn next to messages."""

    def set_chunks(self, file: FileChunks | None, lanes: ChunkLanes | None) -> None:
        self._lanes = lanes

    def set_chosen(self, place: int | None) -> None:
        """The message that is current shows it."""

    def reveal_chunk(self, place: int) -> None:
        if self._lanes is not None and self.conversation is not None:
            self._view.current.go_to(self.conversation.at_line(self._lanes.chunks[place].start_line)[0])


class ConversationChunks(QObject):
    """`card` is shown below the conversation; it shows a chunk while `inspector.margin_action` is checked."""

    def __init__(self, jobs: Jobs, view: ConversationView, panel: BaseViewer) -> None:
        super().__init__(panel)
        self.card = ChunkCard()
        self._messages = _Messages(view)
        self.inspector = ChunkInspector(jobs, self._messages, self.card, panel, tr("Show chunks of the index"))
        self.inspector.margin_action.toggled.connect(self._show_first)
        self.card.closed.connect(lambda: self.inspector.margin_action.setChecked(False))

    def set_manager(self, manager: MemorySearchManager | None) -> None:
        """Set the memory of the sessions."""
        self._messages.conversation = None
        self.inspector.set_manager(manager)

    def show_conversation(self, conversation: Conversation | None) -> None:
        """Set the conversation, which may be a later state of the same session; None for none."""
        self._messages.conversation = conversation
        self.inspector.show_file("" if conversation is None else conversation.session.summary.path, None)

    @Slot(bool)
    def _show_first(self, shown: bool) -> None:
        """The row of the chunk that the current message is in; a card that was closed is opened again so, too."""
        if shown and not self.inspector.walking:
            self.inspector.walk(True)
