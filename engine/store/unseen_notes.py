"""Notes that an agent has written and the user has not seen yet, stored in `user.sqlite`."""

import apsw
import msgspec

from engine.records import WrittenNote
from engine.store.user_data import UserData

_KEPT = 50


class UnseenNotes:
    """The unseen notes of one workspace. Thread-safe; if nothing can be saved, it stays empty."""

    def __init__(self, user: UserData) -> None:
        self._user = user

    def all(self) -> tuple[WrittenNote, ...]:
        """All unseen notes, newest first."""
        with self._user.reading() as connection:
            rows = connection.execute("SELECT path, session, written, digest FROM unseen_notes ORDER BY written DESC")
            return tuple(_note(*row) for row in rows)

    def add(self, note: WrittenNote) -> None:
        if not self._user.keeps:
            return
        with self._user.writing() as connection:
            connection.execute("INSERT OR REPLACE INTO unseen_notes VALUES (?, ?, ?, ?)", msgspec.structs.astuple(note))
            _forget_oldest(connection)

    def seen(self, paths: tuple[str, ...]) -> None:
        """Mark these notes as seen by the user."""
        if self._user.keeps:
            with self._user.writing() as connection:
                connection.executemany("DELETE FROM unseen_notes WHERE path = ?", [(path,) for path in paths])


def _note(path: str, session: str, written: float, digest: str) -> WrittenNote:
    return WrittenNote(path=path, session=session, written=written, digest=digest)


def _forget_oldest(connection: apsw.Connection) -> None:
    connection.execute(
        "DELETE FROM unseen_notes WHERE path NOT IN (SELECT path FROM unseen_notes ORDER BY written DESC LIMIT ?)",
        (_KEPT,),
    )
