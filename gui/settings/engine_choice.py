"""The choices of the engine page, without widgets, and texts about them. Pure functions."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import msgspec

from engine import Settings, marked, tr


class Engine(NamedTuple):
    """An engine that can be chosen."""

    name: str
    """Name in the settings."""
    title: str
    what: str
    needs: str


ENGINES = (
    Engine(
        "builtin",
        marked("Built-in index"),
        marked("Words and meaning in one index on this machine; everything in this window works with it."),
        marked("Needs nothing else."),
    ),
    Engine(
        "qmd",
        "qmd",
        marked("The index and the models of the command qmd, if you use it already."),
        marked("Needs qmd 2.6.3 or newer: npm i -g @tobilu/qmd, on Node 22."),
    ),
    Engine(
        "lancedb",
        marked("LanceDB table"),
        marked("A table in a folder, in S3 or in LanceDB Cloud that several machines can share."),
        marked('Needs the package lancedb: pipx install --force ".[lancedb]" in the folder of the source.'),
    ),
)
TITLES = {engine.name: engine.title for engine in ENGINES}
_PROGRAMS = {"qmd": "qmd", "lancedb": "LanceDB"}


@dataclass(frozen=True)
class EngineChoice:
    """The options of the page, as in `Settings`."""

    backend: str
    command: str = "qmd"
    search_mode: str = "search"
    uri: str = ""
    table: str = ""
    machine: str = ""

    @classmethod
    def of(cls, settings: Settings) -> "EngineChoice":
        return cls(
            backend=settings.backend,
            command=settings.qmd.command,
            search_mode=settings.qmd.search_mode,
            uri=settings.lancedb.uri,
            table=settings.lancedb.table,
            machine=settings.lancedb.machine,
        )

    def applied_to(self, settings: Settings) -> Settings:
        """The settings with this choice. Raises `SettingsError` for an invalid one."""
        copy = msgspec.structs.replace
        return copy(
            settings,
            backend=self.backend,
            qmd=copy(settings.qmd, command=self.command, search_mode=self.search_mode),
            lancedb=copy(settings.lancedb, uri=self.uri, table=self.table, machine=self.machine),
        )

    def changes(self, before: "EngineChoice") -> dict[str, Any]:
        """Return the options to save, by their names in the settings file."""
        pairs = (
            ("backend", self.backend, before.backend),
            ("qmd.command", self.command, before.command),
            ("qmd.search_mode", self.search_mode, before.search_mode),
            ("lancedb.uri", self.uri, before.uri),
            ("lancedb.table", self.table, before.table),
            ("lancedb.machine", self.machine, before.machine),
        )
        return {name: now for name, now, then in pairs if now != then}

    @property
    def external(self) -> bool:
        """Whether the table is on another machine."""
        return self.backend == "lancedb" and "://" in self.uri


def switch_words(choice: EngineChoice, before: EngineChoice) -> str:
    """Return the effects of saving in sentences; empty if nothing changes."""
    if choice == before:
        return ""
    if choice.backend == before.backend:
        follows = tr("This folder is opened again with these settings.")
    elif before.backend == "builtin":
        follows = tr(
            "Another index is made with the next update, which may take a while. Nothing is deleted: the index of "
            "the built-in engine stays, so you can go back at any time."
        )
    else:
        follows = tr(
            "Another index is made with the next update, which may take a while. Nothing is deleted: the index of "
            "{engine} stays, so you can go back at any time.",
            engine=_PROGRAMS.get(before.backend, before.backend),
        )
    if not choice.external:
        return follows
    kept = tr("The text of your notes and sessions is stored at {address}, with secrets masked.", address=choice.uri)
    return f"{kept} {follows}"
