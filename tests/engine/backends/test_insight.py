"""What can be told of the inside of an open memory's index."""

import pytest

from engine.errors import Closed


def test_folders_are_counted_by_their_first_name(open_memory) -> None:
    memory = open_memory()
    assert memory.insight.overview().folders == ()
    memory.sync()
    folders = memory.insight.overview().folders
    assert {(folder.name, folder.files, folder.chunks, folder.vectors) for folder in folders} == {
        ("", 2, 2, 2),
        ("daily", 1, 1, 1),
        ("people", 1, 1, 1),
    }


def test_without_a_provider_there_are_no_vectors(open_memory) -> None:
    memory = open_memory(use=None)
    memory.sync()
    assert sum(folder.vectors for folder in memory.insight.overview().folders) == 0


def test_a_closed_memory_is_not_looked_into(open_memory) -> None:
    memory = open_memory()
    memory.close()
    with pytest.raises(Closed):
        memory.insight.overview()
