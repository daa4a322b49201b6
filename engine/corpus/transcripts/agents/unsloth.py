"""Declares Unsloth Studio, which chats with local models: where its database is, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="unsloth-studio",
    label="Unsloth Studio",
    stores=((r"/\.unsloth/studio(?:/studio\.db)?\Z", "unsloth-studio"),),
    folders=paths("($UNSLOTH_STUDIO_HOME|$STUDIO_HOME)/studio.db", "~/.unsloth/studio/studio.db"),
    files=(),
    databases=r"[^/]*/studio\.db",
    formats=(".unsloth:UNSLOTH_DATABASE",),
)
