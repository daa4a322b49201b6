"""Search history and saved searches, stored in `user.sqlite` because they can't be rebuilt."""

import time
from collections.abc import Iterable, Iterator
from typing import Any

import msgspec

from engine.base.bounded_json import decode_json
from engine.base.errors import StoreError
from engine.base.language import marked, tr
from engine.corpus.ignore_rules import printable_name
from engine.records import QueryRecord, RecentSearch, SavedSearch
from engine.redaction.secret_masking import redact
from engine.store.user_data import UserData

LONGEST_NAME = 200
_MAX_RECENT = 200

_SECRET = marked("A search with a password, a key or a token can't be saved: remove the secret from query and name.")


class SavedSearches:
    """Stores the saved searches and the search history of one workspace. Thread-safe.

    Entries written by another version of the program that this one cannot read are preserved but not listed.
    """

    def __init__(self, user: UserData) -> None:
        self._user = user

    @property
    def problem(self) -> str:
        """Why saved searches can't be read; empty if they can."""
        return self._user.problem

    def saved(self) -> tuple[SavedSearch, ...]:
        """Return all saved searches, last used first."""
        with self._user.reading() as connection:
            rows = connection.execute("SELECT name, last_used, query FROM saved_searches ORDER BY last_used DESC, name")
            return tuple(SavedSearch(name=name, last_used=used, query=query) for name, used, query in _readable(rows))

    def save(self, search: SavedSearch) -> None:
        """Save a search, replacing one with the same name.

        Like all methods that change saved searches, this raises `StoreError` if nothing can be saved, the name is
        invalid or the search contains a secret.
        """
        name, query = _checked(search.name), _json(search.query)
        if query is None:
            raise StoreError(tr("This search contains characters that can't be saved: type it again."))
        if contains_secret(search.query):
            raise StoreError(tr(_SECRET))
        with self._user.writing() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO saved_searches (name, last_used, query) VALUES (?, ?, ?)",
                (name, search.last_used, query),
            )

    def rename(self, name: str, new_name: str) -> None:
        """Rename a search, replacing one that already has the new name. Does nothing if `name` does not exist."""
        new_name = _checked(new_name)
        with self._user.writing() as connection:
            connection.execute("UPDATE OR REPLACE saved_searches SET name = ? WHERE name = ?", (new_name, name))

    def touch(self, name: str) -> None:
        """Set the time of last use of a saved search to now."""
        if self._user.can_save:
            with self._user.writing() as connection:
                connection.execute("UPDATE saved_searches SET last_used = ? WHERE name = ?", (time.time(), name))

    def delete(self, name: str) -> None:
        """Delete a saved search."""
        with self._user.writing() as connection:
            connection.execute("DELETE FROM saved_searches WHERE name = ?", (name,))

    def recent(self) -> tuple[RecentSearch, ...]:
        """Return the search history, newest first; each query appears once."""
        with self._user.reading() as connection:
            rows = connection.execute("SELECT id, searched, query FROM recent_searches ORDER BY id DESC")
            return tuple(RecentSearch(searched=time, query=query) for _, time, query in _readable(rows))

    def add_recent(self, query: QueryRecord) -> None:
        """Add a query to the history as its newest entry. Replaces the previous entry if that is a prefix of the query.

        Queries with secrets are not saved. Does nothing if nothing can be saved.
        """
        text = _json(query)
        if not self._user.can_save or contains_secret(query) or text is None:
            return
        with self._user.writing() as connection:
            rows = connection.execute("SELECT id, searched, query FROM recent_searches ORDER BY id DESC").fetchall()
            for index, (id_, _, known) in enumerate(_readable(rows)):
                if known == query or (index == 0 and _extends(known, query)):
                    connection.execute("DELETE FROM recent_searches WHERE id = ?", (id_,))
            connection.execute("INSERT INTO recent_searches (searched, query) VALUES (?, ?)", (time.time(), text))
            connection.execute(
                """DELETE FROM recent_searches
                   WHERE id NOT IN (SELECT id FROM recent_searches ORDER BY id DESC LIMIT ?)""",
                (_MAX_RECENT,),
            )

    def forget_recent(self, query: QueryRecord | None = None) -> None:
        """Remove a query from the history, in the database and all backups; with None, the whole history."""
        if not self._user.can_save:
            return
        with self._user.writing() as connection:
            if query is None:
                connection.execute("DELETE FROM recent_searches")
            else:
                rows = connection.execute("SELECT id, searched, query FROM recent_searches").fetchall()
                removed = [(id_,) for id_, _, known in _readable(rows) if known == query]
                connection.executemany("DELETE FROM recent_searches WHERE id = ?", removed)
        self._user.empty_log()
        self._user.change_in_backups("recent_searches", "DELETE FROM recent_searches")

    def restore_recent(self, searches: Iterable[RecentSearch]) -> None:
        """Add removed entries of the history again, each at its time among the present ones.

        Queries that were searched again since keep their newer time. Does nothing if nothing can be saved.
        """
        if not self._user.can_save:
            return
        with self._user.writing() as connection:
            rows = connection.execute("SELECT id, searched, query FROM recent_searches ORDER BY id").fetchall()
            present = list(_readable(rows))
            known = [query for _, _, query in present]
            whole = [(time, query) for _, time, query in present]
            whole += [(search.searched, search.query) for search in searches if search.query not in known]
            whole.sort(key=lambda entry: entry[0])
            connection.executemany("DELETE FROM recent_searches WHERE id = ?", [(id_,) for id_, _, _ in present])
            connection.executemany(
                "INSERT INTO recent_searches (searched, query) VALUES (?, ?)",
                [(time, text) for time, query in whole[-_MAX_RECENT:] if (text := _json(query)) is not None],
            )


def _json(query: QueryRecord) -> str | None:
    """Encode a query; None if it contains a lone surrogate, as pasted text or command-line bytes may."""
    try:
        return msgspec.json.encode(query).decode()
    except UnicodeEncodeError:
        return None


def _readable(rows: Iterable[tuple[Any, ...]]) -> Iterator[tuple[Any, float, QueryRecord]]:
    """Decode rows of (key, time, JSON of a query), skipping those that this version cannot read."""
    for key, when, text in rows:
        try:
            yield key, when, decode_json(text, QueryRecord)
        except ValueError:
            continue


def _checked(name: str) -> str:
    name = printable_name(" ".join(name.split()))
    if not name:
        raise StoreError(tr("A saved search needs a name."))
    if len(name) > LONGEST_NAME:
        raise StoreError(tr("The name of a saved search has at most {most} characters.", most=LONGEST_NAME))
    if redact(name) != name:
        raise StoreError(tr(_SECRET))
    return name


def _extends(known: QueryRecord, query: QueryRecord) -> bool:
    """Whether `query` only adds text to the end of `known`."""
    same = msgspec.structs.replace(known, text=query.text) == query
    return same and bool(known.text) and query.text.startswith(known.text)


def contains_secret(query: QueryRecord) -> bool:
    """Return whether a query contains a secret, so that it must not be saved."""
    texts = [query.text, query.like.text if query.like else ""]
    inner = query.within is not None and contains_secret(query.within)
    return inner or any(redact(text) != text for text in texts)
