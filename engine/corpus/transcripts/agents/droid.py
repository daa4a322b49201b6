"""Declares Factory's Droid: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, beside, paths

AGENT = Agent(
    name="droid",
    label="Droid",
    parser_version=4,
    resume="droid --resume {id}",
    stores=((r"/\.factory/sessions\Z", "droid"), (r"/\.factory/projects\Z", "droid-projects")),
    folders=paths("~/.factory/sessions", "projects: ~/.factory/projects"),
    beside=(beside(".settings.json", folder="/.factory/"),),  # the model and the tokens
    formats=(".droid:DroidFormat", ".droid:DroidStream"),
)
