"""A process that embeds by a remote provider until it is done or killed: `python -m tests.helpers.remote_worker NOTES
DATA BASE_URL`. Prints the report's error when it ends."""

import sys
from pathlib import Path

from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import ChunkingSettings, RemoteSettings, StoreSettings

MODEL = "home-made"
DIMS = 32


def settings_for(data: Path, base_url: str) -> Settings:
    """Return settings with short passages, so that there are many, and a billed model."""
    return Settings(
        provider="openai",
        model=MODEL,
        dimensions=DIMS,
        prices={f"openai/{MODEL}": 0.02},
        remote=RemoteSettings(base_url=base_url),
        store=StoreSettings(path=str(data)),
        chunking=ChunkingSettings(tokens=40, overlap=0),
    )


def main() -> None:
    notes, data, base_url = sys.argv[1:]
    memory = BuiltinMemory(Path(notes), settings_for(Path(data), base_url), executor=None, background=False)
    report = memory.sync(approve=True)
    memory.close()
    print(f"done {report.error}", flush=True)


if __name__ == "__main__":
    main()
