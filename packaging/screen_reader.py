"""What the test with a screen reader needs besides Qt's libraries: an X server without a screen, and the buses.

Root on Debian's kin gets it installed; for everybody else that one test is skipped and says what is lacking.
"""

import shutil
import sys
from pathlib import Path

import debian
import qt_libraries

COMMANDS = {"xvfb": "xvfb-run", "xauth": "xauth", "dbus-daemon": "dbus-run-session"}
BUS = Path("/usr/share/dbus-1/services/org.a11y.Bus.service")


def find_missing() -> list[str]:
    """Debian's packages."""
    missing = [package for package, command in COMMANDS.items() if shutil.which(command) is None]
    if not BUS.exists():
        missing.append("at-spi2-core")
    return [*missing, *qt_libraries.find_missing(qt_libraries.X11)]


def ensure() -> None:
    """A machine where it cannot be had runs the other tests all the same."""
    if sys.platform != "linux" or not debian.can_install():
        return
    if missing := find_missing():
        try:
            debian.install("what the test with a screen reader needs", missing)
        except SystemExit as failure:
            print(f"screen reader: {failure}", file=sys.stderr, flush=True)
