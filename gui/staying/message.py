"""What one start tells another: a line of JSON, answered by a word."""

import json
import os
from pathlib import Path
from typing import NamedTuple

LONGEST = 64 * 1024
"""Bytes of a message; arguments that need more are not handed over."""
TAKEN = b"taken\n"
REFUSED = b"refused\n"
"""The program that runs does not understand it: it is of another version."""

_TOKENS = ("XDG_ACTIVATION_TOKEN", "DESKTOP_STARTUP_ID")


class Message(NamedTuple):
    directory: str
    """Where the later start stood: paths among its arguments may be relative to it."""
    arguments: tuple[str, ...]
    token: str
    """By which the desktop allows a window to come to the front; empty where it gave none."""


def message_of(arguments: list[str]) -> Message:
    """For this process."""
    token = next((os.environ[name] for name in _TOKENS if os.environ.get(name)), "")
    return Message(str(Path.cwd()), tuple(arguments), token)


def encode(message: Message) -> bytes:
    """One line, ASCII alone: names of files that are no text come through, too."""
    return json.dumps(message._asdict()).encode("ascii") + b"\n"


def decode(line: bytes) -> Message | None:
    """None for what is no message."""
    try:
        found = json.loads(line)
    except ValueError:
        return None
    if not isinstance(found, dict):
        return None
    directory, arguments, token = (found.get(name) for name in Message._fields)
    if not (isinstance(directory, str) and isinstance(arguments, list) and isinstance(token, str)):
        return None
    if not all(isinstance(argument, str) for argument in arguments):
        return None
    return Message(directory, tuple(arguments), token)
