"""GitHub Copilot's chat in VS Code, and chats that editors made from VS Code store in the same way.

Copilot also writes transcripts of its own, the last 20 of each workspace; VS Code's file of a chat may be missing or
empty.
"""

import functools
import os
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, UUID, Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

_EDITORS = (
    ("Code", "vscode"),
    ("Code - Insiders", "vscode-insiders"),
    ("VSCodium", "vscodium"),
    ("Code - OSS", "code-oss"),
    ("Positron", "positron"),
    ("Windsurf", "windsurf"),
    ("Windsurf - Next", "windsurf-next"),
    ("Trae", "trae"),
    ("Trae CN", "trae-cn"),
    ("TRAE SOLO CN", "trae-solo-cn"),
)
"""Folder of each editor, and the short name of its store."""
_FLATPAKS = {"Code": "com.visualstudio.code", "VSCodium": "com.vscodium.codium"}
_SERVERS = {
    "Code": ".vscode-server",
    "Code - Insiders": ".vscode-server-insiders",
    "VSCodium": ".vscodium-server",
    "Cursor": ".cursor-server",
    "Kiro": ".kiro-server",
    "Windsurf": ".windsurf-server",
}
"""Folder of each editor's server, which runs extensions here for a window on another machine."""
_CHATS = "chatSessions"
_GLOBAL = (
    ("emptyWindowChatSessions", "without a folder", "-no-folder"),
    ("transferredChatSessions", "transferred", "-transferred"),
)
"""Folders of chats in `globalStorage`, of windows without a folder and of chats that are moved to another window, each
with the name of the location and the end of the store's short name.
"""
_FOLDERS = (_CHATS, *(folder for folder, _, _ in _GLOBAL))
_EXTENSION, _TRANSCRIPTS = "GitHub.copilot-chat", "transcripts"
_REQUEST = b'"requestId"'
_MAX_SEARCHED = 256 * 1024
"""Bytes of a chat that are searched for a request."""


def user_folders(machine: Machine, editors: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Editor and user folder of each of these editors made from VS Code; it need not exist."""
    for editor in editors:
        for home in machine.program_homes():
            yield editor, os.path.join(home, editor, "User")
        if editor in _FLATPAKS:
            yield editor, machine.below_home(".var", "app", _FLATPAKS[editor], "config", editor, "User")
        if editor in _SERVERS:
            yield editor, machine.below_home(_SERVERS[editor], "data", "User")


def _folders(machine: Machine) -> FoundFolders:
    for editor, folder in user_folders(machine, [editor for editor, _ in _EDITORS]):
        name = "" if editor == "Code" else editor
        yield name, os.path.join(folder, "workspaceStorage")
        for below, product, _ in _GLOBAL:
            yield f"{name} {product}".strip(), os.path.join(folder, "globalStorage", below)


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    """Files that VS Code left behind: it writes a session into a `.jsonl`, and copies it when its window gets a folder.

    The newest `.jsonl` counts. Copilot's transcript of a chat counts if that is empty.
    """
    chats: dict[str, list[FoundFile]] = {}
    transcripts: dict[str, FoundFile] = {}
    for file in files:
        if "hatSessions" not in file.path and _TRANSCRIPTS not in file.path:  # true of nearly all files
            continue
        folder, name = os.path.split(file.path)
        kind, id_ = os.path.basename(folder), os.path.splitext(name)[0]
        if kind in _FOLDERS:
            chats.setdefault(id_, []).append(file)
        elif kind == _TRANSCRIPTS and os.path.basename(os.path.dirname(folder)) == _EXTENSION:
            transcripts[id_] = file
    copied: set[str] = set()
    for id_, chat in chats.items():
        newest = max(chat, key=lambda file: (file.path.endswith(".jsonl"), file.mtime_ns, file.name))
        copied.update(file.name for file in chat if file is not newest)
        own = transcripts.get(id_)
        if own is not None and _has_requests(newest.path, newest.size, newest.mtime_ns):
            copied.add(own.name)
    return copied


@functools.lru_cache(maxsize=4096)
def _has_requests(path: str, size: int, _mtime_ns: int) -> bool:
    """Whether VS Code's file of a chat has any request. Cached by the file's version."""
    from engine.corpus.safe_open import first_bytes

    return size > _MAX_SEARCHED or _REQUEST in first_bytes(path, _MAX_SEARCHED)


AGENT = Agent(
    name="copilot-chat",
    label="GitHub Copilot Chat",
    stores=tuple(
        (rf"/{editor}/User/{folder}\Z", short + more)
        for editor, short in _EDITORS
        for folder, more in (("workspaceStorage", ""), *((f"globalStorage/{below}", end) for below, _, end in _GLOBAL))
    ),
    folders=_folders,
    files=(JSON_LINES, *(rf"{folder}/{UUID}\.json" for folder in _FOLDERS)),
    # Logs and results of tools in Copilot's folder, and the states of edited files.
    parts=(
        *((_EXTENSION, name) for name in ("chat-session-resources", "debug-logs", "memory-tool")),
        ("", "chatEditingSessions"),
    ),
    watched=rf"[^/]+(?:/{_CHATS}|/{_EXTENSION}(?:/{_TRANSCRIPTS})?)?",  # not the data of all other extensions
    copies=(_copies,),
    with_copies=("hatSessions",),
    formats=(".copilot_chat:CopilotChatDocument",),
)
