"""What the page says of all findings together."""

from collections.abc import Sequence

from engine import HealthFinding, HealthProgress, HealthRepair
from gui.index.attention import Attention
from gui.widgets.wording import counted, grouped

_IN_STATUS = frozenset("index notes transcripts meaning failed-files not-embedded embedding writing".split())
"""Findings that the overview has rows of its own for."""
STOPPED_LOOKING = "Stopped before everything was looked at."
STOPPED = "Stopped. What was mended so far stays so."


def summary(findings: Sequence[HealthFinding]) -> str:
    """One sentence on what was found."""
    bad = [finding for finding in findings if finding.state != "fine"]
    if not findings:
        return "Nothing was looked at yet."
    if not bad:
        return f"All of {counted(len(findings), 'check')} are fine."
    needs = "needs" if len(bad) == 1 else "need"
    return f"{len(bad)} of {counted(len(findings), 'check')} {needs} attention."


def attention_of(findings: Sequence[HealthFinding]) -> tuple[Attention, ...]:
    """The row that the overview shows: of what only a look into the index finds, the status tells the rest."""
    bad = [finding.name for finding in findings if finding.state != "fine" and finding.id not in _IN_STATUS]
    if not bad:
        return ()
    title = f"{counted(len(bad), 'health check')} {'needs' if len(bad) == 1 else 'need'} attention"
    return (Attention("health", "degraded", title, ", ".join(bad), ("Show", "health")),)


def step_text(progress: HealthProgress) -> str:
    if not progress.total:
        return f"{progress.step}…"
    return f"{progress.step}: {grouped(progress.done)} of {grouped(progress.total)}"


def outcome(repair: HealthRepair) -> str:
    """What became of a repair, as sentences."""
    return " ".join((*repair.done, repair.problem)).strip() or "There was nothing to repair."
