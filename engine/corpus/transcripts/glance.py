"""What a transcript seems to hold, from its first and its last lines: for a list of thousands before any is read.

Title, project, agent, branch and times are as reading would find them there; messages are parsed in a short transcript,
else counted by marks that the format names, and in a long one in samples alone.
"""

import os

import msgspec

from engine.corpus.transcripts.formats import LineFormat, LineParser
from engine.corpus.transcripts.jsonl import parse_line, raw_lines, read_at
from engine.corpus.transcripts.messages import Message, SessionFacts
from engine.corpus.transcripts.readable import seconds
from engine.corpus.transcripts.reading import format_of

_SHORT = 16 * 1024
"""Bytes of a transcript that is read whole."""
_AT_ONCE = 16 * 1024
_MOST = 512 * 1024
"""Bytes in which the person must have said something."""
_LONGEST_LINE = 256 * 1024
_LINES_TO_JUDGE = 20
_END = 4 * 1024
_LINES_AT_END = 4
_STAMP = b'"timestamp":"'
_SAMPLE = 16 * 1024
_SAMPLES = 8


class Glance(msgspec.Struct, frozen=True):
    facts: SessionFacts
    messages: int
    """Of the person and the agent; about so many in a long transcript."""


def glance(descriptor: int, path: str, size: int) -> Glance | None:
    """A glance at an open transcript of `size` bytes with one JSON object a line. Raises OSError.

    None where reading it has to show what it is: another file, a session of the agent's own housekeeping, one in which
    nobody has said anything (soon).
    """
    if ".jsonl" not in os.path.basename(path):
        return None
    values: list[dict[str, object]] = []
    known: LineFormat | None = None
    parser: LineParser | None = None
    said: list[Message] = []
    position = 0
    for raw in raw_lines(descriptor, at_once=_AT_ONCE):
        value = parse_line(raw.data) if len(raw.data) <= _LONGEST_LINE else None
        position = raw.end + 1
        if value is not None and parser is not None:
            said += parser.feed(value, raw.number)
        elif value is not None:
            values.append(value)
            known = format_of(values)
            if known is not None:
                parser = known.parser(path)
                said += [message for number, early in enumerate(values) for message in parser.feed(early, number)]
            elif len(values) == _LINES_TO_JUDGE:
                return None
        if position >= _MOST or (size > _SHORT and parser is not None and parser.facts.opening):
            break
    speech = [message for message in said if message.is_speech]
    if known is None or parser is None or parser.facts.generated or not speech:
        return None
    messages = sum(map(parser.facts.counts, speech))
    if position < size:
        messages += _count(descriptor, position, size, known.speech_marks)
        _see_end(descriptor, position, size, parser, known.title_marks)
    return Glance(parser.facts, messages)


def _count(descriptor: int, start: int, end: int, marks: tuple[bytes, ...]) -> int:
    """About how many messages of speech stand between these places."""
    rest = end - start
    if rest <= _SAMPLES * _SAMPLE:
        block = read_at(descriptor, start, rest)
        return sum(map(block.count, marks))
    counted = 0
    for number in range(_SAMPLES):
        block = read_at(descriptor, start + number * rest // _SAMPLES, _SAMPLE)
        counted += sum(map(block.count, marks))
    return round(counted * rest / (_SAMPLES * _SAMPLE))


def _see_end(descriptor: int, start: int, end: int, parser: LineParser, title_marks: tuple[bytes, ...]) -> None:
    """Take in what the last lines say of the session as a whole: when it ended, what it is called."""
    facts = parser.facts
    begin = max(start, end - _END)
    block = read_at(descriptor, begin, end - begin)
    stamp = block.rfind(_STAMP) + len(_STAMP)
    if stamp >= len(_STAMP) and not any(mark in block for mark in title_marks):
        # Nearly always so, and to parse the lines takes a fifth of the whole glance.
        time = seconds(block[stamp : block.find(b'"', stamp)].decode(errors="replace"))
        if time is not None and (facts.ended is None or time > facts.ended):
            facts.ended = time
        return
    opening = facts.opening
    lines = block.split(b"\n")
    whole = [line for line in (lines if begin == start else lines[1:]) if line]
    for line in whole[-_LINES_AT_END:]:
        value = parse_line(line)
        if value is not None:
            parser.feed(value, 0)
    facts.opening = opening
