"""Declares gptme: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, beside, paths

AGENT = Agent(
    name="gptme",
    label="gptme",
    resume="gptme --name {id}",
    stores=((r"/gptme/logs\Z", "gptme"),),
    folders=paths("$GPTME_LOGS_HOME", "data/gptme/logs", "~/Library/Application Support/gptme/logs"),
    neighbour_parts=("conversation.jsonl", "branches|views"),  # states before changes, and shortened ones
    beside=(beside("/config.toml", "/conversation.jsonl"),),
    formats=(".gptme:GptmeFormat",),
)
