"""What Codex's tools were given, and what they gave back, as one reads it."""

import shlex
from collections.abc import Mapping
from typing import Any

from engine.corpus.transcripts.json_values import content, mapping, tool_input
from engine.corpus.transcripts.jsonl import parse_line


def tool_given(given: object, *, structured: bool) -> str:
    """The input of a tool; a command given as a list of words as one would type it."""
    if structured and isinstance(given, str):
        parsed = parse_line(given.encode(errors="replace"))
        given = given if parsed is None else parsed
    command = mapping(given).get("command")
    if isinstance(command, list) and command and all(isinstance(word, str) for word in command):
        if len(command) == 3 and command[1] in {"-c", "-lc"}:
            return str(command[2])
        return shlex.join(command)
    return tool_input(given)


def tool_result(item: Mapping[str, Any]) -> str:
    """What a tool gave back: text, blocks, or the first version's text with the exit code beside it."""
    if "output" not in item:
        return tool_input(item.get("tools"))
    output = item["output"]
    if isinstance(output, str) and output.startswith('{"output":'):
        output = (parse_line(output.encode(errors="replace")) or {}).get("output", output)
    if isinstance(output, dict):
        output = output["content"] if "content" in output else tool_input(output)
    return content(output)
