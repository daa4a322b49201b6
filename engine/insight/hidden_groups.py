"""Groups of duplicates that the user has hidden, stored in `user.sqlite` because they can't be rebuilt."""

import time

from engine.base.errors import IndexReadOnly
from engine.base.language import marked, tr
from engine.store.user_data import UserData

_NOT_KEPT = marked(
    "The folder of the index cannot be written, so nothing can be hidden: make it writable or choose another one with "
    "`store.path` in the settings."
)


def hidden_groups(user: UserData) -> frozenset[str]:
    """Keys of the hidden groups."""
    with user.reading() as connection:
        return frozenset(key for (key,) in connection.execute("SELECT key FROM hidden_duplicates"))


def hide_group(user: UserData, key: str, *, hidden: bool) -> None:
    """Hide or show a group. Raises `IndexReadOnly` if nothing can be saved."""
    if not user.keeps:
        raise IndexReadOnly(user.problem or tr(_NOT_KEPT))
    with user.writing() as connection:
        if hidden:
            connection.execute("INSERT OR REPLACE INTO hidden_duplicates VALUES (?, ?)", (key, time.time()))
        else:
            connection.execute("DELETE FROM hidden_duplicates WHERE key = ?", (key,))
