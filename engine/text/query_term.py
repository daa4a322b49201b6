"""One term of a query."""

from typing import NamedTuple


class QueryTerm(NamedTuple):
    """One word, identifier or stretch of an unspaced script."""

    surface: str
    start: int
    end: int
    """Code points in the query."""
    word: str | tuple[str, ...]
    """Token of the `words` stream; a tuple when several must be adjacent there (the pairs of a stretch)."""
    stems: tuple[str, ...]
    """What the `stems` stream holds instead: alternatives, one per language where they differ. One with spaces is a
    phrase, such as the parts of an identifier. Empty for unspaced scripts and pictographs."""
    stop: bool
    """A function word; never set for all terms of a query."""
    prefix_ok: bool
    """`word` may stand for longer tokens: the last word while it is typed, or a single unspaced character, which is
    found only so (the index holds pairs)."""
    phrased: bool = False
    """Looked for only inside a phrase."""
    group: int = 0
    """Number shared by alternative terms; one match suffices. 0 for other terms."""
    loose: tuple[tuple[str, ...], ...] = ()
    """Looser forms: phrases of the `words` stream that are weaker evidence than the term itself.

    A last token with `*` is a prefix.
    """
    loose_stems: tuple[str, ...] = ()
    """Looser forms in the `stems` stream, written as in `stems`."""
    filler: bool = False
    """A word that only introduces the query ("another", "best"), so it has a low weight; never set for all terms."""
