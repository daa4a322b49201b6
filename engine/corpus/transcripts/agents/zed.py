"""Declares Zed's agent panel: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="zed",
    label="Zed",
    parser_version=5,
    stores=((r"/[Zz]ed/threads(?:/threads\.db)?\Z", "zed"),),
    folders=paths(
        "($XDG_DATA_HOME|~/.local/share)/zed/threads/threads.db",
        "~/.var/app/dev.zed.Zed/data/zed/threads/threads.db",
        "~/Library/Application Support/Zed/threads/threads.db",
        "($LOCALAPPDATA|~/AppData/Local)/Zed/threads/threads.db",
    ),
    files=(),
    databases=r"threads\.db",
    formats=(".zed:ZED_DATABASE",),
)
