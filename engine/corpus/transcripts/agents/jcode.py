"""Declares Jcode: where its sessions are, in which format, and how to resume one."""

import os
from typing import TYPE_CHECKING

from engine.corpus.transcripts.agents import Agent, FoundFolders, described_changed, described_owner
from engine.corpus.user_environment import Machine

if TYPE_CHECKING:
    from engine.corpus.transcripts.formats import Formats

_START, _END, _ADDED = f"{os.sep}session_", ".json", ".journal.jsonl"


def _folders(machine: Machine) -> FoundFolders:
    yield "", os.path.join(machine.folder_in("JCODE_HOME") or machine.below_home(".jcode"), "sessions")


def _formats() -> "Formats":
    from engine.corpus.transcripts.formats import Formats
    from engine.corpus.transcripts.parsers.jcode import JcodeSession

    return Formats(documents=(JcodeSession(),))


AGENT = Agent(
    name="jcode",
    label="Jcode",
    resume="jcode --resume {id}",
    stores=((r"/\.jcode/sessions\Z", "jcode"),),
    folders=_folders,
    files=(r"session_(?:[a-z]+|recovery_rec)_\d{10,13}(?:_\w{1,20})?\.json",),
    part_names=r"session_[a-z_]+_\w+\.journal(?:\.corrupt)?\.jsonl",
    with_parts=(_START,),
    parts_changed=lambda path: described_changed(path, _START, _ADDED, _END),
    part_of=lambda path: described_owner(path, _START, _ADDED, _END),
    formats=_formats,
)
