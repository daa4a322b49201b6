"""Lines of an opened file as the record that callers get."""

from engine.corpus.numbered import NumberedText
from engine.records import FileText


def read_slice(text: NumberedText, path: str, start: int | None, lines: int | None) -> FileText:
    """`lines` lines from `start`; None or 0 for either: from the first, to the last. Beyond the end it is empty."""
    first = max(1, start or 1)
    last = min(text.line_count, first + lines - 1) if lines and lines > 0 else text.line_count
    more = last < text.line_count
    return FileText(
        path=path,
        text=text.text(first, last) if first <= last else "",
        from_line=first,
        lines=max(0, last - first + 1),
        truncated=more,
        next_from=last + 1 if more else None,
    )
