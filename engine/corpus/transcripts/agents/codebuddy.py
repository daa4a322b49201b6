"""Declares CodeBuddy Code, a command line of Tencent's, and WorkBuddy, a desktop program with the same transcripts."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="codebuddy",
    label="CodeBuddy",
    resume="codebuddy --resume {id}",
    stores=((r"/\.codebuddy/projects\Z", "codebuddy"),),
    folders=paths("($CODEBUDDY_CONFIG_DIR|~/.codebuddy)/projects"),
    formats=(".codebuddy:CodeBuddyFormat",),
)
WORKBUDDY = Agent(
    name="workbuddy",
    label="WorkBuddy",
    stores=((r"/\.workbuddy/projects\Z", "workbuddy"),),
    folders=paths("~/.workbuddy/projects"),
    formats=(".codebuddy:CodeBuddyFormat",),
)
