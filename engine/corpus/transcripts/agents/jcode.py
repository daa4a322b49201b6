"""Declares Jcode: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, beside, paths

AGENT = Agent(
    name="jcode",
    label="Jcode",
    resume="jcode --resume {id}",
    stores=((r"/\.jcode/sessions\Z", "jcode"),),
    folders=paths("($JCODE_HOME|~/.jcode)/sessions"),
    files=(r"session_(?:[a-z]+|recovery_rec)_\d{10,13}(?:_\w{1,20})?\.json",),
    part_names=r"session_[a-z_]+_\w+\.journal(?:\.corrupt)?\.jsonl",
    beside=(beside(".journal.jsonl", ".json", "/session_"),),
    formats=(".jcode:JcodeSession",),
)
