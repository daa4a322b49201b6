"""The writer has no page cache after a sync."""

import sys
from pathlib import Path

import pytest

from tests.helpers.rows import new_file, open_store


def _anonymous() -> int:
    """Return the bytes of memory that belong to this process alone."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return 1024 * int(next(line for line in lines if line.startswith("RssAnon")).split()[1])


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads Linux's own account")
def test_freeing_memory_shrinks_page_cache(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    for number in range(40):
        with store.write() as writer:
            writer.replace_file(new_file(f"{number}.md", *(f"text {number} {part} " * 200 for part in range(100))))
    before = _anonymous()
    store.free_memory()
    assert _anonymous() < before - 4_000_000
    with store.read() as snapshot:
        assert snapshot.chunk_count() == 4000
    store.close()
    store_again = open_store(tmp_path)
    store_again.free_memory()
    store_again.close()
