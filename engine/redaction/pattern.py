"""What one kind of secret looks like, as data."""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

Judge = Callable[[str, re.Match[str]], bool]
"""What stands before the match (up to 48 characters) and the match: whether its last group is a secret."""
Mask = Literal["part", "whole"]


class SecretPattern(NamedTuple):
    name: str
    about: str
    """For the docs: what of a text is hidden."""
    examples: tuple[str, ...]
    """Made up; in each, what stands between « and » must go."""
    anchors: tuple[str, ...]
    """Strings; the pattern is tried only where the text has one. In lower case they stand for capitals too. With a
    bracket it is an expression, for the text with "?" in place of each character that isn't ASCII."""
    regex: str
    """Matched (not searched) at an anchor."""
    mask: Mask = "part"
    """`whole` for what people choose themselves: the ends of a password help to guess the rest."""
    judge: Judge | None = None
    """Says no where the surroundings or the value show that it is no secret."""
    block: Literal["", "key", "yaml"] = ""
    """The secret is on the next lines: key material (on the rest of this line, too), or an indented block of YAML."""
