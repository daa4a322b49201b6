"""A process that breaks an index and repairs it until it finishes or is killed.

`python -m tests.helpers.repair_worker NOTES DATA` prints a line between the two, and one at the end.
"""

import sys
from pathlib import Path

from engine.insight.health import keywords
from tests.helpers.sync_worker import open_with_fake


def main() -> None:
    notes, data = map(Path, sys.argv[1:])
    keywords._ROWS_PER_BATCH = 5  # many commits, so that a kill comes between them
    memory = open_with_fake(notes, data)
    with memory.store.write() as writer:
        # Remove two in three rows of the keyword index and one in five vectors, except the marker's.
        first = writer.connection.execute("SELECT id FROM files_1 WHERE path = 'marker.md'").get
        broken = f"file_id <> {first} AND id % 3"
        writer.connection.execute(f"DELETE FROM chunks_fts_1 WHERE rowid IN (SELECT id FROM chunks_1 WHERE {broken})")
        writer.connection.execute("UPDATE embedding_cache SET vector = zeroblob(3) WHERE id % 5 = 0")
        writer.advance_stamp()
    print("started", flush=True)
    memory.insight.repair()
    memory.close()
    print("done", flush=True)


if __name__ == "__main__":
    main()
