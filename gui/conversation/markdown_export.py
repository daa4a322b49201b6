"""A conversation, or one message of it, as Markdown to be pasted elsewhere."""

import re
from collections.abc import Iterator

from engine import CancelToken, tr
from gui.conversation.entries import Conversation
from gui.conversation.pieces import without_escapes
from gui.conversation.rows import Detail
from gui.conversation.wording import summary
from gui.sessions.wording import UNTITLED, agent_name
from gui.widgets.formatting import exact

_FENCES = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


def entry_markdown(conversation: Conversation, number: int) -> str:
    """One entry without its heading: speech as it was written, what tools were given and gave in code blocks."""
    entry = conversation.entries[number]
    texts = [conversation.session.messages[part].text for part in entry.parts]
    if entry.kind != "tool":
        return texts[0]
    name, asked, _ = summary(conversation, entry)
    return "\n\n".join([f"**{name}** {asked}", *(_fenced(without_escapes(text)) for text in texts if text)])


def conversation_markdown(conversation: Conversation, detail: Detail, token: CancelToken) -> str:
    """All of it, with as much of tools and thinking as `detail` shows. Any thread."""
    return "\n\n".join(_parts(conversation, detail, token)) + "\n"


def _parts(conversation: Conversation, detail: Detail, token: CancelToken) -> Iterator[str]:
    facts = conversation.session.summary
    yield f"# {facts.title or tr(UNTITLED)}"
    began = "" if facts.started is None else exact(facts.started)
    yield " · ".join(part for part in (agent_name(facts.agent), facts.project, facts.branch, began) if part)
    speaker = ""
    for number, entry in enumerate(conversation.entries):
        token.checkpoint()
        said = entry.kind in ("user", "speech")
        if not said and detail == "hidden":
            continue
        if entry.speaker != speaker:
            speaker = entry.speaker
            yield f"## {speaker}" + (f", {exact(entry.time)}" if entry.time is not None else "")
        if said or detail == "full":
            yield entry_markdown(conversation, number)
        else:
            name, words, size = summary(conversation, entry)
            yield f"*{name}: {words} · {size}*"


def _fenced(text: str) -> str:
    """In a fence that nothing in the text closes."""
    ticks = "`" * max(3, *(len(found) + 1 for found in _FENCES.findall(text)), 3)
    return f"{ticks}\n{text}\n{ticks}"
