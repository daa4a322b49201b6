"""What one kind of secret looks like, as data."""

from typing import Literal, NamedTuple

from engine.redaction.values import Judge

Mask = Literal["part", "whole"]


class SecretPattern(NamedTuple):
    name: str
    about: str
    """For the docs: what of a text is hidden."""
    examples: tuple[str, ...]
    """Made up; in each, what stands between « and » must go."""
    anchors: tuple[str, ...]
    """Lower case ASCII; the pattern is tried only where one of them stands. With a bracket it is an expression."""
    regex: str
    """Matched (not searched) at an anchor."""
    mask: Mask = "part"
    """`whole` for what people choose themselves: the ends of a password help to guess the rest."""
    judge: Judge | None = None
    """Says no where the surroundings or the value show that it is no secret."""
    block: bool = False
    """The secret is what follows on the same line and on the next lines, as long as they look like key material."""
