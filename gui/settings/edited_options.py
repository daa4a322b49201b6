"""The options while the user changes them: saved values, pending changes, and undo.

Changes are saved and applied immediately, one by one. Those that rebuild the index or that may send other texts to a
service are pending, and saved together on request.
"""

from collections import deque
from collections.abc import Callable
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from PySide6.QtCore import QObject, QTimer, Signal

import engine
from engine import CancelToken, Group, SettingChange, SettingLayers, Settings, SettingsConsequences
from gui.core.jobs import Jobs, JobSlot
from gui.settings.engine_and_model_choice import EmbeddingChoice
from gui.settings.option_pages import FORMS, placed_options
from gui.settings.value_formatting import fallback_owner

_REOPEN_DELAY_MS = 2500
"""Pause after the last saved change, so that the folder is opened again once for several of them."""

Changes = tuple[SettingChange, ...]


class _Save(NamedTuple):
    changes: Changes
    folder: Path


def applies_immediately(key: str) -> bool:
    """Return whether a change of this option applies without opening the workspace again."""
    return placed_options()[key].option.applies != "reopening"


def other_vectors(now: Settings, then: Settings) -> bool:
    """Return whether settings `then` need vectors that settings `now` don't, or need some of them re-embedded."""
    return then.store.vector.enabled and (now.store.vector, now.cache) != (then.store.vector, then.cache)


def _may_send(settings: Settings) -> bool:
    """Return whether texts may be sent to a service to embed them, perhaps only if the provider fails."""
    return EmbeddingChoice.of(settings).remote or bool(settings.remote.approved) or bool(fallback_owner(settings))


class SettingsModel(QObject):
    """Stores the options of one workspace with pending changes. Lives on the GUI thread; uses `Jobs` for the file.

    Signals:
        loaded: the file was read, or has changed: every option may differ.
        changed: key of an option whose value or source has changed.
        waiting_changed: the pending changes differ.
        took_effect: Settings, after saving options that apply immediately, and Path of their folder.
        applied: other changes were saved, and the folder should be reopened; after a pause, so once for several
            changes.
        refused: keys that were not saved, the cause first, and one sentence; the options have the file's values again.
        unreadable: one sentence, for a file that can't be used at all.
        restart_requested: the user wants to restart the program for a changed option: the language then.
    """

    loaded = Signal()
    changed = Signal(str)
    waiting_changed = Signal()
    took_effect = Signal(object, object)
    applied = Signal()
    refused = Signal(object, str)
    unreadable = Signal(str)
    restart_requested = Signal(str)

    def __init__(self, jobs: Jobs, config: Path | None = None, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._jobs = jobs
        self._config = config
        self.folder = Path()
        self._read_job, self._effects_job, self._save_job = (
            JobSlot(self, jobs),
            JobSlot(self, jobs),
            JobSlot(self, jobs),
        )
        self._writing = Lock()
        """Held while a change is taken from the queue and written, so that the file gets them in their order."""
        self._queue: deque[_Save] = deque()
        """Changes to write; each has a separate job, since the end of the program waits for started jobs alone."""
        self._unsaved: deque[Changes] = deque()
        """Changes that could not be written and are not reported yet."""
        self._file = SettingLayers({}, {})
        """The displayed settings."""
        self._written = self._file, self.folder
        """The settings that the last change wrote, and the folder that they are of."""
        self._undo: list[Changes] = []
        self._pending: dict[tuple[str, str], SettingChange] = {}
        self.effects: dict[str, SettingsConsequences] = {}
        """Effects on the index of changing options, by key; options without an effect are missing."""
        self._reopen_timer = QTimer(self, singleShot=True, interval=_REOPEN_DELAY_MS)
        self._reopen_timer.timeout.connect(self.applied)
        self._urgent = False
        """Whether the folder is reopened as soon as everything is saved, without a pause."""
        self._refusal: tuple[tuple[str, ...], str] | None = None
        """Changes that were not saved, and why; emitted once the file's values are shown again."""
        self._when_saved: Callable[[], None] | None = None
        self.is_loaded = False
        """Whether the file was read."""

    # --- reading ----------------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether the settings file is neither being read nor written."""
        return not (self._read_job.busy or self._effects_job.busy or self._save_job.busy)

    def begin(self, folder: Path) -> None:
        """Read the settings of a workspace; drops pending changes of another one."""
        if folder != self.folder:
            self.folder, self._file, self.is_loaded = folder, SettingLayers({}, {}), False
            self._undo.clear()
            self._set_pending({})
        self.read_again()

    def read_again(self) -> None:
        """Read the settings file again, since another program may have changed it."""
        if self._save_job.busy:
            return
        folder, config = self.folder, self._config

        self._read_job.read(lambda _: engine.read_layers(folder, config), self._set_read, self._not_read)

    def _set_read(self, layers: SettingLayers) -> None:
        before, first = self._file, not self.is_loaded
        self._file, self.is_loaded = layers, True
        if first or layers != before:
            self._set_pending({name: change for name, change in self._pending.items() if self._differs(change)})
            self.loaded.emit()
        self._emit_refusal()
        if not self.effects and not self._effects_job.busy:
            self._effects_job.read(lambda _: engine.options_of_index(), self._set_effects)

    def _set_effects(self, effects: dict[str, SettingsConsequences]) -> None:
        self.effects = effects
        for key in effects:
            self.changed.emit(key)

    def _not_read(self, sentence: str) -> None:
        self._emit_refusal()
        self.unreadable.emit(sentence)

    # --- display ----------------------------------------------------------------------------------------------------

    @property
    def layers(self) -> SettingLayers:
        """The settings with all pending changes applied."""
        return self._file.changed(self._pending.values())

    @property
    def current(self) -> Settings:
        """The settings as saved in the file."""
        return self._file.settings

    def is_pending(self, key: str) -> bool:
        return any(name == key for name, _ in self._pending)

    @property
    def pending(self) -> int:
        """The number of options with pending changes."""
        return len({key for key, _ in self._pending})

    def consequences(self) -> SettingsConsequences:
        """The effect of all pending changes on the index."""
        return engine.consequences_of(self.folder, self._file.settings, self.layers.settings)

    @property
    def can_undo(self) -> bool:
        return bool(self._undo)

    # --- changing ---------------------------------------------------------------------------------------------------

    def change(self, *changes: SettingChange) -> None:
        """Change options, each in one layer (all workspaces or this one); `undo` restores the previous values."""
        layers = self.layers
        known = tuple(
            SettingChange(change.key, change.layer, change.value, layers.get(change.key, change.layer))
            for change in changes
            if change.value != layers.get(change.key, change.layer)
        )
        if known:
            self._undo.append(tuple(change.undo for change in reversed(known)))
            self._apply_changes(known)

    def set(self, key: str, value: Any, layer: str) -> None:
        """Set one option in the layer `defaults` or `workspace`."""
        self.change(SettingChange(key, "workspace" if layer == "workspace" else "defaults", value))

    def reset(self, key: str) -> None:
        """Remove the option from the layer that sets it."""
        layer = self.layers.layer_of(key)
        if layer != "built-in":
            self.set(key, None, layer)

    def undo(self) -> str:
        """Undo the last change; returns the key of its option, empty if there is nothing to undo."""
        if not self._undo:
            return ""
        changes = self._undo.pop()
        self._apply_changes(changes)
        return changes[0].key

    def _apply_changes(self, changes: Changes) -> None:
        immediately = tuple(change for change in changes if applies_immediately(change.key))
        reopening = tuple(change for change in changes if not applies_immediately(change.key))
        later = reopening if self._needs_approval(reopening) else ()
        for group in (immediately, () if later else reopening):
            if now := tuple(self._from_file(change) for change in group if self._differs(change)):
                self._file = self._file.changed(now)
                self._save(now)
        pending = dict(self._pending)
        for change in reopening:
            pending.pop((change.key, change.layer), None)
        pending.update({(change.key, change.layer): change for change in later})
        self._set_pending({name: change for name, change in pending.items() if self._differs(change)})
        for key in dict.fromkeys(change.key for change in changes):
            self.changed.emit(key)

    def _needs_approval(self, changes: Changes) -> bool:
        """Whether changes rebuild the index, or may send other texts to a service than now."""
        then = self._file.changed(changes).settings
        effects = engine.consequences_of(self.folder, self._file.settings, then)
        placements = [placed_options()[change.key] for change in changes]
        sends = any(placed.page in FORMS or placed.option.group is Group.SERVICES for placed in placements)
        other_texts = effects.other_files or other_vectors(self._file.settings, then)
        return sends or effects.full_rebuild or effects.other_index or (other_texts and _may_send(then))

    def _from_file(self, change: SettingChange) -> SettingChange:
        """Return the change with the file's value as the previous one; a pending value was never in the file."""
        return SettingChange(change.key, change.layer, change.value, self._file.get(change.key, change.layer))

    def _differs(self, change: SettingChange) -> bool:
        return bool(self._file.get(change.key, change.layer) != change.value)

    def _set_pending(self, pending: dict[tuple[str, str], SettingChange]) -> None:
        if pending != self._pending:
            self._pending = pending
            self.waiting_changed.emit()

    def apply(self) -> None:
        """Save all pending changes to the settings file."""
        if pending := tuple(self._from_file(change) for change in self._pending.values()):
            self._urgent = True
            self._save(pending)

    def reopen_now(self) -> None:
        """Emit `applied` for saved changes immediately, without waiting for more of them."""
        if self._save_job.busy:
            self._urgent = True
        elif self._reopen_timer.isActive():
            self._reopen_timer.stop()
            self.applied.emit()

    def call_when_saved(self, on_saved: Callable[[], None]) -> None:
        """Call `on_saved` once all changes are saved, perhaps immediately; never if one of them can't be saved."""
        self._when_saved = on_saved
        self._call_if_saved()

    def stop_reopening(self) -> None:
        """Don't emit `applied`, because the folder was closed or was opened with the saved settings meanwhile."""
        self._reopen_timer.stop()

    def discard(self) -> None:
        """Discard all pending changes of settings."""
        keys = [key for key, _ in self._pending]
        self._undo = [changes for changes in self._undo if all(change.key not in keys for change in changes)]
        self._set_pending({})
        for key in dict.fromkeys(keys):
            self.changed.emit(key)

    # --- saving -----------------------------------------------------------------------------------------------------

    def _save(self, changes: Changes) -> None:
        """Write changes in the background, after those before them, even if the program ends meanwhile."""
        self._read_job.cancel()
        self._queue.append(_Save(changes, self.folder))
        self._save_job.add(self._jobs.save(self._write_oldest, self._saved, self._not_saved))

    def _write_oldest(self, _: CancelToken) -> _Save:
        """Write the oldest change of the queue; on a pool thread."""
        with self._writing:
            save = self._queue.popleft()
            try:
                self._written = engine.change_settings(save.changes, save.folder, self._config), save.folder
            except BaseException:
                self._unsaved.append(save.changes)
                raise
            return save

    def _saved(self, done: _Save) -> None:
        changes, folder = done
        # The job of a later change may report first; the settings that were written last are in effect.
        layers, written_folder = self._written
        self._show_saved()
        if any(applies_immediately(change.key) for change in changes):
            self.took_effect.emit(layers.settings, written_folder)
        elif folder == self.folder:
            self._reopen_timer.start()
        self._reopen_if_urgent()
        self._call_if_saved()

    def _show_saved(self) -> None:
        """Show the file's contents once all changes are written."""
        if self._save_job.busy:
            return  # the file doesn't have all that is displayed
        layers, folder = self._written
        if self._refusal is not None or folder != self.folder:
            self.read_again()
            return
        before, self._file = self._file, layers
        self._set_pending({name: change for name, change in self._pending.items() if self._differs(change)})
        if self._file != before:
            self.loaded.emit()

    def _not_saved(self, sentence: str) -> None:
        self._when_saved = None
        self._undo.clear()
        earlier = self._refusal[0] if self._refusal is not None else ()
        keys = (*earlier, *(change.key for change in self._unsaved.popleft()))
        self._refusal = tuple(dict.fromkeys(keys)), sentence
        self._reopen_if_urgent()
        self._show_saved()

    def _reopen_if_urgent(self) -> None:
        if self._urgent and not self._save_job.busy:
            self._urgent = False
            self.reopen_now()

    def _call_if_saved(self) -> None:
        if self._when_saved is not None and not self._save_job.busy:
            then, self._when_saved = self._when_saved, None
            then()

    def _emit_refusal(self) -> None:
        if self._refusal is not None:
            refusal, self._refusal = self._refusal, None
            self.refused.emit(*refusal)
