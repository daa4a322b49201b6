"""What the patterns match, while they are typed: how many notes, the first of them, and what each rule leaves out."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QFrame, QVBoxLayout, QWidget

import engine
from engine import CancelToken, FileIssue, Settings, WorkspacePreview, marked, tr, tr_count, tr_reason
from gui.core.jobs import Jobs, JobSlot
from gui.widgets.formatting import size_text
from gui.widgets.labels import breakable, label
from gui.widgets.table import IssuesTable

_TYPING_MS = 250
_NAMED = 3
_RULES = 5
_TABLE_ROWS = 6
LOOKING = marked("Looking at the folder…")


@dataclass(frozen=True)
class Match:
    """What is indexed by some settings, and by those in force now."""

    wanted: WorkspacePreview
    now: WorkspacePreview


def match_words(match: Match) -> str:
    """ "412 notes, 3.1 MB; 12 fewer than now"."""
    wanted, now = match.wanted, match.now
    if wanted.files:
        size = size_text(wanted.bytes)
        words = tr_count("{count:,} note, {size}", "{count:,} notes, {size}", wanted.files, size=size)
    else:
        words = tr("No note is indexed")
    more = wanted.files - now.files
    if more > 0:
        words += "; " + tr("{count:,} more than now", count=more)
    elif more < 0:
        words += "; " + tr("{count:,} fewer than now", count=-more)
    return f"{words}."


def first_words(preview: WorkspacePreview) -> str:
    """The first names; empty if there are none."""
    if not preview.first:
        return ""
    rest, names = preview.files - len(preview.first), ", ".join(preview.first)
    if rest <= 0:
        return tr("First {names}.", names=names)
    return tr_count(
        "First {names} and {count:,} more note.", "First {names} and {count:,} more notes.", rest, names=names
    )


def rule_lines(skipped: Iterable[FileIssue]) -> str:
    """A line for each rule: number of files, reason, and examples."""
    by_rule: dict[tuple[str, str], list[str]] = defaultdict(list)
    for issue in skipped:
        by_rule[issue.rule, issue.detail].append(issue.path)
    rules = sorted(by_rule.items(), key=lambda found: -len(found[1]))
    lines = []
    for (_, detail), names in rules[:_RULES]:
        rest, first = len(names) - _NAMED, ", ".join(names[:_NAMED])
        told = tr("{names} and {count:,} more", names=first, count=rest) if rest > 0 else first
        lines.append(f"{told}: {tr_reason(detail)}")
    if len(rules) > _RULES:
        rest = len(rules) - _RULES
        lines.append(tr_count("{count:,} more reason below.", "{count:,} more reasons below.", rest))
    return "\n".join(lines)


class MatchCard(QFrame):
    """Updated while the user types; the previous answer stays until the next one."""

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setProperty("role", "card")
        self._jobs = jobs
        self._asked: tuple[Path, Settings, Settings] | None = None
        self._looking = JobSlot(self)
        self._calm = QTimer(self, singleShot=True, interval=_TYPING_MS)
        self._calm.timeout.connect(self._look)
        self._sum = label(tr(LOOKING), "strong", wrap=True)
        self._first = label("", "meta", wrap=True)
        self._rules = label("", "meta", wrap=True)
        self._table = IssuesTable()
        self._table.setAccessibleName(tr("What is left out, and by which rule"))
        self._left = label(tr("Left out"), "section")
        column = QVBoxLayout(self)
        column.setContentsMargins(14, 12, 14, 12)
        column.setSpacing(6)
        for widget in (self._sum, self._first, self._left, self._rules, self._table):
            column.addWidget(widget)
        for widget in (self._left, self._rules, self._table):
            widget.hide()
        self._table.setFixedHeight(_TABLE_ROWS * 26)

    @property
    def ready(self) -> bool:
        """Whether the shown answer is the newest."""
        return not (self._calm.isActive() or self._looking.busy)

    def stop(self) -> None:
        """Nobody waits for an answer any more."""
        self._calm.stop()
        self._looking.cancel()

    def show_match(self, folder: Path, wanted: Settings, now: Settings) -> None:
        """After a short pause, find what `wanted` would index instead of `now`."""
        if (folder, wanted, now) != self._asked:
            self._asked = folder, wanted, now
            self._looking.cancel()
            self._calm.start()

    def _look(self) -> None:
        if self._asked is None:
            return
        folder, wanted, now = self._asked

        def work(token: CancelToken) -> Match:
            first = engine.preview_workspace(folder, wanted, cancel=token)
            return Match(first, first if wanted == now else engine.preview_workspace(folder, now, cancel=token))

        self._looking.put(self._jobs.read(work, self._show, self._fail))

    def _show(self, match: Match) -> None:
        self._looking.done()
        skipped = match.wanted.skipped
        self._sum.setText(match_words(match))
        self._first.setText(breakable(first_words(match.wanted)))
        self._rules.setText(breakable(rule_lines(skipped)))
        self._table.show_records(skipped)
        for widget in (self._left, self._rules):
            widget.setVisible(bool(skipped))
        self._table.setVisible(len(skipped) > _NAMED)
        self.setAccessibleName(f"{match_words(match)} {first_words(match.wanted)}")

    def _fail(self, sentence: str) -> None:
        self._looking.done()
        self._sum.setText(breakable(sentence))
        for text in (self._first, self._rules):
            text.clear()
        for widget in (self._left, self._rules, self._table):
            widget.hide()
