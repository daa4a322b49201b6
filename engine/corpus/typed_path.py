"""Reads the path that a person typed, pasted or dropped: quotes, `~`, file URLs, another system's separators."""

import os
import re
from urllib.parse import unquote, urlsplit
from urllib.request import url2pathname

_QUOTES = "\"'`<>“”«»"
_FILE_URL = re.compile(r"file:", re.IGNORECASE)
_HERE = frozenset({"", "localhost"})


def readings_of(text: str) -> tuple[str, ...]:
    """The paths that `text` may mean, the most literal first; never empty, and nothing is looked up."""
    plain = text.strip("\n\r") or text
    bare = text.strip().strip(_QUOTES).strip() or plain
    found = [plain, bare]
    if _FILE_URL.match(bare):
        found.insert(0, _path_of_url(bare))
    found += [one.replace("\\", "/") for one in found]
    return tuple(dict.fromkeys(map(_from_home, found)))


def _from_home(path: str) -> str:
    try:
        return os.path.expanduser(path)
    except ValueError:  # a person whose name holds a zero byte
        return path


def _path_of_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        if parts.netloc.lower() not in _HERE:
            return f"//{parts.netloc}{unquote(parts.path)}"
        # A name may hold what has a meaning in other addresses; programs that drop files do not always encode it.
        rest = url[len("file:") :]
        rest = rest[2 + len(parts.netloc) :] if rest.startswith("//") else rest
        return url2pathname(rest)
    except ValueError:  # a bracket that never closes
        return url
