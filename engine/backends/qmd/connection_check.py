"""Tries `qmd` out: whether there is such a command, and which version it is."""

import tempfile
from pathlib import Path

from engine.backends.qmd.command import QmdCommand
from engine.base.cancellation import CancelToken
from engine.base.language import tr
from engine.base.private_files import temporary_prefix
from engine.settings import Settings


def try_out(workspace: Path, settings: Settings, cancel: CancelToken | None) -> str:
    """See `try_backend`. It runs in a temporary folder."""
    with tempfile.TemporaryDirectory(prefix=temporary_prefix("trial")) as folder:
        command = QmdCommand(settings.qmd.command, Path(folder))
        try:
            command.check(settings.qmd.command_timeout_seconds, cancel)
        finally:
            command.close()
    said = tr("qmd {version} answered.", version=command.version)
    if settings.qmd.search_mode == "search":
        return said
    models = tr("Its models have some 2 GB and are fetched by the command qmd pull; until then it searches by words.")
    return f"{said} {models}"
