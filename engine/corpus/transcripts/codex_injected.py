"""What Codex writes in the role of the user besides the person's words: found by its tags, left out or named."""

from collections.abc import Sequence
from typing import NamedTuple

from engine.corpus.transcripts.json_values import between, mapping, string

# (how it begins, how it ends): both must be there, since a person may well write about one of them.
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
)
_EDITOR, _REQUEST = "# Context from my IDE setup:", "## My request for Codex:"
_FOLDER = "Current working directory: "


class Speech(NamedTuple):
    """A message of the user's role, taken apart."""

    words: str
    """The person's."""
    pictures: int
    notices: list[str]
    """What the program tells the agent."""
    folder: str
    """The working folder, where the program tells it."""
    command: str | None
    """What the person ran in a shell, if this is such a run."""
    result: str


def speech_of(blocks: Sequence[object]) -> Speech:
    """The parts of a message, strings or blocks, sorted by who wrote them."""
    words: list[str] = []
    notices: list[str] = []
    pictures, folder, command, result = 0, "", None, ""
    for block in blocks:
        text = string(block) or string(mapping(block).get("text"))
        start = text[:200].lstrip()
        if "image" in string(mapping(block).get("type")):
            pictures += 1
        elif start.startswith("<user_shell_command>"):
            command, result = _run(text, "command"), _run(text, "result")
        elif _is_instruction(text):
            folder = folder or between(text, "<cwd>", "</cwd>") or between(text, _FOLDER, "\n")
        elif start.startswith(_NOTICES):
            notices.append(text)
        elif not start.startswith("<image name=") and text.strip() != "</image>":
            words.append(_request(text))
    return Speech("\n".join(filter(None, words)), pictures, notices, folder, command, result)


def _is_instruction(text: str) -> bool:
    start, end = text[:200].lstrip(), text[-200:].rstrip()
    return any(start.startswith(opening) for opening, _ in _INSTRUCTIONS) and any(
        end.endswith(closing) for _, closing in _INSTRUCTIONS
    )


def _request(text: str) -> str:
    """What the person asked, without what an editor told about its open files."""
    if not text[:200].lstrip().startswith(_EDITOR):
        return text
    _, found, request = text.rpartition(_REQUEST)
    return request.strip() if found else text


def _run(text: str, tag: str) -> str:
    return between(text, f"<{tag}>", f"</{tag}>").strip("\n")
