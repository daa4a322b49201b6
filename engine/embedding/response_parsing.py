"""Parses responses of embedding services: JSON with vectors as lists of numbers, or as base64 of float32.

A response has up to a megabyte, which takes two milliseconds. Larger ones are parsed in steps, since parsing holds the
interpreter.
"""

import base64
import binascii
import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import TYPE_CHECKING, Any

from engine.base.bounded_json import DividedStrings, check_depth, decode_json
from engine.base.errors import ProviderError
from engine.base.language import tr
from engine.embedding.service_errors import Transient

if TYPE_CHECKING:
    from engine.embedding.provider_interface import Vectors

_MAX_PARSED_WHOLE = 4 * 1024 * 1024
_STEP = 64 * 1024
_MAX_TOKENS = 2**53
MAX_DIMENSIONS = 16_384
"""Longest vector that is accepted: four times the longest that a service offers."""
_NO_NUMBERS = (b"NaN", b"-Infinity", b"Infinity")
"""Invalid JSON that some servers send for special numbers."""


@dataclass(frozen=True)
class Answer:
    """Parsed response of one request."""

    vectors: "Mapping[int, Vectors]"
    """Vectors as sent, (dims,), by the index of their text; may be incomplete."""
    tokens: int | None = None
    """Tokens as counted by the service; None if not reported."""


def read_json(body: bytes) -> Any:
    """Parse a response's JSON value; special numbers become None. Raises `Transient` if the JSON is invalid."""
    if len(body) <= _MAX_PARSED_WHOLE:
        with contextlib.suppress(ValueError):  # the other parser decides about all that is unusual
            return decode_json(body, object)
    import ijson

    with contextlib.suppress(ijson.JSONError, ValueError):
        return _parsed(body)
    if any(word in body for word in _NO_NUMBERS):
        for word in _NO_NUMBERS:
            body = body.replace(word, b"null")
        with contextlib.suppress(ijson.JSONError, ValueError):
            return _parsed(body)
    raise Transient(tr("The service's answer is not complete JSON: it was cut off, or a proxy answered instead."))


def _parsed(body: bytes) -> Any:
    import ijson

    check_depth(body)  # ijson builds the path to each value: gigabytes for some thousand brackets
    values = ijson.sendable_list()
    parser = ijson.items_coro(values, "", use_float=True)
    # No vector has so long a string: `vector_of` refuses the array of its parts.
    divided = DividedStrings(BytesIO(body))
    while block := divided.read(_STEP):
        parser.send(block)
    parser.close()  # raises if something is missing
    return values[0]


def json_object(value: object) -> dict[str, Any]:
    """Return a value if it is a JSON object, else an empty one."""
    return value if isinstance(value, dict) else {}


def indexed(items: Any, texts: int) -> "dict[int, Vectors]":
    """Return the vectors of a list of {"index", "embedding"}, in any order, by index; empty ones are left out.

    Raises `Transient` if there is no such list, and `ProviderError` if vectors can't be assigned to texts.
    """
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise Transient(tr("The service's answer has no list of vectors."))
    alone = texts == 1 and len(items) == 1
    indexes = [0] if alone else [item.get("index") for item in items]
    known = all(type(index) is int and 0 <= index < texts for index in indexes)
    if not known or len(set(indexes)) < len(indexes):
        raise ProviderError(tr("The service does not say which vector belongs to which text: its answer is not used."))
    return _vectors(zip(indexes, (item.get("embedding") for item in items), strict=True))


def tokens_of(answer: Mapping[str, Any]) -> int | None:
    """Return the number of tokens used, according to a response in OpenAI's format."""
    tokens = json_object(answer.get("usage")).get("total_tokens")
    return tokens if isinstance(tokens, int) and 0 <= tokens <= _MAX_TOKENS else None


def ordered(items: Any, texts: int) -> "dict[int, Vectors]":
    """Return the vectors of a list that is in the order of the texts by contract; empty ones are left out.

    Raises `Transient` if the list doesn't have one item per text.
    """
    if not isinstance(items, list) or len(items) != texts:
        raise Transient(tr("The service's answer doesn't have one vector per text, so it is not used."))
    return _vectors(enumerate(items))


def _vectors(sent: Iterable[tuple[int, Any]]) -> "dict[int, Vectors]":
    return {index: vector_of(vector) for index, vector in sent if vector not in (None, [], "")}


def vector_of(sent: Any) -> "Vectors":
    """Return float32 (dims,) from a list of numbers or from base64; None becomes NaN.

    Raises `Transient` if it is neither, and `ProviderError` if it is longer than `MAX_DIMENSIONS`.
    """
    import numpy as np

    try:
        if isinstance(sent, str):
            sent = np.frombuffer(base64.b64decode(sent, validate=True), dtype="<f4")
        if isinstance(sent, list | np.ndarray):
            with np.errstate(over="ignore"):  # values beyond float32 become infinite and are requested again
                vector: Vectors = np.array(sent, dtype=np.float64).astype(np.float32)
            if vector.ndim == 1 and vector.size > MAX_DIMENSIONS:
                raise ProviderError(
                    tr(
                        "The service's vectors have {count:,} dimensions, and at most {most:,} are supported: "
                        "choose another model.",
                        count=vector.size,
                        most=MAX_DIMENSIONS,
                    )
                )
            if vector.ndim == 1 and vector.size:
                return vector
    except (ValueError, TypeError, OverflowError, binascii.Error):
        pass
    raise Transient(tr("The service's answer contains something other than a vector."))
