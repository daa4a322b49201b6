"""Finds speech in tool calls and wrappers of Claude Code: questions and answers, plans, messages of teammates.

Written from public descriptions of versions 2.0 to 2.1 (2026). `AskUserQuestion` has `questions`, each with `question`
and `options` of `label` and `description`; its result is a sentence, `"question"="answer"` in it, and `toolUseResult`
has `answers` by question. `ExitPlanMode` has the `plan` in Markdown. A message of a teammate is wrapped in
`<teammate-message teammate_id="…" color="…" summary="…">`, perhaps after a sentence, several in one text; a message of
another session in `<cross-session-message from="…" from-name="…">`, and one of a sub-agent in
`<agent-message from="…">`.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.corpus.transcripts.formats import Part
from engine.corpus.transcripts.json_values import content, items, mapping, string
from engine.corpus.transcripts.jsonl import parse_line

QUESTION, PLAN = "AskUserQuestion", "ExitPlanMode"
_ANSWERED = ("User has answered your questions:", "Your questions have been answered:")
_CLOSING = "You can now continue with"
_PAIR = re.compile(r'"([^"]*)"="([^"]*)"')
_MAX_SEARCHED = 64 * 1024
_WRAPPED = "-message"
_WRAPPERS = ("<teammate", "<cross-session", "<agent")
_OPENINGS = (*_WRAPPERS, "Another Claude session sent a message:")
"""Beginnings of texts with messages of other agents; a notice of another kind may quote one."""
_NAME, _SENDER = re.compile(r'\bfrom-name="([^"]+)"'), re.compile(r'\b(?:teammate_id|from)="([^"]+)"')
_PROGRAM_MESSAGE = re.compile(r'\{\s*"type"\s*:')
"""Matches the beginning of a message that teammates' programs exchange, such as a notice that one is idle."""
_LONGEST_TAG = 4096


def call_text(tool: str, arguments: object) -> str:
    """Return the text of a tool call that is addressed to the user, as Markdown; empty for any other call."""
    if tool == QUESTION:
        return "\n\n".join(filter(None, map(_question, items(arguments, "questions"))))
    return string(arguments, "plan") if tool == PLAN else ""


def _question(value: object) -> str:
    question = string(value, "question")
    if not question:
        return ""
    options = (_option(mapping(option)) for option in items(value, "options"))
    return "\n".join((question, *filter(None, options)))


def _option(option: Mapping[str, Any]) -> str:
    label, description = string(option, "label"), string(option, "description")
    if not label:
        return ""
    return f"- {label}: {description}" if description else f"- {label}"


def error_text(text: str) -> str:
    """Return the sentence about an error of the API, with the error's message in place of its JSON."""
    begin = text.find("{")
    error = parse_line(text[begin:].encode("utf-8", "surrogatepass")) if begin >= 0 else None
    message = string((error or {}).get("error"), "message")
    return f"{text[:begin]}{message}" if message else text


def answers(result: object, detail: object) -> str:
    """Return the user's answers to questions, each after its question if there are several; empty if there are none."""
    stated_answers = mapping(detail, "answers")
    by_question = {question: content(answer) for question, answer in stated_answers.items() if content(answer)}
    text = content(result)[:_MAX_SEARCHED].strip()
    if not by_question and text.startswith(_ANSWERED):
        stated = text.partition(":")[2].partition(_CLOSING)[0].strip().removesuffix(".")
        by_question = dict(_PAIR.findall(stated)) or {"": stated}
    if len(by_question) == 1:
        return next(iter(by_question.values()))
    return "\n".join(f"{question} {answer}" for question, answer in by_question.items())


def agents_messages(text: str) -> Iterator[tuple[str, str]]:
    """Yield sender and text of each message of another agent in a text: a teammate, a session or a sub-agent."""
    position = 0
    while (at := text.find(_WRAPPED, position)) >= 0:
        position = at + len(_WRAPPED)
        wrapper = next((tag for tag in _WRAPPERS if at >= len(tag) and text.startswith(tag, at - len(tag))), "")
        opened = text.find(">", at, at + _LONGEST_TAG) if wrapper else -1
        attributes = text[position:opened] if opened >= 0 else ""
        if sender := _NAME.search(attributes) or _SENDER.search(attributes):
            end = text.find(f"</{wrapper[1:]}{_WRAPPED}>", opened)
            position = end if end >= 0 else len(text)
            yield sender[1], text[opened + 1 : position].strip()


def notices(text: str) -> list[Part]:
    """Return the messages of other agents in a text that the user didn't write; without any, the program's message."""
    messages = [
        Part("system" if _PROGRAM_MESSAGE.match(message) else "assistant", "text", f"{sender}: {message}")
        for sender, message in (agents_messages(text) if text[:200].lstrip().startswith(_OPENINGS) else ())
    ]
    return messages or [Part("system", "text", text)]
