"""Declares Warp, a terminal with an agent: where its conversations are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

_STATE = "($XDG_STATE_HOME|~/.local/state)"
_GROUP = "~/Library/Group Containers/2BBY89MBSN.dev.warp/Library/Application Support"

AGENT = Agent(
    name="warp",
    label="Warp",
    stores=(
        (r"/(?:warp-terminal|dev\.warp\.Warp-Stable|warp/Warp/data)(?:/warp\.sqlite)?\Z", "warp"),
        (r"/(?:warp-terminal-preview|dev\.warp\.Warp-Preview|WarpPreview/data)(?:/warp\.sqlite)?\Z", "warp-preview"),
    ),
    folders=paths(
        f"{_STATE}/warp-terminal/warp.sqlite",
        f"{_GROUP}/dev.warp.Warp-Stable/warp.sqlite",
        "~/AppData/Local/warp/Warp/data/warp.sqlite",
        f"Preview: {_STATE}/warp-terminal-preview/warp.sqlite",
        f"Preview: {_GROUP}/dev.warp.Warp-Preview/warp.sqlite",
        "Preview: ~/AppData/Local/warp/WarpPreview/data/warp.sqlite",
    ),
    files=(),
    databases=r"warp\.sqlite",
    formats=(".warp:WARP_DATABASE",),
    parser_version=3,
)
