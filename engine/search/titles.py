"""Notes that are called exactly what was asked for: who types a note's title or file name wants that note first."""

import re
from collections.abc import Collection, Sequence

from engine.search.explanation import Scored, Stages
from engine.search.filters import Among
from engine.store.snapshot import Snapshot
from engine.text import Query, analyse
from engine.text.folding import fold

_WORD = re.compile(r"[^\W_]+")
_MOST_WORDS = 12
"""Hardly any title is longer, and no pasted text is one."""
_MOST_LOOKED_AT = 1000
"""Chunks with the words in their titles that are looked at: of more than so many, the first."""


def called(snapshot: Snapshot, query: Query) -> dict[int, int]:
    """Files whose title or name is these words and no others, each with its first chunk."""
    words = _words(query.question)
    if not query.plain or not 0 < len(words) <= _MOST_WORDS:
        return {}
    tokens = analyse(" ".join(words), "").words
    tables = snapshot.tables
    rows = snapshot.connection.execute(
        f"""SELECT f.id, min(c.id), f.title, f.path FROM {tables.chunks} c JOIN {tables.files} f ON f.id = c.file_id
            WHERE c.id IN (SELECT rowid FROM {tables.fts} WHERE {tables.fts} MATCH ? LIMIT {_MOST_LOOKED_AT})
            GROUP BY f.id""",
        (f'{{title name}} : "{tokens}"',),
    )
    return {file: chunk for file, chunk, title, path in rows if words in (_words(title), *_words_of_name(path))}


def with_first_chunks(ids: Sequence[int], named: dict[int, int], among: Among) -> list[int]:
    """The candidates, and of each file that is called so its first chunk, unless limits may leave it out."""
    free = among == Among()
    return list(dict.fromkeys((*ids, *named.values()))) if free else list(ids)


def put_first(snapshot: Snapshot, ranked: list[Scored], named: Collection[int], stages: Stages) -> list[Scored]:
    """The best chunk of each of these files as a full answer, before all others."""
    if not named:
        return ranked
    files = dict(snapshot.files_of_chunks(snapshot.chunks_of_files(tuple(named))))
    first: dict[int, Scored] = {}
    others = []
    for scored in ranked:
        file = files.get(scored.id)
        if file is None or file in first:
            others.append(scored)
        else:
            factor = 1.0 if scored.age is None else scored.age.factor
            first[file] = scored._replace(score=factor, fresh=1.0, named=True)
    if not first:
        return ranked
    stand = "stands first: it is" if len(first) == 1 else "stand first: they are"
    stages.add("title", len(ranked), len(ranked), f"{len(first):,} of them {stand} called so.")
    # Age counts among them, too; the order within equal ones stays.
    return sorted(first.values(), key=lambda scored: -scored.score) + others


def _words_of_name(path: str) -> tuple[list[str], list[str]]:
    """Those of the file's name, without and with its ending."""
    name = path.rpartition("/")[2]
    return _words(name.rpartition(".")[0]), _words(name)


def _words(text: str) -> list[str]:
    return [folded for word in _WORD.findall(text) if (folded := fold(word))]
