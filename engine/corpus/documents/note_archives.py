"""Extracts notes from archives: exports of Joplin, TextPacks and backups of Bear.

Written from TextBundle (textbundle.org), Joplin's format RAW (joplinapp.org) and from exports of Bear, in 2024.
"""

import re
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import BytesIO

import msgspec

from engine.base import skip_reasons
from engine.corpus import markdown_line_types
from engine.corpus.documents.exported_notes import ExportedNote, write_notes
from engine.corpus.documents.json_exports import dicts
from engine.corpus.documents.text_collector import DocumentText, damaged, encrypted
from engine.corpus.documents.xml_archive import Archive

_MOST_MEMBERS = 200_000
_LARGEST_MEMBER = 10_000_000
_FIELDS = re.compile(r"(?:\A|\n\n)((?:[a-z_]{1,40}:[^\n]*\n)*id: ?[0-9a-f]{32}(?:\n[a-z_]{1,40}:[^\n]*)*)\s*\Z")
"""The properties at the end of an entry of Joplin."""
_BUNDLE = re.compile(r"(?:.*/)?([^/]+)\.textbundle/text\.[^/]+", re.IGNORECASE)
_BUNDLE_TEXT = re.compile(r"(?:.*/)?text\.(?:md|markdown|txt)", re.IGNORECASE)


def read_jex(data: bytes, text: DocumentText) -> None:
    """Read an export of Joplin, a tar archive of notes, tags and the relations between them."""
    notes: list[tuple[str, dict[str, str]]] = []
    names: dict[str, str] = {}
    tagged: dict[str, list[str]] = {}
    try:
        for entry in _members(data):
            match = _FIELDS.search(entry[-_LONGEST_FIELDS:])
            if not match:
                continue
            fields = dict(re.findall(r"^(\w+): ?(.*)$", match[1], re.MULTILINE))
            body = entry[: len(entry) - len(entry[-_LONGEST_FIELDS:]) + match.start()]
            match fields.get("type_"):
                case "1":
                    notes.append((body, fields))
                case "5":
                    names[fields["id"]] = body.strip()
                case "6":
                    tagged.setdefault(fields.get("note_id", ""), []).append(fields.get("tag_id", ""))
    except (tarfile.TarError, EOFError, OSError, ValueError):
        raise damaged(skip_reasons.NO_TAR) from None
    if notes and all(fields.get("encryption_applied") == "1" for _, fields in notes):
        raise encrypted()
    write_notes(_joplin(notes, {id_: [names.get(tag, "") for tag in tags] for id_, tags in tagged.items()}), text)


_LONGEST_FIELDS = 20_000


def _members(data: bytes) -> Iterator[str]:
    with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
        for number, member in enumerate(archive):
            if number >= _MOST_MEMBERS:
                return
            file = archive.extractfile(member) if member.isfile() and member.name.endswith(".md") else None
            if file is not None:
                yield file.read(_LARGEST_MEMBER).decode("utf-8", "replace").replace("\r\n", "\n")


def _joplin(notes: Iterable[tuple[str, dict[str, str]]], tags: dict[str, list[str]]) -> Iterator[ExportedNote]:
    for body, fields in notes:
        if fields.get("is_conflict") == "1" or fields.get("deleted_time", "0") != "0":
            continue
        title, _, rest = body.partition("\n")
        created = fields.get("user_created_time") or fields.get("created_time") or ""
        is_html = fields.get("markup_language") == "2"
        yield ExportedNote(title, rest, created, tags.get(fields["id"], ()), is_html=is_html)


def read_bundles(data: bytes, text: DocumentText) -> None:
    """Read the notes of a TextPack, or of a backup of Bear."""
    archive = Archive(data)
    notes = []
    for name in archive.names():
        if not _BUNDLE_TEXT.fullmatch(name) or _is_in_trash(archive.part(f"{name.rpartition('/')[0]}/info.json")):
            continue
        bundle = _BUNDLE.fullmatch(name)
        body = archive.part(name).decode("utf-8", "replace").lstrip("\ufeff")
        heading = markdown_line_types.atx_heading(body.partition("\n")[0])
        title = "" if heading or not bundle else bundle[1]
        notes.append(ExportedNote(title, body))
    write_notes(notes, text)


def _is_in_trash(info: bytes) -> bool:
    with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
        about = msgspec.json.decode(info)
        return isinstance(about, dict) and any(part.get("trashed") for part in dicts([*about.values()]))
    return False
