"""Texts about a chunk. Pure functions."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from engine import ChunkDetail, ChunkRow, FileChunks, VectorState, marked, tr, tr_count, tr_reason
from gui.widgets.formatting import exact, shown_headings, size_text
from gui.widgets.state_dot import State

VECTOR_STATES: dict[VectorState, tuple[State, str]] = {
    "ready": ("fine", marked("passage has its vector")),
    "pending": ("working", marked("passage waits for its vector")),
    "refused": ("degraded", marked("text rejected by the embedding provider")),
    "none": ("off", marked("no model: found by words only")),
}
_SOURCES = {"memory": marked("notes"), "sessions": marked("sessions")}
_NAMES = {
    "arabic": marked("Arabic"),
    "armenian": marked("Armenian"),
    "catalan": marked("Catalan"),
    "czech": marked("Czech"),
    "danish": marked("Danish"),
    "dutch": marked("Dutch"),
    "english": marked("English"),
    "finnish": marked("Finnish"),
    "french": marked("French"),
    "german": marked("German"),
    "greek": marked("Greek"),
    "hindi": marked("Hindi"),
    "hungarian": marked("Hungarian"),
    "indonesian": marked("Indonesian"),
    "italian": marked("Italian"),
    "japanese": marked("Japanese"),
    "korean": marked("Korean"),
    "norwegian": marked("Norwegian"),
    "persian": marked("Persian"),
    "polish": marked("Polish"),
    "portuguese": marked("Portuguese"),
    "romanian": marked("Romanian"),
    "russian": marked("Russian"),
    "serbian": marked("Serbian"),
    "spanish": marked("Spanish"),
    "swedish": marked("Swedish"),
    "tamil": marked("Tamil"),
    "turkish": marked("Turkish"),
}


def language_name(language: str) -> str:
    """Return the name of a language: "english" -> "English"; empty if none was detected."""
    return tr(_NAMES.get(language, language.capitalize()))


class Fact(NamedTuple):
    label: str
    value: str


def lines_text(chunk: ChunkRow) -> str:
    """Return the lines of a chunk: "line 5" or "lines 5-9"."""
    if chunk.end_line == chunk.start_line:
        return tr("line {line:,}", line=chunk.start_line)
    return tr("lines {first:,}–{last:,}", first=chunk.start_line, last=chunk.end_line)


def size_of(chunk: ChunkRow) -> str:
    characters = tr_count("{count:,} character", "{count:,} characters", chunk.characters)
    tokens = tr_count("{count:,} token", "{count:,} tokens", chunk.tokens)
    return tr("{characters}, about {tokens}", characters=characters, tokens=tokens)


def heading_text(path: str, chunk: ChunkRow) -> str:
    return " › ".join(shown_headings(path, chunk.heading)) or tr("no heading above this passage")


def tip(file: FileChunks, places: Sequence[int]) -> str:
    """Return the tooltip of a border, which describes the chunks at these positions."""
    chunk = file.chunks[places[0]]
    _, vector = VECTOR_STATES[chunk.vector]
    lines = [
        f"{_rank(places[0] + 1, file)}, {lines_text(chunk)}",
        heading_text(file.path, chunk),
        f"{size_of(chunk)} · {tr(vector)}",
    ]
    if len(places) > 1:
        more = tr_count(
            "{count:,} passage on this line: click again for the next",
            "{count:,} passages on this line: click again for the next",
            len(places),
        )
        lines.insert(0, more)
    if file.changed:
        lines.append(tr("As indexed; the file has changed since"))
    return "\n".join(lines)


def title(detail: ChunkDetail, file: FileChunks) -> str:
    return f"{_rank(detail.number, file)} · {lines_text(detail.row)}"


def _rank(number: int, file: FileChunks) -> str:
    return tr("Passage {number:,} of {chunks:,}", number=number, chunks=len(file.chunks))


def facts(detail: ChunkDetail, file: FileChunks, *, same_as_file: bool | None) -> Iterator[Fact]:
    """Yield everything known about a chunk as named values, in display order.

    `same_as_file`: whether the file still has the stored text on these lines; None if not checked.
    """
    yield Fact(tr("Heading"), heading_text(detail.path, detail.row))
    yield Fact(tr("Size"), size_of(detail.row))
    yield from _vector_facts(detail, file)
    kinds = (tr(_SOURCES[file.source]), language_name(file.language))
    yield Fact(tr("File"), f"{detail.path} ({', '.join(filter(None, kinds))})")
    if file.tags:
        yield Fact(tr("Tags"), ", ".join(file.tags))
    size, moment = size_text(file.size), exact(file.modified)
    if file.changed:
        indexed = tr("{size}, of {moment}; the file has changed since", size=size, moment=moment)
    else:
        indexed = tr("{size}, of {moment}", size=size, moment=moment)
    yield Fact(tr("As indexed"), indexed)
    yield Fact(tr("Words"), detail.words or tr("none"))
    if detail.stems and detail.stems != detail.words:
        yield Fact(tr("Stems"), detail.stems)
    if detail.heading_words:
        yield Fact(tr("Heading words"), detail.heading_words)
    yield Fact(tr("Stored text"), tr("the same text as in the file") if same_as_file else detail.text)
    yield Fact(tr("Passage id"), _id_text(detail))
    yield Fact(tr("Text hash"), detail.hash)
    yield Fact(tr("File hash"), file.hash)


def _id_text(detail: ChunkDetail) -> str:
    if not detail.identical:
        return str(detail.id)
    return tr_count(
        "{id}; {count:,} other passage with the same text",
        "{id}; {count:,} other passages with the same text",
        detail.identical,
        id=detail.id,
    )


def _vector_facts(detail: ChunkDetail, file: FileChunks) -> Iterator[Fact]:
    if detail.row.vector == "refused":
        yield Fact(tr("Why the provider rejected the text"), tr_reason(file.refusal))
    for vector in detail.vectors:
        dims = tr_count("{count:,} dimension", "{count:,} dimensions", vector.dims)
        use = [] if vector.active else [tr("its model is not in use now")]
        yield Fact(tr("Vector"), ", ".join([f"{vector.provider} · {vector.model}", dims, *use]))


def as_text(title: str, facts: Sequence[Fact]) -> str:
    """Return the title and all facts of a chunk as text for the clipboard."""
    return "\n".join([title, *(f"{fact.label}: {fact.value}" for fact in facts)]) + "\n"
