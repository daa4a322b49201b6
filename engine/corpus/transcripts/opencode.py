"""opencode: a session file, and the files of its messages and of their parts in folders next to it.

Written from its public source up to spring 2026: under `~/.local/share/opencode/storage`,
`session/<project>/<session>.json` describes a session, `message/<session>/<message>.json` its messages and
`part/<message>/<part>.json` has their contents. Names sort by time. Since February 2026 (version 1.2) sessions are in a
database next to `storage` (`opencode_database`): older ones were copied into it, their files remain. The program moved
the layout before September 2025 (`project/<project>/storage`) here.

The session file is the document. Messages may be newer than that file, so the time of `message/<session>` counts as
well (`stores`).
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken
from engine.corpus.safe_open import open_binary
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.json_values import mapping, seconds, string
from engine.corpus.transcripts.jsonl import parse_line
from engine.corpus.transcripts.messages import Message, SessionFacts, clean
from engine.corpus.transcripts.opencode_messages import OpencodeReader

_ID = re.compile(rb'"id"\s*:\s*"ses_')
_NO_TITLE = re.compile(r"(?:New|Child) session - \d{4}-\d{2}-\d{2}T")


class OpencodeDocument:
    agent = "opencode"

    def matches(self, path: str, head: bytes) -> bool:
        above = os.path.basename(os.path.dirname(os.path.dirname(path)))
        return above == "session" and path.endswith(".json") and bool(_ID.search(head))

    def conversations(self, path: str, cancel: CancelToken | None = None) -> Iterator[Conversation]:
        """The one session of the file. Of a file of a message or part that breaks off only itself is missing."""
        storage = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        session = os.path.basename(path).removesuffix(".json")
        reader = OpencodeReader(facts=session_facts(self.agent, session, _read(path)))
        messages: list[Message] = []
        for name, file in _files(os.path.join(storage, "message", session)):
            if cancel:
                cancel.checkpoint()
            parts = _files(os.path.join(storage, "part", name))
            messages += reader.message(name, _object(file, reader), [_object(part, reader) for _, part in parts])
        yield Conversation("", reader.facts, tuple(messages), Counter(reader.unknown))


def _object(path: str, reader: OpencodeReader) -> Mapping[str, Any]:
    """The object in a file; an empty one where it was not wholly written, or just removed."""
    try:
        return _read(path)
    except (OSError, ValueError):
        reader.count_unknown("unreadable file")
        return {}


def session_facts(agent: str, session: str, value: Mapping[str, Any]) -> SessionFacts:
    """The facts in a session's own file, or its row."""
    title = clean(string(value.get("title"))).strip()
    return SessionFacts(
        agent=agent,
        id=clean(session),
        title="" if _NO_TITLE.match(title) else title,
        project=clean(string(value.get("directory"))),
        parent=clean(string(value.get("parentID"))),
        started=seconds(mapping(value.get("time")).get("created")),
    )


def _read(path: str) -> Mapping[str, Any]:
    """The object in a file. Raises OSError, ValueError."""
    with open_binary(path) as file:
        value = parse_line(file.read())
    if value is None:
        raise ValueError(skip_reasons.NO_JSON_OBJECT.said(file=os.path.basename(path)))
    return value


def _files(folder: str) -> list[tuple[str, str]]:
    """Name without its ending, and path, of the JSON files in a folder, in the order of their names."""
    if os.path.islink(folder):
        return []
    try:
        with os.scandir(folder) as entries:
            files = [
                entry for entry in entries if entry.name.endswith(".json") and entry.is_file(follow_symlinks=False)
            ]
    except (FileNotFoundError, NotADirectoryError):
        return []
    return sorted((entry.name.removesuffix(".json"), entry.path) for entry in files)
