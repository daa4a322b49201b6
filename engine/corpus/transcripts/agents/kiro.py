"""Declares Kiro, an editor, and its command line, formerly that of Amazon Q. Sessions of the latter were in a database,
and are files since 2026, next to those of the editor. Before version 1.0, the editor stored them in its own folder.
"""

import os
import re

from engine.corpus.transcripts.agents import JSON_LINES, UUID, Agent, FoundFolders, beside, by_pattern, lower_ranked
from engine.corpus.transcripts.agents.copilot_chat import user_folders
from engine.corpus.user_environment import Machine

_EVENTS, _DESCRIPTION = "messages.jsonl", "session.json"
"""Transcript of a session that has its own folder, and the file next to it with title and project."""
_DOCUMENTS = "workspace-sessions"
_DOCUMENT = rf"(?:L[0-3]|[Q-Z]\w[op])[\w=+-]+/{UUID}\.json"
"""Pattern of the editor's earlier sessions: the folder's name is the base64 of an absolute path of Unix or Windows."""


def _folders(machine: Machine) -> FoundFolders:
    kiro = machine.folder_in("KIRO_HOME") or machine.below_home(".kiro")
    yield "", os.path.join(kiro, "sessions")
    for _, folder in user_folders(machine, ("Kiro",)):
        yield "before 1.0", os.path.join(folder, "globalStorage", "kiro.kiroagent", _DOCUMENTS)
    homes = (*machine.data_homes(), machine.below_home("Library", "Application Support"))
    for program, name in (("kiro-cli", "database"), ("amazon-q", "Amazon Q")):
        for home in homes:
            yield name, os.path.join(home, program, "data.sqlite3")


AGENT = Agent(
    name="kiro",
    label="Kiro",
    resume="kiro-cli chat --resume-id {id}",
    resumed="(?!sess_).+",  # for others it isn't known
    stores=(
        (r"/\.kiro/sessions(?:/cli)?\Z", "kiro"),
        (rf"/kiro\.kiroagent/{_DOCUMENTS}\Z", "kiro-editor"),
        (r"/(kiro-cli|amazon-q)/data\.sqlite3\Z", r"\1"),
    ),
    folders=_folders,
    files=(JSON_LINES, _DOCUMENT),
    copies=(lower_ranked(by_pattern(rf".*/{_DOCUMENTS}/.*/([^/]*)\.json", rf".*/(?:sess_)?([^/]*)/{_EVENTS}")),),
    with_copies=(f"{os.sep}{_DOCUMENTS}{os.sep}",),
    neighbour_parts=(_EVENTS, rf"snapshots|sub-executions|{re.escape(_DESCRIPTION)}"),
    beside=(beside(".json", folder="/sessions/cli/"), beside(f"/{_DESCRIPTION}", f"/{_EVENTS}")),
    databases=r"(?:kiro-cli|amazon-q)/data\.sqlite3",
    formats=(".kiro:KiroFormat", ".kiro:KiroEventFormat", ".kiro:KiroDocument", ".kiro:KiroDatabase"),
    parser_version=3,
)
