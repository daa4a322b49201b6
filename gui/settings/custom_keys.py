"""The user's own keys for commands: read from the settings, checked, changed individually, and saved."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QKeySequence

import engine
from engine import tr
from gui.commands.keymap import Command, Keymap
from gui.core.jobs import Jobs
from gui.core.key_listing import key_conflict, keys_conflict, native

_OPTION = "window.keys"
_PORTABLE = QKeySequence.SequenceFormat.PortableText


def plain(key: str) -> str:
    """Return a key as settings files contain it; empty if it isn't valid."""
    read = QKeySequence(key, _PORTABLE)
    text = read.toString(_PORTABLE)
    return text if QKeySequence(text, _PORTABLE) == read else ""  # an unknown part has no text


def readable(own: Mapping[str, Sequence[str]], keymap: Keymap) -> tuple[dict[str, tuple[str, ...]], list[str]]:
    """Return the valid entries of the settings, and a sentence about each invalid one."""
    usable: dict[str, tuple[str, ...]] = {}
    problems = []
    for name, keys in own.items():
        if name not in keymap.commands:
            problems.append(tr("There is no command “{name}”.", name=name))
            continue
        unknown = [key for key in keys if not plain(key)]
        problems += [tr("“{key}” is not a valid shortcut for “{name}”.", key=key, name=name) for key in unknown]
        usual = keymap.commands[name].keys
        known = tuple(plain(key) for key in keys if plain(key))
        usable[name] = usual if unknown and not known else known
    return usable, problems


class CustomKeys(QObject):
    """Applies the user's keys to the keymap immediately, and saves them in the settings of all workspaces.

    Signals:
        problem: a sentence about unusable entries of the settings.
        not_saved: why a change only lasts until the program ends.
    """

    problem = Signal(str)
    not_saved = Signal(str)

    def __init__(self, jobs: Jobs, keymap: Keymap, config: Path | None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._keymap = keymap
        self._config = config
        self._own: dict[str, tuple[str, ...]] = {}
        self._aside: dict[str, tuple[str, ...]] = {}
        """Unknown entries, which stay in the file: another version may know them."""
        self._reported: list[str] = []
        self.saving = self._unsaved = False

    def load(self, own: Mapping[str, Sequence[str]]) -> None:
        """Set the keys that were read from the settings, unless a newer change is still being saved."""
        if self.saving:
            return
        usable, problems = readable(own, self._keymap)
        self._aside = {name: tuple(keys) for name, keys in own.items() if name not in usable}
        self._own, clashes = self._without_clashes(usable)
        self._keymap.set_own(self._own)
        problems += clashes
        if problems and problems != self._reported:
            self.problem.emit(tr("Some shortcuts in the settings are ignored. {problems}", problems=" ".join(problems)))
        self._reported = problems

    def is_custom(self, name: str) -> bool:
        """Return whether the user has chosen the keys of a command."""
        return name in self._own

    @property
    def any(self) -> bool:
        """Whether the user has chosen the keys of any command."""
        return bool(self._own)

    def assign(self, name: str, keys: Sequence[str]) -> None:
        """Set the keys of a command, perhaps none; other commands lose keys that conflict."""
        own = {**self._own, name: tuple(keys)}
        command = self._keymap.commands[name]
        for key in keys:
            trial = self._keymap.trying(own)
            while (other := key_conflict(trial, command, key)) is not None and isinstance(other.owner, Command):
                loser = other.owner.name
                own[loser] = tuple(assigned for assigned in trial.keys(loser) if not keys_conflict(assigned, key))
                trial = self._keymap.trying(own)
        self._change(own)

    def reset(self, name: str) -> None:
        """Restore the default keys of a command, removing them from other commands with these keys."""
        self.assign(name, self._keymap.commands[name].keys)

    def reset_all(self) -> None:
        self._change({})

    def _without_clashes(self, own: Mapping[str, tuple[str, ...]]) -> tuple[dict[str, tuple[str, ...]], list[str]]:
        """Return the keys without conflicting ones, for which Qt would trigger nothing, and a sentence about each."""
        accepted, problems = self._needed(own), []
        for name in list(accepted):
            command = self._keymap.commands[name]
            for key in accepted[name]:
                other = key_conflict(self._keymap.trying(accepted), command, key)
                if other is not None:
                    problems.append(
                        tr("{key} for “{name}” is already used by {other}.", key=native(key), name=name, other=other)
                    )
                    accepted[name] = tuple(assigned for assigned in accepted[name] if assigned != key)
        return accepted, problems

    def _needed(self, own: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
        """Return the keys without those that equal the default."""
        return {name: keys for name, keys in own.items() if keys != self._keymap.commands[name].keys}

    # --- saving -----------------------------------------------------------------------------------------------------

    def _change(self, own: Mapping[str, tuple[str, ...]]) -> None:
        self._own = self._needed(own)
        self._keymap.set_own(self._own)
        self._save()

    def _save(self) -> None:
        """Save the keys, one write at a time, so that the last change wins."""
        self._unsaved = self.saving
        if self.saving:
            return
        self.saving = True
        value = {name: list(keys) for name, keys in {**self._aside, **self._own}.items()} or None
        config = self._config
        self._jobs.save(lambda _: engine.save_setting(_OPTION, value, config=config), self._saved, self._failed)

    def _saved(self, _: None) -> None:
        self.saving = False
        if self._unsaved:
            self._save()

    def _failed(self, sentence: str) -> None:
        self.saving = self._unsaved = False
        self.not_saved.emit(tr("The shortcuts work until you quit, but could not be saved. {reason}", reason=sentence))
