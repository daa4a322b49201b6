"""Settings of machines that share a LanceDB table, and direct access to the table."""

from collections import Counter
from pathlib import Path
from typing import Any

import msgspec

from engine.settings import Settings
from engine.settings.backend_settings import LanceDbSettings

_PATIENT = {"timeout_seconds": 600.0}
"""On a busy machine a table may answer after more than the default of 20 s, which must not fail a test."""


def table_settings(data: Path, uri: str, machine: str, **changes: Any) -> Settings:
    """Return settings; `data` is the folder of the machine's own index."""
    defaults = Settings(backend="lancedb")
    own = {
        "store": msgspec.structs.replace(defaults.store, path=str(data)),
        "lancedb": LanceDbSettings(uri=uri, table="notes", machine=machine, **_PATIENT | changes.pop("options", {})),
    }
    return msgspec.structs.replace(defaults, **{**own, **changes})


def rows_of(uri: str, options: dict[str, str] | None = None, table: str = "notes") -> list[dict[str, Any]]:
    """Return every row of the table, read by LanceDB itself."""
    import lancedb

    return list(lancedb.connect(uri, storage_options=options).open_table(table).to_arrow().to_pylist())


def doubled(rows: list[dict[str, Any]]) -> list[str]:
    """Return the ids that occur more than once."""
    return sorted(id_ for id_, times in Counter(row["id"] for row in rows).items() if times > 1)


def s3_options(endpoint: str) -> dict[str, str]:
    """Return the storage options of a user's settings; the keys are in the environment."""
    return {"endpoint": endpoint, "region": "us-east-1"}
