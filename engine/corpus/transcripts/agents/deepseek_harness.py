"""Declares DeepSeek Harness: where its sessions are, and in which format.

They may be compressed from the beginning. A newer version of the program copies a session into a file of its own format
when it reads it, and doesn't change the older file.
"""

import os

from engine.corpus.transcripts.agents import Agent, by_pattern, lower_ranked, paths

AGENT = Agent(
    name="deepseek-harness",
    label="DeepSeek Harness",
    parser_version=2,
    stores=((r"/\.dsh/sessions\Z", "deepseek-harness"),),
    folders=paths("($DSH_HOME|~/.dsh)/sessions"),
    files=(r"session(?:\.v\d+)?\.jsonl(?:\.zstd)?",),
    copies=(lower_ranked(by_pattern(r"(.*)/session(?:\.v(?P<rank>\d{1,9}))?\.jsonl(?:\.zstd)?")),),
    with_copies=(f"{os.sep}session.v",),
    formats=(".deepseek_harness:HarnessFormat",),
)
