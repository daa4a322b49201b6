"""Finds text that Codex adds to the user's messages, by its beginning and end, and sorts a message by author.

Written from its public source, as `parsers.codex`.
"""

import html
from collections.abc import Sequence
from typing import NamedTuple

from engine.corpus.transcripts.json_values import between, image_mark, string

# (beginning, end): both must match, since a user may well write about one of them.
_INSTRUCTIONS = (
    ("# AGENTS.md instructions", "</INSTRUCTIONS>"),
    *(
        (f"<{tag}", f"</{tag}>")
        for tag in """environment_context user_instructions skill skills_instructions plugins_instructions
        recommended_plugins apps_instructions turn_aborted collaboration_mode multi_agent_mode personality_spec
        model_switch goal_context codex_internal_context realtime_conversation js_repl_instructions
        child_agents_instructions subagents""".split()
    ),
    ("<permissions instructions>", "</permissions instructions>"),
)
_NOTICES = (
    "<subagent_notification>",
    "<hook_prompt",
    "<user_action>",
    "Another language model started to solve this problem and produced a summary of its thinking process.",
    "Here is a list of plugins that are available but not installed.",
    "Warning: The maximum number of unified exec processes you can keep open is",
    "Warning: Your account was flagged for potentially high-risk cyber activity",
    "Warning: apply_patch was requested via ",
)
_EDITOR, _REQUEST = "# Context from my IDE setup:", "## My request for Codex:"
_FOLDER = "Current working directory: "


class Speech(NamedTuple):
    """A message with the user's role, sorted by author."""

    words: str
    """The user's words."""
    pictures: list[str]
    """Placeholders of images."""
    notices: list[str]
    """Messages of the program to the agent."""
    folder: str
    """The working folder, if the program reports it; else empty."""
    command: str | None
    """The user's shell command, if the message is one."""
    result: str


def speech_of(blocks: Sequence[object]) -> Speech:
    """Sort the parts of a message, strings or blocks, by author."""
    words: list[str] = []
    notices: list[str] = []
    pictures, folder, command, result = list[str](), "", None, ""
    for block in blocks:
        text = string(block) or string(block, "text")
        start = text[:200].lstrip()
        if "image" in string(block, "type"):
            pictures.append(image_mark(block))
        elif start.startswith("<user_shell_command>"):
            tags = ("command", "result")
            command, result = (between(text, f"<{tag}>", f"</{tag}>").strip("\n") for tag in tags)
        elif _is_instruction(text):
            folder = folder or between(text, "<cwd>", "</cwd>") or between(text, _FOLDER, "\n")
        elif start.startswith(_NOTICES):
            notices.append(text)
        elif start.startswith("<realtime_delegation>"):
            words.append(html.unescape(between(text, "<input>", "</input>")))  # its transcript is in other lines
        elif not start.startswith("<image name=") and text.strip() != "</image>":
            words.append(_request(text))
    return Speech("\n".join(filter(None, words)), pictures, notices, folder, command, result)


def _is_instruction(text: str) -> bool:
    start, end = text[:200].lstrip(), text[-200:].rstrip()
    return any(start.startswith(opening) for opening, _ in _INSTRUCTIONS) and any(
        end.endswith(closing) for _, closing in _INSTRUCTIONS
    )


def _request(text: str) -> str:
    """Return the user's request, without an editor's list of open files."""
    if not text[:200].lstrip().startswith(_EDITOR):
        return text
    _, found, request = text.rpartition(_REQUEST)
    return request.strip() if found else text
