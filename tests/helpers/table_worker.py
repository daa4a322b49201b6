"""A process that plays a machine syncing repeatedly into a shared table.

`python -m tests.helpers.table_worker NOTES DATA URI MACHINE ENDPOINT TIMES`: waits for a line on standard input, syncs
that many times, changing a note before each, and prints its errors as JSON.
"""

import json
import logging
import sys
from pathlib import Path
from unittest import mock

from engine.backends import builtin
from engine.backends.lancedb.memory import LanceMemory
from engine.settings import Settings
from tests.helpers.fake_provider import FakeProvider, selection_of
from tests.helpers.shared_tables import s3_options, table_settings

_MAX_SYNCS = 5


def open_machine(notes: Path, data: Path, uri: str, machine: str, endpoint: str) -> LanceMemory:
    options = {"options": {"storage_options": s3_options(endpoint)}} if endpoint else {}
    settings: Settings = table_settings(data, uri, machine, **options)
    mock.patch.object(builtin, "select_provider", return_value=selection_of(FakeProvider())).start()
    return LanceMemory(notes, settings, executor=None, background=False)


def _sync(memory: LanceMemory) -> str:
    """Sync, and again as the message says when other machines were faster at every attempt, on a busy machine."""
    error = ""
    for _ in range(_MAX_SYNCS):
        error = memory.sync().error
        if "the next update tries again" not in error:
            break
    return error


def main() -> None:
    notes, data, uri, machine, endpoint, times = sys.argv[1:]
    logging.disable()
    memory = open_machine(Path(notes), Path(data), uri, machine, endpoint)
    print("ready", flush=True)
    sys.stdin.readline()
    errors = []
    for number in range(int(times)):
        text = f"# Counter\n\nThe {machine} counts to {number} wholly.\n\n" + f"Again {number} wholly.\n\n" * 200
        (Path(notes) / f"counter-{machine}.md").write_text(text, "utf-8")
        errors.append(_sync(memory))
    memory.close()
    print(json.dumps({"errors": [error for error in errors if error]}), flush=True)


if __name__ == "__main__":
    main()
