"""Requirements of the screen reader test in addition to Qt's libraries: a virtual X server and the D-Bus services.

They are installed for root on Debian-based systems; elsewhere that one test is skipped with a list of the
missing packages.
"""

import shutil
import sys
from pathlib import Path

import debian
import qt_libraries

COMMANDS = {"xvfb": "xvfb-run", "xauth": "xauth", "dbus-daemon": "dbus-run-session"}
BUS = Path("/usr/share/dbus-1/services/org.a11y.Bus.service")


def find_missing() -> list[str]:
    """Return the names of the missing Debian packages."""
    missing = [package for package, command in COMMANDS.items() if shutil.which(command) is None]
    if not BUS.exists():
        missing.append("at-spi2-core")
    return [*missing, *qt_libraries.find_missing(qt_libraries.X11)]


def ensure() -> None:
    """Install the missing packages if possible; without them the other tests still run."""
    if sys.platform != "linux" or not debian.can_install():
        return
    if missing := find_missing():
        try:
            debian.install("what the test with a screen reader needs", missing)
        except SystemExit as failure:
            print(f"screen reader: {failure}", file=sys.stderr, flush=True)
