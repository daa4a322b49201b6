"""What the tray says of the index: a shape, since colours are not told apart by everyone, and a few words."""

from dataclasses import dataclass
from typing import Literal

from engine import MemoryProviderStatus, number, tr
from gui.widgets.sync_line import SyncLine, sync_line

Shape = Literal["resting", "working", "paused", "trouble"]


@dataclass(frozen=True)
class TrayState:
    shape: Shape
    words: str


def tray_state(status: MemoryProviderStatus | None, now: float) -> TrayState:
    """`now`: seconds since the epoch. Changes at most a hundred times while a sync runs: desktops redraw each time."""
    if status is None:
        return TrayState("resting", tr("No folder is open"))
    line = sync_line(status, now=now, still_for=0)
    return TrayState(_shape(line), _words(line))


def _shape(line: SyncLine) -> Shape:
    if line.running:
        return "paused" if line.paused else "working"
    return "trouble" if line.state == "degraded" else "resting"


def _words(line: SyncLine) -> str:
    if line.running:
        return f"{line.word} · {number(line.fraction, '.0%')}" if line.fraction else line.word
    return " · ".join(part for part in (line.word, line.count) if part)
