"""Lines of an opened file as the record that callers get."""

from engine.corpus.numbered import NumberedText
from engine.records import FileText


def read_slice(text: NumberedText, path: str, start: int | None, lines: int | None) -> FileText:
    """`lines` lines from `start`; None or 0 for either: from the first, to the last. Beyond the end it is empty.

    A slice ends without a line end and has "\\n" between its lines; without either, the text is as in the file.
    """
    if not start and not lines:
        return FileText(
            path=path, text=text.whole(), from_line=1, lines=text.line_count, truncated=False, next_from=None
        )
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
