"""The target that the viewer should show."""

from dataclasses import dataclass
from pathlib import PurePosixPath

from engine import MemorySearchResult, split_name


@dataclass(frozen=True)
class ViewTarget:
    name: str
    """The file's stable name."""
    query: str = ""
    first: int | None = None
    """First and last line of the part that was found; None shows the file from its start."""
    last: int | None = None
    focus: int = 1
    """The line to have in view: the best one of the part."""
    title: str = ""
    heading: tuple[str, ...] = ()

    @classmethod
    def of_result(cls, result: MemorySearchResult, query: str) -> "ViewTarget":
        lead = result.snippet[: result.match_ranges[0][0]].count("\n") if result.match_ranges else 0
        return cls(
            name=result.path,
            query=query,
            first=result.start_line,
            last=max(result.start_line, result.end_line),
            focus=max(result.start_line, result.snippet_line + lead),
            title=result.title,
            heading=result.heading,
        )

    @classmethod
    def of_lines(cls, name: str, line: int | None, end: int | None = None) -> "ViewTarget":
        last = end if end is None or line is None else max(line, end)
        return cls(name=name, first=line, last=last or line, focus=line or 1)

    @property
    def part(self) -> tuple[int, int] | None:
        """First and last line of the part that was found."""
        return None if self.first is None or self.last is None else (self.first, self.last)

    @property
    def place(self) -> tuple[object, ...]:
        """The part, and the query that it answers: identifies the target."""
        return self.name, self.first, self.last, self.query

    @property
    def file_title(self) -> str:
        return self.title or PurePosixPath(self.name).stem

    @property
    def breadcrumb(self) -> str:
        """The path, then the headings below the title."""
        headings = self.heading[1:] if self.heading[:1] == (self.title,) else self.heading
        return " › ".join([*filter(None, split_name(self.name)), *headings])
