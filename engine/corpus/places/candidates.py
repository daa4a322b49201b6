"""A place that may be there, and a file that names some."""

import os
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.errors import PathRefused
from engine.corpus.places.lenient_json import parse_lenient
from engine.corpus.safe_open import open_regular
from engine.records import FileIssue, PlaceKind

_MOST_BYTES = 256 * 1024


class Candidate(msgspec.Struct, frozen=True):
    kind: PlaceKind
    agent: str
    name: str
    path: str
    """Absolute; it need not exist."""


def read_list(path: str, issues: list[FileIssue]) -> Any:
    """What a configuration file holds, as JSON's types; None, perhaps with an issue, where it cannot be told."""
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
