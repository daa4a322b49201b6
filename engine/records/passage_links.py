"""Writes and parses links and citations of passages. A link only names a location to show. Reading one accesses neither
disk nor network: the caller decides whether its folder is known.
"""

from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import quote, unquote

import msgspec

from engine.base import lazy_pattern
from engine.base.errors import LinkRefused
from engine.base.formatting import DIRECTION
from engine.base.language import tr
from engine.records.base import Record

SCHEME = "mnemoscope"
LONGEST_LINK = 16_384
"""Maximum number of characters of a link: the longest possible path with each byte escaped, and a little more."""
_LONGEST_ID = 256
_START = f"{SCHEME}://"
_OPEN = "open"
_KNOWN = ("workspace", "path", "line", "end", "message")
_NUMBER = lazy_pattern(r"[1-9][0-9]{0,8}")
_BROKEN_ESCAPE = lazy_pattern(r"%(?![0-9A-Fa-f]{2})")
_UNSEEN = lazy_pattern(rf"[\x00-\x1f\x7f-\x9f\u2028\u2029{DIRECTION}]")
"""Invisible characters, and characters that make a name look like another one."""
_UNWRITTEN = lazy_pattern(r"[\s\x00-\x20\x7f]")
"""Characters that are invalid in a URL."""

_CITED = lazy_pattern(
    r"(?P<path>.+)(?:#L(?P<first>\d{1,9})(?:-L(?P<last>\d{1,9}))?(?: \(page \d{1,9}\))?"
    r"|:(?P<from>\d{1,9})-(?P<to>\d{1,9}))"
)


class Link(Record, frozen=True):
    """A location in a file of a workspace, as written in a `mnemoscope://` URL."""

    workspace: str
    """Absolute path of the workspace's folder."""
    path: str
    """Stable name of the file or session."""
    line: int | None = None
    end: int | None = None
    """Last line, if there are several."""
    message: str = ""
    """For a session: id of a message, which stays the same when lines move."""


def is_link(text: str) -> bool:
    """Return whether a text begins like a link of this program, valid or not."""
    return text[: len(SCHEME) + 1].lower() == f"{SCHEME}:"


def write_link(link: Link) -> str:
    """Return the link's URL. Raises `LinkRefused` if the location can't be expressed."""
    values = {
        "workspace": link.workspace,
        "path": link.path,
        "line": "" if link.line is None else str(link.line),
        "end": "" if link.end is None or link.line is None or link.end <= link.line else str(link.end),
        "message": link.message if len(link.message) <= _LONGEST_ID and not _UNSEEN.search(link.message) else "",
    }
    try:
        parameters = "&".join(f"{name}={quote(value, safe='/:')}" for name, value in values.items() if value)
        text = f"{_START}{_OPEN}?{parameters}"
        parse_link(text)  # links that can't be opened are not created
    except (UnicodeEncodeError, LinkRefused):
        raise LinkRefused(tr("The name of this file, or of its folder, cannot be written into a link.")) from None
    return text


def parse_link(text: str) -> Link:
    """Parse a URL. Raises `LinkRefused` with the reason for everything that `write_link` doesn't produce."""
    if not is_link(text):
        raise LinkRefused(tr("This is not a link of Mnemoscope, which begins with {start}.", start=_START))
    if len(text) > LONGEST_LINK:
        raise LinkRefused(tr("This link is longer than {most:,} characters, so it is not opened.", most=LONGEST_LINK))
    if _UNWRITTEN.search(text) or text[: len(_START)].lower() != _START:
        raise LinkRefused(tr("This link is damaged, so it is not opened."))
    action, _, parameters = text[len(_START) :].partition("?")
    if action.lower().removesuffix("/") != _OPEN:
        raise LinkRefused(
            tr("This link asks for an action that isn't supported: links only open a location in a file.")
        )
    values = _values(parameters)
    line = _number(values, "line")
    end = _number(values, "end")
    if end is not None and (line is None or end < line):
        raise LinkRefused(tr("The last line in this link comes before the first line."))
    link = Link(
        workspace=values.get("workspace", ""),
        path=values.get("path", ""),
        line=line,
        end=end,
        message=values.get("message", ""),
    )
    if not _is_folder(link.workspace):
        raise LinkRefused(tr("This link does not give the full path of a folder on this machine."))
    if not _is_name(link.path):
        raise LinkRefused(tr("This link does not name a valid file inside its folder."))
    if len(link.message) > _LONGEST_ID:
        raise LinkRefused(tr("The message number in this link is invalid."))
    return link


def _values(parameters: str) -> dict[str, str]:
    if "#" in parameters:
        raise LinkRefused(tr("This link is damaged, so it is not opened."))
    values: dict[str, str] = {}
    for pair in parameters.split("&"):
        name, equals, value = pair.partition("=")
        if name not in _KNOWN:
            raise LinkRefused(tr("This link contains a parameter that Mnemoscope does not know, so it is not opened."))
        if name in values or not equals or not value:
            raise LinkRefused(
                tr("The value of “{name}” in this link is empty or ambiguous, so the link is not opened.", name=name)
            )
        values[name] = _unescaped(value)
    return values


def _unescaped(value: str) -> str:
    if _BROKEN_ESCAPE.search(value):
        raise LinkRefused(tr("This link is damaged, so it is not opened."))
    try:
        text = unquote(value, errors="strict")
        text.encode()
    except UnicodeError:
        raise LinkRefused(tr("This link is damaged, so it is not opened.")) from None
    if _UNSEEN.search(text):
        raise LinkRefused(tr("This link contains invisible characters, so it is not opened."))
    return text


def _number(values: dict[str, str], name: str) -> int | None:
    text = values.get(name)
    if text is None:
        return None
    if _NUMBER.fullmatch(text) is None:
        raise LinkRefused(tr("The line number in this link is invalid."))
    return int(text)


def _is_folder(text: str) -> bool:
    """Whether a text is an absolute path on this machine: accessing another one would reveal the user to it."""
    if text.startswith(("//", "\\\\", "/\\", "\\/")):
        return False
    windows = PureWindowsPath(text)
    parts = PurePosixPath(text).parts if text.startswith("/") else windows.parts
    return (text.startswith("/") or windows.is_absolute()) and ".." not in parts


def _is_name(text: str) -> bool:
    """Return whether a text is a stable name, also one of another machine: `//machine/notes/hose.md`."""
    parts = text.removeprefix("//").split("/")
    return "\\" not in text and not {"", ".", ".."}.intersection(parts)


class Citation(msgspec.Struct, frozen=True):
    path: str
    first: int
    last: int
    """At least `first`."""


def parse_citation(text: str) -> Citation | None:
    """Parse the path and lines of a citation, also `path:5-9`; None if the text has no lines."""
    match = _CITED.fullmatch(text)
    if match is None:
        return None
    first = int(match["first"] or match["from"])
    return Citation(match["path"], first, max(first, int(match["last"] or match["to"] or first)))
