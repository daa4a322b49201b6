"""Declares Goose: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="goose",
    label="Goose",
    parser_version=6,
    resume="goose session --resume --session-id {id}",
    stores=((r"/goose(?:/data)?/sessions(?:/sessions\.db)?\Z", "goose"),),
    folders=paths(
        "$GOOSE_PATH_ROOT/data/sessions/sessions.db",
        "($XDG_DATA_HOME|~/.local/share)/goose/sessions/sessions.db",
        "~/Library/Application Support/Block/goose/sessions/sessions.db",
        "($APPDATA|~/AppData/Roaming)/Block/goose/data/sessions/sessions.db",
    ),
    files=(),
    databases=r"sessions\.db",
    formats=(".goose:GOOSE_DATABASE",),
)
