"""The body of the search panel: counts, notices, and the list of results or a page shown instead of it."""

from collections.abc import Sequence
from functools import partial
from typing import Literal

from PySide6.QtCore import QEvent, QObject, QPoint, Qt, Signal, Slot
from PySide6.QtGui import QPaintEvent
from PySide6.QtWidgets import QPushButton, QSizePolicy, QVBoxLayout, QWidget

from engine import MemoryProviderStatus, QuerySuggestion, SearchRemedy, marked, tr
from gui.commands.commands import WITHIN, show_key_in_tooltip
from gui.core.capabilities import Gate, capabilities, why_missing
from gui.search import messages
from gui.search.messages import remedy_label
from gui.search.query import Answer
from gui.search.ranking_menu import RankingMenu
from gui.search.result_list import ResultList
from gui.search.result_rows import SortOrder
from gui.search.scope import ScopeBar
from gui.search.start_page import StartContent, StartLists
from gui.style.theme import tokens
from gui.style.typography import Resized
from gui.text.plain_text import set_tip
from gui.text.status_texts import without_failure
from gui.widgets.accessibility import SettledAnnouncer, announce
from gui.widgets.buttons import guide_action
from gui.widgets.icons import IconButton
from gui.widgets.labels import elide, label
from gui.widgets.layouts import PageStack, row_of
from gui.widgets.list_header import ListHeader, Order
from gui.widgets.message_banner import NoticeBar, paint_bar
from gui.widgets.placeholder_page import LINK_PADDING, Action, Offer, StatePage
from gui.widgets.row_list import GUTTER

# --- The line about spelling: other queries to search for, or the correction that was searched, with an undo button

_LONGEST = 260
"""Largest width of a button's text in pixels at font scale 1; longer text is cut."""


class SuggestionLine(Resized, QWidget):
    """A line with suggested queries, hidden if there are none. Suggestions that don't fit on the line are left out."""

    chosen = Signal(str)
    """The whole query to search for instead."""
    literal_requested = Signal()
    """Search for the query as it was typed."""

    def __init__(self) -> None:
        super().__init__()
        self._shown: tuple[object, ...] = ()
        self._buttons: list[QPushButton] = []
        self._label_text = tr(messages.DID_YOU_MEAN)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self._words = label(tr(messages.DID_YOU_MEAN), "meta")
        self._row = row_of(self._words, None, spacing=10, margins=(GUTTER, 4, GUTTER, 5), parent=self)
        self.setVisible(False)

    def show_suggestions(self, suggestions: Sequence[QuerySuggestion]) -> None:
        """Show these suggestions, likeliest first; an empty sequence hides the line."""
        if tuple(suggestions) == self._shown:
            return  # a focused button keeps the focus
        self._shown = tuple(suggestions)
        self._label_text = tr(messages.DID_YOU_MEAN)
        self._replace([self._suggested(suggestion) for suggestion in suggestions], messages.did_you_mean(suggestions))

    def show_correction(self, corrected: QuerySuggestion, typed: str) -> None:
        """Show that `corrected` was searched instead of `typed`, with a button that searches for `typed`."""
        if self._shown == (corrected, typed):
            return
        self._shown = corrected, typed
        label_text = messages.corrected_query(corrected)
        self._label_text = label_text
        button = self._button(tr("Search as typed"), tr("Search for {query}", query=typed))
        set_tip(button, tr("Search for “{query}”", query=typed))
        button.clicked.connect(self.literal_requested)
        self._replace([button], label_text)

    def _replace(self, buttons: Sequence[QPushButton], name: str) -> None:
        for button in self._buttons:
            self._row.removeWidget(button)
            button.deleteLater()
        self._buttons = [*buttons]
        self.setAccessibleName(name)
        self.setVisible(bool(buttons))
        self.fit()

    def take_focus(self) -> bool:
        """Focus the first suggestion; False if there is none."""
        if self._buttons:
            self._buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)
        return bool(self._buttons)

    def _suggested(self, suggestion: QuerySuggestion) -> QPushButton:
        button = self._button(messages.new_words(suggestion), tr("Search for {query}", query=suggestion.query))
        set_tip(button, tr("Search for “{query}”", query=suggestion.query))
        button.clicked.connect(lambda: self.chosen.emit(suggestion.query))
        return button

    def _button(self, words: str, name: str) -> QPushButton:
        button = QPushButton()
        cut = elide(button.fontMetrics(), words, Qt.TextElideMode.ElideRight, _LONGEST)
        button.setText(cut.replace("&", "&&"))
        button.setProperty("role", "link")
        button.setAccessibleName(name)
        self._row.insertWidget(self._row.count() - 1, button)
        return button

    def fit(self) -> None:
        buttons_width = self._buttons[0].sizeHint().width() + self._row.spacing() if self._buttons else 0
        available = self.width() - 2 * GUTTER
        words = elide(
            self._words.fontMetrics(), self._label_text, Qt.TextElideMode.ElideRight, max(0, available - buttons_width)
        )
        self._words.setText(words)
        available -= self._words.sizeHint().width()
        for index, button in enumerate(self._buttons):
            available -= button.sizeHint().width() + self._row.spacing()
            button.setVisible(not index or available >= 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        paint_bar(self, tokens(self.palette()).line_highlight)


# ---------------------------------------------------------------------------------------------------------------------

ORDERS = (
    Order("relevance", marked("Relevance"), marked("relevance"), marked("Best first")),
    Order("date", marked("Date"), marked("date"), marked("The results found, newest file first")),
)


class ResultsView(QWidget):
    """Shows one page at a time: a hint before the first query, progress, results, an empty answer or an error."""

    weak_requested = Signal(bool)
    """Show results below the minimal score, or hide them again."""
    remedy_chosen = Signal(object)
    """SearchRemedy of an empty answer."""
    missing_file_requested = Signal(str)
    """Ask for a file and explain why it is not found."""
    retry_requested = Signal()
    order_chosen = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.answer: Answer | None = None
        """The answer that is shown; None without one."""
        self._status: MemoryProviderStatus | None = None
        """Status that the page before the first query shows."""
        self._start = StartContent()
        self.order: SortOrder = "relevance"
        self._content: tuple[object, ...] = ()
        self._page_shows: Literal["hint", "empty", "other"] = "other"
        self._reading = ""
        """Progress of the first indexing, as text."""
        self._status_remedies: tuple[SearchRemedy, ...] = ()
        """Remedies of any empty answer that follow from the status of the memory."""
        self._syncing = self._paused = False
        self._failure = ""
        """Why the last update failed."""
        self.first_indexing = False
        """Whether the first update of the index is still running."""
        self._counts = SettledAnnouncer(self)
        self.header = ListHeader(ORDERS)
        self.ranking = RankingMenu(self.header.sort_button)
        self.within_button = within = IconButton("filter", WITHIN.label)
        show_key_in_tooltip(within, WITHIN.label, WITHIN.name)
        self.header.add_button(within)
        Gate(within, "within")
        self.scope_bar = ScopeBar()
        self.suggestions = SuggestionLine()
        self._notice = NoticeBar()
        self.list = ResultList()
        self.page = StatePage(outdent=LINK_PADDING)
        self.start_lists = StartLists()
        self._stack = PageStack()
        self._stack.addWidget(self.page)
        self._stack.addWidget(self.list)
        self._column = column = QVBoxLayout(self)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        for widget in (self.scope_bar, self.header, self.suggestions, self._notice, self._stack):
            column.addWidget(widget)
        self.header.sort_button.order_chosen.connect(self._sort)
        self.list.installEventFilter(self)
        capabilities().changed.connect(self._show_empty_again)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Close the gap that a notice has left once the pointer leaves the results."""
        if watched is self.list and event.type() == QEvent.Type.Leave:
            self._notice.keep_space(False)
        return super().eventFilter(watched, event)

    def show_status(self, status: MemoryProviderStatus | None) -> None:
        """Update the page before the first query, or the progress of the first indexing on a page without results."""
        before = self._update_state
        self._reading = messages.reading(status)
        self._status_remedies = messages.remedies_of_status(status)
        self._syncing = status is not None and status.syncing is not None
        self._paused = status is not None and status.paused
        last = None if status is None else status.last_sync
        self._failure = "" if last is None else last.error
        self.first_indexing = self._syncing and (last is None or last.cancelled)
        if self.has_results:
            return
        if self._page_shows == "hint":
            self.show_hint(status)
        elif self._update_state == before:
            return
        elif self._reading or self._syncing or status is None or status.last_sync is None or status.last_sync.error:
            self._show_empty_again()  # after any other sync, the answer is repeated automatically

    @property
    def _update_state(self) -> tuple[object, ...]:
        """The part of the status that an empty page shows."""
        return self._reading, self._syncing, self._paused, [remedy.name for remedy in self._status_remedies]

    def _show_empty_again(self) -> None:
        if self.answer is not None and not self.has_results and self._page_shows == "empty":
            self._show_empty(self.answer)

    def show_order(self, order: SortOrder) -> None:
        """Set the sort order of the next answers, and show it in the sort button."""
        self.order = order
        self.header.sort_button.show_order(order)

    @property
    def has_results(self) -> bool:
        return self._stack.currentWidget() is self.list

    def show_hint(self, status: MemoryProviderStatus | None) -> None:
        """Show the page before the first query."""
        title, sentence = messages.hint(status)
        self.answer, self._status = None, status
        started = bool(status is not None and status.files and not status.index_error)
        content = self._start if started else StartContent()
        if status is not None and messages.is_known_empty(status):
            actions = [
                (remedy_label(remedy), partial(self.remedy_chosen.emit, remedy))
                for remedy in messages.remedies_for_empty_index(status)
            ]
            self._show_page((title, sentence), messages.indexed(status), actions=actions)
        else:
            self._show_page((title, sentence), messages.indexed(status), start=content)
        self._page_shows = "hint"

    def show_start(self, content: StartContent, *, now: bool) -> None:
        """Set the lists of the page before the first query; `now`: update the page immediately if it is shown."""
        self._start = content
        if now and self._page_shows == "hint" and not self.has_results:
            self.show_hint(self._status)

    def show_searching(self) -> None:
        """Show that a search is running, unless the current results or a button just pressed can stay."""
        if not self.has_results and not self.page.has_focus():
            self._show_page(("", tr(messages.SEARCHING)), "")

    @Slot(object)
    def prepare(self, answer: Answer) -> None:
        """Lay out the rows of an answer before it is shown, in the next turn of the event loop."""
        self.list.lay_out(answer.rows(self.order), self._stack.size())

    def show_answer(self, answer: Answer) -> None:
        """Show an answer; a repeated query keeps the position in the list, unless its correction was undone."""
        before = self.answer
        same = before is not None and before.query.subject == answer.query.subject
        keep = same and self.has_results and before is not None and before.query.correct == answer.query.correct
        self.answer = answer
        if not (same or answer.final):
            self.suggestions.show_suggestions(())  # removes suggestions for the previous query
        if answer.outcome.results:
            self._show_results(answer, keep=keep)  # the stack moves the focus away from a pressed button
        else:
            self._show_empty(answer)
        silent = before is not None and before.final and before.query == answer.query
        if answer.final and not silent:
            announced = (messages.spoken_counts(answer.outcome), messages.spelling(answer.outcome))
            self._counts.announce(". ".join(part for part in announced if part))

    def show_error(self, sentence: str, *, above_results: bool) -> None:
        """Show why a query failed; `above_results`: above the results of an earlier answer, which stay."""
        if above_results and self.has_results:
            self._notice.show_notice(sentence, tr("Try again"), self.retry_requested.emit)
            return
        self._show_page(
            (tr("The search failed"), sentence), "", actions=((tr("Try again"), self.retry_requested.emit),)
        )
        announce(self, sentence)

    def _show_results(self, answer: Answer, *, keep: bool) -> None:
        outcome = answer.outcome
        before = self.list.mapTo(self, QPoint()).y()
        self._notice.keep_space(keep and self.list.underMouse())  # rows must not move under the pointer
        self._show_notice(answer)
        if outcome.corrected is None:
            if answer.final:  # a keyword-only answer may be weak where meaning finds more
                self.suggestions.show_suggestions(outcome.offered)
        else:
            self.suggestions.show_correction(outcome.corrected, answer.query.text)
        self.header.show_counts(*messages.header_counts(outcome), legend=outcome.mode == "hybrid", sortable=True)
        self._stack.setCurrentWidget(self.list)
        self._column.activate()
        shift = self.list.mapTo(self, QPoint()).y() - before if keep else 0
        self.list.setAccessibleDescription(messages.spoken_counts(outcome))
        self.list.show_rows(answer.rows(self.order), keep=keep, shift=shift)

    def _show_notice(self, answer: Answer) -> None:
        outcome, notice = answer.outcome, without_failure(answer.outcome.full_notice, self._failure)
        if not answer.final and not notice:
            return  # the notice of the last complete answer stays until the next complete one
        remedies = outcome.remedies
        if outcome.similar_only and not remedies:
            remedies = tuple(remedy for remedy in self._status_remedies if remedy.name == "sync")
            notice = " ".join(filter(None, (notice, self._reading, *(remedy.advice for remedy in remedies))))
        if answer.query.min_score is not None:
            notice = f"{tr(messages.WEAK)} {notice}".strip()
            self._notice.show_notice(
                notice, tr("Hide results below the minimum score"), lambda: self.weak_requested.emit(False)
            )
        elif remedies:
            self._notice.show_notice(notice, remedy_label(remedies[0]), partial(self.remedy_chosen.emit, remedies[0]))
        elif outcome.similar_only and not why_missing("path-states"):
            ask = partial(self.missing_file_requested.emit, answer.query.text)
            self._notice.show_notice(notice, tr(messages.MISSING_FILE), ask)
        else:
            self._notice.show_notice(notice)

    def _show_empty(self, answer: Answer) -> None:
        if self._reading:
            self._show_page(messages.empty(answer.query, answer.outcome, self._reading), tr("No results yet"))
        else:
            self._show_nothing_found(answer)
        self._page_shows = "empty"

    def _show_nothing_found(self, answer: Answer) -> None:
        explanation = answer.outcome.explanation
        possible = () if explanation is None else explanation.remedies
        remedies = [remedy for remedy in possible if not (self._syncing and remedy.name == "sync")]
        embedding = (
            (messages.EMBEDDING_PAUSED if self._paused else messages.EMBEDDING) if len(remedies) < len(possible) else ""
        )
        named = {remedy.name for remedy in possible}
        remedies += [remedy for remedy in self._status_remedies if remedy.name not in named]
        offers = [
            Offer(remedy.advice, remedy_label(remedy), partial(self.remedy_chosen.emit, remedy)) for remedy in remedies
        ]
        ask = partial(self.missing_file_requested.emit, answer.query.text)
        actions: list[Action] = [(tr(messages.MISSING_FILE), ask)] if not why_missing("path-states") else []
        if explanation is not None:
            actions.insert(0, (tr("How this search worked"), self.list.why_requested.emit))
        actions.append(guide_action("not-found"))
        self._show_page(
            messages.empty(answer.query, answer.outcome, embedding=embedding),
            tr("No results"),
            offers=offers,
            actions=actions,
            suggestions=answer.outcome.offered,
        )

    def _show_page(
        self,
        words: tuple[str, str],
        counts: str,
        *,
        offers: Sequence[Offer] = (),
        actions: Sequence[Action] = (),
        start: StartContent | None = None,
        suggestions: Sequence[QuerySuggestion] = (),
    ) -> None:
        self._page_shows = "other"
        content = (words, tuple(offer[:2] for offer in offers), tuple(text for text, _ in actions), start)
        self.header.show_counts(counts, legend=False, sortable=False)
        self.suggestions.show_suggestions(suggestions)
        shown = self._content if self._stack.currentWidget() is self.page else ()
        if content == shown:
            return  # a silent repeat must not take a focused button away
        self._content = content
        self._notice.show_notice("")
        self._notice.keep_space(False)
        if start is not None and shown[-1:] != (start,):  # each step of an update has another sentence above the lists
            self.start_lists.show_content(start)
        table = None if start is None else self.start_lists
        self.page.show_state(*words, offers=offers, actions=actions, table=table)
        self._stack.setCurrentWidget(self.page)
        self.list.show_rows((), keep=False)

    @Slot(str)
    def _sort(self, order: SortOrder) -> None:
        self.order = order
        if self.answer is not None and self.has_results:
            keep = self.list.chosen
            self.list.show_rows(self.answer.rows(order), keep=keep)
        self.order_chosen.emit()
