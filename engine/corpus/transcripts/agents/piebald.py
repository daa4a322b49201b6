"""Declares Piebald: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="piebald",
    label="Piebald",
    stores=((r"/piebald(?:/app\.db)?\Z", "piebald"),),
    folders=paths(
        "($XDG_DATA_HOME|~/.local/share)/piebald/app.db",
        "~/Library/Application Support/piebald/app.db",
        "($APPDATA|~/AppData/Roaming)/piebald/app.db",
    ),
    files=(),
    databases=r"piebald/app\.db",
    formats=(".piebald:PIEBALD_DATABASE",),
)
