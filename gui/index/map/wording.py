"""What the map says, from values alone."""

from engine import IndexMap, MapGap, MapPlace, MapProgress
from gui.index.map.grouping import Kind
from gui.widgets.wording import ago, counted, grouped

COLOURS: dict[Kind, str] = {
    "folder": "Colour: folder",
    "source": "Colour: source",
    "agent": "Colour: agent",
    "age": "Colour: age",
}
DRAWING = "Drawing the map…"
_STAGES = {
    "reading": "reading the vectors",
    "directions": "finding the main directions",
    "neighbours": "looking for what is alike",
    "arranging": "arranging",
}
REMEDIES: dict[MapGap, tuple[str, str]] = {
    "no-model": ("Choose a model…", "settings"),
    "no-chunks": ("Sync now", "sync"),
}
"""On the button below it, and what that asks for."""
_GAPS: dict[MapGap, tuple[str, str]] = {
    "no-model": (
        "No map without a model",
        "Chunks are placed by what they mean. The built-in model needs neither a key nor a network.",
    ),
    "no-chunks": ("Nothing is indexed yet", "The map shows chunks as soon as notes or sessions have been read."),
}


def empty(record: IndexMap) -> tuple[str, str]:
    """Title and sentence in the place of a map without points."""
    if record.gap in _GAPS:
        return _GAPS[record.gap]
    waits = f"{counted(record.chunks, 'chunk waits', 'chunks wait')} for a vector, 0 % ready."
    return "Nothing has a vector yet", f"{waits} The map appears as soon as the first ones are embedded."


def subtitle(record: IndexMap, points: int) -> str:
    """Beside the title: how many are shown, and what their places mean."""
    if points < record.chunks:
        ready = f"{grouped(points)} of {counted(record.chunks, 'chunk')} ({100 * points // record.chunks} % ready)"
    else:
        ready = counted(points, "chunk")
    how = "alike ones side by side" if record.layout == "neighbours" else "two main directions"
    return f"{ready}, {how}"


def about(record: IndexMap) -> str:
    """The same at length."""
    share = f"{100 * record.shown_variance:.0f} %"
    if record.layout == "neighbours":
        return (
            "Chunks that are alike in meaning lie side by side; distances between groups say little. "
            f"The two main directions alone would show {share} of the differences."
        )
    return f"Chunks lie where their two main directions put them, which show {share} of the differences in meaning."


def progress(step: MapProgress) -> str:
    return f"{_STAGES[step.stage]}, {100 * step.done:.0f} %"


def heading_of(place: MapPlace) -> str:
    """Title and headings as one line, the title's own heading but once."""
    parts = [place.title, *place.heading]
    return " › ".join(part for number, part in enumerate(parts) if part and part not in parts[:number])


def where(place: MapPlace) -> str:
    return f"{place.citation} · {ago(place.modified)}"


def spoken(place: MapPlace) -> str:
    """The point at which the keys are, for assistive tools."""
    return f"{heading_of(place)}. {place.text} {place.path}, line {place.start_line}"


def described(record: IndexMap, points: int, groups: tuple[tuple[str, int], ...]) -> str:
    """The whole map in words, for assistive tools."""
    told = ", ".join(f"{name} {grouped(count)}" for name, count in groups)
    return (
        f"{subtitle(record, points)}. {told}. Arrow keys move the map, Control with an arrow key goes to the next "
        "chunk, Enter opens it, Space lists it, plus and minus zoom, 0 shows all."
    )
