"""Check the contents of the wheel that `pip install .` builds."""

import configparser
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("engine", "gui", "resources")
CLUTTER = shutil.ignore_patterns("__pycache__")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    """The built wheel, made in a copy so that no build folder appears in the tree."""
    pytest.importorskip("setuptools", minversion="77")
    source = tmp_path_factory.mktemp("source")
    for path in ROOT.iterdir():
        if path.name in PACKAGES:
            shutil.copytree(path, source / path.name, ignore=CLUTTER)
        elif path.is_file():
            shutil.copy(path, source)
    pip = [sys.executable, "-m", "pip", "wheel", "-q", "--no-deps", "--no-build-isolation"]
    subprocess.run([*pip, "-w", source / "dist", source], check=True)
    (built,) = (source / "dist").glob("mnemoscope-*.whl")
    with zipfile.ZipFile(built) as archive:
        yield archive


def test_both_entry_points_start_same_program(wheel):
    (path,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    points = configparser.ConfigParser()
    points.read_string(wheel.read(path).decode())
    assert dict(points["console_scripts"]) == {"mnemoscope": "gui.__main__:main"}
    assert dict(points["gui_scripts"]) == {"mnemoscope-gui": "gui.__main__:main"}


def test_wheel_contains_exactly_the_package_files(wheel):
    packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    present = {
        path.relative_to(ROOT).as_posix()
        for package in PACKAGES
        for path in (ROOT / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert packed == present
