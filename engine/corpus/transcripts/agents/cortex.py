"""Declares Cortex Code, Snowflake's agent: where its sessions are, and in which formats.

A long session is split: its messages are in a file of their own next to that of the session, which then describes them.
"""

import os

from engine.corpus.transcripts.agents import JSON_LINES, UUID, Agent, beside, by_pattern, lower_ranked, paths

_FOLDER = os.path.join(f"{os.sep}cortex", "conversations", "")
_LINES, _SESSION = ".history.jsonl", ".json"
_PATH = "(.*/cortex/conversations/.*"
AGENT = Agent(
    name="cortex",
    label="Cortex Code",
    resume="cortex -r {id}",
    stores=((r"/\.snowflake/cortex/conversations\Z", "cortex"),),
    folders=paths("~/.snowflake/cortex/conversations"),
    files=(JSON_LINES, rf"(?:conversations|[0-9a-f]{{32}})/{UUID}\.json"),
    beside=(beside(_SESSION, _LINES, _FOLDER),),
    copies=(
        lower_ranked(
            by_pattern(rf"{_PATH}{UUID})\.back\.[^/]*\.json", rf"{_PATH})\.json", rf"{_PATH})\.history\.jsonl")
        ),
    ),
    with_copies=(_FOLDER,),
    formats=(".cortex:CortexHistory", ".cortex:CortexSession"),
)
