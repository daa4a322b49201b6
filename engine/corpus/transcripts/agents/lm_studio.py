"""Declares LM Studio, a program that chats with local models."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="lm-studio",
    label="LM Studio",
    stores=((r"/\.(?:lmstudio|cache/lm-studio)/conversations\Z", "lm-studio"),),
    folders=paths("~/.lmstudio/conversations", "before 2025: ~/.cache/lm-studio/conversations"),
    files=(r".*\.conversation\.json",),
    formats=(".lm_studio:LmStudioChat",),
    parser_version=2,
)
