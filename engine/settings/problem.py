"""What is wrong with an option: a whole sentence, whichever way the option is called in it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from engine.base.language import marked, tr


@dataclass(frozen=True)
class Problem:
    """Raised where a value is checked, and turned into a message where the option's name is known."""

    sentence: str
    """A `marked` one, with the field `{it}` for the option."""
    values: Mapping[str, Any] = field(default_factory=dict)
    """Of its other fields."""

    def about(self, it: str) -> str:
        return tr(self.sentence, it=it, **self.values)


SECRET = Problem(
    marked("{it} looks like a secret: put it in an environment variable or the keychain and remove it from the file.")
)
LOGIN = Problem(
    marked(
        "{it} holds a user or a password: put it in an environment variable or the keychain and remove it from the "
        "file."
    )
)
