"""Declares QwenPaw, until 2026 CoPaw, a personal assistant: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="qwenpaw",
    label="QwenPaw",
    stores=((r"/\.(?:qwen|co)paw/workspaces\Z", "qwenpaw"),),
    folders=paths(
        "$QWENPAW_WORKING_DIR/workspaces",
        "~/.qwenpaw/workspaces",
        "copaw: $COPAW_WORKING_DIR/workspaces",
        "copaw: ~/.copaw/workspaces",
    ),
    files=(r"(?:sessions|console)/[^/]+_[^/]+\.json",),
    formats=(".qwenpaw:QwenPawSession",),
)
