"""Declares Amp: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="amp",
    parser_version=3,
    label="Amp",
    resume="amp threads continue {id}",
    stores=((r"/amp/threads\Z", "amp"),),
    folders=paths("data/amp/threads"),
    files=(r"T-[0-9a-f-]{36}\.json",),
    formats=(".amp:AmpThread",),
)
