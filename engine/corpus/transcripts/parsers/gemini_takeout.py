"""The activity in Gemini's website and apps: `My Activity/Gemini Apps/MyActivity.json` of Google Takeout.

There is no published specification. Written from programs that read it, as of summer and autumn 2026: a record is one
prompt, which is the `title` after a verb, with the answer as HTML in `safeHtmlItem`; the newest comes first. Records
don't say which conversation they belong to: as in those programs, one ends after 30 minutes without a prompt. Names of
the product and verbs are translated; a title without a known verb is a prompt if it has an answer. Takeout's other
format, HTML, is not read.
"""

import re
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, NamedTuple

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts import export_reader
from engine.corpus.transcripts.export_reader import Export
from engine.corpus.transcripts.formats import ARRAY, Conversation, LineParser, Part
from engine.corpus.transcripts.json_values import items, objects, seconds, string
from engine.corpus.transcripts.messages import Message, SessionMetadata

_NAMES = re.compile("gemini|bard", re.IGNORECASE)
_PROMPTED = re.compile(r"(?:Prompted with:|Asked (?:Gemini|Bard):|Prompted|Asked|Said|Branched|Answered)\s+")
_OTHER = re.compile(
    r"(?:Added|Created|Deleted|Edited|Exported|Gave|Pinned|Renamed|Searched|Selected|Shared|Updated|Used|Viewed|Visited)\s"
)
_ATTACHED = re.compile(r"\s*Attached (\d{1,3}) files?\.?\s*\Z")
_PAUSE = 30 * 60.0
"""Seconds without a prompt after which a conversation has ended."""
_MAX_PROMPTS = 2000
"""Maximum number of prompts of one conversation."""
_MAX_TEXT = 16_000_000
"""Characters after which a conversation ends."""
_MAX_HTML = 1_000_000
"""Characters of HTML of one answer that are read."""


class _Turn(NamedTuple):
    time: float
    prompt: str
    answer: str


def _prompt(value: Mapping[str, Any]) -> str:
    """Return the user's words in the title of a record; empty if the record is not a prompt."""
    title = string(value, "title")
    prompted = _PROMPTED.match(title)
    if not prompted and (_OTHER.match(title) or not items(value, "safeHtmlItem")):
        return ""
    return _ATTACHED.sub(r"\n[\1 files]", title[prompted.end() if prompted else 0 :]).strip()


def _answer(value: Mapping[str, Any]) -> str:
    from engine.corpus.documents import DocumentError  # few transcripts have HTML
    from engine.corpus.documents.text_collector import DocumentText, TextFull
    from engine.corpus.documents.web_pages import read_html

    text, room = DocumentText(), _MAX_HTML
    try:
        with suppress(TextFull, AssertionError, ValueError):  # the last two are html.parser's, for some invalid markup
            for item in objects(value, "safeHtmlItem"):
                html = string(item, "html")[:room]
                room -= len(html)
                read_html(b"\xef\xbb\xbf" + html.encode("utf-8", "replace"), text)
        text.title = ""
        return text.finish().strip()
    except DocumentError:
        return ""


def _is_gemini(value: Mapping[str, Any]) -> bool:
    """Whether a record is from Gemini: other products have records of the same shape, perhaps in the same file."""
    return any(_NAMES.search(string(name)) for name in (value.get("header"), *items(value, "products")))


class GeminiTakeout(Export):
    agent = "gemini-web"
    opening = re.compile(ARRAY.pattern + rb'(?=.*?"header"\s*:\s*"[^"]*(?:Gemini|Bard))', re.DOTALL)
    members = "header title time"

    def read(self, path: str, cancel: CancelToken | None) -> Iterator[Conversation]:
        group: list[_Turn] = []
        size = 0
        for value in export_reader.conversations(path, cancel):
            time = seconds(value.get("time"))
            if time is None or not _is_gemini(value) or not (prompt := _prompt(value)):
                continue
            if group and (abs(time - group[-1].time) > _PAUSE or len(group) == _MAX_PROMPTS or size > _MAX_TEXT):
                yield _conversation(group)
                group, size = [], 0
            group.append(_Turn(time, prompt, _answer(value)))
            size += len(prompt) + len(group[-1].answer)
        if group:
            yield _conversation(group)


def _conversation(group: list[_Turn]) -> Conversation:
    group.sort(key=lambda turn: turn.time)
    key = f"{group[0].time:.0f}"
    parser = LineParser(metadata=SessionMetadata(id=key))
    messages: list[Message] = []
    for turn in group:
        messages += parser.next_message([Part("user", "text", turn.prompt)], time=turn.time)
        messages += parser.next_message([Part("assistant", "text", turn.answer)], time=turn.time)
    return parser.conversation(key, messages)
