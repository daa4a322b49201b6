"""Exports of other programs become notes with title, day, tags and text; other JSON is refused."""

import io
import json
import tarfile
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus import documents
from engine.corpus.documents import NOT_NOTES, DocumentError
from engine.corpus.documents.note_exports import read_bundles, read_jex, read_json, read_opml, read_page
from engine.corpus.documents.text_collector import DocumentText, TextFull
from engine.corpus.note_metadata import read_metadata, tags_of
from tests.helpers.document_files import archive


def text_in(read: Callable[[bytes, DocumentText], None], data: bytes) -> str:
    text = DocumentText()
    read(data, text)
    return text.finish()


def exported(value: Any) -> str:
    return text_in(read_json, json.dumps(value).encode())


def rule_of(read: Callable[[bytes, DocumentText], None], data: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        text_in(read, data)
    return caught.value.rule


KEEP = {
    "title": "Shopping",
    "textContent": "# for the pond",
    "listContent": [{"text": "pump", "isChecked": True}, {"text": "hose", "isChecked": False}],
    "labels": [{"name": "garden"}, {"name": "to buy"}],
    "annotations": [{"title": "Shop", "url": "https://shop.example"}],
    "isTrashed": False,
    "userEditedTimestampUsec": 1715502600000000,
    "createdTimestampUsec": 1715500000000000,
}


def test_note_of_keep_has_title_date_labels_and_list() -> None:
    text = exported(KEEP)
    assert text == (
        "---\ntitle: Shopping\ndate: 2024-05-12 08:30:00+00:00\ntag: garden\ntag: to buy\n---\n\n # for the pond\n\n"
        "- [x] pump\n- [ ] hose\n\nShop https://shop.example\n"
    )
    about = read_metadata(text, "Keep/Shopping.json")
    assert (about.title, about.dates) == ("Shopping", (1715502600.0,))
    assert tags_of(text, about) == ("garden", "to buy")


def test_untitled_note_of_keep_is_named_by_its_file() -> None:
    assert read_metadata(exported(KEEP | {"title": ""}), "Keep/2024-05-12.json").title == "2024-05-12"


def test_note_of_keep_may_be_only_a_title_or_a_picture() -> None:
    note = {"title": "Call Ann", "textContent": "", "userEditedTimestampUsec": 0}
    assert exported(note) == "---\ntitle: Call Ann\ndate: 1970-01-01 00:00:00+00:00\n---\n\n# Call Ann\n"
    assert rule_of(read_json, json.dumps(note | {"title": ""}).encode()) == NOT_NOTES


def test_notes_of_simplenote_are_named_by_their_first_line() -> None:
    notes = [
        {"content": "Pond plan\r\n\r\n## Fish\r\n```\n# code\n```\nfeed", "creationDate": "2024-05-12T08:00:00.000Z"},
        {"content": "x" * 200, "tags": ["long one"]},
    ]
    text = exported({"activeNotes": notes, "trashedNotes": [{"content": "gone"}]})
    assert text == (
        "---\nnotes: 2\ntag: long one\n---\n\n# Pond plan\n\n2024-05-12\n\n## Fish\n\n```\n # code\n```\nfeed\n\n"
        f"# …\n\nlong one\n\n{'x' * 200}\n"
    ).replace("## Fish", "### Fish")
    structure = documents.read(text, "notes.json")
    assert (structure.title, structure.separate_pages, structure.tags) == ("", True, ("long one",))


def test_line_of_tags_is_no_title() -> None:
    notes = [{"content": "#garden #pond\n\nPond plan\nFish"}, {"content": "#garden"}]
    text = exported({"activeNotes": notes, "trashedNotes": []})
    assert "# Pond plan\n\n#garden #pond\n\nFish\n" in text
    assert set(documents.read(text, "notes.json").tags) == {"garden", "pond"}


def test_notes_of_standard_notes_have_tags_and_no_login_keys() -> None:
    tree = {"root": {"children": [{"type": "paragraph", "children": [{"text": "deep "}, {"text": "water"}]}]}}

    def item(uuid: str, **content: Any) -> dict[str, Any]:
        return {"uuid": uuid, "content_type": "Note", "created_at": "2024-05-12T08:00:00Z", "content": content}

    items = [
        item("1", title="Pond", text="Fish #carp"),
        item("2", title="Tree", text=json.dumps(tree), noteType="super"),
        item("3", title="Page", text="<p>one</p><p>two</p>", noteType="rich-text"),
        item("4", title="Logins", text='[{"secret": "JBSW"}]', noteType="authentication"),
        item("5", title="Gone", text="gone", trashed=True),
        {"content_type": "Tag", "content": {"title": "garden", "references": [{"uuid": "1"}]}},
    ]
    assert exported({"version": "004", "items": items}) == (
        "---\nnotes: 3\ntag: garden\ntag: carp\n---\n\n# Pond\n\n2024-05-12, garden\n\nFish #carp\n\n"
        "# Tree\n\n2024-05-12\n\ndeep water\n\n# Page\n\n2024-05-12\n\none\n\ntwo\n"
    )
    locked = json.dumps({"items": [{"content_type": "Note", "content": "004:abc"}]}).encode()
    assert rule_of(read_json, locked) == "encrypted"


@pytest.mark.parametrize(
    ("export", "expected"),
    [
        (
            {
                "metadata": {"version": "1.0"},
                "entries": [
                    {
                        "uuid": "A",
                        "creationDate": "2024-05-12T08:00:00Z",
                        "text": "# A walk\n\n![](dayone-moment://12)\nIt cost 5\\.20 \\#pond",
                        "tags": ["walk"],
                        "location": {"placeName": "Pier", "localityName": "Kiel"},
                    }
                ],
            },
            "---\nnotes: 1\ntag: walk\ntag: pond\n---\n\n# A walk\n\n2024-05-12, walk\n\nIt cost 5.20 #pond\n\n"
            "Pier, Kiel\n",
        ),
        (
            {"tags": {}, "entries": [{"title": "Rain", "body": "All day.", "date": "2024-05-12", "tags": ["@home"]}]},
            "---\nnotes: 1\ntag: @home\n---\n\n# Rain\n\n2024-05-12, @home\n\nAll day.\n",
        ),
        (
            [{"title": "Pond", "children": [{"string": "a", "children": [{"string": "b"}]}]}, {"title": "Empty"}],
            "---\nnotes: 2\n---\n\n# Pond\n\n- a\n  - b\n\n# Empty\n",
        ),
        (
            {"version": 1, "blocks": [{"page-name": "pond", "children": [{"content": "a", "children": []}]}]},
            "---\nnotes: 1\n---\n\n# pond\n\n- a\n",
        ),
        (
            [
                {"title": "Pond", "text": "! Fish\nfeed", "tags": "[[a b]] c", "created": "20240512080000000"},
                {"title": "$:/core", "text": "x"},
            ],
            "---\nnotes: 1\ntag: a b\ntag: c\n---\n\n# Pond\n\n2024-05-12, a b, c\n\n## Fish\n\nfeed\n",
        ),
    ],
)
def test_other_exports_in_json_are_known_by_content(export: Any, expected: str) -> None:
    assert exported(export) == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"not JSON",
        b"[" * 100_000,
        b'{"name": "pkg", "version": "1.0.0", "dependencies": {}}',
        b'[{"title": "x"}, {"title": "y"}]',
        b'{"items": [{"id": 1}], "entries": [], "blocks": []}',
        b'{"title": "Pond", "textContent": "no note of Keep"}',
        b"\xff\xfe[\0]\0",
        json.dumps(KEEP | {"isTrashed": True}).encode(),
    ],
)
def test_other_json_is_not_notes(data: bytes) -> None:
    assert rule_of(read_json, data) == NOT_NOTES


_ANY = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(sorted(KEEP)), inner, max_size=4),
    max_leaves=8,
)
_KEYS = (
    *KEEP,
    *("activeNotes", "content", "items", "content_type", "entries", "creationDate", "uuid", "text", "body", "date"),
    *("blocks", "page-name", "children", "string", "tags", "location", "noteType"),
)
_RECORD = st.dictionaries(st.sampled_from(_KEYS), _ANY | st.lists(st.dictionaries(st.sampled_from(_KEYS), _ANY)))


@given(_RECORD | st.lists(_RECORD))
def test_any_json_ends_with_text_or_a_reason(export: Any) -> None:
    with suppress(DocumentError):
        assert exported(export).strip()


def test_outline_has_headings_items_and_notes() -> None:
    data = (
        b'<?xml version="1.0"?><opml version="2.0"><head><title>Plans</title><ownerName>Ann</ownerName></head><body>'
        b'<outline text="Garden" _note="this year"><outline text="&lt;b&gt;Pond&lt;/b&gt; &amp;amp; fish">'
        b'<outline text="pump" _note="loud"/></outline></outline><outline text="Loose"/>'
        b'<outline text="Feed" xmlUrl="https://f.example/rss"/></body></opml>'
    )
    assert text_in(read_opml, data) == (
        "---\ntitle: Plans\nauthor: Ann\n---\n\n# Garden\n\nthis year\n\n- Pond & fish\n  - pump\n    loud\n"
        "- Loose\n- Feed <https://f.example/rss>\n"
    )
    assert rule_of(read_opml, b"<opml><body>") == "damaged"


def test_long_title_of_an_outline_takes_linear_time() -> None:
    start = time.process_time()
    title = "<title>" + "a\n" * 1_000_000 + "</title>"
    text_in(read_opml, f'<opml><head>{title}</head><body><outline text="x"/></body></opml>'.encode())
    assert time.process_time() - start < 20  # quadratic: a minute


def jex(*entries: str) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as archive_file:
        for number, entry in enumerate(entries):
            info = tarfile.TarInfo(f"{number:032x}.md")
            info.size = len(entry.encode())
            archive_file.addfile(info, io.BytesIO(entry.encode()))
    return packed.getvalue()


def joplin(number: int, kind: int, text: str = "", **fields: str) -> str:
    known = {"id": f"{number:032x}", **fields, "type_": str(kind)}
    return f"{text}\n\n" * bool(text) + "\n".join(f"{key}: {value}" for key, value in known.items())


def test_export_of_joplin_has_notes_with_tags() -> None:
    data = jex(
        joplin(1, 1, "Pond\n\n## Fish\n\nid: no field\n\nfeed", created_time="2024-05-12T08:00:00.000Z"),
        joplin(2, 5, "garden"),
        joplin(3, 6, note_id=f"{1:032x}", tag_id=f"{2:032x}"),
        joplin(4, 2, "A folder"),
        joplin(5, 1, "Page\n\n<p>one</p><p>two</p>", markup_language="2"),
        joplin(6, 1, "Gone\n\ngone", deleted_time="1715502600000"),
    )
    assert text_in(read_jex, data) == (
        "---\nnotes: 2\ntag: garden\n---\n\n# Pond\n\n2024-05-12, garden\n\n### Fish\n\nid: no field\n\nfeed\n\n"
        "# Page\n\none\n\ntwo\n"
    )
    assert rule_of(read_jex, b"no archive" * 100) == "damaged"
    assert rule_of(read_jex, jex(joplin(1, 1, encryption_applied="1"))) == "encrypted"


def test_backup_of_bear_has_notes_without_those_in_the_trash() -> None:
    info = json.dumps({"version": 2, "net.shinyfrog.bear": {"trashed": 1}})
    data = archive(
        {
            "b/Pond.textbundle/text.md": "# Pond & fish\n#garden feed",
            "b/Untitled.textbundle/text.txt": "just text\nmore",
            "b/Gone.textbundle/text.md": "gone",
            "b/Gone.textbundle/info.json": info,
            "b/Odd.textbundle/text.md": "# Odd",
            "b/Odd.textbundle/info.json": b'{"x": "\xff"}',
        }
    )
    assert text_in(read_bundles, data) == (
        "---\nnotes: 3\ntag: garden\n---\n\n# Pond & fish\n\n#garden feed\n\n# Untitled\n\njust text\nmore\n\n# Odd\n"
    )


STORE = '<script class="tiddlywiki-tiddler-store" type="application/json">{}</script>'


def test_page_of_tiddlywiki_has_its_notes() -> None:
    notes = json.dumps([{"title": "Pond", "text": "feed <b>", "tags": "garden"}]).replace("<", "\\u003C")
    head = '<!doctype html><meta name="application-name" content="TiddlyWiki"><title>My &amp; wiki</title>'
    expected = "---\ntitle: My & wiki\nnotes: 1\ntag: garden\n---\n\n# Pond\n\ngarden\n\nfeed <b>\n"
    assert text_in(read_page, (head + STORE.format(notes)).encode()) == expected
    note = '<div title="Pond" tags="garden">\n<pre>feed &lt;b&gt;</pre></div>'
    old = f'<div id="storeArea" style="display:none;">{note}</div>'
    assert text_in(read_page, (head + old).encode()) == expected
    assert text_in(read_page, (head + "<p>Only a page</p>").encode()).endswith("Only a page\n")


def test_unclosed_store_of_tiddlywiki_takes_linear_time() -> None:
    start = time.process_time()
    page = "<title>tiddlywiki</title>" + '<div id="storeArea">' + '<div title="x"><pre>' * 20_000 + "<p>y</p>"
    with suppress(TextFull):
        text_in(read_page, page.encode())
    assert time.process_time() - start < 20
