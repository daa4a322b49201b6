"""A translation of the window by a function, in place of the German catalogue."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace

import pytest

from engine.base import language


@contextmanager
def translated(translate: Callable[[str], str]) -> Iterator[None]:
    """Speak German, with sentences from `translate`."""
    catalogue = SimpleNamespace(
        gettext=translate, ngettext=lambda one, many, count: translate(one if count == 1 else many)
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("gettext.GNUTranslations", lambda _file: catalogue)
        language.set_language("de")
    try:
        yield
    finally:
        language.set_language("en")
