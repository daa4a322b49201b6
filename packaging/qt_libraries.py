"""Check and install the system libraries that Qt's wheels don't contain on Linux.

Each is loaded by the dynamic loader, as Qt does. On other systems the wheels contain everything.
"""

import ctypes
import importlib.util
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path

import debian

# Debian's package -> the file that Qt loads from it. Measured on Debian 12 by removing one at a time.
ALWAYS = {
    "libglib2.0-0": "libglib-2.0.so.0",
    "libgl1": "libGL.so.1",
    "libegl1": "libEGL.so.1",
    "libfontconfig1": "libfontconfig.so.1",
    "libxkbcommon0": "libxkbcommon.so.0",
    "libdbus-1-3": "libdbus-1.so.3",
}
X11 = {
    "libxcb-cursor0": "libxcb-cursor.so.0",
    "libxcb-icccm4": "libxcb-icccm.so.4",
    "libxcb-image0": "libxcb-image.so.0",
    "libxcb-keysyms1": "libxcb-keysyms.so.1",
    "libxcb-randr0": "libxcb-randr.so.0",
    "libxcb-render-util0": "libxcb-render-util.so.0",
    "libxcb-shape0": "libxcb-shape.so.0",
    "libxcb-shm0": "libxcb-shm.so.0",
    "libxcb-sync1": "libxcb-sync.so.1",
    "libxcb-xfixes0": "libxcb-xfixes.so.0",
    "libxcb-xkb1": "libxcb-xkb.so.1",
    "libxkbcommon-x11-0": "libxkbcommon-x11.so.0",
    "libx11-xcb1": "libX11-xcb.so.1",
}
WAYLAND = {
    "libwayland-client0": "libwayland-client.so.0",
    "libwayland-cursor0": "libwayland-cursor.so.0",
}
FONT_PACKAGE = "fonts-dejavu-core"
FONT_SUFFIXES = (".ttf", ".otf", ".ttc", ".pfb")


def has_display(environ: Mapping[str, str] = os.environ) -> bool:
    """Return whether a window can open; a platform in QT_QPA_PLATFORM is not checked."""
    if sys.platform != "linux":
        return True
    return any(environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"))


def for_tests() -> dict[str, str]:
    """Return libraries by package for a Qt that draws offscreen."""
    return dict(ALWAYS)


def for_window(environ: Mapping[str, str] = os.environ) -> dict[str, str]:
    """Return libraries by package for the platform on which the window opens."""
    libraries = dict(ALWAYS)
    if not environ.get("QT_QPA_PLATFORM"):
        # If both are available, Qt selects one.
        libraries |= X11 if environ.get("DISPLAY") else {}
        libraries |= WAYLAND if environ.get("WAYLAND_DISPLAY") else {}
    return libraries


def ensure(libraries: Mapping[str, str]) -> None:
    """Install these libraries, a font and venv as root on Debian-based systems; otherwise print the command and
    exit."""
    if sys.platform != "linux":
        return
    missing = find_missing(libraries)
    if not missing:
        return
    if shutil.which("apt-get") is None:
        names = ", ".join(f"{what} (in Debian: {package})" for package, what in missing.items())
        sys.exit(f"Qt needs packages that are missing on this system; install them with your package manager: {names}.")
    debian.ensure("what Qt needs", missing)
    if left := find_missing(libraries):
        sys.exit(f"apt-get ran, yet this is still missing: {', '.join(left.values())}.")


def find_missing(libraries: Mapping[str, str]) -> dict[str, str]:
    """Return the missing items as Debian's package -> library or name."""
    missing = {package: library for package, library in libraries.items() if not _loads(library)}
    if not _has_font():
        missing[FONT_PACKAGE] = "a font"
    if importlib.util.find_spec("ensurepip") is None:  # Debian has a separate package for this part of Python
        missing[f"python{sys.version_info.major}.{sys.version_info.minor}-venv"] = "Python's venv"
    return missing


def _loads(library: str) -> bool:
    try:
        ctypes.CDLL(library)
    except OSError:
        return False
    return True


def _has_font() -> bool:
    folders = ("/usr/share/fonts", "/usr/local/share/fonts", "~/.local/share/fonts", "~/.fonts")
    return any(
        name.lower().endswith(FONT_SUFFIXES)
        for folder in folders
        for _, _, names in os.walk(Path(folder).expanduser())
        for name in names
    )
