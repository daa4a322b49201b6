"""Turn a session into plain lines to read, a block with which another agent continues, or an HTML or Markdown file.

Only sessions with masked secrets are exported. The block for another agent is made from the session's own words (goal,
decisions, files and last state) and has at most a chosen number of characters. Decisions are the user's messages,
answers to questions, and plans that the user accepted.
"""

import os
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from html import escape
from itertools import groupby
from typing import NamedTuple

from engine.agent.message_html import PAGE_STYLE, message_html
from engine.base.formatting import dollars, on_one_line, plural
from engine.corpus.transcripts.messages import opening_line
from engine.corpus.transcripts.registry import agent_label
from engine.corpus.transcripts.tool_uses import ToolText, readable_tool_text, stored_path, subject_of, uses_of
from engine.records import ExportFormat, SessionMessage, SessionText, UsageTotal
from engine.settings.options import MIN_CONTEXT
from engine.text.writing_systems import shortened

_LONGEST_LINE = 100


def readable_session(session: SessionText, *, full: bool) -> Iterator[str]:
    """Yield the lines of each message.

    Thinking, tool calls with their results, and abandoned branches are one line each unless `full`.
    """
    for line in _heading_lines(session):
        yield " ".join(line.split())
    day = ""
    speaker, ordinal = "", 0  # of the previous message
    for message, text in _message_parts(session, full=full):
        if message is None:
            speaker = ""
            yield text
            continue
        moment = None if message.time is None else datetime.fromtimestamp(message.time)
        if moment is not None and f"{moment:%Y-%m-%d}" != day:
            day = f"{moment:%Y-%m-%d}"
            yield f"\n--- {day} ---"
        author = speaker_of(message, aside=message.side and not session.summary.parent)
        if author and (author != speaker or (message.ordinal != ordinal and message.kind in ("text", "thinking"))):
            speaker, ordinal = author, message.ordinal
            yield f"\n{author}{'' if moment is None else f'  {moment:%H:%M}'}"
        yield text


def _branch_note(messages: int) -> str:
    return f"Abandoned branch: {plural(messages, 'message')}"


def unknown_items(count: int) -> str:
    """Return a sentence with the number of transcript entries that were not understood."""
    return f"{plural(count, 'item')} of unknown type"


def speaker_of(message: SessionMessage, *, aside: bool) -> str:
    """Return the speaker of a message: the agent for a tool result, empty for text inserted by the program."""
    if message.role == "system":
        return ""
    branch = " (abandoned branch)" if message.rewound else ""
    return f"{'User' if message.role == 'user' else 'Assistant'}{' (aside)' if aside else ''}{branch}"


def _heading_lines(session: SessionText) -> Iterator[str]:
    summary = session.summary
    yield summary.title or "Untitled"
    project = summary.project + (f" ({summary.branch})" if summary.branch else "")
    yield " · ".join(
        filter(None, (agent_label(summary.agent), project, summary.machine, plural(summary.messages, "message")))
    )
    yield summary.path
    if summary.parent:
        yield f"Part of {summary.parent}"
    if summary.resume_command:
        gone = summary.resume_command.startswith("cd ") and not os.path.isdir(os.path.expanduser(summary.project))
        yield f"Resume with: {summary.resume_command}{' (the folder does not exist)' if gone else ''}"
    if session.masked:
        yield f"Secrets are masked in {plural(session.masked, 'message')}."
    if session.unknown:
        kinds = ", ".join(f"{kind} ({count:,})" for kind, count in session.unknown)
        yield f"{unknown_items(sum(count for _, count in session.unknown))}: {kinds}."


def _message_parts(session: SessionText, *, full: bool) -> Iterator[tuple[SessionMessage | None, str]]:
    """Yield each part with its text; None with a line for each abandoned branch, unless `full`."""
    messages, results = session.messages, {} if full else session.results()
    paired = set(results.values())
    abandoned_count = 0
    for number, message in enumerate(messages):
        if number in paired:
            continue
        if message.rewound and not full:
            abandoned_count += message.kind == "text"
            continue
        if abandoned_count:
            yield None, f"\n[{_branch_note(abandoned_count)}]"
            abandoned_count = 0
        if message.kind == "text" and message.role != "system":
            yield message, message.text
        elif full:
            yield message, f"\n[{label_of(message)}]\n{readable_tool_text(message).text}"
        elif number in results:
            yield message, f"  {folded_line(message)} → {_length(messages[results[number]])}"  # of its result
        else:
            yield message, f"  {folded_line(message)}"
    if abandoned_count:
        yield None, f"\n[{_branch_note(abandoned_count)}]"


def label_of(message: SessionMessage) -> str:
    return {
        "text": "System",
        "thinking": "Thinking",
        "tool-call": f"{message.tool or 'Tool'}{', failed' if message.failed else ''}",
        "tool-result": f"{message.tool or 'Tool'}: {'failure' if message.failed else 'result'}",
    }[message.kind]


def folded_line(message: SessionMessage) -> str:
    text = subject_of(message) if message.kind == "tool-call" else message.text
    line = shortened(" ".join(text[: 4 * _LONGEST_LINE].split()), _LONGEST_LINE)
    return f"[{label_of(message)}] {line}".rstrip()


def _length(result: SessionMessage) -> str:
    text = result.text.strip()
    return plural(text.count("\n") + 1, "line") if text else "nothing"


_OPEN_FENCE = re.compile(r"^ {0,3}(`{3,})", re.MULTILINE)


class _Part(NamedTuple):
    """One message, or a tool call with its result, as it appears in the file."""

    message: SessionMessage
    folded: str
    """Summary line of a tool call, shown while it is folded; empty for a message."""
    texts: tuple[ToolText, ...]


class _Turn(NamedTuple):
    """Consecutive parts by one speaker."""

    number: int
    speaker: str
    time: float | None
    parts: list[_Part]

    @property
    def abandoned(self) -> bool:
        """Whether the turn is in a branch that the user abandoned."""
        return self.parts[0].message.rewound

    @property
    def entry(self) -> str:
        """Title of the turn in the contents list; empty for a turn that isn't listed."""
        spoken = (part.message for part in self.parts if not part.folded and part.message.role == "user")
        title = next((opening_line(message.text) for message in spoken), "")
        return f"{title} (abandoned branch)" if title and self.abandoned else title


def export_session(session: SessionText, format: ExportFormat) -> str:
    """Return the text of the exported file. `session` must have been read with its secrets masked."""
    return "".join(_EXPORTS[format](session))


# --- parts ----------------------------------------------------------------------------------------------------------


def _turns(session: SessionText) -> list[_Turn]:
    turns: list[_Turn] = []
    speaker = ""
    for part in _parts(session):
        message = part.message
        turned = not turns or turns[-1].abandoned != message.rewound
        speaker = "" if turned else speaker
        author = speaker_of(message, aside=message.side and not session.summary.parent) or speaker or "Assistant"
        starts = message.kind == "text" and message.role == "user"
        if turned or author != speaker or (starts and turns[-1].parts[-1].message.ordinal != message.ordinal):
            turns.append(_Turn(len(turns) + 1, author, message.time, []))
            speaker = author
        turns[-1].parts.append(part)
    return turns


def _branches(turns: Iterable[_Turn]) -> Iterator[tuple[str, list[_Turn]]]:
    """Yield consecutive turns with a line that replaces them while they are folded, empty for other turns."""
    for abandoned, group in groupby(turns, key=lambda turn: turn.abandoned):
        branch = [*group]
        spoken = sum(part.message.kind == "text" for turn in branch for part in turn.parts)
        yield _branch_note(spoken) if abandoned else "", branch


def _parts(session: SessionText) -> Iterator[_Part]:
    messages, results = session.messages, session.results()
    paired = set(results.values())
    for number, message in enumerate(messages):
        if message.kind == "text" and message.role != "system":
            yield _Part(message, "", (ToolText(message.text, is_diff=False),))
        elif number not in paired:
            parts = (message, messages[results[number]]) if number in results else (message,)
            yield _Part(message, folded_line(message), tuple(map(readable_tool_text, parts)))


def _metadata(session: SessionText) -> list[str]:
    summary = session.summary
    usage = summary.total_usage or UsageTotal()
    began = "" if summary.started is None else f"{datetime.fromtimestamp(summary.started):%Y-%m-%d %H:%M}"
    sent = [usage.input_tokens, usage.cache_read_tokens, usage.cache_write_tokens]
    counts = [count for count in sent if count is not None]
    metadata = [
        agent_label(summary.agent),
        summary.project,
        summary.machine,
        summary.branch,
        began,
        plural(summary.messages, "message"),
        ", ".join(used.model for used in summary.usage if used.model),
        f"{sum(counts):,} tokens in" if counts else "",
        "" if usage.output_tokens is None else f"{usage.output_tokens:,} tokens out",
        "" if usage.cost is None else dollars(usage.cost),
    ]
    return [" ".join(part.split()) for part in metadata if part.strip()]


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
        f"<title>{title}</title>\n<style>{PAGE_STYLE}</style>\n</head>\n<body>\n<h1>{title}</h1>\n"
        f'<p class="facts">{escape(" · ".join(_metadata(session)))}</p>\n'
    )
    if note := _masked(session):
        yield f'<p class="facts">{escape(note)}</p>\n'
    listed = [turn for turn in turns if turn.entry]
    if listed:
        yield "<nav>\n<h2>Contents</h2>\n<ol>\n"
        for turn in listed:
            yield f'<li><a href="#m{turn.number}">{escape(turn.entry)}</a></li>\n'
        yield "</ol>\n</nav>\n"
    for folded, branch in _branches(turns):
        yield f"<details>\n<summary>{escape(folded)}</summary>\n" if folded else ""
        for turn in branch:
            yield f'<h2 id="m{turn.number}">{escape(turn.speaker)} <time>{_clock(turn.time)}</time></h2>\n'
            yield from map(_html_part, turn.parts)
        yield "</details>\n" if folded else ""
    yield "</body>\n</html>\n"


def _html_part(part: _Part) -> str:
    if not part.folded:
        who = "text user" if part.message.role == "user" else "text"
        return f'<div class="{who}">{message_html(part.texts[0].text)}</div>\n'
    bodies = "".join(f"<pre>{_html_code(each)}</pre>\n" for each in part.texts if each.text.strip())
    return f"<details>\n<summary>{escape(part.folded)}</summary>\n{bodies}</details>\n"


def _html_code(shown: ToolText) -> str:
    if not shown.is_diff:
        return escape(shown.text)
    elements = {"+": "ins", "-": "del"}
    lines = ((elements.get(line[:1], "span"), escape(line)) for line in shown.text.split("\n"))
    return "\n".join(f"<{element}>{line}</{element}>" if element != "span" else line for element, line in lines)


# --- Markdown -------------------------------------------------------------------------------------------------------


def _markdown(session: SessionText) -> Iterator[str]:
    turns = _turns(session)
    title = on_one_line(session.summary.title) or "Untitled session"
    yield f"# {title}\n\n{on_one_line(' · '.join(_metadata(session)))}\n"
    if note := _masked(session):
        yield f"\n{note}\n"
    listed = [turn for turn in turns if turn.entry]
    if listed:
        yield "\n## Contents\n\n"
        yield from (
            f"{number}. [{on_one_line(turn.entry)}](#m{turn.number})\n" for number, turn in enumerate(listed, 1)
        )
    for folded, branch in _branches(turns):
        yield f"\n<details>\n<summary>{escape(folded)}</summary>\n" if folded else ""
        for turn in branch:
            heading = ", ".join(filter(None, (turn.speaker, _clock(turn.time))))
            yield f'\n<a id="m{turn.number}"></a>\n\n## {heading}\n'
            yield from (f"\n{_markdown_part(part)}\n" for part in turn.parts)
        yield "\n</details>\n" if folded else ""


def _markdown_part(part: _Part) -> str:
    if not part.folded:
        return part.texts[0].text.strip()
    bodies = "\n\n".join(_fenced(each.text, "diff" if each.is_diff else "") for each in part.texts if each.text.strip())
    return f"<details>\n<summary>{escape(part.folded)}</summary>\n\n{bodies}\n\n</details>"


def _fenced(text: str, language: str) -> str:
    """Return the text in a code fence that is longer than any fence in the text."""
    ticks = "`" * max(3, *(len(found) + 1 for found in _OPEN_FENCE.findall(text)), 3)
    return f"{ticks}{language}\n{text}\n{ticks}"


_EXPORTS: dict[ExportFormat, Callable[[SessionText], Iterator[str]]] = {"html": _html, "markdown": _markdown}


# --- context block -----------------------------------------------------------------------------------------------

_CUT = " […]"
_DECISIONS = "Decisions and requests, newest first"
_GOAL, _LAST = 0.3, 0.35
"""Shares of the block: of the goal, and of the last message of each speaker."""
_SHORT = 80
"""Maximum number of characters of a request that is shown with the question that it answers, such as `Yes`."""
_QUESTION = re.compile(r"(?<![^.!?\uff1f\u061f…\n])[^.!?\uff1f\u061f…\n]++[?\uff1f\u061f]")
_LONGEST_QUESTION = _LONGEST_DECISION = 200
_LONGEST_PLAN = 400
_PLAN = "ExitPlanMode"
"""Name of the tool whose result is the user's answer to a plan."""
_ANSWER = re.compile(r"^([^\n]{1,300}?[?\uff1f\u061f]) (\S[^\n]*)$", re.MULTILINE)
"""Matches an answer after its question, the form in which readers store answers to several questions."""
_SEARCHED = 2000
"""Characters at the end of an answer that are searched for its question."""


def session_context(session: SessionText, limit: int) -> str:
    """Return a block of at most `limit` characters (at least 500) with which another agent continues this session.

    Abandoned branches are left out. `session` must have been read with its secrets masked.
    """
    limit = max(MIN_CONTEXT, limit)
    fitting = [message for message in session.messages if not message.rewound]
    spoken = list(_spoken(fitting))
    decisions = list(_decisions(spoken))
    prompts = [decision for decision in decisions if not decision.is_plan]
    head = _context_head(session)
    remaining = limit - len(head)
    goal = prompts[0].text if prompts else ""
    request = prompts[-1].question + prompts[-1].text if prompts[1:] else ""
    answer = next((text for role, text in reversed(spoken) if role == "assistant"), "")
    most = int(remaining * _LAST / 2)
    sections = [
        ("Goal", cut_words(goal, int(remaining * _GOAL))),
        ("Last request", cut_words(request, most)),
        ("Last answer", cut_words(answer, most, end=True)),
    ]
    remaining -= sum(len(_section(*section)) for section in sections)
    files = _list(_files_named(fitting, session.summary.project), remaining // 2)
    remaining -= len(_section("Files", files))
    ends = prompts[0:1] + prompts[-1:]
    lines = (line for decision in reversed(decisions) if decision not in ends for line in decision.lines)
    listed = _list(lines, remaining - len(_section("x" * 30, "y")))
    remaining = max(0, remaining - len(_section(_DECISIONS, listed)))
    for index, text in ((2, answer), (1, request), (0, goal)):  # the characters left by the others
        title, excerpt = sections[index]
        longer = cut_words(text, len(excerpt) + remaining, end=index == 2)
        remaining -= len(longer) - len(excerpt)
        sections[index] = title, longer
    ordered = (sections[0], (_DECISIONS, listed), ("Files", files), *sections[1:])
    return (head + "".join(_section(*section) for section in ordered)).rstrip()[: limit - 1] + "\n"


class _Decision(NamedTuple):
    """A message of the user, or a plan that the user accepted."""

    number: int
    text: str
    question: str = ""
    """The question that a short message answers, and a dash."""
    is_plan: bool = False

    @property
    def lines(self) -> list[str]:
        """The decision as lines of a list: one for each answer to several questions."""
        answers = _ANSWER.findall(self.text)
        if self.is_plan:
            return [f"- Accepted plan: {_on_one_line(self.text.lstrip('# '), _LONGEST_PLAN)}"]
        if answers and len(answers) == self.text.count("\n") + 1:
            return [f"- {question} – {answer}" for question, answer in answers]
        return [f"- {self.question}{_on_one_line(self.text, _LONGEST_DECISION)}"] if opening_line(self.text) else []


def _on_one_line(text: str, most: int) -> str:
    return shortened(" ".join(text.split()), most)


def _spoken(messages: Iterable[SessionMessage]) -> Iterator[tuple[str, str]]:
    """Yield role and text of each message, and each plan once more with the role `plan` when the user accepts it."""
    plans: dict[int, str] = {}
    parts: list[tuple[str, int, str]] = []
    for message in messages:
        if message.side:
            continue
        if message.kind == "text":
            parts.append((message.role, message.ordinal, message.text.strip()))
            plans |= {message.call: message.text} if message.call else {}
        elif message.kind == "tool-result" and message.tool == _PLAN and not message.failed:
            parts.append(("plan", message.ordinal, plans.pop(message.call, "")))
    for (role, _), group in groupby(parts, key=lambda part: part[:2]):  # such as words and attached files
        yield role, "\n".join(text for _, _, text in group)


def _decisions(spoken: Iterable[tuple[str, str]]) -> Iterator[_Decision]:
    answer = ""
    for number, (role, text) in enumerate(spoken):
        if role == "assistant":
            answer = text
        elif role == "plan" and text:
            yield _Decision(number, text, is_plan=True)
        elif role == "user":
            short = len(text) <= _SHORT and not _ANSWER.match(text)
            questions = _QUESTION.findall(answer[-_SEARCHED:]) if short else ()
            question = f"{questions[-1][-_LONGEST_QUESTION:].strip(' -*>#')} – " if questions else ""
            yield _Decision(number, text, question)
            answer = ""


def _context_head(session: SessionText) -> str:
    summary = session.summary
    origin = (
        agent_label(summary.agent),
        f"in {summary.project}" if summary.project else "",
        f"on branch {summary.branch}" if summary.branch else "",
    )
    title = " ".join(summary.title.split()) or "Untitled session"
    return cut_words(f"Continue this session of {' '.join(filter(None, origin))}.\nTitle: {title}\n", MIN_CONTEXT // 2)


def _section(title: str, text: str) -> str:
    return f"\n## {title}\n{text}\n" if text else ""


def _list(lines: Iterable[str], remaining: int) -> str:
    """Return as many of these lines as fit into `remaining` characters."""
    fitting: list[str] = []
    for line in lines:
        remaining -= len(line) + 1
        if remaining < 0:
            break
        fitting.append(line)
    return "\n".join(fitting)


def cut_words(text: str, most: int, *, end: bool = False) -> str:
    """Return the beginning of a text, or with `end` its last part, with at most `most` characters."""
    if len(text) <= most:
        return text
    remaining = max(0, most - len(_CUT))
    return f"{_CUT.strip()} {text[len(text) - remaining :].lstrip()}" if end else f"{text[:remaining].rstrip()}{_CUT}"


# --- files ----------------------------------------------------------------------------------------------------------


def _files_named(messages: Sequence[SessionMessage], project: str) -> Iterator[str]:
    """Yield the files of tool calls as lines: changed files first, then read ones, the most recent first."""
    changed: dict[str, None] = {}
    read: dict[str, None] = {}
    for message in reversed(messages):
        for use in uses_of(message):
            if use.kind != "command" and (path := stored_path(use.value, project)):
                (read if use.kind == "read" else changed)[path] = None
    yield from (f"- {path} (changed)" for path in changed)
    yield from (f"- {path} (read)" for path in read if path not in changed)
