"""Lists the software components of this installation with their licences, read from the installed files.

Python packages provide them (`importlib.metadata`); missing ones are in `resources/licences`. A bundle also has Python
itself and libraries of the system it was built on, and includes a list of them.
"""

import contextlib
import json
import platform
import re
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from engine import marked

if TYPE_CHECKING:
    from importlib.metadata import Distribution, PackageMetadata  # takes 10 ms

PROGRAM = "mnemoscope"
BUNDLED_LIST = Path("licences", "bundled.json")
"""File in a bundle with its components: [{name, version, licence, files, text}], paths relative to the bundle."""

_DEVELOPMENT = "dev"
_NAME = re.compile(r"\s*([\w.-]+)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
_PYTHON_LICENCES = ("LICENSE.txt", "LICENSE")
UNKNOWN = marked("licence not stated")
"""The licence of a component that doesn't state one."""


@dataclass(frozen=True)
class Component:
    """A software component; `licence` as its authors name it, as an SPDX expression if they use one."""

    name: str
    version: str
    licence: str
    about: str
    texts: tuple[str, ...]
    """The licence texts, and notices that must be included."""
    package: str = ""
    """Its name at the Python Package Index; empty if it isn't from there."""


def read_components(bundle: Path | None = None) -> tuple[Component, ...]:
    """Return all components sorted by name; `bundle`: library folder of a bundle, None for the running one.

    Reads some hundred small files. An unreadable component is listed with less information, never left out.
    """
    folder = bundle or _own_bundle()
    installed = installed_packages([str(bundle)] if bundle else None)
    components = [*_of_packages(installed), *_of_bundle(folder)] if folder else [*_of_packages(installed), _python()]
    return tuple(sorted(components, key=lambda component: component.name.casefold()))


def required_packages(installed: Mapping[str, "Distribution"]) -> "list[Distribution]":
    """Return the program's distribution and all its requirements, with installed extras but without test tools."""
    pending = [(PROGRAM, extra) for extra in ("", *_own_extras(installed))]
    seen: set[tuple[str, str]] = set()
    while pending:
        name, extra = pending.pop()
        if (name, extra) in seen or name not in installed:
            continue
        seen.add((name, extra))
        for requirement in installed[name].requires or ():
            pending.extend(_followed(requirement, extra))
    return [installed[name] for name in sorted({name for name, _ in seen})]


def _own_extras(installed: Mapping[str, "Distribution"]) -> list[str]:
    if PROGRAM not in installed:
        return []
    return [name for name in installed[PROGRAM].metadata.get_all("Provides-Extra") or () if name != _DEVELOPMENT]


def _followed(requirement: str, extra: str) -> Iterator[tuple[str, str]]:
    """Yield package and extra that a requirement names, if it applies to `extra`.

    Requirements excluded by system or Python version are not installed.
    """
    package, _, condition = requirement.partition(";")
    only_with = _EXTRA.search(condition)
    if (only_with[1] if only_with else "") != extra or (match := _NAME.match(package)) is None:
        return
    name = _normal(match[1])
    yield name, ""
    for requested in (match[2] or "").split(","):
        if requested.strip():
            yield name, requested.strip()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_packages(path: list[str] | None = None) -> "dict[str, Distribution]":
    """Return installed packages by normalised name; of duplicates, the one that Python would import."""
    from importlib.metadata import distributions

    packages: dict[str, Distribution] = {}
    for distribution in distributions() if path is None else distributions(path=path):
        if distribution.metadata["Name"]:
            packages.setdefault(_normal(distribution.metadata["Name"]), distribution)
    return packages


def _of_packages(installed: Mapping[str, "Distribution"]) -> Iterator[Component]:
    notices = _notices()
    for distribution in required_packages(installed):
        package = _normal(distribution.metadata["Name"])
        own = [notice for notice in notices if _normal(notice["distribution"]) == package]
        if all(notice.get("extra") for notice in own):
            yield _described(distribution)
        for notice in own:
            texts = [_resource(name) for name in notice.get("texts", ())]
            if "texts_of" in notice:
                texts += _texts(installed[_normal(notice["texts_of"])])
            yield Component(
                name=notice["name"],
                version=notice.get("version", distribution.version),
                licence=notice["licence"],
                about=" ".join(notice["note"].split()),
                texts=tuple(texts),
                package="" if notice.get("extra") else package,
            )


def _described(distribution: "Distribution") -> Component:
    """Make a component from a package's metadata."""
    metadata = distribution.metadata
    return Component(
        name=metadata["Name"],
        version=distribution.version,
        licence=_licence(distribution),
        about=_field(metadata, "Summary"),
        texts=tuple(_texts(distribution)),
        package=_normal(metadata["Name"]),
    )


def _field(metadata: "PackageMetadata", name: str) -> str:
    """Return a metadata field, empty if missing: Python's own module returns None then, a backport raises."""
    return str(metadata[name] or "") if name in metadata else ""


def _licence(distribution: "Distribution") -> str:
    """Return the licence expression of a package, or else its short licence name or its licence classifier."""
    metadata = distribution.metadata
    stated = _field(metadata, "License-Expression") or _field(metadata, "License")
    if stated and "\n" not in stated.strip():
        return str(stated.strip())
    filed = [
        classifier.rpartition("::")[2].strip()
        for classifier in metadata.get_all("Classifier") or ()
        if classifier.startswith("License ::")
    ]
    return " or ".join(filed) or UNKNOWN


def _texts(distribution: "Distribution") -> list[str]:
    names = distribution.metadata.get_all("License-File") or ()
    texts = (_file(distribution, f"licenses/{name}") or _file(distribution, name) for name in names)
    return [text.strip("\n") for text in texts if text]


def _file(distribution: "Distribution", name: str) -> str | None:
    """Return the text of a file of a package's metadata; None if it is missing. A few are not UTF-8 but Latin-1."""
    with contextlib.suppress(UnicodeDecodeError):
        return distribution.read_text(name)
    path = next((path for path in distribution.files or () if path.as_posix().endswith(f".dist-info/{name}")), None)
    return None if path is None else path.read_binary().decode("latin-1")


def _notices() -> Sequence[dict[str, Any]]:
    components: list[dict[str, Any]] = tomllib.loads(_resource("notices.toml"))["component"]
    return components


def _resource(name: str) -> str:
    return files("resources").joinpath("licences", name).read_text("utf-8")


# --- other components -------------------------------------------------------------------------------------------------


def _own_bundle() -> Path | None:
    """Return the library folder of this PyInstaller bundle; None outside of one."""
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder else None


def _of_bundle(folder: Path) -> Iterator[Component]:
    """Yield the components in the bundle's list whose files exist: a Debian package leaves some to the system."""
    for row in json.loads((folder / BUNDLED_LIST).read_text("utf-8")):
        if not row["files"] or any((folder / name).exists() for name in row["files"]):
            yield Component(row["name"], row["version"], row["licence"], row["about"], (_read(folder / row["text"]),))


def _python() -> Component:
    return Component(
        name="Python",
        version=platform.python_version(),
        licence="PSF-2.0",
        about=marked("The language that this program is written in, as installed here."),
        texts=tuple(python_licence()),
    )


def python_licence() -> Iterable[str]:
    """Return the text of this Python's licence; empty if its packager stores it elsewhere."""
    folder = Path(sysconfig.get_path("stdlib"))
    paths = (folder / name for name in _PYTHON_LICENCES)
    return [_read(path) for path in paths if path.is_file()][:1]


def _read(path: Path) -> str:
    return path.read_text("utf-8", errors="replace").strip("\n")
