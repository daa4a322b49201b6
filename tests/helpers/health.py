"""What an index lacks, as the window and `mnemoscope doctor` say it."""

from engine.backends.builtin import BuiltinMemory
from engine.records import HealthFinding

_INSIDE = {"database", "keywords", "keyword-words", "removed-words", "chunks", "vectors", "generations", "vector-table"}


def findings(memory: BuiltinMemory, **how: bool) -> dict[str, HealthFinding]:
    """By their ids."""
    return {finding.id: finding for finding in memory.insight.health(**how)}


def wrong(memory: BuiltinMemory, **how: bool) -> set[str]:
    """Ids of what is not fine."""
    return {id_ for id_, finding in findings(memory, **how).items() if finding.state != "fine"}


def unsound(memory: BuiltinMemory) -> list[str]:
    """What in the index itself does not agree, whatever the folders hold."""
    found = findings(memory)
    assert found.keys() >= _INSIDE or "database" in wrong(memory)
    return [found[id_].detail for id_ in sorted(_INSIDE & found.keys()) if found[id_].state != "fine"]
