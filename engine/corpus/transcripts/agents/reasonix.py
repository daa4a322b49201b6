"""Declares Reasonix: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, beside, paths

"""Ending of the file with a session's title, folder and times."""

AGENT = Agent(
    name="reasonix",
    label="Reasonix",
    stores=((r"/\.?reasonix/sessions\Z", "reasonix"), (r"/\.?reasonix/(archive|projects)\Z", r"reasonix-\1")),
    folders=paths(
        "~/.reasonix/sessions",
        "projects: ~/.reasonix/projects",
        "archive: ~/.reasonix/archive",
        "($APPDATA|~/AppData/Roaming)/reasonix/sessions",
        "projects: ($APPDATA|~/AppData/Roaming)/reasonix/projects",
        "archive: ($APPDATA|~/AppData/Roaming)/reasonix/archive",
    ),
    beside=(beside(".jsonl.meta", folder="reasonix/"),),
    formats=(".reasonix:ReasonixFormat",),
)
