"""Extracts notes from exports of other programs, in JSON, XML and archives.

Written from exports of Google Keep, Simplenote, Standard Notes, Day One, Roam, Logseq, jrnl, TiddlyWiki and Bear, from
Joplin's format RAW (joplinapp.org) and TextBundle (textbundle.org), in 2024, from Evernote's `evernote-export4.dtd` and
`enml2.dtd` (xml.evernote.com/pub) and from OPML 2.0 (opml.org).
"""

import re
import tarfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from html import unescape
from io import BytesIO
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.corpus import markdown_line_types
from engine.corpus.documents import NOT_NOTES, DocumentError
from engine.corpus.documents.exported_note_writer import ExportedNote, write_head, write_notes
from engine.corpus.documents.text_collector import DocumentText, damaged, encrypted, list_item
from engine.corpus.documents.web_pages import HtmlText, decoded, read_html
from engine.corpus.documents.xml_archive import Archive, XmlHandler
from engine.corpus.note_metadata import split_joplin

# --- JSON -------------------------------------------------------------------------------------------------------------


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
        return _simplenote(_dicts(export["activeNotes"]))
    items, entries, blocks = (_dicts(export.get(key)) for key in ("items", "entries", "blocks"))
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
    text.tags += (_string(label, "name") for label in _dicts(note.get("labels")))
    text.paragraph(_string(note, "textContent"))
    items = _dicts(note.get("listContent"))
    text.paragraph(
        "\n".join(f"- [{'x' if item.get('isChecked') is True else ' '}] {_string(item, 'text')}" for item in items)
    )
    if text.is_empty:
        text.heading(1, text.title)
    for page in _dicts(note.get("annotations")):
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
            for reference in _dicts(content.get("references")):
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
            return "\n\n".join(filter(None, map(_leaves, _dicts(tree["root"].get("children")))))
    return text


def _leaves(node: dict[str, Any]) -> str:
    if node.get("type") == "linebreak":
        return "\n"
    between = "\n" if node.get("type") in ("list", "table", "tablerow") else ""
    return _string(node, "text") or between.join(map(_leaves, _dicts(node.get("children"))))


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
    for child in _dicts(block.get("children")):
        yield list_item(level, _string(child, key))
        yield from _items(child, key, level + 1)


def _blocks(page: dict[str, Any], key: str) -> bool:
    return any(key in child for child in _dicts(page.get("children")))


def _dicts(value: object) -> list[dict[str, Any]]:
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
    """Yield the notes of a page, stored as JSON or in elements; unclosed elements are left out."""
    at = 0
    while (store := _STORE.search(page, at)) and (at := page.find(_STORE_END, store.end())) >= 0:
        with suppress(msgspec.DecodeError, RecursionError):
            yield from _dicts(msgspec.json.decode(page[store.end() : at]))
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


# --- XML: Evernote and outlines --------------------------------------------------------------------------------------

_NOTE_FIELDS = ("title", "content", "created", "tag")
_TO_DO = re.compile(r"<en-todo(\s[^<>]*)?/?>(?:\s*</en-todo>)?")
_ENCRYPTED, _ENCRYPTED_END = re.compile(r"<en-crypt[\s>]"), "</en-crypt>"


def read_enex(data: bytes, text: DocumentText) -> None:
    """Read the notes of an export, each below its title, its day and its tags; attached files are left out."""
    _Notebook(text).parse(data)


class _Notebook(XmlHandler):
    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._open: list[str] = []
        self._note: dict[str, list[str]] = {}

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._open.append(tag)
        if tag == "note":
            self._note = {field: [] for field in _NOTE_FIELDS}
        elif self._field == "tag":
            self._note["tag"].append("\n")

    def end(self, tag: str) -> None:
        self._open.pop()
        if tag == "note":
            self._write({field: "".join(parts) for field, parts in self._note.items()})

    def data(self, text: str) -> None:
        if field := self._field:
            self._note[field].append(text)

    @property
    def _field(self) -> str:
        """The open field of a note; "" within others, which may have their own titles."""
        return self._open[-1] if self._open[-2:-1] == ["note"] and self._open[-1] in _NOTE_FIELDS else ""

    def _write(self, note: dict[str, str]) -> None:
        write_head(note["title"], note["created"], note["tag"].split("\n"), self._text)
        page = _TO_DO.sub(_box, _without_encrypted(note["content"]))
        HtmlText(self._text).read(page)


def _without_encrypted(page: str) -> str:
    pieces, end = [], 0
    while (match := _ENCRYPTED.search(page, end)) is not None:
        close = page.find(_ENCRYPTED_END, match.end())
        if close < 0:  # one regex for both tags would look for this end after each start
            break
        pieces.append(page[end : match.start()])
        end = close + len(_ENCRYPTED_END)
    return "".join((*pieces, page[end:]))


def _box(match: re.Match[str]) -> str:
    """Return the check box of a task as text."""
    return "[x] " if '"true"' in (match[1] or "") else "[ ] "


_INLINE_TAG = re.compile(r"</?(?:a|b|code|em|i|mark|s|span|strike|strong|time|u)(?:\s[^<>]{0,500})?>", re.IGNORECASE)
"""Matches a tag in the text of an outline, which Workflowy and others write as HTML."""
_ADDRESSES = ("url", "xmlUrl", "htmlUrl")


def read_opml(data: bytes, text: DocumentText) -> None:
    """Read an outline: entries of the first level with others below them are headings, the others items of a list."""
    _Outlines(text).parse(data)


class _Outlines(XmlHandler):
    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._head = ""
        self._words: list[str] = []
        """Pieces of the title or of the author's name while it is open."""
        self._level = 0
        self._lines: list[str] = []
        self._pending: dict[str, str] | None = None
        """An entry of the first level, until it is known whether others are below it."""
        self._below_heading = False

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        self._head = tag
        self._words = []
        if tag != "outline":
            return
        if self._pending is not None:
            self._flush()
            words, note = _entry(self._pending)
            self._text.heading(1, words)
            self._text.paragraph(note)
            self._pending, self._below_heading = None, True
        if self._level:
            self._add(attributes, self._level - self._below_heading)
        else:
            self._pending, self._below_heading = attributes, False
        self._level += 1

    def end(self, tag: str) -> None:
        self._head = ""
        if tag == "outline":
            self._level -= 1
            if self._pending is not None:
                self._add(self._pending, 0)
                self._pending = None
        elif tag == "title":
            self._text.title = "".join(self._words)
        elif tag == "ownerName":
            self._text.author = "".join(self._words)
        elif tag == "body":
            self._flush()

    def data(self, text: str) -> None:
        if self._head in ("title", "ownerName"):
            self._words.append(text)

    def _add(self, attributes: dict[str, str], level: int) -> None:
        words, note = _entry(attributes)
        self._lines += [list_item(level, words)] if words else []
        self._lines += [list_item(level, note, continued=True)] if note else []

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        self._text.paragraph("\n".join(lines))


def _entry(attributes: dict[str, str]) -> tuple[str, str]:
    """Return the text of an entry of an outline with its addresses, and the note on it."""
    words = attributes.get("text") or attributes.get("title") or ""
    words, note = (_plain(part) for part in (words, attributes.get("_note", "")))
    addresses = dict.fromkeys(f"<{attributes[key]}>" for key in _ADDRESSES if attributes.get(key))
    return " ".join((words, *addresses)).strip(), note


def _plain(text: str) -> str:
    return unescape(_INLINE_TAG.sub("", text)).strip() if "<" in text or "&" in text else text.strip()


# --- archives: Joplin, TextPacks and Bear ----------------------------------------------------------------------------

_MAX_MEMBERS = 200_000
_LARGEST_MEMBER = 10_000_000
_BUNDLE = re.compile(r"(?:.*/)?([^/]+)\.textbundle/text\.[^/]+", re.IGNORECASE)
_BUNDLE_TEXT = re.compile(r"(?:.*/)?text\.(?:md|markdown|txt)", re.IGNORECASE)


def read_jex(data: bytes, text: DocumentText) -> None:
    """Read an export of Joplin, a tar archive of notes, tags and the relations between them."""
    notes: list[tuple[str, dict[str, str]]] = []
    names: dict[str, str] = {}
    tagged: dict[str, list[str]] = {}
    try:
        for entry in _members(data):
            body, fields = split_joplin(entry)
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


def _members(data: bytes) -> Iterator[str]:
    with tarfile.open(fileobj=BytesIO(data), mode="r:") as archive:
        for number, member in enumerate(archive):
            if number >= _MAX_MEMBERS:
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
        return isinstance(about, dict) and any(part.get("trashed") for part in _dicts([*about.values()]))
    return False
