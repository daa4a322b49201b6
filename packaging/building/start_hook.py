"""Restore the library path before the program starts in a bundle, so that child processes don't load its libraries.

PyInstaller's bootloader sets the dynamic loader's path to the bundle's folder, and every child would inherit it: an
editor or qmd would load the bundled Qt or OpenSSL. This process has already read the variable, so it can be reset.
"""

import os
import sys

if sys.platform.startswith("linux"):
    _before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if _before is not None:
        os.environ["LD_LIBRARY_PATH"] = _before
