"""The command `mnemoscope`: a verb runs without Qt, anything else opens the window."""

import os
import sys
from collections.abc import Sequence

_SWITCH_SECONDS = 0.0005


def main(argv: Sequence[str] | None = None) -> int:
    """Run the program; the result is the exit code: 0, 1 for an error, 2 for wrong usage."""
    arguments = list(sys.argv[1:] if argv is None else argv)
    # Before numpy loads: its own threads would fight with the pool's.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if arguments and not arguments[0].startswith("-"):
        from engine.cli import VERBS
        from engine.cli import main as run_verb

        if arguments[0] in VERBS:
            return run_verb(arguments)

    from gui.options import parse_options

    try:
        options = parse_options(arguments)
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else 0
    # A computing pool thread gives the GUI thread its turn after half a millisecond instead of five.
    sys.setswitchinterval(_SWITCH_SECONDS)
    from gui.app import run

    return run(options)


if __name__ == "__main__":
    sys.exit(main())
