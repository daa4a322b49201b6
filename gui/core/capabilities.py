"""Capabilities of the open memory: controls for unsupported features are disabled, with the reason.

No part of the window checks a backend's name. `Capabilities` announces changes, which a fallback may cause at any time;
a `Gate` disables one action or control with the engine's reason, and enables it again.
"""

import textwrap
from collections.abc import Mapping, Set
from functools import cache
from typing import NamedTuple

from PySide6.QtCore import QObject, QPoint, Signal, Slot
from PySide6.QtGui import QAction, QShortcut
from PySide6.QtWidgets import QApplication, QMenu, QWidget

from engine import Feature, MemoryProviderStatus, marked
from gui.commands.commands import cover_tip, follow_keys
from gui.text.plain_text import set_status_tip, set_tip, set_whats_this, show_tip, tip_of, whats_this_of
from gui.widgets.accessibility import announce

MissingFeatures = Mapping[Feature, str]
"""The reason for each missing feature, as a sentence."""

TITLES: dict[Feature, str] = {
    "sessions": marked("Past sessions cannot be browsed here"),
    "similar": marked("Similar passages can't be searched for here"),
    "filters": marked("Filters aren't supported here"),
    "within": marked("Searching within results isn't supported here"),
    "ordering": marked("Ranking can't be changed here"),
    "completion": marked("Completion isn't supported here"),
    "explanation": marked("Results can't be explained here"),
    "path-states": marked("Missing files can't be explained here"),
    "models": marked("The model can't be chosen here"),
    "insight": marked("This index can't be inspected"),
}
"""Title above the engine's reason, if there is room; also the list of all features that the window checks."""

SHORT: dict[Feature, str] = {
    "sessions": marked("Sessions"),
    "similar": marked("Similarity"),
    "filters": marked("Filters"),
    "within": marked("Scope"),
    "ordering": marked("Ranking"),
    "completion": marked("Completion"),
    "explanation": marked("Explanation"),
    "path-states": marked("File status"),
    "models": marked("Models"),
    "insight": marked("Index view"),
}
"""Short label next to a disabled control."""
_TIP_CHARACTERS = 72
_BELOW = 32
"""Pixels from the upper edge of the focused widget to the message."""


class Capabilities(QObject):
    """Stores which features the open memory doesn't support; updated by each status record."""

    changed = Signal(object)
    """The features that are missing now, or not any more, or for another reason."""

    def __init__(self) -> None:
        super().__init__()
        self.unsupported: MissingFeatures = {}

    def begin(self, unsupported: MissingFeatures) -> None:
        """Set the unsupported features of a memory that was just opened."""
        self._set_features(unsupported)

    @Slot(object)
    def update_status(self, status: MemoryProviderStatus | None) -> None:
        """Update the unsupported features from a status; None (no open memory) changes nothing."""
        if status is not None:
            self._set_features(status.unsupported)

    def _set_features(self, unsupported: MissingFeatures) -> None:
        before, self.unsupported = self.unsupported, dict(unsupported)
        if changed := {name for name in TITLES if before.get(name) != unsupported.get(name)}:
            self.changed.emit(changed)


@cache
def capabilities() -> Capabilities:
    """Return the capabilities of the open memory, or of the last one that was open."""
    return Capabilities()


def why_missing(feature: Feature) -> str:
    """Return why the memory doesn't support a feature; empty if it does."""
    return capabilities().unsupported.get(feature, "")


class Gate(QObject):
    """Enables an action or a control while its owner allows it and the memory supports its feature.

    The owner must enable it only through the gate from now on.
    """

    def __init__(self, control: QAction | QWidget, feature: Feature) -> None:
        super().__init__(control)
        self._feature: Feature = feature
        self._control = control
        self._allowed = control.isEnabled()
        self._why = ""
        """The owner's reason for disabling it."""
        self._usual = _texts_of(control)
        self._reason_shortcuts: list[QShortcut] = []
        if isinstance(control, QAction):
            follow_keys(control, self._add_reason_shortcuts)
        capabilities().changed.connect(self._follow)
        if why_missing(feature):
            self._show()

    def allow(self, allowed: bool, why: str = "") -> None:
        """Set whether the owner of the control allows it, with a reason if not."""
        before = self._allowed, self._why
        self._allowed, self._why = allowed, "" if allowed else why
        if before != (self._allowed, self._why):
            self._show()

    @Slot(object)
    def _follow(self, features: Set[Feature]) -> None:
        if self._feature in features:
            self._show()

    def _show(self) -> None:
        reason = why_missing(self._feature)
        explanation = reason or self._why
        self._control.setEnabled(self._allowed and not reason)
        _set_texts(
            self._control,
            _Texts(_tip(explanation), explanation, explanation) if explanation else self._usual,
            instead=bool(explanation),
        )
        self._add_reason_shortcuts()

    def _add_reason_shortcuts(self) -> None:
        """Assign the disabled action's keys to shortcuts that show the reason."""
        for shortcut in self._reason_shortcuts:
            shortcut.deleteLater()
        self._reason_shortcuts = []
        reason = why_missing(self._feature)
        if reason and isinstance(self._control, QAction):
            self._reason_shortcuts = _shortcuts_with_reason(self._control, reason)


def _tip(sentence: str) -> str:
    """Return a sentence as a tooltip with short lines; words with a hyphen aren't broken."""
    return textwrap.fill(sentence, _TIP_CHARACTERS, break_on_hyphens=False)


class _Texts(NamedTuple):
    """Tooltip, status tip and accessible description of an action or a control."""

    tip: str
    status_tip: str
    description: str


def _texts_of(control: QAction | QWidget) -> _Texts:
    description = whats_this_of(control) if isinstance(control, QAction) else control.accessibleDescription()
    return _Texts(tip_of(control), control.statusTip(), description)


def _set_texts(control: QAction | QWidget, texts: _Texts, *, instead: bool) -> None:
    """Set the texts; `instead`: they replace the usual ones for a while."""
    if not cover_tip(control, texts.tip if instead else ""):
        set_tip(control, texts.tip)
    set_status_tip(control, texts.status_tip)
    if isinstance(control, QAction):
        set_whats_this(control, texts.description)
    else:
        control.setAccessibleDescription(texts.description)


def _shortcuts_with_reason(action: QAction, reason: str) -> list[QShortcut]:
    """Return shortcuts that show `reason` when a key of the disabled action is pressed."""
    owner = next(
        (
            widget
            for widget in action.associatedObjects()
            if isinstance(widget, QWidget) and not isinstance(widget, QMenu)
        ),
        None,
    )
    if owner is None:
        return []
    made = []
    for keys in action.shortcuts():
        shortcut = QShortcut(keys, owner)
        shortcut.setContext(action.shortcutContext())
        shortcut.activated.connect(lambda: refuse(owner, reason))
        made.append(shortcut)
    return made


def refuse(widget: QWidget, sentence: str) -> None:
    """Show the reason for a missing feature at the widget, without moving anything."""
    focus = QApplication.focusWidget()
    near = focus if focus is not None and focus.window() is widget.window() else widget
    at = near.mapToGlobal(QPoint(near.width() // 4, min(near.height(), _BELOW)))
    show_tip(at, _tip(sentence), near)
    announce(near, sentence)
