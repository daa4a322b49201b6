"""Extracts notes from exports in JSON, which is known by its content, and from TiddlyWikis, pages that store it.

Written from exports of Google Keep, Simplenote, Standard Notes, Day One, Roam, Logseq, jrnl and TiddlyWiki, in 2024.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from html import unescape
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.corpus.documents import NOT_NOTES, DocumentError
from engine.corpus.documents.exported_notes import ExportedNote, write_notes
from engine.corpus.documents.text_collector import DocumentText, encrypted, list_item
from engine.corpus.documents.web_pages import decoded, read_html


def read_json(data: bytes, text: DocumentText) -> None:
    """Read an export in JSON; one that isn't known by its content is refused as `NOT_NOTES`."""
    with suppress(msgspec.DecodeError, RecursionError, UnicodeError):
        notes = _exported(msgspec.json.decode(data.removeprefix(b"\xef\xbb\xbf")), text)
        if notes is not None:
            write_notes(notes, text)
            if text.is_empty:  # such as a note of Keep that is only a picture
                raise DocumentError(NOT_NOTES, skip_reasons.NO_TEXT.message())
            return
    raise DocumentError(NOT_NOTES, skip_reasons.NOT_NOTES.message())


def _exported(export: Any, text: DocumentText) -> Iterable[ExportedNote] | None:
    """Return the notes of an export, or None for other JSON.

    A file of Google Keep contains one note, which is written to `text` directly.
    """
    if isinstance(export, list):
        entries = [entry for entry in export if isinstance(entry, dict) and isinstance(entry.get("title"), str)]
        if not entries or len(entries) < len(export):
            return None
        if all(isinstance(entry.get("text"), str) for entry in entries):
            return _tiddlers(entries)
        return _roam(entries) if any(_blocks(entry, "string") for entry in entries) else None
    if not isinstance(export, dict):
        return None
    if "userEditedTimestampUsec" in export and ("textContent" in export or "listContent" in export):
        _write_keep(export, text)
        return ()
    if isinstance(export.get("activeNotes"), list):
        return _simplenote(dicts(export["activeNotes"]))
    items, entries, blocks = (dicts(export.get(key)) for key in ("items", "entries", "blocks"))
    if any(item.get("content_type") == "Note" for item in items):
        return _standard_notes(items)
    if entries and all({"creationDate", "uuid"} <= entry.keys() for entry in entries):
        return _day_one(entries)
    if entries and all({"title", "body", "date"} <= entry.keys() for entry in entries):  # jrnl
        return (
            ExportedNote(
                _string(note, "title"), _string(note, "body"), _string(note, "date"), _strings(note.get("tags"))
            )
            for note in entries
        )
    if blocks and all(isinstance(block.get("page-name"), str) for block in blocks):  # Logseq
        return (ExportedNote(_string(page, "page-name"), "\n".join(_items(page, "content", 0))) for page in blocks)
    return None


def _write_keep(note: dict[str, Any], text: DocumentText) -> None:
    if note.get("isTrashed") is True:
        raise DocumentError(NOT_NOTES, skip_reasons.IN_TRASH.message())
    text.title = _string(note, "title")
    edited = note["userEditedTimestampUsec"]
    with suppress(TypeError, ValueError, OverflowError, OSError):
        text.date = datetime.fromtimestamp(int(edited) // 1_000_000, UTC).isoformat(" ")
    text.tags += (_string(label, "name") for label in dicts(note.get("labels")))
    text.paragraph(_string(note, "textContent"))
    items = dicts(note.get("listContent"))
    text.paragraph(
        "\n".join(f"- [{'x' if item.get('isChecked') is True else ' '}] {_string(item, 'text')}" for item in items)
    )
    if text.is_empty:
        text.heading(1, text.title)
    for page in dicts(note.get("annotations")):
        text.paragraph(
            " ".join(filter(None, (_string(page, "title"), _string(page, "description"), _string(page, "url"))))
        )


def _simplenote(notes: Iterable[dict[str, Any]]) -> Iterator[ExportedNote]:
    for note in notes:
        yield ExportedNote("", _string(note, "content"), _string(note, "creationDate"), _strings(note.get("tags")))


_NO_NOTES = ("authentication", "spreadsheet")
"""Types of notes of Standard Notes that are not text: keys for logging in, and tables."""


def _standard_notes(items: list[dict[str, Any]]) -> Iterator[ExportedNote]:
    if all(isinstance(item.get("content"), str) for item in items if item.get("content_type") == "Note"):
        raise encrypted()
    tags: dict[str, list[str]] = {}
    for item in items:
        content = item.get("content")
        if item.get("content_type") == "Tag" and isinstance(content, dict):
            for reference in dicts(content.get("references")):
                tags.setdefault(_string(reference, "uuid"), []).append(_string(content, "title"))
    for item in items:
        content = item.get("content")
        if item.get("content_type") != "Note" or not isinstance(content, dict) or item.get("deleted") is True:
            continue
        kind = content.get("noteType")
        if content.get("trashed") is True or kind in _NO_NOTES:
            continue
        body, created = _string(content, "text"), _string(item, "created_at")
        body = _super_note(body) if kind == "super" else body
        found = tags.get(_string(item, "uuid"), ())
        yield ExportedNote(_string(content, "title") or " ", body, created, found, is_html=kind == "rich-text")


def _super_note(text: str) -> str:
    """Return the text of a note that is stored as the tree of its editor; unchanged if it isn't one."""
    with suppress(msgspec.DecodeError, RecursionError):
        tree = msgspec.json.decode(text)
        if isinstance(tree, dict) and isinstance(tree.get("root"), dict):
            return "\n\n".join(filter(None, map(_leaves, dicts(tree["root"].get("children")))))
    return text


def _leaves(node: dict[str, Any]) -> str:
    if node.get("type") == "linebreak":
        return "\n"
    between = "\n" if node.get("type") in ("list", "table", "tablerow") else ""
    return _string(node, "text") or between.join(map(_leaves, dicts(node.get("children"))))


_MOMENT = re.compile(r"!\[[^\[\]]*\]\(dayone-moment:[^()]*\)\n*")
_ESCAPED = re.compile(r"\\([!-/:-@\[-`{-~])")


def _day_one(entries: Iterable[dict[str, Any]]) -> Iterator[ExportedNote]:
    for entry in entries:
        body = _ESCAPED.sub(r"\1", _MOMENT.sub("", _string(entry, "text")))
        location = entry.get("location")
        named = [_string(location, key) for key in ("placeName", "localityName", "country")] if location else []
        place = ", ".join(dict.fromkeys(filter(None, named)))
        yield ExportedNote("", f"{body}\n\n{place}", _string(entry, "creationDate"), _strings(entry.get("tags")))


def _roam(pages: Iterable[dict[str, Any]]) -> Iterator[ExportedNote]:
    for page in pages:
        yield ExportedNote(_string(page, "title"), "\n".join(_items(page, "string", 0)))


def _items(block: dict[str, Any], key: str, level: int) -> Iterator[str]:
    """Yield the blocks below a block as items of a list."""
    for child in dicts(block.get("children")):
        yield list_item(level, _string(child, key))
        yield from _items(child, key, level + 1)


def _blocks(page: dict[str, Any], key: str) -> bool:
    return any(key in child for child in dicts(page.get("children")))


def dicts(value: object) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _strings(value: object) -> list[str]:
    return [entry for entry in value if isinstance(entry, str)] if isinstance(value, list) else []


def _string(record: object, key: str) -> str:
    """Return a string of a record; "" if it has none."""
    value = record.get(key) if isinstance(record, dict) else None
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


_STORE = re.compile(r'<script\b[^<>]{0,200}\bclass="tiddlywiki-tiddler-store"[^<>]{0,200}>')
_STORE_END, _PRE_END = "</script>", "</pre>"
_OLD_STORE = re.compile(r'<div id="store-?[aA]rea"')
_OLD_TIDDLER = re.compile(r'<div ((?:[\w.:-]{1,100}="[^"]{0,4000}"\s{0,10}){1,60})>\s{0,10}<pre>')
_FIELD = re.compile(r'([\w.:-]{1,100})="([^"]{0,4000})"')
_WIKI_TEXT = ("", "text/vnd.tiddlywiki", "text/plain", "text/markdown", "text/x-markdown", "text/x-tiddlywiki")
_WIKI_TAG = re.compile(r"\[\[([^\[\]]{1,200})\]\]|(\S{1,200})")
_WIKI_HEADING = re.compile(r"^(!{1,6})[ \t]*(?=\S)", re.MULTILINE)


def read_page(data: bytes, text: DocumentText) -> None:
    """Read an HTML page; of a TiddlyWiki, the notes that it stores, which it shows only while it runs."""
    if b"tiddlywiki" in data[:4096].lower():
        page = decoded(data)
        if notes := [*_tiddlers(_stored(page))]:
            heading = page[: 64 * 1024].partition("<title>")[2].partition("</title>")[0]
            text.title = unescape(heading[:400])
            write_notes(notes, text)
            return
    read_html(data, text)


def _stored(page: str) -> Iterator[dict[str, Any]]:
    """Yield what a page stores, as JSON or in elements; what nothing closes is left out."""
    at = 0
    while (store := _STORE.search(page, at)) and (at := page.find(_STORE_END, store.end())) >= 0:
        with suppress(msgspec.DecodeError, RecursionError):
            yield from dicts(msgspec.json.decode(page[store.end() : at]))
    old = _OLD_STORE.search(page)
    at = old.end() if old else len(page)
    while (tiddler := _OLD_TIDDLER.search(page, at)) and (at := page.find(_PRE_END, tiddler.end())) >= 0:
        fields = {key: unescape(value) for key, value in _FIELD.findall(tiddler[1])}
        yield fields | {"text": unescape(page[tiddler.end() : at])}


def _tiddlers(tiddlers: Iterable[dict[str, Any]]) -> Iterator[ExportedNote]:
    """Yield the notes of a TiddlyWiki, without those that are part of the program or drafts."""
    for tiddler in tiddlers:
        title, body = _string(tiddler, "title"), _string(tiddler, "text")
        if (
            title.startswith("$:/")
            or "draft.of" in tiddler
            or _string(tiddler, "type") not in _WIKI_TEXT
            or not body.strip()
        ):
            continue
        tags = [whole or word for whole, word in _WIKI_TAG.findall(_string(tiddler, "tags"))]
        body = _WIKI_HEADING.sub(lambda marks: "#" * len(marks[1]) + " ", body)
        yield ExportedNote(title, body, _string(tiddler, "created"), tags)
