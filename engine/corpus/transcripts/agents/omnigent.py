"""Declares Omnigent, which runs other agents: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="omnigent",
    label="Omnigent",
    stores=((r"/\.omnigent(?:/chat\.db)?\Z", "omnigent"),),
    folders=paths("($OMNIGENT_DATA_DIR|~/.omnigent)/chat.db"),
    files=(),
    databases=r"chat\.db",
    formats=(".omnigent:OMNIGENT_DATABASE",),
)
