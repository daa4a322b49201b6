"""GitHub Copilot's chat in VS Code, and chats that editors made from VS Code store in the same way."""

import os
from collections.abc import Iterable, Iterator, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, Agent, FoundFolders
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile
    from engine.corpus.transcripts.formats import Formats

_EDITORS = (
    ("Code", "vscode"),
    ("Code - Insiders", "vscode-insiders"),
    ("VSCodium", "vscodium"),
    ("Code - OSS", "code-oss"),
    ("Positron", "positron"),
    ("Windsurf", "windsurf"),
    ("Trae", "trae"),
)
"""Folder of each editor, and the short name of its store."""
_FLATPAKS = {"Code": "com.visualstudio.code", "VSCodium": "com.vscodium.codium"}
_SERVERS = {
    "Code": ".vscode-server",
    "Code - Insiders": ".vscode-server-insiders",
    "VSCodium": ".vscodium-server",
    "Cursor": ".cursor-server",
    "Windsurf": ".windsurf-server",
}
"""Folder of each editor's server, which runs extensions here for a window on another machine."""
_CHATS = "chatSessions"
_WITHOUT_FOLDER = "emptyWindowChatSessions"
_ID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"


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
        yield f"{name} without a folder".strip(), os.path.join(folder, "globalStorage", _WITHOUT_FOLDER)


def _copies(files: Iterable["FoundFile"], _before: Set[str], _cancel: "CancelToken | None") -> set[str]:
    """Files that VS Code left behind: it writes a session into a `.jsonl`, and copies it when its window gets a folder.

    The newest `.jsonl` counts.
    """
    chats: dict[str, list[FoundFile]] = {}
    for file in files:
        if "hatSessions" not in file.path:  # true of nearly all files, and a quick check
            continue
        folder, name = os.path.split(file.path)
        if os.path.basename(folder) in (_CHATS, _WITHOUT_FOLDER):
            chats.setdefault(os.path.splitext(name)[0], []).append(file)
    copied: set[str] = set()
    for one in chats.values():
        newest = max(one, key=lambda file: (file.path.endswith(".jsonl"), file.mtime_ns, file.name))
        copied.update(file.name for file in one if file is not newest)
    return copied


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.copilot_chat import CopilotChatDocument

    return Formats(documents=(CopilotChatDocument(),))


AGENT = Agent(
    name="copilot-chat",
    label="GitHub Copilot Chat",
    stores=tuple(
        (rf"/{editor}/User/{folder}\Z", short + more)
        for editor, short in _EDITORS
        for folder, more in (("workspaceStorage", ""), (f"globalStorage/{_WITHOUT_FOLDER}", "-no-folder"))
    ),
    folders=_folders,
    files=(JSON_LINES, rf"{_CHATS}/{_ID}\.json", rf"{_WITHOUT_FOLDER}/{_ID}\.json"),
    # The extension's own logs of the same sessions, and the states of edited files.
    parts=(("", "GitHub.copilot-chat"), ("", "chatEditingSessions")),
    watched=rf"[^/]+(?:/{_CHATS})?",  # not the data of all other extensions
    copies=_copies,
    with_copies=("hatSessions",),
    formats=_formats,
)
