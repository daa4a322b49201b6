"""Notes that are called exactly what was asked for: who types a note's title or file name wants that note first."""

import re
from collections.abc import Collection

from engine.language import tr_count
from engine.search.explanation import Scored, Stages
from engine.store.snapshot import Snapshot
from engine.text import Query
from engine.text.folding import fold

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 12
"""Hardly any title is longer, and no pasted text is one."""


def called(snapshot: Snapshot, query: Query, ids: Collection[int]) -> dict[int, int]:
    """Of these chunks those in a file whose title, alias or name is these words and no others, each with its file.

    Whatever is called so holds all words of the question: only such chunks need to be looked at.
    """
    words = _words(query.question)
    if not query.plain or not 0 < len(words) <= _MOST_WORDS:
        return {}
    return {
        id_: file
        for id_, file, title, path, aliases in snapshot.titles(tuple(ids))
        if words in (_words(title), *_words_of_name(path), *map(_words, aliases.splitlines()))
    }


def put_first(ranked: list[Scored], named: dict[int, int], stages: Stages) -> list[Scored]:
    """The best chunk of each file that is called so as a full answer, before all others."""
    first: dict[int, Scored] = {}
    others = []
    for scored in ranked:
        file = named.get(scored.id)
        if file is None or file in first:
            others.append(scored)
        else:
            factor = 1.0 if scored.age is None else scored.age.factor
            first[file] = scored._replace(score=factor, fresh=1.0, named=True)
    if not first:
        return ranked
    note = tr_count(
        "{count:,} of them stands first: it is called so.",
        "{count:,} of them stand first: they are called so.",
        len(first),
    )
    stages.add("title", len(ranked), len(ranked), note)
    # Age counts among them, too; the order within equal ones stays.
    return sorted(first.values(), key=lambda scored: -scored.score) + others


def _words_of_name(path: str) -> tuple[list[str], list[str]]:
    """Those of the file's name, without and with its ending."""
    name = path.rpartition("/")[2]
    return _words(name.rpartition(".")[0]), _words(name)


def _words(text: str) -> list[str]:
    return [folded for word in _WORD.findall(text) if (folded := fold(word))]
