"""Declares llm, a command line for language models, which logs all conversations in one database."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="llm",
    label="llm",
    resume="llm chat --cid {id}",
    stores=((r"/io\.datasette\.llm(?:/logs\.db)?\Z", "llm"),),
    folders=paths("$LLM_USER_PATH/logs.db", "programs/io.datasette.llm/logs.db"),
    files=(),
    databases=r"logs\.db",
    formats=(".llm:LLM_DATABASE",),
)
