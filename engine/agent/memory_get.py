"""`memory_get`: a page of a file, also for a file named by a citation."""

from typing import TYPE_CHECKING

from msgspec import UNSET

from engine.agent.memory_access import AgentAccess
from engine.agent.tool_interface import count, error_message
from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.records import FileText, MemoryGetAnswer, parse_citation
from engine.text.grapheme_cuts import cut

if TYPE_CHECKING:
    from engine.memory.memory_interface import MemorySearchManager

PAGE_LINES = 120
PAGE_CHARACTERS = 12_000
_LONGEST_NAME = 1000
"""An error message repeats at most this many characters of the requested name."""


def memory_get(
    access: AgentAccess,
    path: str,
    from_line: int | None = None,
    lines: int | None = None,
    *,
    cancel: CancelToken | None = None,
) -> MemoryGetAnswer:
    """Return a page of the file of this stable name, or the lines of a citation; never raises.

    At most `lines` lines (120 for None), and 12,000 characters; if more follows, the text ends with a line that says
    how to continue, and `next_from` is the next line. If there is no such line, the answer says that the file is
    missing, or how many lines it has.
    """
    try:
        if not isinstance(path, str) or not path.strip():
            return MemoryGetAnswer(path="", error="No file is named: say in path which one.")
        start, wanted = count(from_line), count(lines)

        def read(memory: "MemorySearchManager", _token: CancelToken) -> FileText:
            if not access.may_read(path):
                raise PathRefused
            cited = None if start or wanted else parse_citation(path)
            if cited is not None and not access.may_read(cited.path):
                raise PathRefused
            return read_named(memory, path, start, wanted, most=PAGE_LINES)

        return _page(access.ask(read, cancel))
    except Exception as error:
        return MemoryGetAnswer(path=cut(str(path), _LONGEST_NAME), disabled=True, error=error_message(error))


def read_named(
    memory: "MemorySearchManager", path: str, start: int | None, lines: int | None, *, most: int | None = None
) -> FileText:
    """Read the file of exactly this name, else the lines of a citation or of a line of `search`.

    `most` lines by default. Raises as `read_file`.
    """
    cited = None if start or lines else parse_citation(path)
    try:
        text = memory.read_file(path, start=start, lines=lines or most)
        if text.lines or not cited:
            return text
        # For sessions it is unknown whether the name ever existed: treated as deleted.
    except PathRefused:
        if not cited:
            raise
    wanted = cited.last - cited.first + 1
    return memory.read_file(cited.path, start=cited.first, lines=wanted)


def _page(found: FileText) -> MemoryGetAnswer:
    """Return the part of a text that fits on a page, in whole lines; a single overlong line is cut."""
    shown, lines, notice = found.text, found.lines, ""
    next_from = found.next_from
    if len(shown) > PAGE_CHARACTERS:
        end = shown.rfind("\n", 0, PAGE_CHARACTERS + 1)
        if end >= 0:
            shown = shown[:end]
            lines = shown.count("\n") + 1
            next_from = found.from_line + lines
        else:
            shown = cut(shown, PAGE_CHARACTERS)
            notice = f"[Line {found.from_line} is longer than the part shown.]"
            next_from = found.from_line + 1 if lines > 1 or found.truncated else None
            lines = 1
    if next_from is not None:
        notice = f"{notice} [More follows: continue with from={next_from}.]".lstrip()
    return MemoryGetAnswer(
        path=found.path,
        missing=True if found.total_lines is None else UNSET,
        total_lines=found.total_lines if found.total_lines is not None and not found.lines else UNSET,
        text=f"{shown}\n\n{notice}" if notice else shown,
        from_line=found.from_line,
        lines=lines,
        truncated=True if notice else UNSET,
        next_from=UNSET if next_from is None else next_from,
    )
