"""The message between two starts: a line of JSON, answered by a word."""

import json
import os
from pathlib import Path
from typing import NamedTuple, TypeGuard

LONGEST = 64 * 1024
"""Bytes of a message; arguments that need more are not handed over."""
TAKEN = b"taken\n"
REFUSED = b"refused\n"
"""The program that runs does not understand it: it is of another version."""

_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


class IpcMessage(NamedTuple):
    directory: str
    """Current folder of the later start: paths among its arguments may be relative to it."""
    arguments: tuple[str, ...]
    token: str
    """By which the desktop allows a window to come to the front; empty where it gave none."""


def message_of(arguments: list[str]) -> IpcMessage:
    """For this process."""
    token = next((os.environ[name] for name in _TOKENS if os.environ.get(name)), "")
    return IpcMessage(str(Path.cwd()), tuple(arguments), token)


def encode(message: IpcMessage) -> bytes:
    """One line, ASCII alone: names of files that are no text come through, too."""
    return json.dumps(message._asdict()).encode("ascii") + b"\n"


def decode(line: bytes) -> IpcMessage | None:
    """None for anything that is not a message, however it is nested and whatever its strings contain."""
    if len(line) > LONGEST:
        return None
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    if not isinstance(found, dict):
        return None
    directory, arguments, token = (found.get(name) for name in IpcMessage._fields)
    if not (_is_usable(directory) and _is_usable(token) and isinstance(arguments, list)):
        return None
    return IpcMessage(directory, tuple(arguments), token) if all(map(_is_usable, arguments)) else None


def _is_usable(part: object) -> TypeGuard[str]:
    """Whether it can be an argument or part of the environment: without NUL, and in the encoding of file names."""
    try:
        return isinstance(part, str) and b"\0" not in os.fsencode(part)
    except UnicodeEncodeError:
        return False
