"""The fields of the embedding page, one per row; only those that apply to the chosen provider are shown."""

from dataclasses import replace

from PySide6.QtCore import QRegularExpression, Qt, Signal, Slot
from PySide6.QtGui import QIntValidator, QRegularExpressionValidator
from PySide6.QtWidgets import QFileDialog, QGridLayout, QLineEdit, QWidget

import engine
from engine import CancelToken, KeyState, ModelFetchProgress, Settings, marked, number, tr
from gui.core.jobs import Jobs, JobSlot
from gui.settings.engine_and_model_choice import REMOTE, EmbeddingChoice
from gui.settings.value_formatting import (
    NAMES,
    OWNERS,
    PROVIDERS,
    SENTENCES,
    destination_sentence,
    fallback_text,
    key_source_text,
    list_price_text,
    read_number,
)
from gui.text.formatting import size_text
from gui.text.plain_text import set_tip
from gui.widgets.buttons import push_button
from gui.widgets.form_controls import CheckBox, ComboBox
from gui.widgets.labels import breakable, label
from gui.widgets.layouts import column_of, row_of
from gui.widgets.sync_bar import ProgressLine

# --- A model of the hub that is missing on this machine: downloaded on request, with progress ------------------------

_FULL = 1000
STOPPED = marked("Stopped. The download will resume where it stopped.")


class DownloadRow(QWidget):
    """A row to download a missing model. Closing the dialog stops the download, which resumes the next time.

    Signals: fetched: the model is available.
    """

    fetched = Signal()
    _progressed = Signal(object)

    def __init__(self, jobs: Jobs) -> None:
        super().__init__()
        self._settings: Settings | None = None
        self._lookup_job, self._download_job = JobSlot(self, jobs), JobSlot(self, jobs)
        self._state = label("", "meta", wrap=True)
        self._progress = ProgressLine()
        self._button = push_button(tr("Download"), self._pressed)
        self._progressed.connect(self._show_progress)
        column_of(self._state, row_of(self._button, self._progress, None, spacing=12), spacing=6, parent=self)
        self.hide()

    @property
    def ready(self) -> bool:
        """Whether no lookup or download is running."""
        return not (self._lookup_job.busy or self._download_job.busy)

    def check_model(self, settings: Settings) -> None:
        """Check whether the model of `settings` has to be downloaded."""
        if settings == self._settings and self._download_job.busy:
            return
        self.stop()
        self._settings = settings
        self._lookup_job.read(lambda _: engine.missing_model(settings), self._show)

    def stop(self) -> None:
        """Stop a running check or download."""
        self._lookup_job.cancel()
        self._download_job.cancel()

    def _show(self, missing: str) -> None:
        self.setVisible(bool(missing))
        self._state.setText(breakable(tr("{model} is not downloaded yet.", model=missing)))
        self._show_fetching(on=False)

    def _show_fetching(self, *, on: bool) -> None:
        self._progress.setVisible(on)
        self._button.setText(tr("Stop") if on else tr("Download"))
        self._button.setAccessibleName(
            tr("Stop the download of the model") if on else tr("Download the model from the model hub")
        )

    @Slot()
    def _pressed(self) -> None:
        settings = self._settings
        if self._download_job.busy:
            self._download_job.cancel()
            self._state.setText(tr(STOPPED))
            self._show_fetching(on=False)
            return
        if settings is None:
            return
        self._state.setText(tr("Contacting the model hub…"))
        self._progress.setValue(0)
        self._show_fetching(on=True)

        def work(token: CancelToken) -> None:
            engine.fetch_model(settings, progress=self._progressed.emit, cancel=token)

        self._download_job.write(work, self._done, self._failed)

    @Slot(object)
    def _show_progress(self, step: ModelFetchProgress) -> None:
        if self._download_job.busy:
            self._progress.setValue(round(_FULL * step.received / step.total) if step.total else 0)
            progress = tr(
                "{part} of {whole} of the model downloaded.", part=size_text(step.received), whole=size_text(step.total)
            )
            self._state.setText(progress)

    def _done(self, _: None) -> None:
        self.hide()
        self.fetched.emit()

    def _failed(self, sentence: str) -> None:
        self._state.setText(breakable(sentence))
        self._show_fetching(on=False)


# ---------------------------------------------------------------------------------------------------------------------

_MAX_DIMENSIONS = 65_536
_DOLLARS = QRegularExpression(r"\$?\s*\d*[.,]?\d*\s*")


class ApiKeyRow(QWidget):
    """A row to enter or delete the API key.

    Signals:
        typing: the text of the field has changed.
    """

    typing = Signal()

    def __init__(self, name: str) -> None:
        """`name`: what the key is for, as on the label of the row."""
        super().__init__()
        self.name = name
        self._state = label("", "meta", wrap=True)
        self._line = QLineEdit()
        self._line.setEchoMode(QLineEdit.EchoMode.Password)
        self._line.setAccessibleName(name)
        set_tip(self._line, tr("Stored in this system's keychain when you save, never in a file"))
        self._line.textChanged.connect(lambda _: self.typing.emit())
        self.forget_button = push_button(
            tr("Remove the API key"), name=tr("Remove the {key} from the keychain", key=name)
        )
        column_of(row_of((self._line, 1), self.forget_button, spacing=8), self._state, spacing=4, parent=self)
        self.show_state(None)

    @property
    def missing(self) -> bool:
        """Whether no key was found and none was entered; False during the search for it."""
        return self._state_shown is not None and not self._state_shown.present and self.typed is None

    @property
    def typed(self) -> str | None:
        """The API key that the user entered; None if the field is empty."""
        return self._line.text().strip() or None

    def clear(self) -> None:
        """Remove the entered key from the field."""
        self._line.clear()

    def show_state(self, state: KeyState | None) -> None:
        """Show where the key was found; None during the search for it."""
        self._state_shown = state
        self._state.setText(breakable(key_source_text(state)))
        is_present = state is not None and state.present
        # A variable has priority over the keychain: another key would be tested here, saved, and never used.
        fixed = state is not None and state.origin == "environment"
        if fixed:
            self.clear()
        self._line.setEnabled(not fixed)
        self._line.setPlaceholderText(
            "" if fixed else tr("Enter another API key") if is_present else tr("Enter the API key")
        )
        self.forget_button.setVisible(state is not None and state.origin == "keychain")


class EmbeddingForm(QWidget):
    """The fields for provider, model, key and other embedding options.

    Signals: changed: the current EmbeddingChoice, after a change by the user.
    """

    changed = Signal(object)

    def __init__(self, jobs: Jobs, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.key = ApiKeyRow(tr("API key"))
        self.fallback_key = ApiKeyRow(tr("API key of the fallback"))
        self.fetch = DownloadRow(jobs)
        self._choice = EmbeddingChoice("embedded")
        self._earlier: dict[str, EmbeddingChoice] = {}
        """Entered values of a provider while another one is selected."""
        self._rows: dict[str, tuple[QWidget, ...]] = {}
        self._grid = QGridLayout(self)
        self._grid.setContentsMargins(0, 0, 0, 0)
        self._grid.setHorizontalSpacing(16)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnStretch(1, 1)
        self._make_fields()

    def _make_fields(self) -> None:
        self._provider = ComboBox(tr("Provider"))
        for name, title, _ in PROVIDERS:
            self._provider.addItem(tr(title), name)
        self._sentence = label("", "meta", wrap=True)
        self._server = ComboBox(tr("Server"))
        for preset in engine.PRESETS:
            self._server.addItem(preset.name, preset.id)
        self._server.addItem(tr("Another server address"), None)
        self._hint = label("", "meta", wrap=True)
        self._address = self._line(tr("Address of the API"))
        self._model = ComboBox(tr("Model"))
        self._name = self._line(tr("Name of the model"))
        self._model.setLineEdit(self._name)
        self._model.setInsertPolicy(ComboBox.InsertPolicy.NoInsert)
        self._model_hint = label("", "meta", wrap=True)
        self._dimensions = self._line(tr("Dimensions of the vectors"))
        self._dimensions.setValidator(QIntValidator(1, _MAX_DIMENSIONS, self._dimensions))
        self._price = self._line(tr("Price of a million tokens in US dollars"))
        self._price.setValidator(QRegularExpressionValidator(_DOLLARS, self._price))
        self._file = self._line(tr("Model file, or its name on the model hub"))
        self._file.setPlaceholderText(tr("EmbeddingGemma, or a .gguf file, or hf:owner/repository/file.gguf"))
        browse = push_button(tr("Browse…"), self._browse)
        file_row = QWidget()
        row_of((self._file, 1), browse, spacing=8, parent=file_row)
        self._batch = CheckBox(tr("Use batch jobs"))
        self._batch_hint = label(
            tr("Batch jobs are cheaper, but the vectors may take a day to arrive."), "meta", wrap=True
        )
        self._agreed = {name: CheckBox(tr("Allow sending texts to {owner}", owner=OWNERS[name])) for name in REMOTE}
        self._fallback = ComboBox(tr("Fallback"))
        self._fallback_hint = label("", "meta", wrap=True)

        self._add("provider", tr("Provider"), self._provider, self._sentence)
        self._add("server", tr("Server"), self._server, self._hint)
        self._add("address", tr("Address"), self._address)
        self._add("file", tr("Model file"), file_row)
        self._grid.addWidget(self.fetch, self._grid.rowCount(), 1)
        self._add("model", tr("Model"), self._model, self._model_hint)
        self._add("dimensions", tr("Vector dimensions"), self._dimensions)
        self._add("approved", tr("Allow"), *self._agreed.values())
        self._add("price", tr("Price"), self._price)
        self._add("batch", "", self._batch, self._batch_hint)
        self._add("key", self.key.name, self.key)
        self._add("fallback", tr("Fallback"), self._fallback, self._fallback_hint)
        self._add("fallback key", self.fallback_key.name, self.fallback_key)
        self._connect()

    def _connect(self) -> None:
        self._provider.activated.connect(self._provider_chosen)
        self._server.activated.connect(self._server_chosen)
        self._model.activated.connect(self._read_lines)
        for line in (self._address, self._dimensions, self._price, self._file, self._name):
            line.editingFinished.connect(self._read_lines)
        for name, box in self._agreed.items():
            box.clicked.connect(lambda on, name=name: self._set_choice(self._typed().with_approved(name, on)))
        self._batch.clicked.connect(lambda on: self._set_choice(replace(self._typed(), batch=on)))
        self._fallback.activated.connect(
            lambda _: self._set_choice(replace(self._typed(), fallback=self._fallback.currentData()))
        )

    def _line(self, name: str) -> QLineEdit:
        line_edit = QLineEdit()
        line_edit.setAccessibleName(name)
        return line_edit

    def _add(self, name: str, title: str, *widgets: QWidget) -> None:
        """Add a row with a title to the grid; further widgets are placed below the first."""
        row = self._grid.rowCount()
        words = label(title, "muted")
        words.setMinimumHeight(self._provider.sizeHint().height())
        self._grid.addWidget(words, row, 0, Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
        for below, widget in enumerate(widgets):
            self._grid.addWidget(widget, row + below, 1)
        self._rows[name] = (words, *widgets)

    # --- display ----------------------------------------------------------------------------------------------------

    @property
    def choice(self) -> EmbeddingChoice:
        """The choice of all fields, including text that is still being typed."""
        return self._typed()

    def show_choice(self, choice: EmbeddingChoice) -> None:
        """Show a choice of provider and model in all controls."""
        self._choice = choice
        self._provider.choose(choice.provider)
        later = fallback_text(choice.applied_to(Settings()))
        sent = destination_sentence(choice.provider, choice.base_url, remote_fallback=bool(later))
        self._sentence.setText(f"{tr(SENTENCES[choice.provider])} {sent}")
        takes_over = tr("This provider is used when the first one cannot start or stops answering.")
        self._fallback_hint.setText(f"{takes_over} {later}".strip())
        self._show_server(choice)
        self._show_model(choice)
        self._file.setText(choice.model_path)
        self._batch.setChecked(choice.batch)
        for name, box in self._agreed.items():
            box.setChecked(name in choice.approved)
        self._show_fallbacks(choice)
        visibility = {
            "server": choice.provider == "openai",
            "address": choice.remote,
            "file": choice.provider == "gguf",
            "model": choice.remote,
            "dimensions": choice.remote or choice.provider == "gguf",
            "price": choice.remote,
            "batch": choice.may_batch,
            "key": choice.remote,
            "approved": choice.provider == "auto",
            "fallback": choice.provider != "none",
            "fallback key": bool(later),
        }
        for name, visible in visibility.items():
            for widget in self._rows[name]:
                widget.setVisible(visible)
        self._hint.setVisible(visibility["server"] and bool(self._hint.text()))
        self._model_hint.setVisible(visibility["model"] and bool(self._model_hint.text()))

    def _show_fallbacks(self, choice: EmbeddingChoice) -> None:
        """List the fallbacks: a provider can't replace itself, so a saved one that is the same has no effect."""
        names = ("none", *(provider.name for provider in engine.PROVIDERS if provider.name != choice.provider))
        self._fallback.clear()
        for name in names:
            self._fallback.addItem(tr(NAMES[name]), name)
        self._fallback.choose(choice.fallback if choice.fallback in names else "none")

    def _show_server(self, choice: EmbeddingChoice) -> None:
        preset = engine.preset_of(choice.base_url) if choice.base_url else engine.PRESETS[0]
        self._server.choose(preset.id if preset is not None else None)
        self._hint.setText(tr(preset.hint) if preset is not None else tr("Any server with OpenAI's /embeddings."))
        self._address.setText(choice.base_url)
        self._address.setPlaceholderText(tr("Default of the provider"))

    def _show_model(self, choice: EmbeddingChoice) -> None:
        known = engine.models_of(choice.provider)
        self._model.blockSignals(True)
        self._model.clear()
        self._model.addItems([metadata.model for metadata in known])
        self._model.setCurrentIndex(-1)
        self._model.setEditText(choice.model)
        self._model.blockSignals(False)
        own = choice.own_model
        self._name.setPlaceholderText(
            tr("{model} (default of the provider)", model=own) if own else tr("Default of the provider")
        )
        metadata = engine.metadata_of(choice.provider, choice.model or own)
        self._model_hint.setText(_metadata_text(metadata))
        self._dimensions.setText("" if choice.dimensions is None else str(choice.dimensions))
        self._price.setText("" if choice.price is None else number(choice.price, "g"))
        self._price.setPlaceholderText(list_price_text(None if choice.base_url else metadata))
        self._dimensions.setPlaceholderText(
            tr("{dims} (default of the model)", dims=metadata.dims) if metadata else tr("Default of the model")
        )

    def focus_first(self) -> None:
        self._provider.setFocus()

    # --- input ------------------------------------------------------------------------------------------------------

    def _set_choice(self, choice: EmbeddingChoice) -> None:
        if choice != self._choice:
            self.show_choice(choice)
            self.changed.emit(choice)

    def _typed(self) -> EmbeddingChoice:
        """Return the choice with the current texts of the fields."""
        choice = self._choice
        length = read_number(self._dimensions.text()) or 0.0
        dimensions = int(length) if length.is_integer() and 1 <= length <= _MAX_DIMENSIONS else None
        if choice.provider == "gguf":
            return replace(choice, model_path=self._file.text().strip(), dimensions=dimensions)
        if not choice.remote:
            return choice
        model = self._model.currentText().strip()
        typed = replace(choice, model=model, base_url=self._address.text().strip(), dimensions=dimensions)
        # The price in the field is that of the previous model.
        return typed.with_price(_dollars(self._price.text())) if model == choice.model else typed

    @Slot()
    def _read_lines(self) -> None:
        self._set_choice(self._typed())

    @Slot(int)
    def _provider_chosen(self, _: int) -> None:
        name = self._provider.currentData()
        before = self._typed()
        if name == before.provider:
            return
        self._earlier[before.provider] = before
        known = self._earlier.get(name) or before.with_provider(name)
        self._set_choice(replace(known, fallback=before.fallback, approved=before.approved))

    @Slot(int)
    def _server_chosen(self, _: int) -> None:
        chosen: str | None = self._server.currentData()
        preset = next((preset for preset in engine.PRESETS if preset.id == chosen), None)
        if preset is None:
            self._address.setFocus()
        elif preset is engine.PRESETS[0]:
            self._set_choice(replace(self._typed(), base_url="", model="", dimensions=None))
        else:
            self._set_choice(replace(self._typed(), base_url=preset.base_url, model=preset.model, dimensions=None))

    @Slot()
    def _browse(self) -> None:
        name, _ = QFileDialog.getOpenFileName(
            self, tr("Choose a model file"), "", tr("Model files ({endings})", endings="*.gguf")
        )
        if name:
            self._file.setText(name)
            self._read_lines()


def _dollars(text: str) -> float | None:
    """Parse a typed price; None if it isn't a number."""
    dollars = read_number(text.strip().lstrip("$"))
    return None if dollars is None or dollars < 0 else dollars


def _metadata_text(metadata: "engine.ModelMetadata | None") -> str:
    """Describe the vector length of a known model, with other lengths that it offers."""
    if metadata is None:
        return ""
    others, dims, tokens = metadata.dimensions, metadata.dims, metadata.input_tokens
    if len(others) < 2:
        return tr("{dims:,} dimensions · texts up to {tokens:,} tokens", dims=dims, tokens=tokens)
    if isinstance(others, range):
        return tr(
            "{dims:,} dimensions (or {least:,} to {most:,}) · texts up to {tokens:,} tokens",
            dims=dims,
            least=others[0],
            most=others[-1],
            tokens=tokens,
        )
    return tr(
        "{dims:,} dimensions (or {others}) · texts up to {tokens:,} tokens",
        dims=dims,
        others=", ".join(map(number, others)),
        tokens=tokens,
    )
