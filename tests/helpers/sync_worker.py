"""A process that syncs until it finishes or is killed.

`python -m tests.helpers.sync_worker NOTES DATA [force] [SESSIONS]` prints a line at the start, so that a test can time
its kill, and the report's error at the end.
"""

import sys
from pathlib import Path
from unittest import mock

import msgspec

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import SessionSettings
from tests.helpers.fake_provider import FakeProvider, selection_of


def settings_for(data: Path, sessions: Path | None = None) -> Settings:
    defaults = Settings(sessions=SessionSettings(folders=() if sessions is None else (str(sessions),)))
    store = msgspec.structs.replace(defaults.store, path=str(data))
    return msgspec.structs.replace(defaults, store=store)


def open_with_fake(notes: Path, data: Path, sessions: Path | None = None) -> BuiltinMemory:
    """Open a memory on real files with the fake provider."""
    with mock.patch.object(builtin, "select_provider", return_value=selection_of(FakeProvider())):
        memory = BuiltinMemory(notes, settings_for(data, sessions), executor=None, background=False)
        # Access the status, because the provider is selected on first use, and the patch must be active.
        memory.status()
    return memory


def main() -> None:
    notes, data, *rest = sys.argv[1:]
    sessions = next((Path(word) for word in rest if word != "force"), None)
    memory = open_with_fake(Path(notes), Path(data), sessions)
    print("started", flush=True)
    report = memory.sync(force="force" in rest)
    memory.close()
    print(f"done {report.error}", flush=True)


if __name__ == "__main__":
    main()
