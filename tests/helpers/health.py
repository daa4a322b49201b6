"""Problems of an index, as the window and `mnemoscope doctor` report them."""

from engine.backends.builtin import BuiltinMemory
from engine.records import HealthFinding

_INSIDE = {"database", "keywords", "keyword-words", "removed-words", "chunks", "vectors", "generations", "vector-table"}


def findings(memory: BuiltinMemory, **how: bool) -> dict[str, HealthFinding]:
    """Return the findings by their ids."""
    return {finding.id: finding for finding in memory.insight.health(**how)}


def wrong(memory: BuiltinMemory, **how: bool) -> set[str]:
    """Return the ids of the findings that are not fine."""
    return {id_ for id_, finding in findings(memory, **how).items() if finding.state != "fine"}


def inconsistencies(memory: BuiltinMemory) -> list[str]:
    """Return inconsistencies in the index itself, regardless of the folders' content."""
    found = findings(memory)
    assert found.keys() >= _INSIDE or "database" in wrong(memory)
    return [found[id_].detail for id_ in sorted(_INSIDE & found.keys()) if found[id_].state != "fine"]
