"""Declares Zencoder, an extension of editors: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="zencoder",
    label="Zencoder",
    parser_version=2,
    stores=((r"/\.zencoder/sessions\Z", "zencoder"),),
    folders=paths("~/.zencoder/sessions"),
    formats=(".zencoder:ZencoderFormat",),
)
