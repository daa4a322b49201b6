"""Declares Command Code: where its sessions are, in which formats, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, beside, paths

"""Ending of the file with a session's title."""

AGENT = Agent(
    name="command-code",
    label="Command Code",
    parser_version=3,
    resume="command-code --resume {id}",
    stores=((r"/\.commandcode/projects\Z", "command-code"),),
    folders=paths("~/.commandcode/projects"),
    part_names=r"hooks-audit-.*\.jsonl|.*\.(?:checkpoints|prompts)\.jsonl",
    beside=(beside(".meta.json", folder="/.commandcode/projects/"),),
    formats=(".command_code:CommandCodeFormat",),
)
