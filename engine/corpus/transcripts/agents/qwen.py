"""Declares Qwen Code: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import JSON_LINES, Agent, paths

AGENT = Agent(
    name="qwen",
    label="Qwen Code",
    parser_version=4,
    resume="qwen --resume {id}",
    stores=((r"/\.qwen/projects\Z", "qwen"), (r"/\.qwen/tmp\Z", "qwen-tmp")),
    folders=paths(
        "$QWEN_RUNTIME_DIR/projects",
        "tmp: $QWEN_RUNTIME_DIR/tmp",
        "$QWEN_HOME/projects",
        "tmp: $QWEN_HOME/tmp",
        "~/.qwen/projects",
        "tmp: ~/.qwen/tmp",
    ),
    files=(JSON_LINES, r"(?:session|checkpoint)-[^/]*\.json"),
    part_names=r"[0-9a-fA-F-]{32,36}\.ledger\.jsonl",
    formats=(".qwen:QwenFormat", ".qwen:QwenDocument"),
)
