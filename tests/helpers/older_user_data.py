"""User data of other versions of the program."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

import apsw
import pytest

from engine.store import user_data

Migration = Callable[[apsw.Connection], object]


@contextmanager
def at_version(number: int, later: Sequence[Migration] = ()) -> Iterator[None]:
    """Open user data like the version of the program that knew so many migrations; `later`: those of the next ones."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(user_data, "USER_MIGRATIONS", (*user_data.USER_MIGRATIONS[:number], *later))
        yield
