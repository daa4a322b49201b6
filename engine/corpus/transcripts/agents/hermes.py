"""Declares Hermes Agent: where its sessions are, in which format, and how to resume one."""

import os
import re

from engine.corpus.transcripts.agents import JSON_LINES, Agent, in_databases, paths

_DATABASE = f"{os.sep}state.db"
_NAME = re.compile(r"(?:session_)?(\d{8}_\w+)\.jsonl?")
"""Names of files with one session."""


def _session(path: str) -> str:
    """Return the session of a file with one, which the database may contain too."""
    name = _NAME.fullmatch(os.path.basename(path))
    return name[1] if name else ""


AGENT = Agent(
    name="hermes",
    label="Hermes Agent",
    parser_version=5,
    resume="hermes --resume {id}",
    stores=(
        (r"/\.hermes(?:/state\.db)?\Z", "hermes"),
        (r"/\.hermes/sessions\Z", "hermes-sessions"),
        (r"/\.hermes/profiles\Z", "hermes-profiles"),
    ),
    folders=paths(
        "$HERMES_HOME/state.db",
        "sessions: $HERMES_HOME/sessions",
        "profiles: $HERMES_HOME/profiles",
        "~/.hermes/state.db",
        "sessions: ~/.hermes/sessions",
        "profiles: ~/.hermes/profiles",
    ),
    files=(JSON_LINES, r"session_[^/]*\.json"),
    databases=r"state\.db",
    copies=(in_databases(_session, _DATABASE, ".hermes:HERMES_DATABASE"),),
    with_copies=(_DATABASE,),
    formats=(".hermes_files:HermesLines", ".hermes_files:HermesDocument", ".hermes:HERMES_DATABASE"),
)
