"""Describes the form of one kind of secret as data."""

import re
from collections.abc import Callable
from typing import Literal, NamedTuple

Judge = Callable[[str, re.Match[str]], bool]
"""Takes the text before the match (up to 48 characters) and the match; returns whether its last group is a secret."""
Mask = Literal["part", "whole"]


class SecretPattern(NamedTuple):
    name: str
    about: str
    """Description of the hidden text, for the docs."""
    examples: tuple[str, ...]
    """Invented examples; the text between « and » must be masked."""
    anchors: tuple[str, ...]
    """Strings; the pattern is tried only at one of them. Lower case also matches capitals. An anchor with a bracket is
    an expression, matched against the text with "?" in place of each non-ASCII character."""
    regex: str
    """Matched (not searched) at an anchor."""
    mask: Mask = "part"
    """`whole` for secrets that users choose: the ends of a password help to guess the rest."""
    judge: Judge | None = None
    """Returns false if the context or the value shows that the match is not a secret."""
    block: Literal["", "key", "yaml"] = ""
    """The secret is on the next lines: key material (on the rest of this line, too), or an indented block of YAML."""
