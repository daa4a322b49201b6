"""What stands in the sample notes, sessions and facts: words of the person's own, the same in every language."""

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
"""What the program says by itself is English."""
_SHARE = 0.6
"""Of a passage's runs of words; its marks of Markdown are not shown, so some of its runs stand nowhere."""


class Content:
    def __init__(self, folders: Iterable[Path], names: Iterable[str] = ()) -> None:
        """`names`: of one or two words, such as the programs' and the models'."""
        self._runs: set[tuple[str, ...]] = set()
        self._names = {_words(name) for name in names}
        for folder in folders:
            for path in (folder, *folder.rglob("*")):
                self._names |= {_words(part) for part in (*path.parts, path.stem)}
                if path.is_file():
                    self._take(path.read_text("utf-8", errors="replace"))

    def has(self, text: str) -> bool:
        """Whether all of its lines, and what dots part in them, stand in the content."""
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
            for said in _strings(line):
                for part in said.splitlines():
                    words = _words(part)
                    self._runs.update(_runs(words))
                    if len(words) < 3:
                        self._names.add(words)


def _strings(line: str) -> list[str]:
    """A line of a transcript holds its words in JSON."""
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
