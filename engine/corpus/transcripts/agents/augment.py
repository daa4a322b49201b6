"""Declares Auggie, Augment's command line: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="augment",
    label="Auggie",
    resume="auggie --resume {id}",
    stores=((r"/\.augment/sessions\Z", "augment"),),
    folders=paths("~/.augment/sessions"),
    files=(r"sessions/[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\.json",),
    formats=(".augment:AuggieSession",),
    parser_version=2,
)
