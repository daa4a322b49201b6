"""What the palette lists: every command of the window as it stands now, saved searches, and folders opened lately."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from engine import tr
from gui.commands.contexts import missing, title
from gui.commands.keymap import Command, Keymap
from gui.window.palette.matching import SCATTERED, Fit, fit


@dataclass(frozen=True)
class Entry:
    """`key` tells it from all others, also in later runs; `reason` why it cannot be run now, empty where it can.

    `known_as` is what else it is found by, though nobody sees it: its English words and its name.
    """

    key: str
    words: str
    where: str
    keys: str
    reason: str
    run: Callable[[], object]
    known_as: str = ""


class Found(NamedTuple):
    entry: Entry
    fit: Fit


def commands(keymap: Keymap, window: QWidget, focus: QWidget | None, leave_out: str) -> list[Entry]:
    """Of all commands but `leave_out`, in the order of their places.

    Where several parts offer one, that counts which has the keys (`focus`).
    """
    known: dict[str, list[QAction]] = {}
    for action in window.findChildren(QAction):
        if action.objectName() in keymap.commands:
            known.setdefault(action.objectName(), []).append(action)
    return [
        _entry(keymap, command, known[command.name], focus)
        for command in keymap.by_place()
        if command.name in known and command.name != leave_out
    ]


def _entry(keymap: Keymap, command: Command, actions: Sequence[QAction], focus: QWidget | None) -> Entry:
    action, reason = _choose(command, actions, focus)
    if not reason and not action.isEnabled():
        reason = action.statusTip() or tr("This cannot be done now.")
    where = "" if command.places == ("window",) else ", ".join(title(place) for place in command.places)
    if action.isCheckable() and not reason:
        off = "" if action.actionGroup() is not None else tr("off")
        where = " · ".join(filter(None, (where, tr("on") if action.isChecked() else off)))
    known_as = f"{command.english} {command.name}"
    return Entry(command.name, command.words, where, keymap.shown(command.name), reason, action.trigger, known_as)


def _choose(command: Command, actions: Sequence[QAction], focus: QWidget | None) -> tuple[QAction, str]:
    """The action that is meant where a person is, and why there is none."""
    owned = [(action, owner) for action in actions if (owner := _owner(action)) is not None and owner.isVisible()]
    for action, owner in owned:
        if focus is not None and (owner is focus or owner.isAncestorOf(focus)):
            return action, ""
    if len(owned) == 1:
        return owned[0][0], ""
    if owned:
        return actions[0], tr("There are several of these here. Go to one of them first.")
    return actions[0], missing(command.places[0])


def _owner(action: QAction) -> QWidget | None:
    """The part of the window in which the action's keys hold."""
    widgets = (one for one in action.associatedObjects() if isinstance(one, QWidget))
    return next((one for one in widgets if not isinstance(one, QMenu)), None)


def _fit(asked: str, entry: Entry) -> Fit | None:
    """By what is seen of it, or else by what it is known as, of which scattered letters would say too little."""
    seen = fit(asked, entry.words, f"{entry.where} {entry.keys}")
    known = fit(asked, entry.known_as)
    if known is None or known.score < SCATTERED or (seen is not None and seen.score >= known.score / 2):
        return seen
    return Fit(known.score / 2, ())


def choose(entries: Iterable[Entry], asked: str, recent: Sequence[str]) -> list[Found]:
    """Those that fit, the best first; of equals what was used lately, then what can be done now, then their order."""
    rank = {key: place for place, key in enumerate(recent)}
    found = [Found(entry, fitting) for entry in entries if (fitting := _fit(asked, entry)) is not None]
    last = len(rank)
    found.sort(key=lambda one: (-round(one.fit.score), rank.get(one.entry.key, last), bool(one.entry.reason)))
    return found
