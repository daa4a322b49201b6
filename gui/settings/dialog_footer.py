"""The footer of the settings dialog: unsaved changes, their effects, and the buttons."""

from PySide6.QtCore import Qt, Signal, Slot
from PySide6.QtWidgets import QFrame, QPushButton, QScrollArea, QWidget

from engine import SettingsConsequences, tr, tr_count
from gui.core.key_listing import native
from gui.settings.edited_options import SettingsModel, other_vectors
from gui.settings.engine_and_model_choice import EmbeddingChoice
from gui.settings.value_formatting import sent_text
from gui.style.typography import Resized
from gui.widgets.accessibility import announce, insert_after, stop_before
from gui.widgets.buttons import push_button
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import FlowLayout, column_of

_MAX_SHARE = 0.2
"""Largest share of the window's height for the summary of pending changes."""


def effects_text(
    pending: int, follows: SettingsConsequences, sent: str, *, other_model: bool = False, vectors: bool = False
) -> str:
    """Describe the effects of applying pending changes. `sent`: where texts to re-embed are sent.

    `other_model`: whether another model embeds text then. `vectors`: whether other options of vectors apply then.
    """
    first = tr_count(
        "{count:,} change takes effect when this folder is opened again.",
        "{count:,} changes take effect when this folder is opened again.",
        pending,
    )
    if follows.full_rebuild:
        then = tr("The change rebuilds the index; searches use the old one until that is done.")
    elif follows.other_index:
        then = tr("After the change another index is used and updated; the current one is not deleted.")
    elif follows.other_files:
        then = tr("The change updates the index to the new choice of files.")
    elif other_model:
        then = tr("Missing vectors of the other model are then created.")
    elif vectors:
        then = tr("Missing vectors are created after the change.")
    else:
        return first
    return f"{first} {then} {sent}"


class DialogFooter(Resized, QWidget):
    """The footer of the settings dialog: pending changes and buttons.

    Signals: closing: close the dialog; True if unsaved changes of a form are dropped.
    """

    closing = Signal(bool)

    def __init__(self, model: SettingsModel) -> None:
        super().__init__()
        self._model = model
        self._asking = self._form = False
        self._text = label("", "muted", wrap=True)
        undo_tip = tr("Undo the last change ({keys})", keys=native("Ctrl+Z"))
        self._undo = push_button(tr("Undo"), model.undo, tip=undo_tip)
        discard_tip, apply_tip = (
            tr("Discard the changes that are not applied yet"),
            tr("Apply the changes and open the folder again"),
        )
        self._discard = push_button(tr("Discard"), self._forget, tip=discard_tip)
        self._apply = push_button(tr("Apply"), self._apply_changes, role="primary", tip=apply_tip)
        self._close = push_button(tr("Close"), self._leave, tip=tr("Close the settings"))
        self._buttons = QWidget()
        self._flow = FlowLayout(8, self._buttons, at_end=True)
        for button in (self._undo, self._discard, self._apply):
            self._flow.addWidget(button)
        self._flow.addWidget(self._close)
        self._scroll_area = QScrollArea()  # where text is large and the window low, it must not take the page's place
        self._scroll_area.setFrameShape(QFrame.Shape.NoFrame)
        self._scroll_area.setWidgetResizable(True)
        self._scroll_area.setWidget(self._text)
        self._scroll_area.setAccessibleName(tr("Effects of the changes"))
        self._scroll_area.viewport().setAutoFillBackground(False)
        self._text.setAutoFillBackground(False)
        column_of(self._scroll_area, self._buttons, spacing=8, margins=(16, 10, 16, 10), parent=self)
        model.waiting_changed.connect(self.show_waiting)
        model.loaded.connect(self.show_waiting)
        model.changed.connect(lambda _: self.show_waiting())
        model.refused.connect(lambda *_: self.show_waiting())
        self.show_waiting()

    def add_button(self, button: QPushButton) -> None:
        """Add a page's own button, before the close button."""
        self._flow.removeWidget(self._close)
        self._flow.addWidget(button)
        self._flow.addWidget(self._close)
        insert_after(stop_before(self._close), [button])

    # --- display ----------------------------------------------------------------------------------------------------

    @Slot()
    def show_waiting(self) -> None:
        """Show the pending changes and their effects."""
        pending = self._model.pending
        self._asking = self._asking and bool(pending or self._form)
        self._form = self._form and self._asking
        text = breakable(self._pending_text(pending))
        if text and text != self._text.text():
            announce(self, self._pending_text(pending))
        self._text.setText(text)
        self._scroll_area.setVisible(bool(text))
        self.fit()
        self._discard.setVisible(bool(pending or self._form))
        self._apply.setVisible(bool(pending))
        self._apply.setEnabled(True)  # also while another change is saved: both are then saved in turn
        self._undo.setVisible(self._model.can_undo)

    def _pending_text(self, pending: int) -> str:
        if not pending:
            return tr("Save the changed settings before closing?") if self._form else ""
        now, then = self._model.current, self._model.layers.settings
        sentence = effects_text(
            pending,
            self._model.consequences(),
            sent_text(then),
            other_model=EmbeddingChoice.of(now) != EmbeddingChoice.of(then),
            vectors=other_vectors(now, then),
        )
        return " ".join((tr("Apply the changed settings before closing?"), sentence)) if self._asking else sentence

    @property
    def text(self) -> str:
        return self._text.text().replace("\u200b", "") if not self._scroll_area.isHidden() else ""

    # --- decisions --------------------------------------------------------------------------------------------------

    def confirm(self, *, form: bool = False) -> None:
        """Ask what to do with pending changes before closing; `form`: changes of a page with its own save button."""
        self._asking, self._form = True, form
        self.show_waiting()
        if not form:
            self._apply.setFocus(Qt.FocusReason.OtherFocusReason)

    def withdraw_question(self) -> None:
        """Remove the question about a form that has no unsaved changes any more."""
        if self._form:
            self._asking = self._form = False
            self.show_waiting()

    @Slot()
    def _apply_changes(self) -> None:
        closing, self._asking = self._asking, False
        self._model.apply()
        self._apply.setEnabled(False)
        if closing:
            self.closing.emit(False)

    @Slot()
    def _forget(self) -> None:
        closing, form, self._asking = self._asking, self._form, False
        self._model.discard()
        self.show_waiting()
        if closing:
            self.closing.emit(form)

    @Slot()
    def _leave(self) -> None:
        self.window().close()

    def fit(self) -> None:
        """Fit the height to the text, up to a share of the window."""
        text_height = self._text.heightForWidth(max(1, self._scroll_area.viewport().width()))
        self._scroll_area.setFixedHeight(max(1, min(text_height, round(self.window().height() * _MAX_SHARE))))
