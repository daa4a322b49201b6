"""Declares ForgeCode: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="forge",
    label="ForgeCode",
    stores=((r"/\.?forge/\.forge\.db\Z", "forge"),),
    folders=paths("$FORGE_CONFIG/.forge.db", "~/.forge/.forge.db", "~/forge/.forge.db"),
    files=(),
    databases=r"\.forge\.db",
    parser_version=3,
    formats=(".forge:FORGE_DATABASE",),
)
