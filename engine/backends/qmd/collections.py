"""Configures what `qmd` indexes: a collection for each folder of notes, with exactly the files that our rules accept.

The collections are written into qmd's own configuration file: only there can files be excluded, and `qmd collection
add` would read every file of a folder first. (JSON is YAML, too.)
"""

import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import msgspec

from engine.base import in_batches, skip_reasons
from engine.base.bounded_json import decode_json
from engine.base.cancellation import CancelToken
from engine.base.private_files import read_file
from engine.corpus.discovery import Discovery, discover
from engine.corpus.documents import is_document
from engine.corpus.folder_walk import FoundFile
from engine.corpus.ignore_rules import IgnoreRules
from engine.corpus.indexed_folders import Root, Roots, find_roots
from engine.records import FileIssue, Source
from engine.settings import Settings

SKIPPED_BY_QMD = frozenset({"node_modules", ".git", ".cache", "vendor", "dist", "build"})
"""Folders that `qmd` never reads, whatever its configuration."""
SESSIONS = "sessions"

_MAX_JOINED = 64
"""Maximum number of names in one pattern of 65,536 characters; an escaped name may have nearly a thousand."""
_NOT_IN_A_NAME = re.compile(r"[^a-z0-9-]+")
_SPECIAL = re.compile(r"[\\*?|(){}\[\]!+@#,\"'`]")
"""Includes quotes: next to braces, text between two quotes is taken literally."""
_MEANT = re.compile(r"[*?\[{]")
_OWN_NAMES = {"": "memory-dir", "MEMORY.md": "memory-root", "memory.md": "memory-alt", "memory": "memory-dir"}


class Collection(msgspec.Struct, frozen=True, array_like=True):
    """A collection of `qmd`: one folder or file."""

    name: str
    source: Source
    folder: str
    """Absolute."""
    pattern: str
    prefix: str
    """Prefix of its files' stable names; the stable name of a single file."""
    single: str = ""
    """Name of the only file in the folder; empty for a whole folder."""
    ignore: tuple[str, ...] = ()

    def stable_name(self, path: str) -> str | None:
        """Return the stable name of a file by qmd's name; None if it can't be in this collection."""
        if self.single:
            return self.prefix if path == self.single else None
        return f"{self.prefix}/{path}" if self.prefix else path


class CollectionPlan(NamedTuple):
    """The collections that qmd should have for a workspace, and the files they cover."""

    collections: tuple[Collection, ...]
    files: tuple[FoundFile, ...]
    """The notes in the collections."""
    skipped: tuple[FileIssue, ...]


def with_paths(settings: Settings) -> Settings:
    """Return the settings with the paths that only `qmd` searches added to the extra paths.

    Documents are left out, since `qmd` would index their bytes.
    """
    more = tuple(_folder_of(path) for path in settings.qmd.paths.values() if path.strip())
    extra = tuple(dict.fromkeys((*settings.extra_paths, *more)))
    endings = tuple(ending for ending in settings.extensions if not is_document("." + ending.lstrip("*.")))
    return msgspec.structs.replace(settings, extra_paths=extra, extensions=endings)


def plan(
    workspace: Path, settings: Settings, sessions: Path | None, cancel: CancelToken | None = None
) -> CollectionPlan:
    """Return the collections for the current files. `settings` contain the paths; `sessions`: folder of the exported
    sessions, None for none.

    Raises `WorkspaceError`, `Cancelled`.
    """
    roots = find_roots(workspace, settings)
    discovery = discover(workspace, settings, cancel=cancel)
    names_of_roots = {root.name for root in roots.found if root.extra or settings.qmd.include_default_memory}
    accepted: dict[str, list[FoundFile]] = {name: [] for name in names_of_roots}
    for file in discovery.files:
        root = roots.root_of(file.name)
        if root is not None and root.name in names_of_roots:
            accepted[root.name].append(file)
    collections = _CollectionNames(workspace.name)
    made = [
        _collection(root, accepted[root.name], roots, settings, collections)
        for root in roots.found
        if root.name in names_of_roots and os.path.lexists(root.path)
    ]
    if sessions is not None:
        made.append(Collection(collections.name(SESSIONS), "sessions", str(sessions), "*.md", ""))
    files, passed = _split_by_qmd_rules(discovery, accepted)
    return CollectionPlan(tuple(made), files, passed)


class SavedConfiguration(msgspec.Struct, frozen=True):
    """The complete configuration in qmd's file."""

    collections: tuple[Collection, ...] = ()
    models: Mapping[str, str] = {}
    """Models by purpose; missing ones are qmd's defaults."""

    def text(self) -> str:
        """The configuration as the text of qmd's file."""
        values = {
            collection.name: {
                "path": collection.folder,
                "pattern": collection.pattern,
                **({"ignore": list(collection.ignore)} if collection.ignore else {}),
            }
            for collection in self.collections
        }
        models = {"models": dict(self.models)} if self.models else {}
        return msgspec.json.format(msgspec.json.encode({"collections": values, **models}), indent=2).decode() + "\n"


def read_applied(file: Path) -> SavedConfiguration:
    """Return the configuration that was applied last; empty if there is none, or if another version wrote it."""
    try:
        return decode_json(read_file(file), SavedConfiguration)
    except (OSError, ValueError):
        return SavedConfiguration()


def literal(name: str) -> str:
    """Return a pattern that matches only this name."""
    decoded = os.fsencode(name).decode("utf-8", "replace")  # how Node reads a name that isn't valid UTF-8
    return _SPECIAL.sub(lambda match: f"[{match[0]}]" if match[0] in "*?[,(){}|+@#" else f"\\{match[0]}", decoded)


class _CollectionNames:
    """Names of collections: lower-case letters, digits and hyphens, each once."""

    def __init__(self, workspace: str) -> None:
        self._ending = _plain(workspace)
        self._used_names: set[str] = set()

    def name(self, preferred: str) -> str:
        base = "-".join(filter(None, (_plain(preferred) or "notes", self._ending)))
        name, number = base, 1
        while name in self._used_names:
            number += 1
            name = f"{base}-{number}"
        self._used_names.add(name)
        return name


def _plain(text: str) -> str:
    return _NOT_IN_A_NAME.sub("-", text.lower()).strip("-")[:40]


def _collection(
    root: Root, files: Sequence[FoundFile], roots: Roots, settings: Settings, names: _CollectionNames
) -> Collection:
    preferred, pattern = _from_settings(root, roots, settings)
    name = names.name(preferred or (_OWN_NAMES.get(root.name, root.name) if not root.extra else root.name))
    if root.single or not os.path.isdir(root.path):
        folder, base = os.path.split(root.path)
        # Files that aren't accepted must be excluded: otherwise `qmd` reads them.
        ignore = () if files else (literal(base),)
        return Collection(name, "memory", folder, literal(base), root.name, base, ignore)
    if not settings.extensions:
        return Collection(name, "memory", root.path, "**/*", root.name, "", ("**",))
    pattern = pattern or ",".join(f"**/*{_any_case(ending)}" for ending in settings.extensions)
    return Collection(
        name, "memory", root.path, pattern, root.name, "", _left_out(root, files, IgnoreRules(settings).extensions)
    )


def _from_settings(root: Root, roots: Roots, settings: Settings) -> tuple[str, str]:
    """Return the name and the pattern that the settings give a path; empty if there are none."""
    for name, path in settings.qmd.paths.items():
        folder = os.path.normpath(os.path.join(roots.workspace, os.path.expanduser(_folder_of(path))))
        if (
            root.extra
            and os.path.join(os.path.realpath(os.path.dirname(folder)), os.path.basename(folder)) == root.path
        ):
            return name, path[len(_folder_of(path)) :].lstrip("/" + os.sep).replace(os.sep, "/")
    return "", ""


def _folder_of(path: str) -> str:
    """The part of a path before the first component that is a pattern."""
    parts = re.split(r"(?<=[/\\])" if os.sep == "\\" else r"(?<=/)", path.strip())
    plain = []
    for part in parts:
        if _MEANT.search(part):
            break
        plain.append(part)
    return "".join(plain).rstrip("/" + os.sep) or path.strip()[:1]


def _any_case(ending: str) -> str:
    """Return a pattern for an extension in any case, as our rules accept it."""
    bare = "." + ending.lstrip("*.")
    return "".join(
        f"[{character.lower()}{character.upper()}]" if character.lower() != character.upper() else literal(character)
        for character in bare
    )


def _left_out(root: Root, files: Sequence[FoundFile], endings: tuple[str, ...]) -> tuple[str, ...]:
    """Return patterns for the files that `qmd` would find by these extensions but our rules exclude."""
    start = len(root.name) + 1 if root.name else 0
    names = {file.name[start:] for file in files}
    folders = {name.rpartition("/")[0] for name in names}
    for folder in tuple(folders):
        while folder := folder.rpartition("/")[0]:
            folders.add(folder)
    patterns = list[str]()
    stack = [(root.path, "")]
    while stack:
        path, prefix = stack.pop()
        refused, whole = list[str](), list[str]()
        for entry in _seen_by_qmd(path):
            name = prefix + entry.name
            if not entry.is_dir(follow_symlinks=False):
                if entry.name.lower().endswith(endings) and name not in names:
                    refused.append(literal(entry.name))
            elif name in folders:
                stack.append((entry.path, name + "/"))
            elif _holds_any(entry.path, endings):
                whole.append(literal(entry.name))
        patterns += [literal(prefix) + pattern for pattern in _any_of(refused)]
        patterns += [f"{literal(prefix)}{pattern}/**" for pattern in _any_of(whole)]
    return tuple(sorted(patterns))


def _any_of(patterns: list[str]) -> list[str]:
    """Combine patterns into few: `qmd` tries each on every file, and one per file took a minute for 10,000 files."""
    return [
        f"@({'|'.join(batch)})" if len(batch) > 1 else batch[0] for batch in in_batches(sorted(patterns), _MAX_JOINED)
    ]


def _holds_any(folder: str, endings: tuple[str, ...]) -> bool:
    """Return whether `qmd` would find a file in a folder: a folder without notes needs no pattern."""
    stack = [folder]
    while stack:
        for entry in _seen_by_qmd(stack.pop()):
            if entry.is_dir(follow_symlinks=False):
                stack.append(entry.path)
            elif entry.name.lower().endswith(endings):
                return True
    return False


def _seen_by_qmd(folder: str) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return [entry for entry in entries if not entry.name.startswith(".") and entry.name not in SKIPPED_BY_QMD]
    except OSError:
        return []  # qmd can't read the folder either


def _split_by_qmd_rules(
    discovery: Discovery, accepted: dict[str, list[FoundFile]]
) -> tuple[tuple[FoundFile, ...], tuple[FileIssue, ...]]:
    """Return the files that `qmd` indexes, and those excluded by our rules or its own."""
    indexed, left_out = [], list(discovery.skipped)
    for root, files in accepted.items():
        for file in files:
            inside = file.name[len(root) :].strip("/").split("/")[:-1]
            folder = next((part for part in inside if part in SKIPPED_BY_QMD or part.startswith(".")), None)
            if folder is None:
                indexed.append(file)
            else:
                detail = skip_reasons.FOLDER_OF_QMD.message(folder=folder)
                left_out.append(FileIssue(path=file.name, rule="qmd", detail=detail))
    return tuple(indexed), tuple(left_out)
