"""Facts as rows of `user.sqlite`, with one vector per fact and model."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import apsw
import msgspec

from engine.records import Fact, SavedFact
from engine.store.stored_models import ModelName
from engine.store.user_data import UserData

_COLUMNS = ", ".join(Fact.__struct_fields__)
_MARKS = ", ".join("?" * len(Fact.__struct_fields__))


class StoredFacts:
    """Stores the facts of one workspace. Thread-safe; changes raise `StoreError` if nothing can be saved."""

    def __init__(self, user: UserData) -> None:
        self._user = user
        self._changes = 0

    @property
    def read_only_reason(self) -> str:
        """Why nothing can be saved; empty if saving works."""
        return self._user.read_only_reason

    @property
    def problem(self) -> str:
        """Why saved facts can't be read; empty if they can."""
        return self._user.problem

    def stamp(self) -> tuple[int, int]:
        """Return a value that changes whenever any process changes a fact."""
        with self._user.reading() as connection:
            return int(connection.pragma("data_version")), self._changes + self._user.openings

    def all(self) -> tuple[Fact, ...]:
        """Return all facts, including those awaiting approval and forgotten ones; newest first."""
        with self._user.reading() as connection:
            return _all(connection)

    def save(self, *facts: Fact) -> None:
        """Save facts, replacing those with the same ids. A fact whose text changed loses its vectors."""
        with self._writing() as connection:
            _save_facts(connection, facts)

    def add(self, decide: Callable[[tuple[Fact, ...]], SavedFact]) -> SavedFact:
        """Pass all saved facts to `decide` and save the fact that it returns, unless it is a duplicate.

        Both happen in one write transaction. Returns the result of `decide`.
        """
        with self._writing() as connection:
            saved = decide(_all(connection))
            if not saved.duplicate:
                _save_facts(connection, (saved.fact,))
        return saved

    def erase(self, ids: Sequence[str]) -> None:
        """Delete the facts with these ids from the database and all backups."""
        with self._writing() as connection:
            connection.executemany("DELETE FROM fact_vectors WHERE fact = ?", [(id_,) for id_ in ids])
            connection.executemany("DELETE FROM facts WHERE id = ?", [(id_,) for id_ in ids])
        self._user.empty_log()
        for table, key in (("fact_vectors", "fact"), ("facts", "id")):
            rows = ((id_,) for id_ in ids)
            self._user.change_in_backups(table, f"DELETE FROM {table} WHERE {key} = ?", rows)

    def erase_old(self, before: float) -> None:
        """Delete facts that were forgotten before this time from the database and all backups."""
        query = "SELECT id FROM facts WHERE forgotten < ?"
        with self._user.reading() as connection:
            old = [id_ for (id_,) in connection.execute(query, (before,))]
        if old and self._user.can_save:
            self.erase(old)

    def purge_old_texts(self) -> None:
        """Remove earlier texts of edited facts from all files, including backups."""
        self._user.empty_log()
        now = [(fact.id, fact.text) for fact in self.all()]
        of_another_text = "DELETE FROM fact_vectors WHERE fact IN (SELECT id FROM facts WHERE id = ? AND text <> ?)"
        self._user.change_in_backups("fact_vectors", of_another_text, now)
        self._user.change_in_backups("facts", "UPDATE facts SET text = ?2 WHERE id = ?1 AND text <> ?2", now)

    def vectors(self, model: ModelName) -> dict[str, bytes]:
        """Return the facts' vectors by fact id, encoded as in `engine.store.vector_encoding`."""
        query = "SELECT fact, vector FROM fact_vectors WHERE provider = ? AND model = ? AND provider_key = ?"
        with self._user.reading() as connection:
            return {str(id_): bytes(vector) for id_, vector in connection.execute(query, model)}

    def save_vectors(self, model: ModelName, made: Iterable[tuple[str, str, bytes]]) -> None:
        """Save vectors, given as (fact id, embedded text, vector), unless the text of the fact has changed since.

        Does nothing if nothing can be saved.
        """
        if not self._user.can_save:
            return
        with self._writing() as connection:
            connection.executemany(
                """INSERT OR REPLACE INTO fact_vectors (fact, provider, model, provider_key, vector)
                   SELECT id, ?3, ?4, ?5, ?6 FROM facts WHERE id = ?1 AND text = ?2""",
                [(id_, text, *model, vector) for id_, text, vector in made],
            )

    @contextmanager
    def _writing(self) -> Iterator[apsw.Connection]:
        with self._user.writing() as connection:
            yield connection
        self._changes += 1


def _all(connection: apsw.Connection) -> tuple[Fact, ...]:
    rows = connection.execute(f"SELECT {_COLUMNS} FROM facts ORDER BY created DESC, id").fetchall()
    return tuple(map(_fact, rows))


def _save_facts(connection: apsw.Connection, facts: Iterable[Fact]) -> None:
    for fact in facts:
        connection.execute(
            """DELETE FROM fact_vectors
               WHERE fact = ?1 AND NOT EXISTS (SELECT 1 FROM facts WHERE id = ?1 AND text = ?2)""",
            (fact.id, fact.text),
        )
        connection.execute(
            f"INSERT OR REPLACE INTO facts ({_COLUMNS}) VALUES ({_MARKS})", msgspec.structs.astuple(fact)
        )


def _fact(row: Sequence[Any]) -> Fact:
    fields = dict(zip(Fact.__struct_fields__, row, strict=True))
    fact = Fact(**{**fields, "pending": bool(fields["pending"])})
    try:
        return msgspec.convert(msgspec.to_builtins(fact), Fact)  # validates types, which the constructor does not
    except msgspec.ValidationError as error:
        raise apsw.CorruptError(str(error)) from error
