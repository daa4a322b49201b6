"""Declares Ollama's chat program for macOS and Windows: where its database is, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="ollama",
    label="Ollama",
    stores=((r"/Ollama(?:/db\.sqlite)?\Z", "ollama"),),
    folders=paths("~/Library/Application Support/Ollama/db.sqlite", "($LOCALAPPDATA|~/AppData/Local)/Ollama/db.sqlite"),
    files=(),
    databases=r"Ollama/db\.sqlite",
    formats=(".ollama:OLLAMA_DATABASE",),
    parser_version=2,
)
