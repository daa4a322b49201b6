"""Finds the roots of notes, the workspace by its layout and the extra paths, with the prefix of their stable names."""

import os
import unicodedata
from pathlib import Path
from typing import Literal

import msgspec

from engine.base.errors import WorkspaceError
from engine.base.language import tr
from engine.corpus.ignore_rules import SECRET_FOLDERS, printable_name
from engine.settings import Settings

Layout = Literal["openclaw", "folder"]

_MEMORY_FILES = ("MEMORY.md", "memory.md")
MEMORY_FOLDER = "memory"
NOTES_MARKER = ".mnemoscope"
"""Marker file in a memory folder that this program made among notes, so that the notes stay indexed."""
# Transcripts are called sessions/<store>/…, and an openclaw workspace may get a memory folder later.
_RESERVED = ("sessions", MEMORY_FOLDER)


class Root(msgspec.Struct, frozen=True):
    """A file or folder to search for notes; it need not exist."""

    name: str
    """Stable name of a file, or prefix of the stable names in a folder; "" for the workspace."""
    path: str
    """Absolute path, with the folder above it resolved."""
    extra: bool = False
    """Whether the root is listed in `extra_paths`."""
    single: bool = False
    """Whether the root must be a file."""

    def contains(self, name: str) -> bool:
        """Return whether a file with this stable name is the root or inside it."""
        return not self.name or name == self.name or (not self.single and name.startswith(self.name + "/"))


class Roots(msgspec.Struct, frozen=True):
    workspace: str
    """Absolute path, with links resolved."""
    layout: Layout
    found: tuple[Root, ...]
    """Roots in the order in which their files are listed."""

    def root_of(self, name: str) -> Root | None:
        """Return the innermost root that contains a file with this stable name; None if none does."""
        innermost = None
        for root in self.found:
            if root.contains(name) and (innermost is None or len(root.name) > len(innermost.name)):
                innermost = root
        return innermost


def find_roots(workspace: Path, settings: Settings) -> Roots:
    """Return the current roots. Raises `WorkspaceError` if the workspace can't be listed or must not be read."""
    resolved = os.path.realpath(workspace)
    require_text(resolved)
    try:
        with os.scandir(resolved) as entries:
            # Every opened file needs the roots: only extra folders need all names of a folder with many files.
            extra = any(path.strip() for path in settings.extra_paths)
            top_names = [entry.name for entry in entries] if extra else []
    except FileNotFoundError:
        raise WorkspaceError(tr("The folder {folder} does not exist.", folder=workspace)) from None
    except NotADirectoryError:
        raise WorkspaceError(tr("{folder} is not a folder.", folder=workspace)) from None
    except PermissionError:
        message = tr(
            "You don't have permission to read the folder {folder}. Change its permissions, or choose another folder.",
            folder=workspace,
        )
        raise WorkspaceError(message) from None
    except OSError as error:
        message = tr("The folder {folder} cannot be read: {reason}.", folder=workspace, reason=error.strerror)
        raise WorkspaceError(message) from None
    if is_secret_folder(resolved):
        message = tr("{folder} is a place for keys and credentials, which are never read.", folder=workspace)
        raise WorkspaceError(message)
    layout = _layout(resolved)
    own = [Root("", resolved)] if layout == "folder" else _memory_roots(resolved)
    return Roots(resolved, layout, tuple(_unique([*own, *_extra_roots(resolved, settings.extra_paths, top_names)])))


def require_text(folder: str) -> None:
    """Raise `WorkspaceError` for a path with NUL or undecodable bytes, which can't be stored."""
    if "\0" in folder:
        raise WorkspaceError(
            tr("The name of a folder can't contain a NUL character: {folder}.", folder=printable_name(folder))
        )
    name = printable_name(folder)
    if name != folder:
        message = tr(
            "The name of {folder} contains bytes that are not text: rename the folder, then open it.", folder=name
        )
        raise WorkspaceError(message)


def is_secret_folder(path: str) -> bool:
    """Return whether the path is, or is inside, a folder of keys and credentials."""
    return not SECRET_FOLDERS.isdisjoint(part.lower() for part in Path(path).parts)


def _layout(workspace: str) -> Layout:
    if any(os.path.lexists(os.path.join(workspace, name)) for name in _MEMORY_FILES):
        return "openclaw"
    # A memory folder counts even if it is a link: indexing the rest of the workspace instead would surprise the user.
    folder = os.path.join(workspace, MEMORY_FOLDER)
    if os.path.islink(folder):
        return "openclaw"
    return "openclaw" if os.path.isdir(folder) and not os.path.lexists(os.path.join(folder, NOTES_MARKER)) else "folder"


def _memory_roots(workspace: str) -> list[Root]:
    files = [Root(name, os.path.join(workspace, name), single=True) for name in _MEMORY_FILES]
    return [*files, Root(MEMORY_FOLDER, os.path.join(workspace, MEMORY_FOLDER))]


def _extra_roots(workspace: str, extra_paths: tuple[str, ...], top_names: list[str]) -> list[Root]:
    """Return the roots of `extra_paths`; none of their names is one of `top_names`, those in the workspace."""
    used_names = {_folded(name) for name in (*top_names, *_RESERVED)}
    roots: list[Root] = []
    for text in map(str.strip, extra_paths):
        if not text:
            continue
        named = os.path.normpath(os.path.join(workspace, os.path.expanduser(text)))
        path = os.path.join(os.path.realpath(os.path.dirname(named)), os.path.basename(named))
        if any(root.path == path for root in roots):
            continue
        if path == workspace or path.startswith(os.path.join(workspace, "")):
            name = "" if path == workspace else os.path.relpath(path, workspace).replace(os.sep, "/")
        else:
            name = _short_name(path, used_names)
            used_names.add(_folded(name))
        roots.append(Root(name, path, extra=True))
    return roots


def _short_name(path: str, used_names: set[str]) -> str:
    """Return the last component of a path, made unique by a number before its suffix."""
    base = os.path.basename(path) or Path(path).drive.rstrip(":") or "root"
    stem, suffix = os.path.splitext(base) if not os.path.isdir(path) else (base, "")
    name, number = base, 1
    while _folded(name) in used_names:
        number += 1
        name = f"{stem}-{number}{suffix}"
    return name


def _unique(roots: list[Root]) -> list[Root]:
    """Remove second names of the same file or folder, such as MEMORY.md and memory.md on most Macs."""
    seen: set[tuple[int, int]] = set()
    unique: list[Root] = []
    for root in roots:
        try:
            state = os.lstat(root.path)
        except OSError:
            unique.append(root)
            continue
        if (state.st_dev, state.st_ino) not in seen:
            seen.add((state.st_dev, state.st_ino))
            unique.append(root)
    return unique


def _folded(name: str) -> str:
    return unicodedata.normalize("NFC", name).casefold()
