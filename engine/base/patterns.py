"""Regular expressions that are compiled when they are first used.

A search on the command line uses few of the hundred patterns in the modules that it imports, and compiling one takes
up to a millisecond.
"""

import re
from typing import Any, cast


class _Pattern:
    def __init__(self, text: str, flags: int) -> None:
        self._text = text
        self._flags = flags

    def __getattr__(self, name: str) -> Any:
        """A method or an attribute of the compiled pattern, which later uses find at once."""
        found = getattr(re.compile(self._text, self._flags), name)
        setattr(self, name, found)
        return found


def lazy_pattern(text: str, flags: int = 0) -> re.Pattern[str]:
    """Return a pattern with all methods and attributes of `re.compile(text, flags)`, for a module's constant."""
    return cast(re.Pattern[str], _Pattern(text, flags))
