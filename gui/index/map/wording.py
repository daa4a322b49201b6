"""Texts about the map. Pure functions."""

from engine import IndexMap, MapGap, MapPointDetail, MapProgress, floored, marked, number, tr, tr_count
from gui.index.map.groups import Kind
from gui.text.formatting import ago, passages_text, shown_headings

COLOURS: dict[Kind, str] = {
    "folder": marked("Colour by folder"),
    "source": marked("Colour by source"),
    "agent": marked("Colour by agent"),
    "age": marked("Colour by age"),
}
DRAWING = marked("Drawing the map…")
_STAGES = {
    "reading": marked("reading the vectors, {share:.0%}"),
    "directions": marked("computing the map from the vectors, {share:.0%}"),
    "neighbours": marked("finding similar passages, {share:.0%}"),
    "arranging": marked("arranging the points of the map, {share:.0%}"),
}
REMEDIES: dict[MapGap, tuple[str, str]] = {
    "no-model": (marked("Choose a model…"), "settings"),
    "no-chunks": (marked("Update now"), "sync"),
}
"""Message -> label and action of the button below it."""
_GAPS: dict[MapGap, tuple[str, str]] = {
    "no-model": (
        marked("No map without a model"),
        marked("Passages are placed by what they mean. The built-in model needs neither a key nor a network."),
    ),
    "no-chunks": (
        marked("Nothing is indexed yet"),
        marked("The map shows passages as soon as notes or sessions have been read."),
    ),
}


def empty(record: IndexMap) -> tuple[str, str]:
    """Return title and sentence to show instead of a map without points."""
    if record.gap in _GAPS:
        title, sentence = _GAPS[record.gap]
        return tr(title), tr(sentence)
    return tr("Nothing has a vector yet"), tr_count(
        "{count:,} passage waits for a vector, 0% ready. The map appears as soon as the first ones are embedded.",
        "{count:,} passages wait for a vector, 0% ready. The map appears as soon as the first ones are embedded.",
        record.chunks,
    )


def subtitle(record: IndexMap, points: int) -> str:
    """Return the text next to the title: the number of points, and the meaning of their locations."""
    if points < record.chunks:
        ready = tr_count(
            "{points:,} of {count:,} passage ({share} ready)",
            "{points:,} of {count:,} passages ({share} ready)",
            record.chunks,
            points=points,
            share=floored(points, record.chunks),
        )
    else:
        ready = passages_text(points)
    if record.layout == "neighbours":
        return tr("{chunks}. Similar ones sit together", chunks=ready)
    return tr("{chunks}, placed by meaning", chunks=ready)


def about(record: IndexMap) -> str:
    """Return the subtitle as full sentences."""
    if record.layout == "neighbours":
        return tr(
            "Passages with similar meaning are close together; distances between groups say little. The two "
            "main directions of meaning alone would show {share:.0%} of the differences.",
            share=record.shown_variance,
        )
    return tr(
        "Passages are placed along the two main directions of their meaning, which show {share:.0%} "
        "of the differences.",
        share=record.shown_variance,
    )


def progress(step: MapProgress) -> str:
    return tr(_STAGES[step.stage], share=step.done)


def heading_of(detail: MapPointDetail) -> str:
    """Return the title and headings of a chunk as one line, without repeating the title."""
    parts = [detail.title, *shown_headings(detail.path, detail.heading)]
    return " › ".join(part for number, part in enumerate(parts) if part and part not in parts[:number])


def citation_and_age(detail: MapPointDetail) -> str:
    return f"{detail.citation} · {ago(detail.modified)}"


def spoken(detail: MapPointDetail) -> str:
    """Describe the current point for screen readers."""
    return tr(
        "{heading}. {text} {path}, line {line}",
        heading=heading_of(detail),
        text=detail.text,
        path=detail.path,
        line=detail.start_line,
    )


def described(record: IndexMap, points: int, groups: tuple[tuple[str, int], ...]) -> str:
    """Describe the whole map for screen readers."""
    listed = ", ".join(f"{name} {number(count)}" for name, count in groups)
    keys = tr(
        "Arrow keys move the map, Control with an arrow key goes to the next passage, Enter opens it, Space lists it, "
        "plus and minus zoom, 0 shows all."
    )
    return f"{subtitle(record, points)}. {listed}. {keys}"
