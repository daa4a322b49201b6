"""Substring search in sections and messages, so that results have real lines, headings, snippets and ranges."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Protocol

import msgspec

from engine import FoundMessage, MemorySearchResult, SessionMessage, SessionSummary, SessionText
from tests.helpers.fake_notes import Section, sections
from tests.helpers.fake_records import MODIFIED, result_of, with_text


class Searched(Protocol):
    """Name -> text, name -> seconds since the epoch, path -> session."""

    files: dict[str, str]
    modified: dict[str, float]
    session_texts: dict[str, SessionText]


def matches(memory: Searched, query: str, *, hybrid: bool) -> Iterator[MemorySearchResult]:
    """Return every section and message with one of the words, scored by their number, unordered."""
    words = [re.escape(word) for word in query.lower().split()]
    if not words:
        return
    pattern = re.compile("|".join(words), re.IGNORECASE)
    for name, text in list(memory.files.items()):
        for section in sections(text):
            hits = {match.group().lower() for line in section.lines for match in pattern.finditer(line)}
            if hits:
                yield _result(memory, name, section, pattern, share=len(hits) / len(words), hybrid=hybrid)
    for session in list(memory.session_texts.values()):
        for message in session.messages:
            hits = {match.group().lower() for match in pattern.finditer(message.text)}
            if hits and message.kind == "text":
                yield _message(memory, session.summary, message, pattern, share=len(hits) / len(words), hybrid=hybrid)


def _message(
    memory: Searched,
    summary: SessionSummary,
    message: SessionMessage,
    pattern: re.Pattern[str],
    *,
    share: float,
    hybrid: bool,
) -> MemorySearchResult:
    """Return a message of a session as a result, with one line of its transcript."""
    section = Section(message.line, tuple(message.text.split("\n")), (summary.title,))
    found = _result(memory, summary.path, section, pattern, share=share, hybrid=hybrid, title=summary.title)
    found_message = FoundMessage(
        ordinal=message.ordinal,
        id=message.id,
        role=message.role,
        agent=summary.agent,
        project=summary.project,
    )
    return msgspec.structs.replace(
        with_text(found, snippet_line=message.line, message=found_message),
        end_line=message.line,
        citation=f"{summary.path}#L{message.line}",
        modified=summary.ended or MODIFIED,
    )


def _result(
    memory: Searched,
    name: str,
    section: Section,
    pattern: re.Pattern[str],
    *,
    share: float,
    hybrid: bool,
    title: str | None = None,
) -> MemorySearchResult:
    first = next(index for index, line in enumerate(section.lines) if pattern.search(line))
    snippet = "\n".join(section.lines[first : first + 3])[:700].rstrip()
    end = section.start_line + len(section.lines) - 1
    lines = f"#L{section.start_line}-L{end}" if end > section.start_line else f"#L{end}"
    if title is None:
        heading = next(sections(memory.files[name])).heading
        title = heading[0] if heading else Path(name).stem
    words = 0.4 + 0.5 * share
    meaning = 0.3 + 0.4 * share if hybrid else None
    return result_of(
        path=name,
        start_line=section.start_line,
        end_line=end,
        score=words if meaning is None else 0.7 * words + 0.3 * meaning,
        snippet=snippet,
        source="sessions" if name.startswith("sessions/") else "memory",
        citation=name + lines,
        title=title,
        heading=section.heading,
        modified=memory.modified.get(name, MODIFIED),
        snippet_line=section.start_line + first,
        match_ranges=tuple(match.span() for match in pattern.finditer(snippet)),
        text_score=words,
        vector_score=meaning,
        text_share=1.0 if meaning is None else 0.7 * words / (0.7 * words + 0.3 * meaning),
    )
