"""The sessions of a workspace: those in the settings and those found here, with their ticks."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import engine
from engine import CancelToken, FileIssue, FoundPlace


@dataclass(frozen=True)
class Source:
    """A folder or an export, ticked or not."""

    text: str
    """As the settings write it."""
    place: FoundPlace
    ticked: bool


@dataclass(frozen=True)
class Choice:
    listed: tuple[str, ...]
    """By the settings, as they write them."""
    sources: tuple[Source, ...]
    issues: tuple[FileIssue, ...]

    def tick(self, ticked: Sequence[bool]) -> "Choice":
        """The same with other ticks."""
        sources = tuple(replace(source, ticked=on) for source, on in zip(self.sources, ticked, strict=True))
        return replace(self, sources=sources)

    def add(self, added: Sequence[Source], issues: Sequence[FileIssue]) -> "Choice":
        """Add these, ticked; existing ones are ticked in place."""
        wanted = {_key(source.place.path) for source in added}
        known = {_key(source.place.path) for source in self.sources}
        sources = tuple(
            replace(source, ticked=source.ticked or _key(source.place.path) in wanted) for source in self.sources
        )
        new = tuple(source for source in added if _key(source.place.path) not in known)
        return replace(self, sources=sources + new, issues=(*self.issues, *issues))

    @property
    def folders(self) -> tuple[str, ...]:
        """The list for the settings: everything ticked, except folders inside another one."""
        ticked = [source for source in self.sources if source.ticked]
        return tuple(
            source.text for source in ticked if not any(_inside(source.place, other.place) for other in ticked)
        )

    @property
    def changed(self) -> bool:
        return any(source.ticked != (source.text in self.listed) for source in self.sources)

    @property
    def removes(self) -> bool:
        """Whether a listed folder was unticked."""
        return any(not source.ticked and source.text in self.listed for source in self.sources)


def look(folder: Path, config: Path | None, token: CancelToken) -> Choice:
    """What the settings of a workspace list, then what else is on this machine. Raises `SettingsError`, `Cancelled`."""
    return look_beside(engine.load_settings(folder, config=config).sessions.folders, token)


def look_beside(listed: Sequence[str], token: CancelToken) -> Choice:
    """These, then what else is on this machine. Raises `Cancelled`."""
    sources, issues = measure(listed, token)
    found = engine.find_places(cancel=token)
    known = {_key(place.path): place for place in found.places if place.kind == "sessions"}
    once = {_key(source.place.path): source for source in sources}
    own = [replace(source, place=known.pop(key, source.place)) for key, source in once.items()]
    others = [
        Source(place.path, place, ticked=False)
        for place in known.values()
        if not any(_inside(place, source.place) for source in own)
    ]
    return Choice(tuple(listed), (*own, *others), (*issues, *found.issues))


def measure(folders: Sequence[str], token: CancelToken) -> tuple[list[Source], list[FileIssue]]:
    """Folders and exports named by the user, ticked."""
    sources: list[Source] = []
    issues: list[FileIssue] = []
    for text in folders:
        found = engine.measure_sessions((text,), cancel=token)
        sources += [Source(text, place, ticked=True) for place in found.places]
        issues += found.issues
    return sources, issues


def _key(path: str) -> str:
    return os.path.normcase(path)


def _inside(inner: FoundPlace, outer: FoundPlace) -> bool:
    return _key(inner.path).startswith(_key(outer.path).rstrip(os.sep) + os.sep)
