"""Declares Continue, an extension of VS Code and of JetBrains' programs, and a command line; and PearAI, an editor that
contains a copy of it (checked against claude-code-history-viewer, August 2026).
"""

from engine.corpus.transcripts.agents import UUID, Agent, paths

_FILES = (rf"sessions/{UUID}\.json",)

AGENT = Agent(
    name="continue",
    label="Continue",
    stores=((r"/\.continue/sessions\Z", "continue"),),
    folders=paths("($CONTINUE_GLOBAL_DIR|~/.continue)/sessions"),
    files=_FILES,
    parser_version=2,
    formats=(".continue_dev:ContinueSession",),
)
PEAR = Agent(
    name="pearai",
    label="PearAI",
    stores=((r"/\.pearai/sessions\Z", "pearai"),),
    folders=paths("~/.pearai/sessions"),
    files=_FILES,
    parser_version=2,
    formats=(".continue_dev:ContinueSession",),
)
