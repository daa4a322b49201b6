"""Declares Cherry Studio 2, a desktop program with chats: where its database is, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="cherry-studio",
    label="Cherry Studio",
    stores=((r"/CherryStudio/Data(?:/cherrystudio\.sqlite)?\Z", "cherry-studio"),),
    folders=paths("programs/CherryStudio/Data/cherrystudio.sqlite"),
    files=(),
    databases=r"cherrystudio\.sqlite",
    parser_version=2,
    formats=(".cherry_studio:CHERRY_DATABASE",),
)
