"""The cards at the top of the overview: each shows a number, a label and a note about its state."""

from dataclasses import dataclass

from PySide6.QtGui import QColor
from PySide6.QtWidgets import QFrame

from engine import DiskPart, IndexOverview, MemoryProviderStatus, floored, marked, number, tr, tr_count
from gui.index.chart_data import cache_hits
from gui.style.theme import tokens
from gui.text.formatting import duration, size_text
from gui.text.plain_text import set_tip
from gui.text.status_texts import State, provider_label, skipped_count
from gui.widgets.labels import ElidedLabel, label
from gui.widgets.layouts import column_of
from gui.widgets.state_dot import state_colour

_KILO = 1000
_NOTABLE_REST = 0.1
"""Largest share of the total that a note omits."""
UNKNOWN = "–"


@dataclass(frozen=True)
class Figure:
    name: str
    """Name of the figure, one of `NAMES`."""
    value: str = UNKNOWN
    note: str = ""
    state: State = "fine"
    tip: str = ""


NAMES = (marked("files"), marked("passages"), marked("vectors"), marked("on disk"))
_ONE = {"files": marked("file"), "passages": marked("passage"), "vectors": marked("vector")}
"""The names next to the value 1."""
NOTHING = tuple(map(Figure, NAMES))


def figures(status: MemoryProviderStatus, overview: IndexOverview | None) -> tuple[Figure, ...]:
    """Return the numbers to show. Some come from the status; those from `overview` are unknown until counted."""
    return (
        _files(status),
        _chunks(status, overview),
        _vectors(status, overview),
        _disk(status, overview),
    )


def _files(status: MemoryProviderStatus) -> Figure:
    failed, skipped = len(status.failed_files), skipped_count(status.skipped_files)
    parts = [tr_count("{count:,} failed", "{count:,} failed", failed)] if failed else []
    parts += [tr_count("{count:,} skipped", "{count:,} skipped", skipped)] if skipped else []
    note = " · ".join(parts) or (tr("none skipped") if status.files else tr("nothing indexed yet"))
    counts = (
        tr("{count:,} notes", count=count.files)
        if count.source == "memory"
        else tr("{count:,} sessions", count=count.files)
        for count in status.source_counts
    )
    return Figure("files", number(status.files), note, "degraded" if failed else "fine", " · ".join(counts))


def _chunks(status: MemoryProviderStatus, overview: IndexOverview | None) -> Figure:
    median = overview.sizes.median if overview else 0
    note = tr_count("median {count:,} character", "median {count:,} characters", median) if median else ""
    return Figure("passages", number(status.chunks), note)


def _vectors(status: MemoryProviderStatus, overview: IndexOverview | None) -> Figure:
    model, reused = f"{provider_label(status.provider)} {status.model}".strip(), _reused(overview)
    rows, tip = status.vector.rows, "\n".join(filter(None, (model, reused)))
    if status.provider == "none":
        return Figure("vectors", number(rows), tr("words only"), "off")
    share = floored(rows, status.chunks) if status.chunks else ""
    step = status.syncing
    if step is not None and step.phase == "embedding" and not status.paused:
        time_left = tr("embedding")
        if step.seconds_left is not None:
            time_left = tr("{duration} left", duration=duration(step.seconds_left))
        return Figure("vectors", number(rows), ", ".join(part for part in (share, time_left) if part), "working", tip)
    if status.pending_vectors:
        state: State = "degraded" if status.awaiting_approval is not None else "working"
        note = tr("{share}, {count:,} pending", share=share, count=status.pending_vectors)
        return Figure("vectors", number(rows), note, state, tip)
    return Figure("vectors", number(rows), tr("every passage has a vector") if status.chunks else "", tip=tip)


def _disk(status: MemoryProviderStatus, overview: IndexOverview | None) -> Figure:
    sizes = status.sizes
    total = sizes.database + sizes.wal + sizes.matrix + sizes.user
    parts = overview.disk if overview else ()
    return Figure("on disk", size_text(total), _disk_note(parts, total), tip=status.db_path)


def _disk_note(parts: tuple[DiskPart, ...], total: int) -> str:
    """Return the sizes of text, words and vectors or, if other parts are large, the sum of the three and the rest."""
    sizes = {part.name: part.bytes for part in parts}
    if not sizes:
        return ""
    unit = 1
    while total / unit >= _KILO:
        unit *= _KILO
    text, words = sizes.get("text", 0), sizes.get("words", 0)
    vectors = sizes.get("vectors", 0) + sizes.get("matrix", 0)
    rest = sum(sizes.values()) - text - words - vectors
    if rest > total * _NOTABLE_REST:
        content = _short((text + words + vectors) / unit)
        return tr("text, words, vectors {content} · rest {rest}", content=content, rest=_short(rest / unit))
    return tr(
        "text {text} · keyword index {words} · vectors {vectors}",
        text=_short(text / unit),
        words=_short(words / unit),
        vectors=_short(vectors / unit),
    )


def _short(size: float) -> str:
    return number(size, ".1f" if size < 9.95 else ".0f")


def _reused(overview: IndexOverview | None) -> str:
    """Return how many chunks of recent updates had a cached vector, as text; empty if unknown."""
    hits = cache_hits(overview.syncs) if overview else None
    if hits is None:
        return ""
    reused, needed = hits
    return tr_count(
        "Of {count:,} passage in the updates below, {reused:,} already had a vector.",
        "Of {count:,} passages in the updates below, {reused:,} already had a vector.",
        needed,
        reused=reused,
    )


class _Note(ElidedLabel):
    """A label in the colour of a state."""

    state: State = "fine"

    def text_colour(self) -> QColor:
        colours = tokens(self.palette())
        return state_colour(colours, self.state) if self.state in ("degraded", "working") else colours.muted


class FigureCard(QFrame):
    """A card with a large number, its name below, and a note in the colour of its state."""

    def __init__(self) -> None:
        super().__init__()
        self.setProperty("role", "card")
        self._value = label("", "figure")
        self._name = ElidedLabel()
        self._note = _Note()
        for part in (self._name, self._note):
            part.setProperty("role", "meta")
        column_of(self._value, self._name, self._note, spacing=3, margins=(14, 10, 14, 10), parent=self)

    def show_figure(self, figure: Figure) -> None:
        """Show a number; an empty note keeps its line, so that the layout stays stable."""
        name = tr(_ONE[figure.name]) if figure.value == "1" and figure.name in _ONE else tr(figure.name)
        self._value.setText(figure.value)
        self._name.setText(name)
        self._note.setText(figure.note or " ")
        self._note.state = figure.state
        self._note.update()
        set_tip(self, figure.tip)
        accessible_name = ", ".join(part for part in (f"{figure.value} {name}", figure.note) if part)
        self.setAccessibleName(accessible_name)
