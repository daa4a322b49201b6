"""Declares Shelley, the agent of exe.dev: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="shelley",
    label="Shelley",
    stores=((r"/shelley(?:/shelley\.db)?\Z", "shelley"),),
    folders=paths("config/shelley/shelley.db"),
    files=(),
    databases=r"shelley\.db",
    formats=(".shelley:SHELLEY_DATABASE",),
)
