"""What the page says of all findings together."""

from collections.abc import Sequence

from engine import HealthFinding, HealthProgress, HealthRepair, marked, tr, tr_count
from gui.index.attention import Attention

_IN_STATUS = frozenset(
    "index notes transcripts meaning failed-file failed-files not-embedded embedding writing user-data".split()
)
"""Findings that the overview has rows of its own for."""
STOPPED_LOOKING = marked("Stopped before everything was looked at.")
STOPPED = marked("Stopped. What was mended so far stays so.")


def summary(findings: Sequence[HealthFinding]) -> str:
    """One sentence on what was found."""
    bad = [finding for finding in findings if finding.state != "fine"]
    if not findings:
        return tr("Nothing was looked at yet.")
    if not bad:
        return tr_count("All of {count} check are fine.", "All of {count} checks are fine.", len(findings))
    checks = tr_count("{count} check", "{count} checks", len(findings))
    return tr_count(
        "{count} of {checks} needs attention.", "{count} of {checks} need attention.", len(bad), checks=checks
    )


def attention_of(findings: Sequence[HealthFinding]) -> tuple[Attention, ...]:
    """The row that the overview shows: of what only a look into the index finds, the status tells the rest."""
    bad = [
        finding.name
        for finding in findings
        if finding.state != "fine" and finding.id.partition(":")[0] not in _IN_STATUS
    ]
    if not bad:
        return ()
    title = tr_count("{count:,} health check needs attention", "{count:,} health checks need attention", len(bad))
    return (Attention("health", "degraded", title, ", ".join(bad), (tr("Show"), "health")),)


def step_text(progress: HealthProgress) -> str:
    if not progress.total:
        return tr("{step}…", step=progress.step)
    return tr("{step}: {done:,} of {total:,}", step=progress.step, done=progress.done, total=progress.total)


def outcome(repair: HealthRepair) -> str:
    """What became of a repair, as sentences."""
    return " ".join((*repair.done, repair.problem)).strip() or tr("There was nothing to repair.")
