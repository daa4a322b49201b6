"""The vaults that Obsidian itself lists, wherever it was installed from."""

import os
from collections.abc import Iterator

from engine.corpus.places.candidates import Candidate, read_list
from engine.corpus.places.machine import Machine
from engine.corpus.transcripts.json_values import mapping, string
from engine.records import FileIssue


def obsidian_vaults(machine: Machine, issues: list[FileIssue]) -> Iterator[Candidate]:
    """Every vault that is named; what cannot be read goes to `issues`."""
    for folder in _config_folders(machine):
        known = mapping(read_list(os.path.join(folder, "obsidian.json"), issues))
        for vault in mapping(known.get("vaults")).values():
            if path := machine.expanded(string(mapping(vault).get("path"))):
                yield Candidate("obsidian-vault", "obsidian", os.path.basename(path), path)


def _config_folders(machine: Machine) -> Iterator[str]:
    homes = (
        *machine.config_homes(),
        machine.below_home(".var", "app", "md.obsidian.Obsidian", "config"),
        machine.below_home("snap", "obsidian", "current", ".config"),
        machine.below_home("Library", "Application Support"),
        machine.named("APPDATA") or machine.below_home("AppData", "Roaming"),
    )
    for home in homes:
        yield os.path.join(home, "obsidian")
