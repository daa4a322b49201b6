"""No command outlives this program, nor what it wrote, even where that is killed and can end nothing any more: it might
hang for ever, and its answers quote notes."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator

_WAIT_AND_KILL = 'read -r _; kill -s KILL -- "-$1"; rm -rf -- "$2"'
"""For a shell whose input ends with this program, since nobody else holds the other end of the pipe."""


@contextlib.contextmanager
def ended_with_us(group: int, folder: str) -> Iterator[None]:
    """Within this the process group is killed, and the folder removed, when this program dies.

    On Windows, without groups, nothing is done.
    """
    if sys.platform == "win32":
        yield
        return
    ours, theirs = os.pipe()
    try:
        shell = ["/bin/sh", "-c", _WAIT_AND_KILL, "sh", str(group), folder]
        # In a session of its own: a Ctrl+C that ends this program must not end the shell before.
        watching = subprocess.Popen(
            shell, stdin=ours, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/", start_new_session=True
        )
        try:
            yield
        finally:
            watching.kill()
            watching.wait()
    finally:
        os.close(ours)
        os.close(theirs)
