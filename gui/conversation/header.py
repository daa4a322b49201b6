"""The header of a conversation: title, project folder and date, and buttons."""

from collections.abc import Sequence

from PySide6.QtCore import QSize
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QFrame, QWidget

from engine import SessionSummary, SessionText, UsageTotal, folder_name, number, tr
from gui.style.stylesheet import scaled, set_role
from gui.style.typography import Resized
from gui.text.formatting import cost_text, dates_of, exact, sent_and_received, usage_lines
from gui.text.session_texts import UNTITLED, agent_name, message_count, unknown_count, work_time
from gui.viewer.header import FoldingActions
from gui.widgets.labels import ElidedLabel, line
from gui.widgets.layouts import column_of, row_of

_SIDE = 16
_GAP = 8
_WHOLE_TITLE = 360
"""Longest title in pixels, at font scale 1, that is shown whole at the cost of buttons."""


class ConversationHeader(Resized, QFrame):
    """The title line of a session with its buttons.

    They move into a menu, last ones first, before a title of up to 360 px is cut.
    """

    def __init__(self, buttons: Sequence[QAction], menu: Sequence[QAction | None], parent: QWidget) -> None:
        super().__init__(parent)
        self.setProperty("role", "side")
        self.title = ElidedLabel(parent=self)
        self.title.setProperty("role", "strong")
        self.metadata = ElidedLabel(parent=self)
        self.metadata.setProperty("role", "meta")
        self.folding = FoldingActions(buttons, menu, self)
        for action in buttons:
            action.visibleChanged.connect(self.fit)
        self._line = line()
        folding, around = self.folding, (_SIDE, 6, _SIDE, 0)
        first = row_of((self.title, 1), *folding.buttons, folding.more, spacing=_GAP, margins=around)
        column_of(first, row_of((self.metadata, 1), margins=(_SIDE, 2, _SIDE, 7)), self._line, spacing=0, parent=self)

    def show_session(self, session: SessionText) -> None:
        summary = session.summary
        usage = summary.total_usage or UsageTotal()
        self.title.setText(summary.title or tr(UNTITLED))
        self.fit()
        unknown = sum(count for _, count in session.unknown)
        metadata = [
            agent_name(summary.agent),
            folder_name(summary.project) if summary.project else "",
            summary.machine,
            _days(summary),
            work_time(summary.active_seconds),
            message_count(summary.messages),
            summary.branch,  # behind the figures, which a long one would push out of a narrow window
            ", ".join(used.model for used in summary.usage if used.model),
            sent_and_received(usage),
            cost_text(usage),
            unknown_count(unknown),
        ]
        self.metadata.setText(" · ".join(part for part in metadata if part))
        types = [f"{name}: {number(count)}" for name, count in session.unknown]
        not_understood = [tr("Entries of unknown type in the transcript:"), *types] if types else []
        tip = [summary.project, _from_to(summary), *_usage(summary, usage), *not_understood]
        self.metadata.set_tip("\n".join(part for part in tip if part))

    def show_active(self, active: bool) -> None:
        """Show by the separator's colour whether the text below has the keyboard focus."""
        set_role(self._line, "line-active" if active else "line")

    def offer(self, actions: Sequence[QAction]) -> None:
        """Add these actions at the end of the menu."""
        self.folding.offer(actions)

    def minimumSizeHint(self) -> QSize:
        hint = super().minimumSizeHint()
        return QSize(2 * _SIDE + 60 + self.folding.more.sizeHint().width(), hint.height())

    def fit(self) -> None:
        title_width = min(self.title.sizeHint().width(), scaled(_WHOLE_TITLE))
        available = self.width() - 2 * _SIDE - title_width - _GAP - self.folding.more.sizeHint().width()
        for action, button in zip(self.folding.actions, self.folding.buttons, strict=True):
            if action.isVisible():
                available -= button.sizeHint().width() + _GAP
            button.setHidden(available < 0 or not action.isVisible())


def _days(summary: SessionSummary) -> str:
    """Return the known days of the first and the last message, or the only one, as text."""
    known = [moment for moment in (summary.started, summary.ended) if moment is not None]
    return dates_of(known[0], known[-1]) if known else ""


def _usage(summary: SessionSummary, usage: UsageTotal) -> list[str]:
    """Return texts about the models with their numbers of tokens, and the cost."""
    lines = []
    for used in summary.usage:
        lines.append(used.model or tr("Unknown model"))
        if used.has_numbers:
            lines += (f"    {line}" for line in usage_lines(used))
    counted = [used for used in summary.usage if used.has_numbers]
    if not counted:
        return [*lines, tr("Tokens and cost: not recorded")]
    cost = cost_text(usage)
    recorded = sum(used.recorded_cost is not None for used in counted)
    if not cost:
        lines.append(tr("Cost: unknown"))
    elif not recorded:
        lines.append(tr("Cost: {cost}, by list prices", cost=cost))
    elif recorded < len(counted):
        lines.append(tr("Cost: {cost}, partly by list prices", cost=cost))
    else:
        lines.append(tr("Cost: {cost}, as recorded", cost=cost))
    return lines


def _from_to(summary: SessionSummary) -> str:
    """Return the session's known start and end, and the time of work in it, as text."""
    times = [exact(moment) for moment in (summary.started, summary.ended) if moment is not None]
    span = tr("{start} to {end}", start=times[0], end=times[1]) if len(times) == 2 else "\n".join(times)
    worked = work_time(summary.active_seconds)
    active = (
        tr("Active time: {time} (longer pauses count as 5 minutes)", time=worked)
        if worked
        else tr("Active time: unknown")
    )
    return "\n".join(filter(None, (span, active)))
