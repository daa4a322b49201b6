"""What is selected in the source: from an anchor to a caret, both places between characters."""

from gui.viewer.lines import Place


class Selection:
    """Empty until something was clicked; `caret` is the end that moves."""

    def __init__(self) -> None:
        self.anchor: Place | None = None
        self.caret: Place | None = None

    @property
    def ends(self) -> tuple[Place, Place] | None:
        """First and last place; None when nothing is selected."""
        if self.anchor is None or self.caret is None or self.anchor == self.caret:
            return None
        return min(self.anchor, self.caret), max(self.anchor, self.caret)

    def put(self, place: Place) -> None:
        """Select nothing, and begin here."""
        self.anchor = self.caret = place

    def extend(self, place: Place) -> None:
        """Move the caret and select what lies between; begins there if nothing was clicked before."""
        if self.anchor is None:
            self.anchor = place
        self.caret = place

    def select(self, anchor: Place, caret: Place) -> None:
        self.anchor, self.caret = anchor, caret

    def clear(self) -> None:
        self.anchor = self.caret = None

    def columns(self, line: int, length: int) -> tuple[int, int] | None:
        """The selected columns of a line that is `length` long; one more than that stands for its line end."""
        if self.ends is None:
            return None
        (first, from_column), (last, to_column) = self.ends
        if not first <= line <= last:
            return None
        start = from_column if line == first else 0
        end = to_column if line == last else length + 1
        return (start, end) if start < end else None


def word_at(text: str, column: int) -> tuple[int, int]:
    """The columns of the word, or else the run of blanks or the single sign, that a column touches."""
    if not text:
        return 0, 0
    column = min(column, len(text) - 1)
    kind = _kind(text[column])
    if kind == "sign":
        return column, column + 1
    start, end = column, column + 1
    while start > 0 and _kind(text[start - 1]) == kind:
        start -= 1
    while end < len(text) and _kind(text[end]) == kind:
        end += 1
    return start, end


def _kind(character: str) -> str:
    if character.isalnum() or character == "_":
        return "word"
    return "blank" if character.isspace() else "sign"
