"""Prepares a session for display: speakers, tool calls matched with results, and messages cut into pieces.

A conversation is created on a pool thread and never changed; one of 20,000 messages takes a moment. Pieces are laid out
one at a time, so that no message is too long to show. A piece of Markdown ends where a paragraph does; if it has to end
inside a fenced block, the next piece begins with the same fence. The lexers that colour code are loaded in advance. The
functions at the end describe an entry in words: its speaker, its time, a line about a tool's input.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from typing import Literal, NamedTuple

import msgspec

from engine import CancelToken, SessionMessage, SessionText, ToolText, tr, tr_count, without_escapes
from gui.text.excerpt import opening_words
from gui.text.formatting import exact, short_date, weekday_and_date
from gui.text.session_texts import images_before, with_image_links
from gui.viewer.code_colours import load_lexers
from gui.viewer.markdown_extensions import SEPARATOR

EntryKind = Literal["user", "speech", "thinking", "tool", "branch"]

_LANGUAGE_SAMPLE = 6_000
_LINK_TARGET = re.compile(r"\]\([^()\s]*\)")
_BREAK = re.compile(r"(?<=\S)\n(?=\S)")

CLAMP_LINES = 40
"""Maximum number of lines of a piece of plain text; the first piece is the visible part of a long output."""
_MAX_CHARACTERS = 3_000
"""Maximum number of characters of a piece, laid out in a few milliseconds in any script."""
_ENOUGH = 1_500

_DIFF_FENCE = "```diff"
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})(.*)")


class Piece(NamedTuple):
    """Characters `start` to `end` of message number `message`; see `Cut` for `fence`."""

    message: int
    start: int
    end: int
    fence: str


class Entry(msgspec.Struct, frozen=True, gc=False):
    """One displayed item: a message, reasoning, a tool call with its result, or the heading of a branch (no pieces).

    A branch is a sequence of messages that the user abandoned by going back to an earlier message.
    """

    kind: EntryKind
    speaker: str
    parts: tuple[int, ...]
    """Positions of its parts in the session's messages."""
    first_piece: int
    piece_count: int
    clamped: tuple[int, ...]
    """Number of pieces shown before "Show all": the first of each part."""
    lines: int
    """Lines of its last part."""
    longest: int
    """Lines of its longest part."""
    time: float | None
    day: int
    """Proleptic Gregorian ordinal in local time; 0 where the time is unknown."""
    branch: int = -1
    """Number of the entry that is the heading of its branch; -1 outside of branches."""
    members: int = 0
    """For the heading of a branch: how many entries the branch has."""

    @property
    def after_piece(self) -> int:
        return self.first_piece + self.piece_count


class Cut(NamedTuple):
    """Characters `start` to `end` of a text; `fence` is the opening line if they begin inside a code block."""

    start: int
    end: int
    fence: str = ""


class Pieces:
    """A sequence of `Piece`s stored as numbers in arrays: objects would slow down each garbage collection."""

    def __init__(self) -> None:
        self._messages, self._starts, self._ends = array("L"), array("Q"), array("Q")
        self._fences: dict[int, str] = {}

    def __len__(self) -> int:
        return len(self._messages)

    def first(self, count: int) -> "Pieces":
        """Return a copy of the first `count` pieces."""
        copy = Pieces()
        copy._messages, copy._starts, copy._ends = self._messages[:count], self._starts[:count], self._ends[:count]
        copy._fences = {number: fence for number, fence in self._fences.items() if number < count}
        return copy

    def __getitem__(self, number: int) -> Piece:
        fence = self._fences.get(number, "")
        return Piece(self._messages[number], self._starts[number], self._ends[number], fence)

    def add(self, message: int, cut: Cut) -> None:
        if cut.fence:
            self._fences[len(self)] = cut.fence
        self._messages.append(message)
        self._starts.append(cut.start)
        self._ends.append(cut.end)


class Conversation:
    """A session prepared for display. Entries and pieces are numbered from 0."""

    def __init__(
        self,
        session: SessionText,
        language: str,
        entries: Sequence[Entry],
        pieces: Pieces,
        tool_texts: Mapping[int, ToolText],
    ) -> None:
        self.session = session
        self.tool_texts = tool_texts
        """Inputs and outputs of tools as shown, by the number of the message, where that isn't the text unchanged."""
        self.language = language
        self.entries = entries
        self.pieces = pieces
        self.entry_of_piece = array("L")
        for number, entry in enumerate(entries):
            self.entry_of_piece.extend([number] * entry.piece_count)
        self.prompts = tuple(
            number for number, entry in enumerate(entries) if entry.kind == "user" and entry.branch < 0
        )
        """Entries of the user, without those of abandoned branches."""
        by_line = sorted(
            (session.messages[part].line, number)
            for number, entry in enumerate(entries)
            if entry.kind != "branch"
            for part in entry.parts
        )
        self._lines = array("Q", (line for line, _ in by_line))
        self._entries_by_line = array("L", (number for _, number in by_line))

    def message(self, entry: Entry) -> SessionMessage:
        """Return the message of an entry; for a tool call with its result, the call."""
        return self.session.messages[entry.parts[0]]

    def at_line(self, line: int) -> tuple[int, list[int]]:
        """Return the numbers of the entry and pieces of a transcript line, or else of the last line before it with
        any."""
        if not self._lines:
            return 0, []
        end = bisect_right(self._lines, line) or 1
        start = self._lines[end - 1]
        entries = self._entries_by_line[bisect_left(self._lines, start) : end]
        pieces = [
            piece
            for number in dict.fromkeys(entries)
            for piece in range(self.entries[number].first_piece, self.entries[number].after_piece)
            if self.session.messages[self.pieces[piece].message].line == start
        ]
        return entries[0], pieces

    def call_at_line(self, line: int) -> int:
        """Return the number of the first tool call in this transcript line, or else the entry of `at_line`."""
        begin, end = bisect_left(self._lines, line), bisect_right(self._lines, line)
        calls = (number for number in self._entries_by_line[begin:end] if self.entries[number].kind == "tool")
        return next(calls, self.at_line(line)[0])

    def is_markdown(self, number: int) -> bool:
        """Return whether a piece is speech or reasoning, which are Markdown, not the input or output of a tool."""
        return self.entries[self.entry_of_piece[number]].kind != "tool"

    def text(self, message: int) -> str:
        """Return the text of a message as shown: that of a tool without JSON's quotes and escapes."""
        shown = self.tool_texts.get(message)
        return self.session.messages[message].text if shown is None else shown.text

    def is_diff(self, number: int) -> bool:
        """Return whether a piece is of a tool's input or output with added and removed lines."""
        shown = self.tool_texts.get(self.pieces[number].message)
        return shown is not None and shown.is_diff

    def source(self, number: int) -> str:
        """Return the text of a piece, without terminal escape sequences."""
        piece = self.pieces[number]
        return without_escapes(self.text(piece.message)[piece.start : piece.end])

    def markdown(self, number: int, *, image_links: bool = True) -> str:
        """Return the Markdown of a piece to render; line breaks in the user's messages are preserved.

        `image_links`: whether the names of images are links, which only this program can open.
        """
        piece, text = self.pieces[number], self.source(number)
        if image_links and "[image" in text and not piece.fence and "```" not in text and "~~~" not in text:
            text = with_image_links(text, piece.message, images_before(self.text(piece.message)[: piece.start]))
        if not piece.fence and self.session.messages[piece.message].role == "user" and "```" not in text:
            text = _BREAK.sub("  \n", text)
        if text.count("```") > 2 or text.count("~~~") > 2:
            text = _separated(text, piece.fence)
        return f"{piece.fence}\n{text}"  # Qt would parse text between rules in the first line as front matter

    def searchable(self, number: int) -> str:
        """Return the text of a piece nearly as displayed, without link targets, to find hits in it."""
        text = self.source(number)
        return _LINK_TARGET.sub("]", text) if self.is_markdown(number) else text


def prepare(session: SessionText, token: CancelToken, before: Conversation | None = None) -> Conversation:
    """Prepare a session for display, on any thread; raises `Cancelled`. Unchanged entries of `before`, an earlier state
    of the session, are reused."""
    from engine import detect_language, readable_tool_text  # load the text analysis, unneeded by an empty window

    groups = [*_grouped(session)]
    entries = [] if before is None else _unchanged(before, session.messages, groups)
    pieces = Pieces() if before is None or not entries else before.pieces.first(entries[-1].after_piece)
    known = {} if before is None else before.tool_texts
    tool_texts = {part: known[part] for entry in entries for part in entry.parts if part in known}
    branch = -1
    for kind, parts in groups[sum(entry.kind != "branch" for entry in entries) :]:
        token.checkpoint()
        first = session.messages[parts[0]]
        if first.rewound and branch < 0:
            branch = len(entries)
            entries.append(_heading(first, parts[0], len(pieces)))
        elif not first.rewound:
            branch = -1
        if branch >= 0:
            entries[branch] = _counted(entries[branch], kind)
        first_piece, clamped, lines = len(pieces), list[int](), list[int]()
        for part in parts:
            text = session.messages[part].text
            if kind == "tool":
                shown = readable_tool_text(session.messages[part])
                if shown.is_diff:
                    load_lexers(_DIFF_FENCE)
                if shown.is_diff or shown.text is not text:
                    tool_texts[part] = shown
                text = shown.text
            else:
                load_lexers(text)
            start = len(pieces)
            for cut in cut_plain(text) if kind == "tool" else cut_markdown(text):
                pieces.add(part, cut)
            if len(pieces) > start:
                clamped.append(start)
            lines.append(text.count("\n") + (not text.endswith("\n")) if text else 0)
        shape = first_piece, len(pieces) - first_piece, tuple(clamped), lines[-1], max(lines)
        day = _day(first.time) or (entries[-1].day if entries else 0)
        entries.append(Entry(kind, _speaker(first), parts, *shape, first.time, day, branch))
    sample = " ".join(_sample(session.messages))
    return Conversation(session, detect_language(sample), entries, pieces, tool_texts)


def _unchanged(
    before: Conversation, messages: Sequence[SessionMessage], groups: Sequence[tuple[EntryKind, tuple[int, ...]]]
) -> list[Entry]:
    """Return the leading entries of `before` that are the same in the new state, up to a branch that may have grown."""
    older = before.session.messages
    pairs = enumerate(zip(older, messages, strict=False))
    same = next((number for number, (old, new) in pairs if old is not new), min(len(older), len(messages)))
    coming = iter(groups)
    count = 0
    for entry in before.entries:
        if entry.kind != "branch":
            kind, parts = next(coming, (None, ()))
            if (kind, parts) != (entry.kind, entry.parts) or parts[-1] >= same:
                break
        count += 1
    if count and before.entries[count - 1].branch >= 0:
        count = before.entries[count - 1].branch
    elif count and before.entries[count - 1].kind == "branch":
        count -= 1
    return list(before.entries[:count])


def _heading(first: SessionMessage, number: int, piece: int) -> Entry:
    """Return the heading of a branch that begins with this message, with no entries counted yet."""
    return Entry("branch", _speaker(first), (number,), piece, 0, (), 0, 0, first.time, _day(first.time))


def _counted(heading: Entry, kind: EntryKind) -> Entry:
    """Return the heading of a branch with one more entry counted; `lines` is the number of messages in the branch."""
    lines = heading.lines + (kind in ("user", "speech"))
    return msgspec.structs.replace(heading, members=heading.members + 1, lines=lines)


def _sample(messages: Sequence[SessionMessage]) -> Iterator[str]:
    characters_left = _LANGUAGE_SAMPLE
    for message in messages:
        if message.kind == "text" and characters_left > 0:
            yield message.text[:characters_left]
            characters_left -= len(message.text)


def _grouped(session: SessionText) -> Iterator[tuple[EntryKind, tuple[int, ...]]]:
    """Group messages into entries (kind, message numbers). A result joins its tool call; empty speech is left out."""
    results = session.results()
    paired = set(results.values())
    for number, message in enumerate(session.messages):
        if message.kind == "text" and message.role != "tool":
            if message.text.strip():
                yield "user" if message.role == "user" and not message.side else "speech", (number,)
        elif message.kind == "thinking":
            if message.text.strip():
                yield "thinking", (number,)
        elif number not in paired:
            yield "tool", (number, results[number]) if number in results else (number,)


def _speaker(message: SessionMessage) -> str:
    speaker = _author(message)
    return tr("{speaker} (abandoned branch)", speaker=speaker) if message.rewound else speaker


def _author(message: SessionMessage) -> str:
    if message.side:
        return tr("Sub-agent")
    if message.role == "system":
        return tr("System")
    return tr("You") if message.role == "user" and message.kind == "text" else tr("Assistant")


def _day(moment: float | None) -> int:
    if moment is None:
        return 0
    try:
        return datetime.fromtimestamp(moment).toordinal()
    except (ValueError, OverflowError, OSError):
        return 0


def cut_plain(text: str) -> Iterator[Cut]:
    """Split plain text into pieces of whole lines, without the line break between two; overlong lines are split."""
    start = 0
    while start < len(text):
        part = text[start : start + _MAX_CHARACTERS]
        lines = part.split("\n", CLAMP_LINES)
        if len(lines) > CLAMP_LINES:
            length = len(part) - len(lines[-1]) - 1
        elif start + len(part) >= len(text):
            length = len(part)
        else:
            last = part.rfind("\n", 1)
            length = last if last > 0 else len(part)
        end = start + length
        yield Cut(start, end)
        start = end + 1 if text[end : end + 1] == "\n" else end


# markdown-it-py 4.3 takes 1,160 ms instead of 16 for a table of 10,000 rows.
def cut_markdown(text: str) -> Iterator[Cut]:
    """Split into pieces of valid Markdown."""
    if len(text) <= _MAX_CHARACTERS:
        yield Cut(0, len(text))
        return
    start = position = 0
    opened = fence = ""  # the fence that is open here, and the one that was open at the start of the piece
    while position < len(text):
        end = text.find("\n", position) + 1 or len(text)
        end = min(end, position + _MAX_CHARACTERS)
        length = end - start
        if length > _MAX_CHARACTERS and position > start:
            yield Cut(start, position, fence)
            start, fence = position, opened
        line = text[position : min(end, position + 200)]
        position = end
        opened = _fence_after(line, opened)
        if not opened and not line.strip() and position - start >= _ENOUGH:
            yield Cut(start, position, fence)
            start, fence = position, ""
    if start < len(text):
        yield Cut(start, len(text), fence)


def _separated(text: str, opened: str) -> str:
    """Return Markdown with a separator between a code block and one that follows it, which Qt would join.

    `opened`: the opening line of the block that the text begins in.
    """
    lines: list[str] = []
    after_code = False
    for line in text.split("\n"):
        before, opened = opened, _fence_after(line[:200], opened)
        if opened and not before and after_code:
            lines += ["", SEPARATOR, ""]
        after_code = bool(before and not opened) or (after_code and not line.strip())
        lines.append(line)
    return "\n".join(lines)


def _fence_after(line: str, opened: str) -> str:
    """Return the opening line of the code block that is open after `line`, "" outside of code; `opened`: before."""
    match = _FENCE.match(line)
    if match is None:
        return opened
    if not opened:
        return "" if match[1][0] == "`" and "`" in match[2] else line.strip()
    closes = match[1].startswith(opened[: len(opened) - len(opened.lstrip(opened[0]))]) and not match[2].strip()
    return "" if closes else opened


_MAX_READ = 2_000
_SHOWN = 240
_BLANKS = re.compile(r"\s+")


def clock(moment: float | None) -> str:
    """Format a time as "19:22" in local time; empty if unknown."""
    if moment is None:
        return ""
    try:
        return f"{datetime.fromtimestamp(moment):%H:%M}"
    except (ValueError, OverflowError, OSError):
        return ""


def day_text(day: int, fits: Callable[[str], bool] = lambda _: True) -> str:
    """Format a date given as an ordinal: "Wednesday 11 February 2026", or "11 Feb 2026" if that doesn't fit."""
    words = weekday_and_date(date.fromordinal(day))
    return words if fits(words) else short_date(date.fromordinal(day))


def _first_words(text: str) -> str:
    return _BLANKS.sub(" ", text[:_SHOWN]).strip()


class SummaryLine(NamedTuple):
    """The line that replaces a folded entry or a group of tool calls."""

    name: str
    words: str
    """First words of the entry, or the tools of the group."""
    size: str
    failed: str = ""
    """Says that the call failed, or how many of the group did."""


def has_failed(conversation: Conversation, entry: Entry) -> bool:
    """Return whether a tool call is marked as failed or refused."""
    return any(conversation.session.messages[part].failed for part in entry.parts)


def summary(conversation: Conversation, entry: Entry) -> SummaryLine:
    """Return the line for a folded entry."""
    first = conversation.message(entry)
    if entry.kind == "thinking":
        size = tr_count("{count:,} character", "{count:,} characters", len(first.text))
        return SummaryLine(tr("Thinking"), opening_words(first.text), size)
    if entry.kind == "branch":
        size = tr_count("{count:,} message", "{count:,} messages", entry.lines)
        return SummaryLine(tr("Abandoned branch"), opening_words(first.text), size)
    last = conversation.session.messages[entry.parts[-1]]
    size = tr_count("{count:,} line", "{count:,} lines", entry.lines)
    failed = tr("Failed") if has_failed(conversation, entry) else ""
    if first.kind == "tool-call":
        from engine import subject_of  # brings redaction, which an empty window doesn't need

        size = size if len(entry.parts) > 1 else tr("no result")
        return SummaryLine(first.tool or tr("Tool"), _first_words(subject_of(first)), size, failed)
    name = tr("{tool} result", tool=last.tool) if last.tool else tr("Tool result")
    return SummaryLine(name, _first_words(last.text), size, failed)


def spoken(conversation: Conversation, number: int, *, folded: bool, line: tuple[str, ...] = ()) -> str:
    """An entry for screen readers: speaker, time, and text; `line` replaces its summary."""
    entry = conversation.entries[number]
    speaker = f"{entry.speaker}, {exact(entry.time)}" if entry.time is not None else entry.speaker
    if entry.kind in ("user", "speech"):
        text = conversation.message(entry).text[:_MAX_READ]
    else:
        text = " · ".join(part for part in line or summary(conversation, entry) if part)
        text = ", ".join((text, tr("collapsed") if folded else tr("expanded")))
    return f"{speaker}: {text}"
