"""Summarises a transcript from its first and last lines, so that thousands can be listed before any is read. Title,
project, agent, branch and times are those of these lines; the messages of a short transcript are parsed, those of
longer ones counted by marks of the format, in samples if it is very long.
"""

import os
from collections.abc import Iterator
from typing import NamedTuple

import msgspec

from engine.corpus.transcripts.formats import LineFormat, LineParser
from engine.corpus.transcripts.json_values import seconds
from engine.corpus.transcripts.jsonl import parse_line, raw_lines, read_at
from engine.corpus.transcripts.messages import Message, SessionMetadata, says_little
from engine.corpus.transcripts.transcript_reader import format_of

_SHORT = 16 * 1024
"""Size in bytes up to which every message of a transcript is parsed."""
_HEAD = 16 * 1024
_SAMPLE = 16 * 1024
_SAMPLES = 8
_WHOLE = _HEAD + _SAMPLES * _SAMPLE
"""Size in bytes up to which a transcript is read whole."""
_MAX_BYTES = 512 * 1024
"""Maximum number of bytes read to find the first message of the user."""
_LONGEST_LINE = 256 * 1024
_LINES_TO_JUDGE = 20
_END = 4 * 1024
_LINES_AT_END = 4
_STAMP = b'"timestamp":"'


class QuickSummary(msgspec.Struct, frozen=True):
    metadata: SessionMetadata
    messages: int
    """Number of messages of the user and the agent, estimated for a long transcript; 0 if it is unknown."""


def read_quick_summary(descriptor: int, path: str, size: int) -> QuickSummary | None:
    """Summarise an open transcript of `size` bytes with one JSON object per line. Raises OSError.

    None if it must be read first: if it has another format, is an internal session of the agent, or has no message near
    its beginning.
    """
    if ".jsonl" not in os.path.basename(path):
        return None
    block = read_at(descriptor, 0, size if size <= _WHOLE else _HEAD)
    begun = _begin(descriptor, path, size, block)
    if begun is None or begun.parser.metadata.generated:
        return None
    known, parser, parsed, position = begun
    messages = sum(map(parser.metadata.counts, parsed))
    if not messages and not any(message.is_speech for message in parsed):
        return None
    if position < size:
        end = max(position, size - _END)
        if size <= _WHOLE:
            others = sum([block.count(mark, position) for mark in known.speech_marks])
            last = block[end:]
        else:
            others = _estimate(descriptor, position, size, known.speech_marks)
            last = read_at(descriptor, end, size - end)
        # Without any mark the lines are probably written with other spaces than the agent's own.
        messages = messages + others if others else 0
        _see_end(last, end == position, parser, known.title_marks)
        parser.metadata.active = None  # the times between are unknown
    return QuickSummary(parser.metadata, messages)


class _TranscriptStart(NamedTuple):
    """A transcript whose first lines were parsed: a short one wholly, a long one up to the user's first message."""

    known: LineFormat
    parser: LineParser
    parsed: list[Message]
    position: int
    """Offset of the next line."""


def _begin(descriptor: int, path: str, size: int, block: bytes) -> _TranscriptStart | None:
    """Parse the first lines of a transcript; None if its format is unknown."""
    values: list[dict[str, object]] = []
    known: LineFormat | None = None
    parser: LineParser | None = None
    parsed: list[Message] = []
    position = 0
    for line, position in _lines(descriptor, block):
        value = parse_line(line) if len(line) <= _LONGEST_LINE else None
        if value is not None and parser is not None:
            parsed += parser.feed(value, 0)
        elif value is not None:
            values.append(value)
            known = format_of(values, path)
            if known is not None:
                parser = known.parser(path)
                for early in values:
                    parsed += parser.feed(early, 0)
            elif len(values) == _LINES_TO_JUDGE:
                return None
        named = size > _SHORT and parser is not None and not says_little(parser.metadata.opening)
        if position >= _MAX_BYTES or (named and any(message.is_speech for message in parsed)):
            break
    return None if known is None or parser is None else _TranscriptStart(known, parser, parsed, position)


def _lines(descriptor: int, block: bytes) -> Iterator[tuple[bytes, int]]:
    """Yield the lines of a file that begins with `block`, each with the offset at which the next line begins."""
    begin = 0
    while (end := block.find(b"\n", begin)) >= 0:
        yield block[begin:end], end + 1
        begin = end + 1
    for raw in raw_lines(descriptor, offset=begin, at_once=_HEAD):
        yield raw.data, raw.end + 1


def _estimate(descriptor: int, start: int, end: int, marks: tuple[bytes, ...]) -> int:
    """Estimate the number of messages between two offsets from samples of eight parts."""
    part = (end - start) // _SAMPLES
    middle = start + max(0, part - _SAMPLE) // 2
    # One search through all takes half as long as one through each: Python has a quicker one from 30,000 bytes on.
    samples = b"".join([read_at(descriptor, middle + number * part, _SAMPLE) for number in range(_SAMPLES)])
    return round(sum(map(samples.count, marks)) * (end - start) / max(1, len(samples)))


def _see_end(block: bytes, from_line: bool, parser: LineParser, title_marks: tuple[bytes, ...]) -> None:
    """Read the session's end time and title from its last lines."""
    metadata = parser.metadata
    stamp = block.rfind(_STAMP) + len(_STAMP)
    if stamp >= len(_STAMP) and not any([mark in block for mark in title_marks]):
        # Nearly always true. Parsing the lines would take a fifth of the whole time.
        time = seconds(block[stamp : block.find(b'"', stamp)].decode(errors="replace"))
        if time is not None and (metadata.ended is None or time > metadata.ended):
            metadata.ended = time
        return
    opening = metadata.opening
    lines = block.split(b"\n")
    whole = [line for line in (lines if from_line else lines[1:]) if line]
    for line in whole[-_LINES_AT_END:]:
        value = parse_line(line)
        if value is not None:
            parser.feed(value, 0)
    metadata.opening = opening
