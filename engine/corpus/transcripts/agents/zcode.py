"""Declares ZCode: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="zcode",
    label="ZCode",
    stores=((r"/\.zcode/cli/db(?:/db\.sqlite)?\Z", "zcode"),),
    folders=paths("$ZCODE_SESSION_DB_PATH", "$ZCODE_SESSION_DB", "~/.zcode/cli/db/db.sqlite"),
    files=(),
    databases=r"db/db\.sqlite",
    formats=(".zcode:ZCODE_DATABASE",),
)
