"""Test that the libraries of a bundle still load once they are stripped."""

import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import pytest

PATCHED = Path(numpy.__file__).parent.parent / "numpy.libs"
"""Libraries whose names were changed when the wheel was made, which left unused segments in them."""
HAS_TOOLS = shutil.which("strip") and shutil.which("chrpath")


@pytest.mark.skipif(not (HAS_TOOLS and PATCHED.is_dir()), reason="tools or libraries are missing here")
def test_stripped_library_of_a_wheel_is_smaller_and_loads(load, tmp_path):
    folder = shutil.copytree(PATCHED, tmp_path / "numpy.libs")
    blas = max(folder.glob("*openblas*"))
    before = blas.stat().st_size
    load("libraries").strip(folder)
    assert blas.stat().st_size < before - 1_000_000
    subprocess.run([sys.executable, "-c", "import ctypes, sys; ctypes.CDLL(sys.argv[1])", str(blas)], check=True)
