"""Declares Auggie, Augment's command line: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import UUID, Agent, paths

AGENT = Agent(
    name="augment",
    label="Auggie",
    resume="auggie --resume {id}",
    stores=((r"/\.augment/sessions\Z", "augment"),),
    folders=paths("~/.augment/sessions"),
    files=(rf"sessions/{UUID}\.json",),
    formats=(".augment:AuggieSession",),
    parser_version=2,
)
