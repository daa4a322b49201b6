"""Reads options of commands in a query as words, and #tags as conditions, if the indexed texts have them."""

from collections.abc import Sequence

import msgspec

from engine.base import lazy_pattern
from engine.base.language import tr
from engine.search.query_conditions import Condition, files_with_tag, in_files, phrase_expression
from engine.store.snapshot import Snapshot
from engine.text import Query
from engine.text.parsed_query import Atom, Clause, Field, Word
from engine.text.tokens_and_stems import phrase_tokens

_TAG = lazy_pattern(r"#([^\s#]+?)[.,;:!?]*")
_MAX_READ = 200
"""Maximum number of texts that are read to find an option of a command."""
_MAX_OPTIONS = 8
"""Maximum number of exclusions that may be options of a command."""


def read_with_index(snapshot: Snapshot, query: Query, files: Sequence[int] | None) -> Query:
    """Return the query with options of commands as words and tags as conditions, if the index has them.

    `files`: the files to search, since other files must not change the meaning; None for all.
    """
    among = Condition("1") if files is None else in_files(files)
    return _with_tags(snapshot, _without_options(snapshot, query, among), among)


def _with_tags(snapshot: Snapshot, query: Query, among: Condition) -> Query:
    """Return the query with words such as `#garden` as the condition `tag:garden` if notes have this tag.

    Next to other words, only an exclusion is read so: texts without the tag may have `#include <vector>` or "#todo".
    """
    clauses = tuple(
        Clause(tuple(_as_tag(snapshot, atom, among) for atom in clause.alternatives), clause.negated)
        for clause in query.clauses
    )
    if any(not clause.required for clause in clauses):
        clauses = tuple(new if new.negated else old for new, old in zip(clauses, query.clauses, strict=True))
    return msgspec.structs.replace(query, clauses=clauses)


def _as_tag(snapshot: Snapshot, atom: Atom, among: Condition) -> Atom:
    """Return the condition for a word that is a tag of notes; other parts of a query unchanged."""
    if not isinstance(atom, Word) or atom.is_prefix or (match := _TAG.fullmatch(atom.text)) is None:
        return atom
    field = Field("tag", match[1])
    sql, values = files_with_tag(snapshot, field.value)
    query = f"SELECT 1 FROM ({sql}) c WHERE {among.sql} LIMIT 1"
    return atom if snapshot.connection.execute(query, (*values, *among.values)).get is None else field


def _without_options(snapshot: Snapshot, query: Query, among: Condition) -> Query:
    """Return the query with an exclusion read as a word if a text has it after the same word, with the hyphen.

    It is then an option of a command that was pasted, as in `rm -rf build`. A remark names it.
    """
    exclusions = [clause for clause in query.clauses if clause.negated and isinstance(clause.alternatives[0], Word)]
    words = {
        clause: word
        for clause in exclusions[:_MAX_OPTIONS]
        if (word := _as_option(snapshot, query.text, clause, among))
    }
    if not words:
        return query
    clauses = tuple(Clause((words[clause],)) if clause in words else clause for clause in query.clauses)
    remarks = [
        tr(
            "“{option}” was read as a word, since a text has it as an option of a command: to exclude it, put the word"
            " in quotation marks.",
            option=word.text,
        )
        for word in words.values()
    ]
    return msgspec.structs.replace(query, clauses=clauses, remarks=(*query.remarks, *remarks))


def _as_option(snapshot: Snapshot, text: str, clause: Clause, among: Condition) -> Word | None:
    """Return the excluded word with its hyphen if a text contains it as an option after the preceding word; else None.

    An example is `rm -rf`.
    """
    atom = clause.alternatives[0]
    assert isinstance(atom, Word)
    hyphen = atom.start - 1
    before = text[:hyphen].split()[-1:]
    option = text[hyphen : atom.end]
    written = before and _is_written(snapshot, f"{before[0]} {option}", among)
    return Word(option, hyphen, atom.end) if written else None


def _is_written(snapshot: Snapshot, text: str, among: Condition) -> bool:
    """Whether a text occurs literally, in any case, in one of the first chunks that contain its words."""
    fts, chunks = snapshot.tables.fts, snapshot.tables.chunks
    rows = snapshot.connection.execute(
        f"""SELECT c.text FROM {fts} f CROSS JOIN {chunks} c ON c.id = f.rowid
            WHERE {fts} MATCH ? AND {among.sql} LIMIT {_MAX_READ}""",
        (phrase_expression(phrase_tokens(text)), *among.values),
    )
    return any(text.casefold() in found.casefold() for (found,) in rows)
