"""A process that embeds notes through OpenAI's batch jobs, until it finishes or is killed.

`python -m tests.helpers.batch_worker NOTES DATA BASE_URL`; prints the report's error at the end.
"""

import sys
from pathlib import Path
from unittest import mock

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.embedding import openai_compatible
from engine.embedding.provider_selection import Selection
from engine.settings import Settings
from engine.settings.options import BatchSettings, RemoteSettings, StoreSettings
from tests.helpers.embedding_servers.openai_server import KEY


def settings_for(data: Path, base_url: str) -> Settings:
    batch = BatchSettings(enabled=True, poll_interval_ms=10)
    return Settings(
        provider="openai",
        store=StoreSettings(path=str(data)),
        remote=RemoteSettings(base_url=base_url, batch=batch),
        prices={"openai/text-embedding-3-small": 0.02},
    )


def open_memory(notes: Path, data: Path, base_url: str) -> BuiltinMemory:
    settings = settings_for(data, base_url)
    selection = Selection(openai_compatible.make(settings, KEY), "openai")
    with mock.patch.object(builtin, "select_provider", return_value=selection):
        memory = BuiltinMemory(notes, settings, executor=None, background=False)
        memory.status()  # the provider is chosen when it is first asked for: now, while the patch holds
    return memory


def main() -> None:
    notes, data, base_url = sys.argv[1:]
    memory = open_memory(Path(notes), Path(data), base_url)
    report = memory.sync(approve=True)
    memory.close()
    print(f"done {report.error}", flush=True)


if __name__ == "__main__":
    main()
