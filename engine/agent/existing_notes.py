"""Which sessions have their note already, as the notes themselves say: those of other programs count as well."""

import contextlib
import re
from collections.abc import Iterator
from pathlib import Path

from engine.base.errors import PathRefused
from engine.corpus.roots import MEMORY_FOLDER
from engine.corpus.safe_open import open_binary
from engine.records import SessionSummary

STAMP = "%Y-%m-%d %H:%M:%S"
_HEAD_BYTES = 2048
_DATED = re.compile(r"\d{4}-\d\d-\d\d.*\.md")
_BEGINS = re.compile(r"# Session: (\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC\s*\n")
_SESSION = re.compile(r"^- \*\*Session (?:Key|ID)\*\*: (\S+)[ \t]*$", re.MULTILINE)


def note_of(workspace: Path, session: SessionSummary, stamp: str) -> str:
    """The note of this session that was written at this moment (UTC) or later; empty where there is none."""
    names = {session.path, session.id} - {""}
    for name, head in _heads(workspace.resolve() / MEMORY_FOLDER):
        begins = _BEGINS.match(head)
        if begins and begins[1] >= stamp and names.intersection(_SESSION.findall(head)):
            return f"{MEMORY_FOLDER}/{name}"
    return ""


def _heads(folder: Path) -> Iterator[tuple[str, str]]:
    """Names and beginnings of the dated notes in a folder, the newest first."""
    with contextlib.suppress(OSError):
        for name in sorted(filter(_DATED.fullmatch, (path.name for path in folder.iterdir())), reverse=True):
            with contextlib.suppress(OSError, PathRefused), open_binary(folder / name) as file:
                yield name, file.read(_HEAD_BYTES).decode("utf-8", "replace")
