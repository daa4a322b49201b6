"""Declares Poolside's command line: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="poolside",
    label="Poolside",
    parser_version=4,
    stores=((r"/poolside/trajectories\Z", "poolside"),),
    folders=paths(
        "($XDG_STATE_HOME|~/.local/state)/poolside/trajectories",
        "~/Library/Application Support/poolside/trajectories",
        "($APPDATA|~/AppData/Roaming)/poolside/trajectories",
    ),
    files=(r"trajectory-[^/]*\.ndjson",),
    formats=(".poolside:PoolsideFormat",),
)
