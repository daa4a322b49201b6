"""Declares GitHub Copilot CLI: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import JSON_LINES, Agent, beside, paths

AGENT = Agent(
    name="copilot-cli",
    label="Copilot CLI",
    parser_version=4,
    resume="copilot --resume={id}",
    stores=(
        (r"/\.copilot/session-state\Z", "copilot"),
        (r"/\.copilot/history-session-state\Z", "copilot-history"),
        (r"/\.copilot/session-store\.db\Z", "copilot-store"),
    ),
    folders=paths(
        "$COPILOT_HOME/session-state",
        "history: $COPILOT_HOME/history-session-state",
        "store: $COPILOT_HOME/session-store.db",
        "~/.copilot/session-state",
        "history: ~/.copilot/history-session-state",
        "store: ~/.copilot/session-store.db",
    ),
    files=(JSON_LINES, r"session_[^/]*\.json"),
    databases=r"session-store\.db",
    beside=(beside("/workspace.yaml", "/events.jsonl"),),
    formats=(".copilot_cli:CopilotFormat", ".copilot_cli:CopilotDocument", ".copilot_store:COPILOT_STORE"),
)
