"""Declares Jan, a program that chats with local models. Its name here differs from that of the month."""

from engine.corpus.transcripts.agents import Agent, beside, paths

AGENT = Agent(
    name="jan-ai",
    label="Jan AI",
    stores=((r"/[Jj]an/(?:data/)?threads\Z", "jan"),),
    folders=paths(
        "$JAN_DATA_FOLDER/threads",
        "data/Jan/data/threads",
        "programs/Jan/data/threads",
        "before 2025: ~/jan/threads",
    ),
    beside=(beside("/thread.json", "/messages.jsonl"),),
    parser_version=2,
    formats=(".jan:JanFormat",),
)
