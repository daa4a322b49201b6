"""The progress line of long operations, on a terminal only."""

import shutil
import sys
import time
import unicodedata
from typing import Self

from engine.base.formatting import plural
from engine.cli.embedding_messages import spent_text
from engine.cli.output import safe, unfiltered
from engine.records import HealthProgress, MemorySyncProgressUpdate

_PHASES = {
    "waiting": "Waiting: another Mnemoscope is writing this index",
    "discovering": "Looking for files",
    "indexing": "Indexing files",
    "embedding": "Embedding passages",
    "publishing": "Finishing",
    "done": "Done",
}
_ERASE_LINE = "\r\x1b[K"


class LiveLine:
    """A line of stderr that is updated in place, on a terminal only, and removed when the `with` block ends."""

    def __init__(self) -> None:
        self._shown = sys.stderr.isatty()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.clear()

    def clear(self) -> None:
        if self._shown:
            print(_ERASE_LINE, end="", file=unfiltered(sys.stderr), flush=True)

    def show(self, text: str) -> None:
        if self._shown:
            columns = shutil.get_terminal_size().columns - 1
            print(_ERASE_LINE + safe(_cut(text, columns)), end="", file=unfiltered(sys.stderr), flush=True)


class ProgressLine(LiveLine):
    """Shows the progress of a sync as one line on the terminal."""

    def __init__(self) -> None:
        super().__init__()
        self._started = time.monotonic()
        self._announced = False

    def __call__(self, update: MemorySyncProgressUpdate) -> None:
        if update.phase == "waiting" and not self._shown and not self._announced:
            self._announced = True  # once: it may take minutes, and the user should know why
            print(f"{_PHASES[update.phase]}.", file=sys.stderr, flush=True)
        self.show(progress_text(update, time.monotonic() - self._started))


class StepLine(LiveLine):
    """Progress line of a health check or repair."""

    def __call__(self, progress: HealthProgress) -> None:
        self.show(f"{progress.step} {progress.done:,}/{progress.total:,}" if progress.total else progress.step)


def progress_text(update: MemorySyncProgressUpdate, elapsed: float) -> str:
    """Return the progress as `Indexing files 12/80 · 37/s · elapsed 0:03 · eta 0:02 · notes/a.md`, without unknown
    parts."""
    count = f" {update.completed:,}/{update.total:,}" if update.total else ""
    waiting = f"Waiting for {plural(update.waiting, 'batch job')}" if update.waiting else ""
    parts = [(waiting or _PHASES[update.phase]) + count]
    if update.rate > 0:
        parts.append(f"{update.rate:,.0f}/s")
    parts.append(f"elapsed {clock(elapsed)}")
    if update.seconds_left is not None:
        parts.append(f"eta {clock(update.seconds_left)}")
    if spent := spent_text(update.tokens, update.cost):
        parts.append(spent)
    if update.current_file:
        parts.append(safe(update.current_file))
    return " · ".join(parts)


def clock(seconds: float) -> str:
    """Return a duration as `m:ss` or `h:mm:ss`."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def _cut(text: str, columns: int) -> str:
    """Return the start of `text` that fits into `columns`, counting double-width characters twice."""
    used = 0
    for index, letter in enumerate(text):
        used += 2 if unicodedata.east_asian_width(letter) in "WF" else not unicodedata.combining(letter)
        if used > columns:
            return text[:index]
    return text
