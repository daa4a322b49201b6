"""Declares Octofriend: where its database is, in which format, and how to resume a session."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="octofriend",
    label="Octofriend",
    resume="octo --resume {id}",
    stores=((r"/octofriend(?:/sqlite\.db)?\Z", "octofriend"),),
    folders=paths("~/.local/share/octofriend/sqlite.db"),  # on all systems
    files=(),
    databases=r"octofriend/sqlite\.db",
    parser_version=2,
    formats=(".octofriend:OCTOFRIEND_DATABASE",),
)
