"""What the index notes of a transcript itself: how far it was read, or why nothing of it is indexed."""

from engine.corpus.folder_walk import FoundFile
from engine.indexing.commits import Change
from engine.store import sessions
from engine.store.writer import Writer


def note(writer: Writer, file: FoundFile, state: bytes | None, rule: str = "", detail: str = "") -> None:
    """Note that a transcript was read; `state` is needed to continue where it ended."""
    sessions.note_transcript(
        writer, file.name, mtime_ns=file.mtime_ns, size=file.size, state=state, rule=rule, detail=detail
    )


def leaving_out(file: FoundFile, rule: str, detail: str) -> Change:
    """Notes that nothing of a transcript is indexed, and why."""

    def change(writer: Writer) -> tuple[list[int], list[int]]:
        removed = sessions.forget_transcript(writer, file.name)
        note(writer, file, None, rule, detail)
        return [], removed

    return change
