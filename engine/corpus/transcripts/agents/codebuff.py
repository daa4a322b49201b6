"""Declares Codebuff and Freebuff, a free version of it with the same sessions."""

import re

from engine.corpus.transcripts.agents import Agent, paths

_MESSAGES = "chat-messages.json"

AGENT = Agent(
    name="codebuff",
    label="Codebuff",
    resume="codebuff --continue {id}",
    stores=((r"/\.config/manicode/projects\Z", "codebuff"),),
    folders=paths("~/.config/manicode/projects"),
    files=(re.escape(_MESSAGES),),
    neighbour_parts=(_MESSAGES, r"log\.jsonl|(?:run-state|chat-meta)\.json"),
    parser_version=2,
    formats=(".codebuff:CodebuffChat",),
)
