"""Provides copies of the sample notes, sessions and facts for `--demo`, with an index that is deleted afterwards."""

import contextlib
import os
import shutil
import tempfile
import time
import tomllib
import uuid
from importlib.resources import as_file, files
from pathlib import Path

import engine
from engine import Fact, MemorySearchManager, MnemoscopeError, temporary_prefix

_HOUR, _DAY = 3600, 86_400
_DATES = "dates.toml"
"""When each note was changed: packages and version control don't store that."""


class Demo:
    """Stores the demo's data in one temporary folder, which `close()` deletes.

    Attributes: workspace: the copied notes. session_folders: the copied sessions, a folder for each agent. config: a
    copy of the settings that lists them too; None if the settings can't be used. store: location of the index.
    """

    def __init__(self, config: Path | None = None) -> None:
        """`config`: settings file in place of the user's own."""
        self._folder = tempfile.TemporaryDirectory(prefix=temporary_prefix("demo"), ignore_cleanup_errors=True)
        self.workspace = Path(self._folder.name, "sample-notes")
        self.store = Path(self._folder.name, "index")
        with as_file(files("resources").joinpath("sample")) as sample:
            shutil.copytree(sample, self.workspace, ignore=shutil.ignore_patterns(_DATES))
            dates = tomllib.loads((sample / _DATES).read_text("utf-8"))
        with as_file(files("resources").joinpath("sample_sessions")) as sample:
            sessions = Path(shutil.copytree(sample, Path(self._folder.name, "sample-sessions")))
        self.session_folders = tuple(sorted(folder for folder in sessions.iterdir() if folder.is_dir()))
        for name, moment in dates.items():
            os.utime(self.workspace / name, (moment.timestamp(), moment.timestamp()))
        self.config = self._copy_settings(config or engine.settings_path())

    def _copy_settings(self, original: Path) -> Path | None:
        """Copy the settings file, so that choices in the demo don't change the user's settings."""
        copy = Path(self._folder.name, "settings.toml")
        try:
            if original.exists():
                shutil.copyfile(original, copy)
            folders = tuple(map(str, self.session_folders))
            engine.save_setting("sessions.folders", folders, workspace=self.workspace, config=copy)
        except (OSError, engine.SettingsError):  # the window then shows the original file and its error
            return None
        return copy

    @staticmethod
    def fill(manager: MemorySearchManager) -> None:
        """Store the sample's facts in the memory if it has none and supports facts."""
        now = time.time()
        sample_facts = tomllib.loads(files("resources").joinpath("sample_facts.toml").read_text("utf-8"))["fact"]
        facts = []
        for fact in sample_facts:
            made = now - fact.pop("days", 0) * _DAY - fact.pop("hours", 0) * _HOUR
            ended = now - _DAY if "forgotten_by" in fact else None
            facts.append(Fact(id=str(uuid.uuid4()), created=made, changed=made, forgotten=ended, **fact))
        with contextlib.suppress(MnemoscopeError):
            if not manager.facts.all():
                manager.facts.put_back(*facts)

    def close(self) -> None:
        self._folder.cleanup()
