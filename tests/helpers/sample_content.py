"""Content of the sample notes, sessions and facts: the user's own texts, the same in every language."""

import json
import re
from collections.abc import Iterable
from itertools import islice
from pathlib import Path

_WORDS = re.compile(r"[^\W\d_]+")
_NO_WORDS = re.compile(
    r"\S*/\S*"  # paths
    r"|[\w-]+[._]\w[\w.]*"  # names of files and of options
    r"|\b(?=\w*\d)[0-9a-f]{16,}\b"  # hashes
    r"|\b(?:(?:Ctrl|Alt|Shift)\+)+(?:\w+|\S)?"
)
_LATIN = re.compile("[A-Za-z]")
"""Matches English, the language of the program's own texts."""
_SHARE = 0.6
"""Required share of a passage's runs of words; some contain Markdown marks, which are not displayed."""


class Content:
    def __init__(self, folders: Iterable[Path], names: Iterable[str] = ()) -> None:
        """`names`: of one or two words, such as names of programs and models."""
        self._runs: set[tuple[str, ...]] = set()
        self._names = {_words(name) for name in names}
        for folder in folders:
            for path in (folder, *folder.rglob("*")):
                self._names |= {_words(part) for part in (*path.parts, path.stem)}
                if path.is_file():
                    self._take(path.read_text("utf-8", errors="replace"))

    def has(self, text: str) -> bool:
        """Return whether the content contains all lines, and their parts between dots."""
        text = _NO_WORDS.sub("", text.replace("\u200b", ""))
        return all(
            self._has(part) or all(map(self._has, re.split(r"[.。] | [·›/] |[:,] ", part)))
            for part in re.split(r"\n|\t", text)
        )

    def _has(self, part: str) -> bool:
        words = _words(part)
        runs = list(_runs(words))
        return words in self._names or not words or (bool(runs) and _share(runs, self._runs) >= _SHARE)

    def _take(self, text: str) -> None:
        for line in text.splitlines():
            for string in _strings(line):
                for part in string.splitlines():
                    words = _words(part)
                    self._runs.update(_runs(words))
                    self._runs.update(_runs(_words(_NO_WORDS.sub("", part))))
                    if len(words) < 3:
                        self._names.add(words)


def _strings(line: str) -> list[str]:
    """Return the strings in a line of a transcript, which are stored as JSON."""
    try:
        value = json.loads(line)
    except ValueError:
        return [line]
    found, waiting = [line], [value]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            found.append(value)
        elif isinstance(value, dict):
            waiting += value.values()
        elif isinstance(value, list):
            waiting += value
    return found


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.lower() for word in _WORDS.findall(text) if _LATIN.search(word))


def _runs(words: tuple[str, ...]) -> Iterable[tuple[str, ...]]:
    return zip(words, islice(words, 1, None), islice(words, 2, None), strict=False)


def _share(runs: list[tuple[str, ...]], known: set[tuple[str, ...]]) -> float:
    return sum(run in known for run in runs) / len(runs)
