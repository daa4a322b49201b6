"""Declares Jcode: where its sessions are, in which format, and how to resume one."""

import os

from engine.corpus.transcripts.agents import Agent, described_changed, described_owner, paths

_START, _END, _ADDED = f"{os.sep}session_", ".json", ".journal.jsonl"

AGENT = Agent(
    name="jcode",
    label="Jcode",
    resume="jcode --resume {id}",
    stores=((r"/\.jcode/sessions\Z", "jcode"),),
    folders=paths("($JCODE_HOME|~/.jcode)/sessions"),
    files=(r"session_(?:[a-z]+|recovery_rec)_\d{10,13}(?:_\w{1,20})?\.json",),
    part_names=r"session_[a-z_]+_\w+\.journal(?:\.corrupt)?\.jsonl",
    with_parts=(_START,),
    parts_changed=lambda path: described_changed(path, _START, _ADDED, _END),
    part_of=lambda path: described_owner(path, _START, _ADDED, _END),
    formats=(".jcode:JcodeSession",),
)
