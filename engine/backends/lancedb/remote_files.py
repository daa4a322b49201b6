"""Files of other machines, assembled from their passages in the table."""

from collections.abc import Iterable

from engine.backends.lancedb import sql
from engine.backends.lancedb.columns import Row
from engine.backends.lancedb.file_names import FileNames, machine_of
from engine.backends.lancedb.table import SharedTable
from engine.backends.lancedb.view import TableView
from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused, Unsupported
from engine.base.language import tr
from engine.corpus.numbered_lines import NumberedText
from engine.corpus.transcripts.message_offsets import read_places


class RemoteFiles:
    """Thread-safe. Raises as `SharedTable.view` where the table cannot be used."""

    def __init__(self, table: SharedTable, naming: FileNames) -> None:
        self._table = table
        self._naming = naming

    def open(self, path: str, cancel: CancelToken | None = None) -> NumberedText:
        """The file's text from its passages, each line at its number. Raises `PathRefused`."""

        def rows(view: TableView) -> list[Row]:
            files = view.files(cancel)
            key = next((key for key, name in self._naming.of(files).items() if name == path), None)
            if key is None:
                raise PathRefused
            return view.where(sql.one_of("file", [key]), cancel)

        found = self._table.read(rows, cancel)
        return NumberedText.of(composed(sorted(found, key=lambda row: row.ordinal)))


def elsewhere(path: str) -> Unsupported:
    """The error for a file whose passages are in the table but that is on another machine."""
    return Unsupported(
        tr(
            "This file is on the machine “{machine}”: only its indexed text is here, and it cannot be opened.",
            machine=machine_of(path),
        )
    )


def composed(rows: Iterable[Row]) -> str:
    """Lines of passages in the places that they have in their file; what no passage holds is an empty line."""
    lines: dict[int, str] = {}
    for row in rows:
        for number, text in _numbered(row):
            before = lines.get(number)
            if before is None:
                lines[number] = text
            elif text not in before:  # another part of an overlong line, or another message on it
                lines[number] = f"{before} {text}" if row.chunk.places else before + text
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))


def _numbered(row: Row) -> Iterable[tuple[int, str]]:
    chunk = row.chunk
    if chunk.places is None:
        return enumerate(chunk.text.split("\n"), chunk.start_line)
    places = read_places(chunk.places)
    ends = [*(place.offset for place in places[1:]), len(chunk.text)]
    return [
        (place.line, " ".join(chunk.text[place.offset : end].split())) for place, end in zip(places, ends, strict=True)
    ]
