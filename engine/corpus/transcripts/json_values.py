"""Helpers for all formats: convert untyped JSON values to times, texts, and inputs of tools."""

import base64
import contextlib
import json
import math
import re
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from datetime import UTC, datetime
from hashlib import blake2b
from itertools import islice
from typing import Any

import msgspec

from engine.base.bounded_json import check_depth

# Programs write times in seconds or in milliseconds: as milliseconds, this is March 1973.
_MIN_MILLISECONDS = 1e11
_DEEPEST_INDENTED = 20
"""Maximum number of levels of JSON that are indented; deeper values would be mostly indentation."""
_YEAR_10000 = 253_402_300_800.0
_LONGEST_KIND = 40
_DATA_URI = "data:image/"
_MEDIA_TYPES = ("media_type", "mimeType", "mime_type", "MIMEType")
_SIGNATURES = {"png": b"\x89PNG", "jpeg": b"\xff\xd8\xff", "gif": b"GIF8", "webp": b"RIFF"}
"""First bytes of an image, by its type; transcripts often name another type."""
_STEP = 256 * 1024
HeldImages = dict[str, str | Callable[[], bytes]]
"""Data of images, in base64 or as a function that reads it, by the name in their placeholders."""
_HELD_IMAGES: ContextVar[HeldImages | None] = ContextVar("held images", default=None)
IMAGE_LINE = re.compile(r"^\[image(?:: ([^\]\n]*))?\]$", re.MULTILINE)
"""Matches the line that stands for an image in the text of a message."""
_NOT_IN_NAMES = str.maketrans("]\n", ") ")
"""Replaces characters that end the name in such a line."""
_DRIVE = re.compile(r"/[A-Za-z]:(?:/|\Z)")


def member(value: object, *keys: object) -> Any:
    """Return the member of a JSON object at these keys, each within the one before; None if there is none."""
    for key in keys:
        if not isinstance(value, dict):
            return None
        value = value.get(key)
    return value


# Parsers call the next functions several times for each message, so that these don't call `member`.


def mapping(value: object, *keys: object) -> Mapping[str, Any]:
    """Return the value, or its `member` at these keys, if it is a JSON object, else an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def items(value: object, *keys: object) -> list[Any]:
    """Return the value, or its `member` at these keys, if it is a JSON array, else an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, list) else []


def objects(value: object, *keys: object) -> list[Mapping[str, Any]]:
    """Return the entries of a JSON array, each as an object."""
    return [mapping(entry) for entry in items(value, *keys)]


def string(value: object, *keys: object) -> str:
    """Return the value, or its `member` at these keys, if it is a string, else an empty one."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, str) else ""


def seconds(*values: object) -> float | None:
    """Return the first of these values that is a time, in seconds since the epoch; None if none is.

    A time is a number, or a date in ISO 8601.
    """
    for value in values:
        time = _seconds(value)
        if time is not None and 0 < time < _YEAR_10000:
            return time
    return None


def _seconds(value: object) -> float | None:
    if isinstance(value, int | float) and not isinstance(value, bool):
        if not -1e300 < value < 1e300 or math.isnan(value):
            return None
        return float(value) if value < _MIN_MILLISECONDS else value / 1000
    if isinstance(value, str) and len(value) <= 64:
        try:
            date = datetime.fromisoformat(value.strip())
            return (date if date.tzinfo else date.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    return None


def local_time(value: object) -> float | None:
    """Return a date in ISO 8601 as seconds since the epoch, local without a zone; None if it isn't a date."""
    try:
        return datetime.fromisoformat(value).timestamp() if isinstance(value, str) and len(value) <= 64 else None
    except (ValueError, OverflowError, OSError):
        return None


def tool_input(value: object, *keys: object) -> str:
    """Return the input of a tool, given as a value or its `member`, as text: its only string, else indented JSON."""
    value = member(value, *keys) if keys else value
    if isinstance(value, str):
        return value
    if isinstance(value, dict) and len(value) == 1 and isinstance(only := next(iter(value.values())), str):
        return only
    if value is None or value == {}:
        return ""
    try:
        try:
            encoded = msgspec.json.encode(value)
        except UnicodeEncodeError:  # half a surrogate pair
            encoded = json.dumps(value, ensure_ascii=False).encode("utf-8", "surrogatepass")
        with contextlib.suppress(ValueError):
            check_depth(encoded, _DEEPEST_INDENTED)
            encoded = msgspec.json.format(encoded, indent=2)
        return encoded.decode("utf-8", "surrogatepass")
    except RecursionError:
        return "[nested too deeply to be shown]"


def content(value: object, *keys: object) -> str:
    """Return the text of a message or a tool result, given as a string, a block, or a list of both, or as a `member`.

    Other content is named in brackets, without its data.
    """
    value = member(value, *keys) if keys else value
    blocks = value if isinstance(value, list) else [value]
    return "\n".join(text for text in map(_block, blocks) if text)


def _block(value: object) -> str:
    if isinstance(value, str):
        return value
    block = mapping(value)
    if isinstance(block.get("text"), str):
        return string(block["text"])
    named = [string(block.get(key)) for key in ("title", "url") if string(block.get(key))]
    if named:
        return " ".join(named)
    kind = string(block.get("type"))
    if "image" in kind:
        return image_mark(block)
    return f"[{kind}]" if kind.replace("_", "").isalnum() and len(kind) <= _LONGEST_KIND else ""


def image_mark(value: object, name: str = "") -> str:
    """Return the placeholder of an image, such as `[image: hull.png]`, or `[image: PNG, 12 KB]` if it has no name;
    `[image]` if its data isn't in the value either.
    """
    name = name.translate(_NOT_IN_NAMES)
    found = next(_images(value), None)
    if found is None:
        return f"[image: {name}]" if name else "[image]"
    kind, data = found
    held = _HELD_IMAGES.get()
    if held is not None:
        number = blake2b(digest_size=16)
        for start in range(0, len(data), _STEP):
            number.update(data[start : start + _STEP].encode(errors="replace"))
        held[number.hexdigest()] = data
        return f"[image: {number.hexdigest()}]"
    return f"[image: {name}]" if name else f"[image: {kind.upper()}, {max(1, len(data) * 3 // 4 // 1000):,} KB]"


def attached(name: str, *, image: bool = False, value: object = None) -> str:
    """Return the placeholder of an attachment, such as `[file: name]`. `value`: JSON that may have an image's data."""
    if image:
        return image_mark(value, name)
    return f"[file: {name}]" if name else "[file]"


def image_file_mark(file: str, name: str, load: Callable[[], bytes]) -> str:
    """Return the placeholder of an image in another file, which has this name there and is only read when it is opened.

    `name`: its name for the user; empty if it is unknown.
    """
    held = _HELD_IMAGES.get()
    if held is None or not file:
        return image_mark(None, name)
    held[file] = load
    return image_mark(None, file)


@contextlib.contextmanager
def holding_images() -> Iterator[HeldImages]:
    """Have placeholders of images contain a digest instead of type and size; yields the images' data by digest."""
    held: HeldImages = {}
    before = _HELD_IMAGES.set(held)
    try:
        yield held
    finally:
        _HELD_IMAGES.reset(before)


def held_only(column: str) -> str:
    """Return the SQL expression for a column with an image's bytes; NULL unless images are held, since it is long."""
    return column if _HELD_IMAGES.get() is not None else "NULL"


def image_value(data: object) -> Mapping[str, str]:
    """Return an image's bytes as a JSON value with its data."""
    raw = data if isinstance(data, bytes) else b""
    step = 3 * _STEP // 4  # a multiple of three bytes has no padding
    encoded = (base64.b64encode(raw[start : start + step]).decode() for start in range(0, len(raw), step))
    return {"media_type": "image/png", "data": "".join(encoded)}


def image_held(text: str, number: int, held: HeldImages) -> tuple[bytes, str] | None:
    """Return the data and the type (`png`) of image `number`, from 0, of a message; None if its data isn't held.

    The type is that of the data. Data of other types, which a program could run, counts as missing. Raises the errors
    of a function that reads it.
    """
    named = next(islice(IMAGE_LINE.finditer(text), number, None), None)
    found = held.get(named[1] or "", "") if named else ""
    data = found() if callable(found) else _decoded(found)
    return next(((data, kind) for kind, signature in _SIGNATURES.items() if data.startswith(signature)), None)


def _decoded(encoded: str) -> bytes:
    """Decode base64 in steps, since one long call would hold the interpreter's lock; empty if it is invalid."""
    try:
        return b"".join(base64.b64decode(encoded[at : at + _STEP]) for at in range(0, len(encoded), _STEP))
    except ValueError:
        return b""


def _images(value: object) -> Iterator[tuple[str, str]]:
    """Yield type and data in base64 of all images in a JSON value, in their order."""
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str) and each.startswith(_DATA_URI):
            kind, _, data = each.removeprefix(_DATA_URI).partition(";base64,")
            if data and _is_image_type(kind):
                yield kind, data
        elif isinstance(each, list):
            waiting += reversed(each)
        elif isinstance(each, dict):
            named = next((string(each.get(key)) for key in _MEDIA_TYPES if key in each), "")
            kind, data = named.removeprefix("image/"), string(each.get("data")) or string(each.get("Data"))
            if data and kind != named and _is_image_type(kind):
                yield kind, data
            else:
                waiting += reversed(each.values())


def _is_image_type(kind: str) -> bool:
    return kind.isalnum() and len(kind) <= _LONGEST_KIND


def between(text: str, opening: str, closing: str) -> str:
    """Return the text between the first `opening` and the next `closing`; empty if one is missing."""
    start = text.find(opening)
    end = text.find(closing, start + len(opening))
    return text[start + len(opening) : end] if 0 <= start < end else ""


def uri_path(uri: str) -> str:
    """Return the path in a URI such as `file:///home/ada` or `file:///c%3A/Users`; any other text unchanged."""
    _, mark, rest = uri.partition("://")
    if not mark:
        return uri
    path = urllib.parse.unquote(rest[rest.find("/") :]) if "/" in rest else ""
    return path[1:] if _DRIVE.match(path) else path
