"""Declares Antigravity and its command line. A shorter transcript next to the full one is a copy."""

from engine.corpus.transcripts.agents import Agent, by_pattern, lower_ranked, paths

AGENT = Agent(
    name="antigravity",
    label="Antigravity",
    resume="agy --conversation {id}",
    stores=((r"/\.gemini/antigravity(?:-cli)?/brain\Z", "antigravity"),),
    folders=paths("~/.gemini/antigravity-cli/brain", "~/.gemini/antigravity/brain"),
    copies=(lower_ranked(by_pattern(r"(.*)/transcript\.jsonl", r"(.*)/transcript_full\.jsonl")),),
    with_copies=("transcript",),
    formats=(".antigravity:AntigravityFormat",),
)
