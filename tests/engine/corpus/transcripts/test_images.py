"""Images in transcripts: their placeholders, and their data, found again through the text of their message."""

import json
import zipfile
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import PathRefused
from engine.corpus.transcripts.json_values import IMAGE_LINE, holding_images, image_held, image_mark
from engine.corpus.transcripts.transcript_reader import conversations, read_image
from tests.helpers.agent_databases import DATABASES

PNG, JPEG = b"\x89PNG" + bytes(2996), b"\xff\xd8\xff" + bytes(1797)
LINK = "https://example.org/hull.png"
ID = "3f6c0a1e-0000-4000-8000-000000000001"


def _text(data: bytes) -> str:
    return b64encode(data).decode()


def _uri(data: bytes) -> str:
    return f"data:image/png;base64,{_text(data)}"


def _of_api(data: bytes) -> Mapping[str, Any]:
    return {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": _text(data)}}


BY_ADDRESS = {"type": "image", "source": {"type": "url", "url": LINK}}


def _chat(address: str) -> Mapping[str, Any]:
    return {"type": "image_url", "image_url": {"url": address}}


def _lines(*values: Any) -> str:
    return "".join(json.dumps(value) + "\n" for value in values)


def _claude(id: str, *blocks: Any) -> Mapping[str, Any]:
    return {"type": "user", "uuid": id, "sessionId": ID, "message": {"role": "user", "content": blocks}}


def _attached(**image: Any) -> Mapping[str, Any]:
    return {"alias": "hull.png", "mime_type": "image/png", **image}


def _rollout(*blocks: Any) -> Mapping[str, Any]:
    return {"type": "response_item", "payload": {"type": "message", "role": "user", "content": blocks}}


_META = {"type": "session_meta", "payload": {"id": ID, "cwd": "/boats", "timestamp": "2026-03-01T10:00:00Z"}}
_CODEX = [{"type": "input_image", "image_url": address} for address in (LINK, _uri(PNG), _uri(JPEG))]
FILES = {
    "claude code": (f"{ID}.jsonl", _lines(_claude("1", BY_ADDRESS, _of_api(PNG)), _claude("2", _of_api(JPEG)))),
    "codex": ("rollout-1.jsonl", _lines(_META, _rollout(*_CODEX))),
    "cline": (
        "tasks/17/ui_messages.json",
        json.dumps([{"ts": 1, "type": "say", "say": "text", "text": "See", "images": [LINK, _uri(PNG), _uri(JPEG)]}]),
    ),
    "amp": (
        "T-1.json",
        json.dumps({"id": "T-1", "messages": [{"role": "user", "content": [BY_ADDRESS, _of_api(PNG), _of_api(JPEG)]}]}),
    ),
    "continue": (
        f"sessions/{ID}.json",
        json.dumps(
            {
                "sessionId": ID,
                "title": "A hull",
                "workspaceDirectory": "/boats",
                "history": [{"message": {"role": "user", "content": list(map(_chat, (LINK, _uri(PNG), _uri(JPEG))))}}],
            }
        ),
    ),
    "vibe": (
        "v/messages.jsonl",
        _lines(
            {"role": "user", "content": "See", "message_id": "1", "images": [_attached(path="hull.png")]},
            {"role": "user", "content": "", "message_id": "2", "images": [_attached(data=_text(PNG))]},
            {
                "role": "user",
                "content": "",
                "message_id": "3",
                "images": [_attached(source={"kind": "inline", "data": _text(JPEG)})],
            },
        ),
    ),
    "gemini": (
        "session-1.json",
        json.dumps(
            {
                "sessionId": "g",
                "projectHash": "0" * 64,
                "messages": [
                    {
                        "id": "1",
                        "type": "user",
                        "content": [
                            {"text": "See"},
                            {"fileData": {"mimeType": "image/png", "fileUri": LINK}},
                            {"inlineData": {"mimeType": "image/png", "data": _text(PNG)}},
                            {"inlineData": {"mimeType": "image/jpeg", "data": _text(JPEG)}},
                        ],
                    }
                ],
            }
        ),
    ),
}
ITEMS = {
    "goose: 1.10": lambda data: {"type": "image", "data": _text(data), "mimeType": "image/png"},
    "crush: first": lambda data: {"type": "binary", "data": {"Path": "", "MIMEType": "image/png", "Data": _text(data)}},
}
"""By database: a function that makes an item of a message with an image."""


def _images(path: Path) -> list[bytes | None]:
    """Return the data of all images of the only session, in order."""
    (session,) = conversations(path)
    found = []
    for index, message in enumerate(session.everything):
        for number in range(message.text.count("[image")):
            image = read_image(path, session.key, index, number)
            found.append(image and image[0])
    return found


@pytest.mark.parametrize("name", FILES)
def test_image_after_one_by_address_is_found(tmp_path: Path, name: str) -> None:
    place, text = FILES[name]
    path = tmp_path / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    assert _images(path) == [None, PNG, JPEG]


@pytest.mark.parametrize("name", ITEMS)
def test_image_in_a_database_is_found(tmp_path: Path, name: str) -> None:
    database = next(one for one in DATABASES if one.name == name)
    rows = [(table, dict(row)) for table, row in database.rows]
    row, key = next((row, key) for _, row in rows for key, cell in row.items() if str(cell).startswith("[{"))
    row[key] = json.dumps([*json.loads(row[key]), ITEMS[name](PNG), ITEMS[name](JPEG)])
    assert _images(database.write(tmp_path, rows)) == [PNG, JPEG]


@pytest.mark.parametrize("name", ["ollama: first", "llm: responses", "llm: 0.32"])
def test_image_in_a_column_is_found(tmp_path: Path, name: str) -> None:
    database = next(one for one in DATABASES if one.name == name)
    if name.startswith("ollama"):
        added = [("attachments", {"message_id": 1, "filename": "hull.png", "data": PNG})]
    else:
        added = [("attachments", {"id": "a", "type": "image/png", "content": PNG})]
        older = ("prompt_attachments", {"response_id": "r1", "attachment_id": "a", '"order"': 0})
        newer = ("part_attachments", {"part_id": 99, "attachment_id": "a", '"order"': 0})
        part = ("parts", {"id": 99, "message_hash": "b2:2", "position": 9, "type": "attachment"})
        added += [older] if name == "llm: responses" else [newer, part]
    path = database.write(tmp_path, [*added, *database.rows])
    assert _images(path) == [PNG]


def _exported(*pointers: str) -> bytes:
    """Return an export of ChatGPT with one conversation of one image for each of these addresses."""
    images = [{"content_type": "image_asset_pointer", "asset_pointer": pointer} for pointer in pointers]
    messages = [
        {"id": "m", "author": {"role": "user"}, "content": {"content_type": "multimodal_text", "parts": [image]}}
        for image in images
    ]
    return json.dumps(
        [
            {"id": f"c{number}", "create_time": 1.0, "current_node": "n", "mapping": {"n": {"message": message}}}
            for number, message in enumerate(messages)
        ]
    ).encode()


_ASSETS = ("file-service://file-Ab3", "sediment://file_0a2", "sediment://file_missing")
_ASSET_FILES = {"file-Ab34.png": b"", "file-Ab3-hull.png": PNG, "user-1/file_0a2-sanitized.dat": JPEG}


def _asset(path: Path, number: int) -> bytes | None:
    image = read_image(path, f"c{number}", 0, 0)
    return image and image[0]


@pytest.mark.parametrize("document", ["conversations.json", "conversations/a.json"])
def test_image_in_an_unpacked_export_is_found(tmp_path: Path, document: str) -> None:
    for name, data in {document: _exported(*_ASSETS), **_ASSET_FILES}.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    assert [_asset(tmp_path / document, number) for number in range(3)] == [PNG, JPEG, None]


@pytest.mark.parametrize("size", [64 * 1024**2, 64 * 1024**2 + 1])
def test_image_of_an_export_has_at_most_64_mb(tmp_path: Path, size: int) -> None:
    (tmp_path / "conversations.json").write_bytes(_exported(_ASSETS[0]))
    with (tmp_path / "file-Ab3.png").open("wb") as file:
        file.write(PNG)
        file.truncate(size)
    assert (_asset(tmp_path / "conversations.json", 0) is None) == (size > 64 * 1024**2)


def test_link_among_the_images_of_an_export_is_refused(tmp_path: Path) -> None:
    (tmp_path / "hull.png").write_bytes(PNG)
    (tmp_path / "file-link.png").symlink_to(tmp_path / "hull.png")
    (tmp_path / "conversations.json").write_bytes(_exported("file-service://file-link"))
    with pytest.raises(PathRefused):
        _asset(tmp_path / "conversations.json", 0)


def test_only_the_opened_image_of_a_zip_file_is_read(tmp_path: Path) -> None:
    path = tmp_path / "export.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in {"conversations.json": _exported(*_ASSETS), **_ASSET_FILES}.items():
            archive.writestr(name, data)
    assert [_asset(path, number) for number in range(3)] == [PNG, JPEG, None]
    path.write_bytes(path.read_bytes().replace(PNG, PNG[:-1] + b"x"))  # now its checksum is wrong
    assert _asset(path, 1) == JPEG
    with pytest.raises(ValueError, match="export"):
        _asset(path, 0)


@pytest.mark.parametrize("pointer", ["file-service://../secret", "/etc/passwd", "conversations", "", "sediment://*"])
def test_address_that_is_no_file_of_an_export(tmp_path: Path, pointer: str) -> None:
    path = tmp_path / "conversations.json"
    path.write_bytes(_exported(pointer))
    assert _asset(path, 0) is None


_MARK, _OTHER = "[image: PNG, 3 KB]", "[image: PNG, 1 KB]"


def _amp(folder: Path, *blocks: Any, role: str = "user") -> Path:
    path = folder / "T-1.json"
    texts = [{"type": "text", "text": block} if isinstance(block, str) else block for block in blocks]
    path.write_text(json.dumps({"id": "T-1", "messages": [{"role": role, "content": texts}]}))
    return path


@pytest.mark.parametrize("role", ["user", "assistant"])
@pytest.mark.parametrize(
    ("blocks", "texts"),
    [
        (["Leaks?", _of_api(PNG)], [f"Leaks?\n{_MARK}"]),
        ([_of_api(PNG), "Leaks?"], [f"Leaks?\n{_MARK}"]),
        ([_of_api(PNG), _of_api(JPEG), "Leaks?"], [f"Leaks?\n{_MARK}\n{_OTHER}"]),
        (["Leaks?", _of_api(PNG), "Or not?", _of_api(JPEG)], [f"Leaks?\n{_MARK}", f"Or not?\n{_OTHER}"]),
        ([_of_api(PNG), {"type": "document", "title": "app/[id].md"}], [f"{_MARK}\n[file: app/[id].md]"]),
        (["See [image: x]", "Leaks?"], ["See [image: x]", "Leaks?"]),
        (["[image: x]\nSee", "Leaks?"], ["[image: x]\nSee", "Leaks?"]),
        (["[file: ]" * 60 + "x", "Leaks?"], ["[file: ]" * 60 + "x", "Leaks?"]),
    ],
)
def test_attachment_and_its_text_are_one_message(
    tmp_path: Path, blocks: list[Any], texts: list[str], role: str
) -> None:
    (session,) = conversations(_amp(tmp_path, *blocks, role=role))
    assert [(message.role, message.text) for message in session.messages] == [(role, text) for text in texts]


def test_attachment_after_another_kind_is_a_message(tmp_path: Path) -> None:
    blocks = {"type": "thinking", "thinking": "Hm."}, _of_api(PNG), {"type": "tool_use", "id": "t", "name": "look"}
    (session,) = conversations(_amp(tmp_path, *blocks, "A seam.", role="assistant"))
    assert [message.text for message in session.messages] == ["Hm.", _MARK, "look", "A seam."]


def test_images_before_a_text_open_and_title_is_the_text(tmp_path: Path) -> None:
    path = _amp(tmp_path, _of_api(PNG), _of_api(JPEG), "Why does it leak?")
    (session,) = conversations(path)
    assert _images(path) == [PNG, JPEG]
    assert session.metadata.opening == "Why does it leak?"


def _data_of(value: Any) -> tuple[bytes, str] | None:
    with holding_images() as held:
        return image_held(f"See:\n{image_mark(value)}", 0, held)


def test_mark_of_an_image_has_its_name_or_type_and_size() -> None:
    jpeg = {"image_url": {"url": f"data:image/jpeg;base64,{_text(JPEG)}"}}
    assert image_mark(_of_api(PNG)) == "[image: PNG, 3 KB]"
    assert image_mark(jpeg) == "[image: JPEG, 1 KB]"
    assert image_mark(jpeg, "hull.jpg") == "[image: hull.jpg]"
    assert image_mark(BY_ADDRESS) == "[image]"


@pytest.mark.parametrize("name", ["hull[2].png", "]", "hull\n.png", "[image]"])
def test_image_after_one_with_an_odd_name_is_found(name: str) -> None:
    values = (_of_api(JPEG), name), (_of_api(PNG), "bow.png")
    shown = "\n".join(image_mark(value, name) for value, name in values)
    assert IMAGE_LINE.findall(shown)[1:] == ["bow.png"]
    with holding_images() as held:
        text = "\n".join(image_mark(value, name) for value, name in values)
        assert image_held(text, 1, held) == (PNG, "png")


def test_image_of_several_steps_is_decoded_whole() -> None:
    data = PNG + bytes(range(256)) * 2000
    assert _data_of({"media_type": "image/png", "data": _text(data)}) == (data, "png")


@pytest.mark.parametrize("named", ["png", "jpeg", "PNG", "jpg", "heic"])
def test_type_of_an_image_is_that_of_its_data(named: str) -> None:
    assert _data_of({"mime_type": f"image/{named}", "data": _text(JPEG)}) == (JPEG, "jpeg")


@pytest.mark.parametrize(
    "data", ["", "*", _text(b"<svg onload='x'/>"), _text(b"\x7fELF"), "\u00e4" * 8, "\ud800", 3, None, ["iVBO"]]
)
def test_data_that_is_no_image_is_not_returned(data: object) -> None:
    assert _data_of({"media_type": "image/png", "data": data}) is None
    assert _data_of([f"data:image/png;base64,{data}"]) is None


def test_image_without_data_or_type_has_no_size() -> None:
    for value in ("data:image/png;base64,", f"data:image/{'a' * 5000};base64,AAAA", "data:image/svg+xml;base64,AAAA"):
        assert image_mark({"url": value}) == "[image]"


@given(
    st.recursive(
        st.none() | st.text() | st.sampled_from(["image/png", _uri(PNG)]),
        lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from("data type"), inner, max_size=4),
    )
)
def test_image_in_any_json_never_raises(value: Any) -> None:
    image_mark(value)
    _data_of(value)
