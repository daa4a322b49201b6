"""The page to choose the embedding model, which is tested and priced before it is saved.

Its button is in the footer of the dialog.
"""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from PySide6.QtCore import QTimer, Slot
from PySide6.QtWidgets import QSizePolicy, QVBoxLayout, QWidget

import engine
from engine import CancelToken, EmbeddingEstimate, KeyState, MemorySearchManager, ProviderProbe, Settings, marked, tr
from gui.core.jobs import Jobs, JobSlot
from gui.settings.embedding_form import ApiKeyRow, EmbeddingForm
from gui.settings.engine_and_model_choice import EmbeddingChoice
from gui.settings.fields import CheckRow
from gui.settings.option_row import WIDTH, FormPage
from gui.settings.value_formatting import fallback_owner, fallback_receiver, probe_text, save_label
from gui.text.formatting import estimate_text
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import ColumnWithFooter, column_of

_LOOKUP_DELAY_MS = 250
CACHE_HINT = marked("Vectors of the current model stay cached: switching back costs nothing.")
COUNTING = marked("Counting the passages to embed…")
TESTING = marked("Testing the provider with one word…")


class EmbeddingPage(FormPage):
    """The page to choose the embedding model. A test sends one word; the choice is saved only by the button."""

    def __init__(
        self,
        jobs: Jobs,
        config: Path | None = None,
        below: QWidget | None = None,
        parent: QWidget | None = None,
    ) -> None:
        """`below`: a widget to show below the form."""
        super().__init__(jobs, config, parent)
        self.setProperty("role", "page")
        self._manager: MemorySearchManager | None = None
        self._before = EmbeddingChoice.of(self._settings)
        self._estimate: EmbeddingEstimate | None = None
        self._keys, self._pricing = JobSlot(self, jobs), JobSlot(self, jobs)
        self._lookup_timer = QTimer(self, singleShot=True)
        self._lookup_timer.timeout.connect(self._look_up)

        # From the outside in: Qt applies the style sheet again to all widgets of a part that gets another parent.
        self._column, self._foot = QVBoxLayout(), QWidget()
        self._footed = ColumnWithFooter(self._column, WIDTH, self._foot, self)
        column_of(self._footed, parent=self)
        self._form = EmbeddingForm(jobs, self._column.parentWidget())
        self._form.changed.connect(self._changed)
        self._keys_for = self._receivers
        self._fetch = self._form.fetch
        self._fetch.fetched.connect(self.refresh)
        for row in self._key_rows:
            row.typing.connect(self._show_save)
            row.forget_button.clicked.connect(lambda _=False, row=row: self._forget_key(row))
        self._trial = CheckRow(jobs, tr("Test the provider by sending one word"), tr(TESTING))
        self._trial.button.clicked.connect(self._try)
        self._price = label("", wrap=True)
        self._cache_hint = label(tr(CACHE_HINT), "meta", wrap=True)
        self._footer_labels = self._price, self._cache_hint, self._problem
        self._lay_out(below)

    def _lay_out(self, below: QWidget | None) -> None:
        column = self._column
        column.setContentsMargins(0, 20, 0, 16)
        column.setSpacing(12)
        column.addWidget(label(tr("Meaning search model"), "title", wrap=True))
        column.addWidget(self._form)
        column.addWidget(self._trial)
        if below is not None:
            column.addWidget(below)
        column.addStretch(1)
        column_of(*self._footer_labels, spacing=4, margins=(0, 10, 0, 10), parent=self._foot)
        for widget in self._footer_labels:
            widget.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Minimum)
            widget.hide()

    # --- display ----------------------------------------------------------------------------------------------------

    @property
    def ready(self) -> bool:
        """Whether no lookup, test or save is running."""
        busy = self._trial.busy or any(slot.busy for slot in self._slots)
        return self._fetch.ready and not (self._lookup_timer.isActive() or busy)

    @property
    def unsaved(self) -> bool:
        """Whether the choice differs from the settings in use, or a key was entered."""
        return self._form.choice != self._before or any(row.typed for row, _ in self._visible_key_rows)

    @property
    def _key_rows(self) -> tuple[ApiKeyRow, ApiKeyRow]:
        return self._form.key, self._form.fallback_key

    @property
    def _receivers(self) -> tuple[tuple[str, str] | None, tuple[str, str] | None]:
        """Provider and server that get the key of each row; None for a hidden row."""
        choice = self._form.choice
        main = (choice.provider, choice.base_url) if choice.remote else None
        return main, fallback_receiver(self._chosen_settings)

    @property
    def _visible_key_rows(self) -> list[tuple[ApiKeyRow, str]]:
        """The visible rows for keys, each with its provider."""
        both = zip(self._key_rows, self._receivers, strict=True)
        return [(row, receiver[0]) for row, receiver in both if receiver is not None]

    @property
    def _slots(self) -> tuple[JobSlot, ...]:
        return self._keys, self._pricing, self._save_job

    def begin(self, folder: Path, settings: Settings, manager: MemorySearchManager | None) -> None:
        """Show the current settings of a workspace; `manager` is its open memory.

        A choice that is not saved stays while the workspace is reopened.
        """
        edited = self._form.choice != self._before and folder == self._folder
        choice = self._form.choice if edited else EmbeddingChoice.of(settings)
        self._folder, self._settings, self._manager = folder, settings, manager
        self._before = EmbeddingChoice.of(settings)
        self._form.show_choice(choice)
        self._changed(choice)
        self._lookup_timer.start(0)  # nothing is being typed yet

    def take_focus(self) -> None:
        self._form.focus_first()

    @Slot()
    def refresh(self) -> None:
        """Update the amount to embed after a change of the index or the download of a model."""
        self._lookup_timer.start(_LOOKUP_DELAY_MS)

    def stop(self) -> None:
        """Cancel running tests and drop entered values, since the dialog was closed."""
        self._form.show_choice(self._before)
        self._show_save()
        self._lookup_timer.stop()
        self._fetch.stop()
        self._trial.clear()
        for slot in self._slots:
            slot.cancel()
        for row in self._key_rows:
            row.clear()

    @Slot(object)
    def _changed(self, choice: EmbeddingChoice) -> None:
        self._clear_keys_for_others()
        self._trial.clear()
        self._problem.hide()
        self._estimate = None
        self._set_price_text(tr(COUNTING) if choice != self._before else "")
        self._trial.button.setEnabled(choice.provider != "none")
        self._show_save()
        self._lookup_timer.start(_LOOKUP_DELAY_MS)

    def _clear_keys_for_others(self) -> None:
        """Clear a row for a key whose receiver has changed: a key for one server must not be sent to another."""
        receivers = self._receivers
        for row, before, now in zip(self._key_rows, self._keys_for, receivers, strict=True):
            if now != before:
                row.clear()
        self._keys_for = receivers

    @property
    def _approved_estimate(self) -> EmbeddingEstimate | None:
        """The estimate that saving approves; None if embedding can't begin without a key."""
        choice = self._form.choice
        key_missing = choice.needs_key and self._form.key.missing
        return None if choice == self._before or key_missing else self._estimate

    @Slot()
    def _show_save(self) -> None:
        changed = self._form.choice != self._before
        self._cache_hint.setVisible(changed)
        self._show_footer()
        owner = fallback_owner(self._chosen_settings)
        known = owner == fallback_owner(self._settings)
        self.save_button.setText(save_label(self._approved_estimate, "" if known else owner))
        super()._show_save()

    # --- checks -----------------------------------------------------------------------------------------------------

    @property
    def _chosen_settings(self) -> Settings:
        return self._form.choice.applied_to(self._settings)

    @Slot()
    def _look_up(self) -> None:
        """Look up the keys and the price of the current choice."""
        settings, choice, manager = self._chosen_settings, self._form.choice, self._manager
        self._fetch.check_model(settings)
        rows = self._visible_key_rows
        for row, _ in rows:
            row.show_state(None)
        self._keys.read(
            lambda _: [(row, engine.key_state(provider, settings)) for row, provider in rows],
            self._show_keys,
            self._show_error,
        )
        if manager is None or choice.provider == "none":
            self._set_price_text("")
            return
        self._pricing.read(
            lambda token: manager.estimate_embedding(settings, cancel=token), self._show_price, self._set_price_text
        )

    def _show_keys(self, states: Sequence[tuple[ApiKeyRow, KeyState]]) -> None:
        for row, state in states:
            row.show_state(state)
        self._show_save()

    def _show_price(self, estimate: EmbeddingEstimate) -> None:
        self._estimate = estimate
        unaffected = self._form.choice == self._before and not estimate.chunks
        self._set_price_text("" if unaffected else estimate_text(estimate))
        self._show_save()

    def _set_price_text(self, sentence: str) -> None:
        self._price.setText(breakable(sentence))
        self._price.setVisible(bool(sentence))
        self._show_footer()

    def _show_footer(self) -> None:
        self._footed.show_footer(any(not words.isHidden() for words in self._footer_labels))

    @Slot()
    def _try(self) -> None:
        """Test the provider, and a fallback on a server."""
        settings, fallback = self._chosen_settings, self._receivers[1] is not None
        key, fallback_key = (row.typed for row in self._key_rows)

        def work(token: CancelToken) -> list[ProviderProbe]:
            probes = [engine.probe_provider(settings, key, cancel=token)]
            if fallback:
                probes.append(engine.probe_provider(settings, fallback_key, fallback=True, cancel=token))
            return probes

        self._trial.run(work, _probes_text)

    # --- changes ----------------------------------------------------------------------------------------------------

    def _forget_key(self, row: ApiKeyRow) -> None:
        settings, provider = self._chosen_settings, dict(self._visible_key_rows)[row]

        def work(_: CancelToken) -> list[tuple[ApiKeyRow, KeyState]]:
            engine.forget_key(provider, settings)
            return [(row, engine.key_state(provider, settings))]

        self._keys.save(work, self._show_keys, self._show_error)

    @Slot()
    def _save(self) -> None:
        choice, settings = self._form.choice, self._chosen_settings
        keys = [(provider, row.typed) for row, provider in self._visible_key_rows]
        changes: dict[str, Any] = choice.changes(self._before)
        agreed = self._approved_estimate
        folder, config, before = self._folder, self._config, self._settings

        def work(_: CancelToken) -> EmbeddingEstimate | None:
            for provider, key in keys:
                if key is not None:
                    engine.store_key(provider, settings, key)
            if changes:
                engine.save_settings(changes, workspace=folder, config=config, seen=before)
            return agreed

        self._run_save(work, partial(self._saved, choice))

    def _saved(self, choice: EmbeddingChoice, agreed: EmbeddingEstimate | None) -> None:
        self._before = choice
        for row in self._key_rows:
            row.clear()
        self.saved.emit(agreed)

    def _show_error(self, sentence: str) -> None:
        super()._show_error(sentence)
        self._show_footer()


def _probes_text(probes: Sequence[ProviderProbe]) -> tuple[str, bool]:
    """Describe the test of a provider, and of its fallback if there is one, and return whether all passed."""
    first, *others = map(probe_text, probes)
    sentences = (first, *(tr("Fallback: {result}", result=words) for words in others))
    return " ".join(sentences), all(probe.ok for probe in probes)
