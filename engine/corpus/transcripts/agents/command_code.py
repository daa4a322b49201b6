"""Declares Command Code: where its sessions are, in which formats, and how to resume one."""

import os

from engine.corpus.transcripts.agents import Agent, described_changed, described_owner, paths

_FOLDER = os.path.join(f"{os.sep}.commandcode", "projects", "")
_DESCRIPTION = ".meta.json"
"""Ending of the file with a session's title."""

AGENT = Agent(
    name="command-code",
    label="Command Code",
    parser_version=3,
    resume="command-code --resume {id}",
    stores=((r"/\.commandcode/projects\Z", "command-code"),),
    folders=paths("~/.commandcode/projects"),
    part_names=r"hooks-audit-.*\.jsonl|.*\.(?:checkpoints|prompts)\.jsonl",
    with_parts=(_FOLDER,),
    parts_changed=lambda path: described_changed(path, _FOLDER, _DESCRIPTION),
    part_of=lambda path: described_owner(path, _FOLDER, _DESCRIPTION),
    formats=(".command_code:CommandCodeFormat",),
)
