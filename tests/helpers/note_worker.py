"""Write N notes into a workspace, or until killed: `-m tests.helpers.note_worker FOLDER MARK [N]`."""

import itertools
import sys
from functools import cache
from pathlib import Path

from engine.agent.note_file import write_note
from engine.settings import Settings

STEM = "2026-05-31-drip-valve"
LINES = 20_000


@cache
def note_of(mark: str) -> str:
    return "".join(f"{mark} {line}\n" for line in range(LINES))


def main(folder: Path, mark: str, most: int | None) -> None:
    print("ready", flush=True)
    text = note_of(mark)
    for _ in itertools.count() if most is None else range(most):
        print(write_note(folder, Settings(), STEM, text, "sessions/a/1").path, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else None)
