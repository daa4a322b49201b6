"""A place that may be there, and a file that names some."""

import json
import os
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.errors import PathRefused
from engine.corpus.safe_open import open_regular
from engine.records import FileIssue, PlaceKind

_MOST_BYTES = 256 * 1024
_TOKEN = re.compile(
    r"(?P<nothing>\s+|//[^\n]*|/\*.*?\*/)"
    r"|\"(?P<double>(?:[^\"\\\n]|\\.)*)\""
    r"|'(?P<single>(?:[^'\\\n]|\\.)*)'"
    r"|(?P<mark>[{}\[\]:,])"
    r"|(?P<word>[^\s{}\[\]:,\"'/]+)",
    re.DOTALL,
)
_NUMBER = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|x([0-9a-fA-F]{2})|(\r\n|.))", re.DOTALL)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0", "\n": "", "\r\n": ""}


def parse_lenient(text: str) -> Any:
    """The value that `text` (at most 256 KB) writes; a word that JSON does not know becomes text.

    Raises ValueError for text that cannot be understood.
    """
    try:
        return json.loads("".join(_strict(text)))
    except RecursionError:
        raise ValueError("nested too deeply") from None


def _strict(text: str) -> Iterator[str]:
    """The same in strict JSON, token by token."""
    at = 0
    comma = False
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise ValueError(f"not understood at character {at}")
        at = token.end()
        if token["nothing"] is not None:
            continue
        mark = token["mark"]
        if comma and mark not in ("}", "]"):
            yield ","
        comma = mark == ","
        if not comma:
            yield mark or _value(token)
    if comma:
        raise ValueError("ends with a comma")


def _value(token: re.Match[str]) -> str:
    word = token["word"]
    if word is None:
        quoted = token["double"] if token["double"] is not None else token["single"]
        return json.dumps(_ESCAPE.sub(_meant, quoted))
    return word if word in ("true", "false", "null") or _NUMBER.fullmatch(word) else json.dumps(word)


def _meant(escape: re.Match[str]) -> str:
    code = escape[1] or escape[2]
    return chr(int(code, 16)) if code else _ESCAPED.get(escape[3], escape[3])


class Candidate(msgspec.Struct, frozen=True):
    kind: PlaceKind
    agent: str
    name: str
    path: str
    """Absolute; it need not exist."""


def read_list(path: str, issues: list[FileIssue]) -> Any:
    """The JSON value of a configuration file; None, perhaps with an issue, if it can't be read."""
    try:
        return _read(path)
    except (FileNotFoundError, NotADirectoryError):
        return None
    except PathRefused:
        detail = skip_reasons.LIST_NO_FILE.said()
    except OSError as error:
        detail = skip_reasons.unreadable(error)
    except ValueError:
        detail = skip_reasons.LIST_NOT_UNDERSTOOD.said()
    issues.append(FileIssue(path=path, rule="unreadable", detail=detail))
    return None


def _read(path: str) -> Any:
    descriptor, state = open_regular(os.path.realpath(path))  # people keep their configuration elsewhere, and link it
    with os.fdopen(descriptor, "rb") as file:
        if state.st_size > _MOST_BYTES:
            raise ValueError("longer than such a file is")
        return parse_lenient(file.read(_MOST_BYTES).decode("utf-8-sig"))
