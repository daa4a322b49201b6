"""Declares Hermes Agent: where its sessions are, in which format, and how to resume one."""

import os
import re
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, Agent, in_databases, paths

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile

_DATABASE = f"{os.sep}state.db"
_NAME = re.compile(r"(?:session_)?(\d{8}_\w+)\.jsonl?")
"""Names of files with one session."""


def _copies(files: Iterable["FoundFile"], before: Set[str], cancel: "CancelToken | None") -> set[str]:
    """Return the session files that the database contains too."""
    single: dict[str, list[str]] = {}
    databases = []
    for file in files:
        if file.path.endswith(_DATABASE):
            databases.append(file.path)
        elif id_ := _NAME.fullmatch(os.path.basename(file.path)):
            single.setdefault(id_[1], []).append(file.name)
    if not single or not databases:
        return set()
    from engine.corpus.transcripts.parsers.hermes import HERMES_DATABASE

    return in_databases(single, databases, HERMES_DATABASE, before, cancel)


AGENT = Agent(
    name="hermes",
    label="Hermes Agent",
    parser_version=4,
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
    copies=_copies,
    with_copies=(_DATABASE,),
    formats=(".hermes_files:HermesLines", ".hermes_files:HermesDocument", ".hermes:HERMES_DATABASE"),
)
