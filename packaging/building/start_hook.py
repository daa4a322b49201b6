"""Runs in a bundle before the program: the programs that it starts must not load the bundle's libraries.

PyInstaller's starter names the bundle's folder to the dynamic loader, and every child would inherit that: an editor or
qmd would load our Qt or OpenSSL. This process has read the variable already, so it can be as it was before.
"""

import os
import sys

if sys.platform.startswith("linux"):
    _before = os.environ.pop("LD_LIBRARY_PATH_ORIG", None)
    os.environ.pop("LD_LIBRARY_PATH", None)
    if _before is not None:
        os.environ["LD_LIBRARY_PATH"] = _before
