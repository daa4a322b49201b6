"""Declares iFlow CLI: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="iflow",
    label="iFlow",
    resume="iflow --resume={id}",
    stores=((r"/\.iflow/projects\Z", "iflow"),),
    folders=paths("~/.iflow/projects"),
    formats=(".iflow:IflowFormat",),
)
