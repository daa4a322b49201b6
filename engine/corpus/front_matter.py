"""What stands in a note's front matter (YAML or TOML): its lines, and the value of a key.

Only plain `key: value` and `key = value` lines are read, which is what people write there; a full parser would refuse
the whole block for one slip.
"""

import re
from collections.abc import Sequence

from engine.corpus import markdown

_LONGEST_LINE = 400
_KEY = re.compile(r"\"?([\w][\w \-]*?)\"?[ \t]*[:=][ \t]*(.+)")
_COMMENT = re.compile(r"[ \t]#.*")
_ESCAPE = re.compile(r"\\(.)")
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"')


def inner_lines(lines: Sequence[str], *, whole: bool = True) -> Sequence[str]:
    """The lines between the fences of the front matter with which these lines begin; none without any.

    With `whole` false the lines are only the beginning of the note: front matter may go on behind them.
    """
    length = markdown.front_matter_length(lines)
    if length:
        return lines[1 : length - 1]
    opened = bool(lines) and lines[0].rstrip() in markdown.FRONT_MATTER_FENCES
    return lines[1:] if opened and not whole else ()


def values(lines: Sequence[str]) -> dict[str, str]:
    """The values by their keys, which are in lower case with `_` for spaces and hyphens; the first of a key counts.

    A value is bare of quotes and comments, and empty where it spans several lines.
    """
    found: dict[str, str] = {}
    for line in lines:
        if match := _KEY.fullmatch(line.rstrip()[:_LONGEST_LINE]):
            found.setdefault(re.sub(r"[ \-]+", "_", match[1].lower()), _unquoted(match[2].strip()))
    return found


def _unquoted(value: str) -> str:
    """A YAML or TOML scalar as text; what spans several lines counts as none."""
    if value[:1] in ("|", ">"):
        return ""
    if value[:1] == '"' and (quoted := _QUOTED.match(value)):
        return _ESCAPE.sub(r"\1", value[1 : quoted.end() - 1])
    if value[:1] == "'" and len(value) > 1:
        return value[1:].rpartition("'")[0].replace("''", "'")
    return _COMMENT.sub("", value)
