"""Declares Devin's command line: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="devin",
    label="Devin",
    stores=((r"/devin/cli(?:/sessions\.db)?\Z", "devin"),),
    folders=paths(
        "$CHISEL_SESSION_DB",
        "data/devin/cli/sessions.db",
        "~/Library/Application Support/devin/cli/sessions.db",
        "($APPDATA|~/AppData/Roaming)/devin/cli/sessions.db",
    ),
    files=(),
    databases=r"cli/sessions\.db",
    formats=(".devin:DEVIN_DATABASE",),
)
