"""Takes Markdown's marks out of a snippet, so that a result row reads like text.

Nothing that was found is ever taken away: a link's address, a comment or a tag stays as it stands if a match lies in
it. The snippet may be of any kind of text, so a mark only counts where it has both its ends and could be nothing else.
"""

import re
from collections.abc import Sequence

from gui.search.text_ranges import Range, cut_out

_TAKEN, _CODE = "\ue000", "\ue001"
"""Stand for what needs no second look: marks that are taken out, and code, where no mark means anything."""
_MERE_MARK = 3
"""What is longer hides more than how a word looks."""

_CODE_SPAN = re.compile(r"(?<!`)(`{1,2})(?!`)([^`\n]+)(?<!`)(\1)(?!`)")
_COMMENT = re.compile(r"(<!--)(?:(?!-->)[\s\S])*(-->)")
_TAGS = (
    "a|b|big|br|center|code|del|details|div|em|font|h[1-6]|hr|i|img|ins|kbd|li|mark|ol|p|pre|s|small|span|strong|sub|"
    "summary|sup|table|tbody|td|th|thead|tr|u|ul"
)
_ALONE = re.compile(
    rf"""
    (?<!\w) !\[\] \([^()\n]*\)                 # a picture without a name
    | \[\^[^\[\]\s]+\] (?!:)                   # a footnote's number
    | (?<=>\ ) \[![A-Za-z]+\] [+-]? [^\S\n]*   # the kind of a call-out
    | </?(?:{_TAGS})(?:\s[^<>\n]*)?/?>
    | <!--[^\S\n]? | ^[^\S\n]*-->              # of a comment whose other end is outside the snippet
    | \\ (?=[\\`*_{{}}\[\]()\#+.!|<>~-])
    """,
    re.VERBOSE | re.MULTILINE,
)
_OPENS = rf"[\w\"'\u201c\u2018({_TAKEN}{_CODE}]"
_ADDRESS = r"\([^()\n]*(?:\([^()\n]*\)[^()\n]*)?\)"
_WRAPPED = tuple(
    (sign, re.compile(pattern))
    for sign, pattern in (
        ("![", rf"(!\[)[^\[\]\n]+(\]{_ADDRESS})"),
        ("](", rf"(\[)[^\[\]\n]+(\]{_ADDRESS})"),
        ("][", r"(?<!\w)(\[)[^\[\]\n]+(\]\[[^\[\]\n]*\])"),
        ("[[", r"(!?\[\[(?! )(?:[^\[\]|\n]*\|)?)[^\[\]|\n]+(\]\])"),
        ("[[", r"(!?\[\[)(?! )[^\[\]\n]+(\]\])"),  # where its target was found, only the brackets go
        ("<", r"(<)(?:https?://|mailto:)[^<>\s]+(>)"),
        ("**", rf"(?<![\w*])(\*{{2,3}})(?={_OPENS})(?:(?!\*\*|\n\s*\n)[\s\S]){{1,300}}?(?<=\S)(\1)(?![\w*])"),
        ("__", rf"(?<![\w_])(__)(?={_OPENS})(?!\w+__)(?:(?!__|\n\s*\n)[\s\S]){{1,300}}?(?<=\S)(__)(?!\w)"),
        ("~~", r"(?<![\w~])(~~)(?=\S)(?:(?!~~)[^\n]){1,300}?(?<=\S)(~~)(?![\w~])"),
        ("==", r"(?<![\w=])(==)(?=\w)(?:(?!==)[^\n]){1,300}?(?<=\w)(==)(?![\w=])"),
        ("*", rf"(?<![\w*])(\*)(?={_OPENS})(?:(?!\n\s*\n)[^*]){{1,300}}?(?<=[^\s*])(\*)(?![\w*])"),
        ("_", rf"(?<![\w_])(_)(?!_)(?={_OPENS})(?:(?!\n\s*\n)[^_]|(?<=\w)_(?=\w)){{1,300}}?(?<=[^\s_])(_)(?!\w)"),
    )
)
"""What stands at both sides of words that stay, each with a sign that it may be there at all: pictures and links come
before the emphasis that may be round them."""


def strip_markup(snippet: str, ranges: Sequence[Range]) -> tuple[str, list[Range]]:
    """The snippet without inline marks, and the ranges in it."""
    return cut_out(snippet, _Marks(snippet, ranges).find(), ranges)


class _Marks:
    """Looks for marks kind by kind in a text where those found before are hidden."""

    def __init__(self, text: str, ranges: Sequence[Range]) -> None:
        self._text = text
        self._ranges = ranges
        self._found: list[Range] = []

    def find(self) -> list[Range]:
        """Ascending and disjoint."""
        for code in _CODE_SPAN.finditer(self._text):
            self._take(code.span(1), code.span(3))
            self._hide(*code.span(2), _CODE)
        for comment in _COMMENT.finditer(self._text):
            if not self._take(comment.span()):
                self._take(comment.span(1), comment.span(2))
        for alone in _ALONE.finditer(self._text):
            if self._take(alone.span()) and alone[0] == "\\":
                self._hide(alone.end(), alone.end() + 1, _CODE)  # what it stands before is text
        for sign, pattern in _WRAPPED:
            for pair in pattern.finditer(self._text) if sign in self._text else ():
                self._take(pair.span(1), pair.span(2))
        return sorted(self._found)

    def _take(self, *spans: Range) -> bool:
        """Take these out, unless that would hide what was found."""
        if any(self._was_found(start, end) for start, end in spans):
            return False
        for start, end in spans:
            self._found.append((start, end))
            self._hide(start, end, _TAKEN)
        return True

    def _was_found(self, start: int, end: int) -> bool:
        return end - start > _MERE_MARK and any(first < end and start < last for first, last in self._ranges)

    def _hide(self, start: int, end: int, stand_in: str) -> None:
        self._text = self._text[:start] + stand_in * (end - start) + self._text[end:]
