"""Notes to search without an index, and their division into sections."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

GARDEN = {
    "projects/greenhouse.md": """\
# Greenhouse

## Plan
Set both irrigation zones to 06:10, twelve minutes, after the last frost.
North bed gets the grey hose, the south bed the new 16 mm one.

## Watering

The timer on the drip irrigation skipped Tuesday again; the valve
sticks when the pressure drops below 1.2 bar.

- 3 Mar  cleaned the filter, pressure back to 1.6 bar
- 5 Mar  skipped once more at 06:10, ran at 06:20 by hand
- 6 Mar  swapped the CR2032; the old one read 2.71 V

Ask Ines whether her timer has the same firmware (v1.4.2).

## Harvest
Radishes first week of April, if the slugs leave any.
""",
    "daily/2026-02-08.md": """\
# Sunday 8 February

Tomatoes limp. Probably the watering clock, not the soil.
""",
    "topics/shopping.md": """\
# Shopping

Irrigation hose 16 mm, two T-pieces, spare timer batteries (CR2032).
""",
    "sessions/claude/fix-the-valve.md": """\
# Fix the valve controller

User: The 06:10 run was skipped again.
Assistant: The relay debounces at 40 ms, so a timer tick that lands inside it is lost.
""",
}


@dataclass(frozen=True)
class Section:
    start_line: int
    lines: tuple[str, ...]
    heading: tuple[str, ...]


def sections(text: str) -> Iterator[Section]:
    """Split the text before each heading; each section has the headings above it."""
    path: list[tuple[int, str]] = []
    start = 1
    lines: list[str] = []
    heading: tuple[str, ...] = ()
    for number, line in enumerate(text.rstrip("\n").split("\n"), 1):
        found = re.match(r"(#{1,6}) (.+)", line)
        if found:
            if any(part.strip() for part in lines):
                yield Section(start, tuple(lines), heading)
            path = [entry for entry in path if entry[0] < len(found[1])] + [(len(found[1]), found[2])]
            start, lines, heading = number, [], tuple(title for _, title in path)
        lines.append(line)
    if any(part.strip() for part in lines):
        yield Section(start, tuple(lines), heading)
