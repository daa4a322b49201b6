"""Packs the messages of a session into chunks: those that the settings select, with secrets masked."""

from collections.abc import Iterable

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.chunk_packing import ChunkPacker, SessionChunk, SpokenMessage
from engine.corpus.transcripts.messages import Message
from engine.redaction.masks import redact
from engine.settings import Settings
from engine.settings.options import SessionSettings


class TranscriptChunker:
    """Packs one session, whose messages arrive in order."""

    def __init__(self, settings: Settings, token: CancelToken, open: tuple[SpokenMessage, ...] = ()) -> None:
        """`open`: messages of the last chunk, when the session is continued."""
        self._wanted = settings.sessions
        self._token = token
        self._packer = ChunkPacker(settings.chunking.tokens, settings.chunking.overlap, open)

    @property
    def open(self) -> tuple[SpokenMessage, ...]:
        """Messages of the chunk that is not full yet."""
        return self._packer.open

    def add(self, messages: Iterable[Message]) -> None:
        """Append messages. Raises Cancelled."""
        for message in messages:
            self._token.checkpoint()
            if is_wanted(message, self._wanted):
                self._packer.add(said(message))

    def take(self) -> list[SessionChunk]:
        """The chunks that have become full."""
        return self._packer.take()

    def finish(self) -> list[SessionChunk]:
        """The last chunks."""
        return self._packer.finish()


def is_wanted(message: Message, settings: SessionSettings) -> bool:
    """Whether a message is one of those that are to be found."""
    if message.role == "system" or not message.text.strip():
        return False
    if message.kind == "thinking":
        return settings.thinking
    return settings.tools or message.kind not in ("tool-call", "tool-result")


def said(message: Message) -> SpokenMessage:
    """What is indexed of it: secrets are masked."""
    return SpokenMessage(message.role, redact(message.text), message.line, message.ordinal, redact(message.id))
