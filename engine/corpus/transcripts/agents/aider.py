"""Declares Aider, which writes its sessions into the folders of projects, which the user lists."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="aider",
    label="Aider",
    stores=((r"/\.aider\.chat\.history\.md\Z", "aider"),),
    folders=paths("$AIDER_CHAT_HISTORY_FILE", "~/.aider.chat.history.md"),
    files=(r".*\.aider\.chat\.history\.md",),
    formats=(".aider:AiderHistory",),
)
