"""Parses the output of `qmd`; unusable output is an error."""

import json
import math
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

from engine.backends.qmd.command import QmdError
from engine.base import skip_reasons
from engine.base.language import tr

_SCHEME = "qmd://"
_HEADER = re.compile(r"@@ -(\d{1,9}),(\d{1,9}) @@[^\n]*(?:\n|$)")
_NOTHING = re.compile(r"^\W*(?:warn(?:ing)?\W+)?no results found\b", re.IGNORECASE | re.MULTILINE)
_BEGINS = re.compile(r"^[ \t]*\[", re.MULTILINE)
_MAX_TRIES = 50
_LAST_LINE = 2**31 - 1
_COUNTS = re.compile(r"Indexed: (\d{1,9}) new, (\d{1,9}) updated, (\d{1,9}) unchanged, (\d{1,9}) removed")
_COLLECTION = re.compile(r"\[(\d{1,6})/(\d{1,6})\] (\S+)")
_SKIPPED = re.compile(r"Skipped (?:unreadable file: (.+) \((\w+)\)|file outside collection: (.+))$")
_decoder = json.JSONDecoder()


class Hit(NamedTuple):
    """One document that `qmd` found."""

    collection: str
    path: str
    """Path within the collection, with slashes."""
    score: float
    """0 to 1."""
    title: str
    start: int
    end: int
    """Lines of the snippet, from 1, both included."""
    line: int
    """The best-matching line of the snippet."""
    snippet: str
    """The snippet without its header; may be cut in the middle of a line."""
    legs: tuple["Leg", ...] = ()
    """Contributions to the score, if requested."""


class Leg(NamedTuple):
    """One search's contribution to a document's score."""

    keyword: bool
    score: float
    """0 to 1."""
    weight: float
    """Final weight."""


class Counts(NamedTuple):
    """Counts of an update of one collection."""

    new: int
    updated: int
    unchanged: int
    removed: int


def parse_hits(output: str, errors: str = "") -> list[Hit]:
    """Return the results of a search, best first as given. Raises `QmdError` for unusable output.

    Progress and warnings may surround the JSON: the first array of objects counts.
    """
    rows = _rows(output)
    if rows is None:
        if _NOTHING.search(output) or (not output.strip() and _NOTHING.search(errors)):
            return []
        if not output.strip():
            raise QmdError(tr("qmd returned no answer."))
        raise QmdError(tr("qmd returned an answer that can't be read."))
    hits = [hit for row in rows if (hit := _hit(row)) is not None]
    if rows and not hits:
        raise QmdError(tr("qmd returned results without a file name."))
    return hits


def parse_counts(line: str) -> Counts | None:
    """The counts of one collection in a line of an update; None for any other line."""
    match = _COUNTS.search(line)
    return None if match is None else Counts(*map(int, match.groups()))


def parse_collection(line: str) -> str | None:
    """Parse the line that names the collection being updated; None for any other line."""
    match = _COLLECTION.match(line.strip())
    return None if match is None else match[3]


def parse_skipped(line: str) -> tuple[str, str] | None:
    """A file that an update skipped, and why; None for any other line."""
    match = _SKIPPED.search(line.rstrip())
    if match is None:
        return None
    if match[3]:
        return match[3], skip_reasons.OUTSIDE_FOR_QMD.message()
    return match[1], skip_reasons.UNREADABLE_BY_QMD.message(problem=match[2])


def _rows(output: str) -> list[dict[str, Any]] | None:
    """Return the rows of the first JSON array of objects in the output; None if there is none."""
    empty = False
    for start in _starts(output):
        try:
            value, _ = _decoder.raw_decode(output, start)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, list) and all(isinstance(row, dict) for row in value):
            if value:
                return value
            empty = True
    return [] if empty else None


def _starts(output: str) -> Iterator[int]:
    """Yield the positions at which an array may begin: starts of lines."""
    for tries, found in enumerate(_BEGINS.finditer(output)):
        if tries == _MAX_TRIES:
            return
        yield found.end() - 1


def _hit(row: dict[str, Any]) -> Hit | None:
    """Return a row as a hit; None if it names no file of a collection."""
    file = row.get("file")
    if not isinstance(file, str) or not file.startswith(_SCHEME):
        return None
    collection, slash, path = file[len(_SCHEME) :].partition("/")
    if not (collection and slash and path):
        return None
    snippet = _text(row.get("snippet"))
    header = _HEADER.match(snippet)
    text = snippet[header.end() :] if header else snippet
    start, count = (int(header[1]), int(header[2])) if header else (1, text.count("\n") + 1)
    start = min(max(1, start), _LAST_LINE)
    end = min(start + max(1, count) - 1, _LAST_LINE)
    line = row.get("line")
    best = line if isinstance(line, int) and not isinstance(line, bool) else start
    return Hit(
        collection,
        path,
        _score(row.get("score")),
        _text(row.get("title")),
        start,
        end,
        min(max(start, best), end),
        text,
        _legs(row.get("explain")),
    )


def _legs(explain: object) -> tuple[Leg, ...]:
    fusion = explain.get("rrf") if isinstance(explain, dict) else None
    listed = fusion.get("contributions") if isinstance(fusion, dict) else None
    return tuple(
        Leg(leg.get("source") == "fts", _score(leg.get("backendScore")), _score(leg.get("rrfContribution")))
        for leg in (listed if isinstance(listed, list) else ())
        if isinstance(leg, dict)
    )


def _text(value: object) -> str:
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _score(value: object) -> float:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return 0.0
    # Numbers too large for a float, or no numbers, are ignored.
    score = float(value) if -1e9 < value < 1e9 else 0.0
    return 0.0 if math.isnan(score) else min(1.0, max(0.0, score))
