"""A session as a file to take along: HTML in one file, or Markdown, with a contents list and folded tools.

Only sessions with masked secrets are written.
"""

import re
from collections.abc import Callable, Iterator
from datetime import datetime
from html import escape
from typing import NamedTuple

from engine.agent.readable_session import folded_line, results_of, says_who
from engine.base.formatting import plural
from engine.corpus.transcripts.messages import first_sentence
from engine.records import ExportFormat, SessionMessage, SessionText, UsageTotal

_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})[^\n`]*\n(.*?)^ {0,3}\1[`~]*[ \t]*$", re.MULTILINE | re.DOTALL)
_OPEN_FENCE = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)
_CODE = re.compile(r"(?<!`)(`{1,3})(?!`)([^\n]{1,500}?)(?<!`)\1(?!`)")
_MARKUP = re.compile(r"([\\`*_\[\]<>#|~])")
_LONGEST_MARKED = 256 * 1024
"""Characters; code in longer texts isn't marked."""

_STYLE = """
:root { color-scheme: light dark; --line: #d9d9d4; --soft: #f4f4f1; --muted: #5f6b76; --you: #e9edfb; }
@media (prefers-color-scheme: dark) {
  :root { --line: #3a3b3f; --soft: #2a2b2f; --muted: #a2a7ad; --you: #2b3353; }
}
body { font: 16px/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 48rem; padding: 1.5rem 1rem 4rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
h2 { font-size: 1rem; margin: 1.5rem 0 .3rem; }
h2 time, .facts, summary span { color: var(--muted); font-weight: normal; }
nav ol { padding-left: 2rem; }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
.user { background: var(--you); border-radius: 8px; padding: .5rem .8rem; }
pre { background: var(--soft); border-radius: 6px; margin: .4rem 0; overflow-x: auto; padding: .6rem .8rem; }
code { font: .9em ui-monospace, monospace; }
details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: .3rem .7rem; }
summary { cursor: pointer; overflow-wrap: anywhere; }
"""


class _Part(NamedTuple):
    """The written form of one message, or of a tool call with its result."""

    message: SessionMessage
    folded: str
    """Its line while folded; empty for speech."""
    texts: tuple[str, ...]


class _Turn(NamedTuple):
    """Parts of one speaker that follow each other."""

    number: int
    speaker: str
    time: float | None
    parts: list[_Part]

    @property
    def entry(self) -> str:
        """The turn in the contents list; empty for one that isn't listed."""
        said = next((part.texts[0] for part in self.parts if not part.folded and part.message.role == "user"), "")
        return first_sentence(said)


def export_session(session: SessionText, format: ExportFormat) -> str:
    """The whole file. `session` was read with its secrets masked."""
    return "".join(_EXPORTS[format](session))


# --- parts ----------------------------------------------------------------------------------------------------------


def _turns(session: SessionText) -> list[_Turn]:
    turns: list[_Turn] = []
    speaker = ""
    for part in _parts(session.messages):
        message = part.message
        says = says_who(message, aside=message.side and not session.summary.parent) or speaker or "Assistant"
        starts = message.kind == "text" and message.role == "user"
        if not turns or says != speaker or (starts and turns[-1].parts[-1].message.ordinal != message.ordinal):
            turns.append(_Turn(len(turns) + 1, says, message.time, []))
            speaker = says
        turns[-1].parts.append(part)
    return turns


def _parts(messages: tuple[SessionMessage, ...]) -> Iterator[_Part]:
    results = results_of(messages)
    taken = set(results.values())
    for number, message in enumerate(messages):
        if message.kind == "text" and message.role != "system":
            yield _Part(message, "", (message.text,))
        elif number not in taken:
            answer = (messages[results[number]].text,) if number in results else ()
            yield _Part(message, folded_line(message), (message.text, *answer))


def _facts(session: SessionText) -> list[str]:
    summary = session.summary
    spent = summary.spent or UsageTotal()
    began = "" if summary.started is None else f"{datetime.fromtimestamp(summary.started):%Y-%m-%d %H:%M}"
    sent = [spent.input_tokens, spent.cache_read_tokens, spent.cache_write_tokens]
    counts = [count for count in sent if count is not None]
    facts = [
        summary.agent,
        summary.project,
        summary.branch,
        began,
        plural(summary.messages, "message"),
        ", ".join(one.model for one in summary.usage if one.model),
        f"{sum(counts):,} tokens in" if counts else "",
        "" if spent.output_tokens is None else f"{spent.output_tokens:,} tokens out",
        "" if spent.cost is None else f"${spent.cost:,.2f}",
    ]
    return [" ".join(fact.split()) for fact in facts if fact.strip()]


def _masked(session: SessionText) -> str:
    return f"Secrets are masked in {plural(session.masked, 'message')}." if session.masked else ""


def _clock(time: float | None) -> str:
    return "" if time is None else f"{datetime.fromtimestamp(time):%Y-%m-%d %H:%M}"


# --- HTML -----------------------------------------------------------------------------------------------------------


def _html(session: SessionText) -> Iterator[str]:
    title = escape(" ".join(session.summary.title.split()) or "Untitled session")
    turns = _turns(session)
    yield (
        '<!DOCTYPE html>\n<html>\n<head>\n<meta charset="utf-8">\n'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n"
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="facts">{escape(" · ".join(_facts(session)))}</p>\n'
    )
    if note := _masked(session):
        yield f'<p class="facts">{escape(note)}</p>\n'
    listed = [turn for turn in turns if turn.entry]
    if listed:
        yield "<nav>\n<h2>Contents</h2>\n<ol>\n"
        for turn in listed:
            yield f'<li><a href="#m{turn.number}">{escape(turn.entry)}</a></li>\n'
        yield "</ol>\n</nav>\n"
    for turn in turns:
        yield f'<h2 id="m{turn.number}">{escape(turn.speaker)} <time>{_clock(turn.time)}</time></h2>\n'
        for part in turn.parts:
            yield _html_part(part)
    yield "</body>\n</html>\n"


def _html_part(part: _Part) -> str:
    if not part.folded:
        who = "text user" if part.message.role == "user" else "text"
        return f'<div class="{who}">{_html_text(part.texts[0].strip())}</div>\n'
    bodies = "".join(f"<pre>{escape(text)}</pre>\n" for text in part.texts if text.strip())
    return f"<details>\n<summary>{escape(part.folded)}</summary>\n{bodies}</details>\n"


def _html_text(text: str) -> str:
    """Escaped text, with its blocks and spans of code marked as such."""
    if len(text) > _LONGEST_MARKED:
        return escape(text)
    parts, position = list[str](), 0
    for block in _FENCE.finditer(text):
        parts += (_html_spans(text[position : block.start()].strip("\n")), f"<pre>{escape(block[2].rstrip())}</pre>")
        position = block.end()
    return "".join((*parts, _html_spans(text[position:].strip("\n"))))


def _html_spans(text: str) -> str:
    parts, position = list[str](), 0
    for span in _CODE.finditer(text):
        parts += (escape(text[position : span.start()]), f"<code>{escape(span[2].strip())}</code>")
        position = span.end()
    return "".join((*parts, escape(text[position:])))


# --- Markdown -------------------------------------------------------------------------------------------------------


def _markdown(session: SessionText) -> Iterator[str]:
    turns = _turns(session)
    yield f"# {_plain(session.summary.title) or 'Untitled session'}\n\n{_plain(' · '.join(_facts(session)))}\n"
    if note := _masked(session):
        yield f"\n{note}\n"
    listed = [turn for turn in turns if turn.entry]
    if listed:
        yield "\n## Contents\n\n"
        yield from (f"{place}. [{_plain(turn.entry)}](#m{turn.number})\n" for place, turn in enumerate(listed, 1))
    for turn in turns:
        heading = ", ".join(filter(None, (turn.speaker, _clock(turn.time))))
        yield f'\n<a id="m{turn.number}"></a>\n\n## {heading}\n'
        for part in turn.parts:
            yield f"\n{_markdown_part(part)}\n"


def _markdown_part(part: _Part) -> str:
    if not part.folded:
        return part.texts[0].strip()
    bodies = "\n\n".join(_fenced(text) for text in part.texts if text.strip())
    return f"<details>\n<summary>{escape(part.folded)}</summary>\n\n{bodies}\n\n</details>"


def _fenced(text: str) -> str:
    """In a fence that nothing in the text closes."""
    ticks = "`" * max(3, *(len(found) + 1 for found in _OPEN_FENCE.findall(text)), 3)
    return f"{ticks}\n{text}\n{ticks}"


def _plain(text: str) -> str:
    """The text on one line, with markup escaped."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


_EXPORTS: dict[ExportFormat, Callable[[SessionText], Iterator[str]]] = {"html": _html, "markdown": _markdown}
