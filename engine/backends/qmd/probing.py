"""Whether what `qmd` needs for a search by meaning works."""

from engine.backends.qmd.command import QmdCommand, QmdError
from engine.base.language import tr
from engine.records import Probe
from engine.settings.qmd_options import QmdSettings


def probe_models(command: QmdCommand, settings: QmdSettings, why_words_only: str) -> Probe:
    """Test with one search by its models, which may take as long as a search; not if they can't be used."""
    if settings.search_mode == "search":
        why_words_only = tr("qmd searches by words alone: set qmd.search_mode to query or vsearch for meaning.")
    if why_words_only:
        return Probe(ok=False, error=why_words_only)
    try:
        seconds = settings.limits.timeout_ms / 1000
        command.run(["vsearch"], options=["--json", "-n", "1"], operand="memory", seconds=seconds)
    except QmdError as error:
        return Probe(ok=False, error=str(error))
    return Probe(ok=True, error="")


def probe_sqlite_vec(command: QmdCommand, settings: QmdSettings) -> Probe:
    """Its error output says whether sqlite-vec fails to load."""
    try:
        said = command.run(["status"], seconds=settings.command_timeout_seconds).errors
    except QmdError as error:
        return Probe(ok=False, error=str(error))
    line = next((line.strip() for line in said.splitlines() if "sqlite-vec" in line), "")
    return Probe(ok=not line, error=line)
