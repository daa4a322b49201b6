"""Declares gptme: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, paths, sidecar_changed, sidecar_owner

AGENT = Agent(
    name="gptme",
    label="gptme",
    resume="gptme --name {id}",
    stores=((r"/gptme/logs\Z", "gptme"),),
    folders=paths("$GPTME_LOGS_HOME", "data/gptme/logs", "~/Library/Application Support/gptme/logs"),
    neighbour_parts=("conversation.jsonl", "branches|views"),  # states before changes, and shortened ones
    with_parts=("conversation.jsonl",),
    parts_changed=lambda path: sidecar_changed(path, "conversation.jsonl", "config.toml"),
    part_of=lambda path: sidecar_owner(path, "conversation.jsonl", "config.toml"),
    formats=(".gptme:GptmeFormat",),
)
