"""A searchable list of all components; below it the licence of the current one."""

import json
import platform
import re
import sys
import sysconfig
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageMetadata, distributions
from importlib.resources import files
from pathlib import Path
from typing import Any

from PySide6.QtCore import QSize, Qt, Signal, Slot
from PySide6.QtGui import QKeyEvent, QTextCursor
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QSplitter, QVBoxLayout, QWidget

from engine import marked, tr, tr_count
from gui.style.typography import fixed_font, font_scale
from gui.widgets.buttons import add_clear_button
from gui.widgets.labels import breakable, label
from gui.widgets.table import Column, Index, RecordsTable

# --- The components of this installation and their licences, read from the installed files ---------------------------
# Python packages provide them (`importlib.metadata`); missing ones are in `resources/licences`. A bundle also has
# Python itself and libraries of the system it was built on, and includes a list of them.

PROGRAM = "mnemoscope"
BUNDLED_LIST = Path("licences", "bundled.json")
"""In the folder of a bundle: [{name, version, licence, files, text}], paths relative to that folder."""

_DEVELOPMENT = "dev"
_NAME = re.compile(r"\s*([\w.-]+)\s*(?:\[([^\]]*)\])?")
_EXTRA = re.compile(r"""extra\s*==\s*["']([\w.-]+)["']""")
_PYTHON_LICENCES = ("LICENSE.txt", "LICENSE")
UNKNOWN = marked("not stated")
"""The licence of a component that doesn't state one."""


@dataclass(frozen=True)
class Component:
    """A component; `licence` as its authors name it, in SPDX's terms where they use them."""

    name: str
    version: str
    licence: str
    about: str
    texts: tuple[str, ...]
    """The licence texts, and notices that must be included."""
    package: str = ""
    """Its name at the Python Package Index; empty if it isn't from there."""


def read_components(bundle: Path | None = None) -> tuple[Component, ...]:
    """All components, by name; `bundle` is a bundle's folder of libraries, None for this one.

    Reads some hundred small files. An unreadable component is listed with less information, never left out.
    """
    folder = bundle or _own_bundle()
    installed = installed_packages([str(bundle)] if bundle else None)
    found = [*_of_packages(installed), *_of_bundle(folder)] if folder else [*_of_packages(installed), _python()]
    return tuple(sorted(found, key=lambda component: component.name.casefold()))


def required_packages(installed: Mapping[str, Distribution]) -> list[Distribution]:
    """The program's distribution and its requirements, with the installed extras; never test tools."""
    wanted = [(PROGRAM, extra) for extra in ("", *_own_extras(installed))]
    seen: set[tuple[str, str]] = set()
    while wanted:
        name, extra = wanted.pop()
        if (name, extra) in seen or name not in installed:
            continue
        seen.add((name, extra))
        for requirement in installed[name].requires or ():
            wanted.extend(_followed(requirement, extra))
    return [installed[name] for name in sorted({name for name, _ in seen})]


def _own_extras(installed: Mapping[str, Distribution]) -> list[str]:
    if PROGRAM not in installed:
        return []
    return [name for name in installed[PROGRAM].metadata.get_all("Provides-Extra") or () if name != _DEVELOPMENT]


def _followed(requirement: str, extra: str) -> Iterator[tuple[str, str]]:
    """Whether a requirement applies, as part of this extra; those excluded by system or Python version are not
    installed."""
    what, _, condition = requirement.partition(";")
    only_with = _EXTRA.search(condition)
    if (only_with[1] if only_with else "") != extra or (match := _NAME.match(what)) is None:
        return
    name = _normal(match[1])
    yield name, ""
    for asked in (match[2] or "").split(","):
        if asked.strip():
            yield name, asked.strip()


def _normal(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_packages(path: list[str] | None = None) -> dict[str, Distribution]:
    """By normal name; of two the one that Python would import."""
    found: dict[str, Distribution] = {}
    for distribution in distributions() if path is None else distributions(path=path):
        if distribution.metadata["Name"]:
            found.setdefault(_normal(distribution.metadata["Name"]), distribution)
    return found


def _of_packages(installed: Mapping[str, Distribution]) -> Iterator[Component]:
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


def _described(distribution: Distribution) -> Component:
    """From a package's own metadata."""
    metadata = distribution.metadata
    return Component(
        name=metadata["Name"],
        version=distribution.version,
        licence=_licence_of(distribution),
        about=_field(metadata, "Summary"),
        texts=tuple(_texts(distribution)),
        package=_normal(metadata["Name"]),
    )


def _field(metadata: PackageMetadata, name: str) -> str:
    """Empty where it has none. Python's own module answers None then; the backport that a library loads raises."""
    return str(metadata[name] or "") if name in metadata else ""


def _licence_of(distribution: Distribution) -> str:
    """Its expression, or an older package's short name for it, or what it is filed under."""
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


def _texts(distribution: Distribution) -> list[str]:
    names = distribution.metadata.get_all("License-File") or ()
    found = (distribution.read_text(f"licenses/{name}") or distribution.read_text(name) for name in names)
    return [text.strip("\n") for text in found if text]


def _notices() -> Sequence[dict[str, Any]]:
    found: list[dict[str, Any]] = tomllib.loads(_resource("notices.toml"))["component"]
    return found


def _resource(name: str) -> str:
    return files("resources").joinpath("licences", name).read_text("utf-8")


# --- other components -------------------------------------------------------------------------------------------------


def _own_bundle() -> Path | None:
    """Where PyInstaller's bundles have their libraries; None outside of one."""
    folder = getattr(sys, "_MEIPASS", None)
    return Path(folder) if folder else None


def _of_bundle(folder: Path) -> Iterator[Component]:
    """Components in the bundle's own list that exist: a Debian package leaves some of them to the system."""
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
    """The licence of this Python; empty if its packager stores it elsewhere."""
    folder = Path(sysconfig.get_path("stdlib"))
    found = (folder / name for name in _PYTHON_LICENCES)
    return [_read(path) for path in found if path.is_file()][:1]


def _read(path: Path) -> str:
    return path.read_text("utf-8", errors="replace").strip("\n")


# ---------------------------------------------------------------------------------------------------------------------

_WIDTH, _HEIGHT = 720, 520
_BETWEEN = "\n\n" + "─" * 40 + "\n\n"


class _Table(RecordsTable[Component]):
    """Signals:
    chosen: the component of the current row, None without one.
    """

    chosen = Signal(object)

    def __init__(self) -> None:
        super().__init__(
            (
                Column[Component](tr("Name"), 30, lambda component: component.name),
                Column[Component](tr("Version"), 13, lambda component: component.version),
                Column[Component](tr("Licence"), 0, _licence),
            ),
            lambda component: tr(component.about),
        )
        self.sortByColumn(0, Qt.SortOrder.AscendingOrder)
        self.setAccessibleName(tr("Components"))

    def currentChanged(self, current: Index, previous: Index) -> None:
        super().currentChanged(current, previous)
        self.chosen.emit(self.record_at(current))


class _Box(QLineEdit):
    """Down moves into the list; Esc clears the text, then closes the sheet."""

    down = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.setPlaceholderText(tr("Search names and texts of licences"))
        self.setAccessibleName(tr("Search licences"))
        add_clear_button(self)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and self.text():
            self.clear()
        elif event.key() in (Qt.Key.Key_Down, Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self.down.emit()
        else:
            super().keyPressEvent(event)


class LicenceSheet(QWidget):
    """Every typed word must occur in a component: its name, licence, description or texts."""

    def __init__(self) -> None:
        super().__init__()
        self._components: tuple[Component, ...] = ()
        self.box = _Box()
        self._count = label(tr("Reading installed packages …"), "meta", wrap=True)
        self.table = _Table()
        self._about = label("", wrap=True)
        self._about.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.text = QPlainTextEdit()
        self.text.setReadOnly(True)
        self.text.setFont(fixed_font())
        self.text.setTabChangesFocus(True)
        self.text.setAccessibleName(tr("Text of the licence"))
        below = QWidget()
        lower = QVBoxLayout(below)
        lower.setContentsMargins(0, 6, 0, 0)
        lower.addWidget(self._about)
        lower.addWidget(self.text, 1)
        both = QSplitter(Qt.Orientation.Vertical)
        both.setChildrenCollapsible(False)
        both.addWidget(self.table)
        both.addWidget(below)
        both.setSizes([_HEIGHT * 2 // 5, _HEIGHT * 3 // 5])
        column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(8)
        for widget in (self.box, self._count):
            column.addWidget(widget)
        column.addWidget(both, 1)
        self.box.textChanged.connect(self._search)
        self.box.down.connect(self.table.setFocus)
        self.table.chosen.connect(self._show)

    def sizeHint(self) -> QSize:
        return QSize(round(_WIDTH * font_scale()), round(_HEIGHT * font_scale()))

    def take_focus(self) -> None:
        self.box.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_components(self, components: tuple[Component, ...]) -> None:
        self._components = components
        self._search(self.box.text())

    def show_problem(self, sentence: str) -> None:
        self._count.setText(breakable(sentence))

    @Slot(str)
    def _search(self, typed: str) -> None:
        words = typed.casefold().split()
        found = tuple(component for component in self._components if _has_all(component, words))
        self.table.show_records(found)
        if self._components:
            self._count.setText(_count_text(len(found), len(self._components) if words else None))
        self._show(self.table.record_at(self.table.currentIndex()))

    @Slot(object)
    def _show(self, component: Component | None) -> None:
        self._about.setText(breakable(tr(component.about)) if component else "")
        self._about.setVisible(bool(component and component.about))
        self.text.setPlainText(
            "" if component is None else _BETWEEN.join(component.texts) or tr("It brings no text of its licence.")
        )
        for word in self.box.text().split():
            if self.text.find(word):  # the first word in the text itself, not only in its name
                cursor = self.text.textCursor()
                self.text.centerCursor()
                self.text.setTextCursor(cursor)
                return
        self.text.moveCursor(QTextCursor.MoveOperation.Start)


def _licence(component: Component) -> str:
    return tr(UNKNOWN) if component.licence == UNKNOWN else component.licence


def _count_text(found: int, of_all: int | None) -> str:
    if of_all is None:
        return tr_count("{count:,} component", "{count:,} components", found)
    return tr_count("{count:,} component of {all}", "{count:,} components of {all}", found, all=of_all)


def _has_all(component: Component, words: list[str]) -> bool:
    if not words:
        return True
    whole = "\n".join((component.name, component.version, component.licence, component.about, *component.texts))
    folded = whole.casefold()
    return all(word in folded for word in words)
