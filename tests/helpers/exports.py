"""Read exports in tests: write a document to a file, plain or zipped, and parse it by its format."""

import json
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from engine.corpus.transcripts.formats import Conversation, DocumentFormat


def written(folder: Path, value: object) -> Path:
    """Write the document to a file, with half surrogate pairs and NaN as Python writes them."""
    path = folder / "conversations.json"
    path.write_text(json.dumps(value), encoding="utf-8")
    return path


def packed(folder: Path, members: Mapping[str, bytes]) -> Path:
    path = folder / "export.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return path


def read(format: DocumentFormat, path: Path) -> list[Conversation]:
    return list(format.conversations(str(path)))


def read_first(format: DocumentFormat, path: Path) -> tuple[list[Conversation], Exception | None]:
    """Return the content before the document broke off, and the error."""
    found: list[Conversation] = []
    try:
        found.extend(format.conversations(str(path)))
    except ValueError as error:
        return found, error
    return found, None


def head(path: Path) -> bytes:
    return path.read_bytes()[: 64 * 1024]


def in_order(conversation: Conversation) -> list[tuple[Any, ...]]:
    """Return the role, kind, text and tool of its messages, in order."""
    return [(message.role, message.kind, message.text, message.tool) for message in conversation.messages]
