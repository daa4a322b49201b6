"""The command line: `mnemoscope index | search | get | sessions | mcp …`, one module per command.

In: arguments. Each command imports only what it needs, since imports take most of the time of a short search.
Out: text or JSON on standard output, one line per error, and an exit code.
"""

import contextlib
import errno
import importlib
import io
import os
import sys
from collections.abc import Sequence

from engine.base import lazy_logger
from engine.base.errors import Cancelled, MnemoscopeError
from engine.cli.arguments import VERBS, parse_arguments
from engine.cli.output import printable_streams
from engine.logs import configure_logging, configure_logging_late, log_path

__all__ = ["LONG_VERBS", "VERBS", "main"]

FAILED = 1
INTERRUPTED = 130
"""128 + SIGINT, as in a shell."""
BROKEN_PIPE = 141
"""128 + SIGPIPE: the reader of the output has closed it, as `head` does."""

LONG_VERBS = ("index", "remember", "doctor", "mcp")
"""Verbs that run code of other packages, which may log and has to end in its own way."""

log = lazy_logger(__name__)


def main(argv: Sequence[str] | None = None) -> int:
    """Run the verb in `argv` (the process's own arguments for None) and return the exit code.

    0 worked, 1 failed (one line on stderr), 2 wrong usage, 130 interrupted, 141 the output was closed.
    """
    # Mnemoscope divides work between its own threads; numpy's would compete for the cores. Set before numpy loads.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    _fill_closed_streams()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # Notes contain any character, file names even invalid ones; in JSON, this is the right escape.
            stream.reconfigure(encoding="utf-8", errors="backslashreplace")
    try:
        with printable_streams():
            code = _run(argv)
            sys.stdout.flush()
    except BrokenPipeError:
        _stop_writing()
        return BROKEN_PIPE
    except KeyboardInterrupt:
        return INTERRUPTED
    except OSError as error:  # a full disk, if the output is a file
        _stop_writing()
        return _fail(f"The output cannot be written: {error.strerror}.")
    return code


def _run(argv: Sequence[str] | None) -> int:
    words = sys.argv[1:] if argv is None else argv
    try:
        arguments = parse_arguments(words)
    except SystemExit as usage:  # after --help, or with a line on stderr
        return int(usage.code or 0)
    if arguments.verb in LONG_VERBS:
        configure_logging()
    else:
        configure_logging_late()
    try:
        verb = importlib.import_module(f"engine.cli.{arguments.verb}")
        return int(verb.run(arguments))
    except Cancelled:
        return INTERRUPTED
    except BrokenPipeError:
        raise
    except MnemoscopeError as error:
        return _fail(str(error))
    except Exception as error:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise
        log.exception("The verb %s failed", arguments.verb)
        return _fail(f"Unexpected {type(error).__name__}: {error}. Details are in {log_path()}.")


def _fail(sentence: str) -> int:
    print("mnemoscope:", " ".join(sentence.split()), file=sys.stderr)
    return FAILED


def _fill_closed_streams() -> None:
    """Reopen standard streams that the parent process has closed: the next opened file would get their descriptor."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: SIM115 - to the end of the process


def _stop_writing() -> None:
    """Discard buffered output, since the interpreter would report an error for it at exit."""
    with contextlib.suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
