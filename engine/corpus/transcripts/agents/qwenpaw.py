"""Declares QwenPaw, until 2026 CoPaw, a personal assistant: where its sessions are, and in which format."""

from engine.corpus.transcripts.agents import Agent, FoundFolders
from engine.corpus.user_environment import Machine


def _folders(machine: Machine) -> FoundFolders:
    named = (machine.folder_in(f"{name}_WORKING_DIR") for name in ("QWENPAW", "COPAW"))
    usual = (machine.below_home(".qwenpaw"), machine.below_home(".copaw"))
    for number, home in enumerate(dict.fromkeys(filter(None, (*named, *usual)))):
        yield "" if number == 0 else home.rpartition(".")[2], machine.expanded(f"{home}/workspaces")


AGENT = Agent(
    name="qwenpaw",
    label="QwenPaw",
    stores=((r"/\.(?:qwen|co)paw/workspaces\Z", "qwenpaw"),),
    folders=_folders,
    files=(r"(?:sessions|console)/[^/]+_[^/]+\.json",),
    formats=(".qwenpaw:QwenPawSession",),
)
