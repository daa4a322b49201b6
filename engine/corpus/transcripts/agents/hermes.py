"""Declares Hermes Agent: where its sessions are, in which format, and how to resume one."""

import os
import re
from collections.abc import Iterable, Set
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import JSON_LINES, Agent, FoundFolders, in_databases
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.base.cancellation import CancelToken
    from engine.corpus.folder_walk import FoundFile
    from engine.corpus.transcripts.formats import Formats

_DATABASE = f"{os.sep}state.db"
_NAME = re.compile(r"(?:session_)?(\d{8}_\w+)\.jsonl?")
"""Names of files with one session."""


def _folders(machine: Machine) -> FoundFolders:
    for folder in (machine.folder_in("HERMES_HOME"), machine.below_home(".hermes")):
        if folder:
            yield "", os.path.join(folder, "state.db")
            yield "sessions", os.path.join(folder, "sessions")
            yield "profiles", os.path.join(folder, "profiles")


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


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.hermes import HERMES_DATABASE
    from engine.corpus.transcripts.parsers.hermes_files import HermesDocument, HermesLines

    return Formats(lines=(HermesLines(),), documents=(HermesDocument(),), databases=(HERMES_DATABASE,))


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
    folders=_folders,
    files=(JSON_LINES, r"session_[^/]*\.json"),
    databases=r"state\.db",
    copies=_copies,
    with_copies=(_DATABASE,),
    formats=_formats,
)
