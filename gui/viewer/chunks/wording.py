"""What the window says of a chunk. Pure functions."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine import ChunkDetail, ChunkRow, FileChunks, VectorState
from gui.widgets.state import State
from gui.widgets.wording import counted, exact, grouped, size_text

VECTOR_STATES: dict[VectorState, tuple[State, str]] = {
    "ready": ("fine", "has its vector"),
    "pending": ("working", "waits for its vector"),
    "refused": ("degraded", "its vector was refused"),
    "none": ("off", "no model: found by words only"),
}
_SOURCES = {"memory": "notes", "sessions": "sessions"}


class Fact(NamedTuple):
    label: str
    value: str


def lines_text(chunk: ChunkRow) -> str:
    """line 5, lines 5-9 (as a range)."""
    if chunk.end_line == chunk.start_line:
        return f"line {grouped(chunk.start_line)}"
    return f"lines {grouped(chunk.start_line)}–{grouped(chunk.end_line)}"


def size_of(chunk: ChunkRow) -> str:
    return f"{counted(chunk.characters, 'character')}, about {counted(chunk.tokens, 'token')}"


def heading_text(chunk: ChunkRow) -> str:
    return " › ".join(chunk.heading) or "no heading above it"


def tip(file: FileChunks, places: Sequence[int]) -> str:
    """For the mouse over a border: what is on that line."""
    if len(places) > 1:
        more = f"{counted(len(places), 'chunk')} on this line: click again for the next\n"
    else:
        more = ""
    chunk = file.chunks[places[0]]
    _, vector = VECTOR_STATES[chunk.vector]
    lines = [
        f"Chunk {grouped(places[0] + 1)} of {grouped(len(file.chunks))}, {lines_text(chunk)}",
        heading_text(chunk),
        f"{size_of(chunk)} · {vector}",
    ]
    if file.changed:
        lines.append("As indexed; the file has changed since")
    return more + "\n".join(lines)


def title(detail: ChunkDetail, file: FileChunks) -> str:
    return f"Chunk {grouped(detail.number)} of {grouped(len(file.chunks))} · {lines_text(detail.row)}"


def facts(detail: ChunkDetail, file: FileChunks, *, same_as_file: bool | None) -> Iterator[Fact]:
    """All that is known of a chunk, one after the other.

    `same_as_file`: whether the file has the stored text on these lines; None where that was not looked at.
    """
    yield Fact("Heading", heading_text(detail.row))
    yield Fact("Size", size_of(detail.row))
    yield from _vector_facts(detail, file)
    source = _SOURCES[file.source]
    yield Fact("File", f"{detail.path} ({source}{', ' + file.language.capitalize() if file.language else ''})")
    if file.tags:
        yield Fact("Tags", ", ".join(file.tags))
    changed = "; it has changed since" if file.changed else ""
    yield Fact("As indexed", f"{size_text(file.size)}, of {exact(file.modified)}{changed}")
    yield Fact("Words", detail.words or "none")
    if detail.stems and detail.stems != detail.words:
        yield Fact("Stems", detail.stems)
    if detail.heading_words:
        yield Fact("Heading words", detail.heading_words)
    if same_as_file:
        yield Fact("Stored text", "the same as in the file")
    else:
        yield Fact("Stored text", detail.text)
    twins = f"; {counted(detail.twins, 'other chunk')} with the same text" if detail.twins else ""
    yield Fact("Chunk id", f"{detail.id}{twins}")
    yield Fact("Text hash", detail.hash)
    yield Fact("File hash", file.hash)


def _vector_facts(detail: ChunkDetail, file: FileChunks) -> Iterator[Fact]:
    if detail.row.vector == "refused":
        yield Fact("Refusal", file.refusal)
    for vector in detail.vectors:
        use = "" if vector.active else ", not in use now"
        yield Fact("Vector", f"{vector.provider} · {vector.model}, {counted(vector.dims, 'dimension')}{use}")


def as_text(title: str, facts: Sequence[Fact]) -> str:
    """For the clipboard."""
    return "\n".join([title, *(f"{fact.label}: {fact.value}" for fact in facts)]) + "\n"
