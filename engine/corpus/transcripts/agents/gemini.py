"""Declares Gemini CLI: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import JSON_LINES, Agent, paths

AGENT = Agent(
    name="gemini",
    label="Gemini",
    parser_version=3,
    stores=((r"/\.gemini/tmp\Z", "gemini"),),
    folders=paths("$GEMINI_CLI_HOME/.gemini/tmp", "~/.gemini/tmp"),
    files=(JSON_LINES, r"(?:session|checkpoint)-[^/]*\.json"),
    formats=(".gemini:GeminiLines", ".gemini:GeminiDocument"),
    resume="gemini --resume {id}",
    resumed=r"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}",  # not the name of a checkpoint
)
