import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QLineEdit, QPushButton

import engine
from engine import KeyState, MnemoscopeError, ProviderError, ProviderProbe, Settings, load_settings
from gui.settings.dialog import SettingsDialog
from gui.settings.embedding_page import EmbeddingPage
from gui.widgets.form_controls import CheckBox, ComboBox
from gui.widgets.layouts import ColumnWithFooter, VerticalScrollArea
from tests.helpers.fake_records import make_estimate

NO_KEY = KeyState(present=False, origin=None, origin_text="", problem="")
KEPT = KeyState(present=True, origin="keychain", origin_text="the keychain", problem="")


@pytest.fixture
def keys(monkeypatch) -> list[tuple[str, str]]:
    """An in-memory keychain: its contents."""
    stored: list[tuple[str, str]] = []
    monkeypatch.setattr(engine, "key_state", lambda provider, settings: KEPT if stored else NO_KEY, raising=False)
    monkeypatch.setattr(
        engine, "store_key", lambda provider, settings, key: stored.append((provider, key)), raising=False
    )
    monkeypatch.setattr(engine, "forget_key", lambda provider, settings: stored.clear(), raising=False)
    return stored


@pytest.fixture
def open_dialog(qtbot, appearance, jobs, memory, notes, keys):
    def run(**settings) -> SettingsDialog:
        dialog = SettingsDialog(jobs)
        qtbot.addWidget(dialog)
        dialog.begin(notes, Settings(**settings), memory, "embedding")
        qtbot.waitUntil(lambda: dialog.ready)
        return dialog

    return run


def _combo(dialog, name: str) -> ComboBox:
    return next(box for box in dialog.findChildren(ComboBox) if box.accessibleName() == name)


def _line(dialog, name: str) -> QLineEdit:
    return next(line for line in dialog.findChildren(QLineEdit) if line.accessibleName() == name)


def _button(dialog, words: str) -> QPushButton:
    return next(b for b in dialog.findChildren(QPushButton) if b.text() == words and not b.isHidden())


def _choose(qtbot, dialog, name: str, data: str) -> None:
    box = _combo(dialog, name)
    box.setCurrentIndex(box.findData(data))
    box.activated.emit(box.currentIndex())
    qtbot.waitUntil(lambda: dialog.ready)


def _enter(qtbot, dialog, name: str, text: str) -> None:
    line = _line(dialog, name)
    line.setText(text)
    line.editingFinished.emit()
    qtbot.waitUntil(lambda: dialog.ready)


def _words(dialog) -> str:
    visible_texts = [found.text() for found in dialog.findChildren(QLabel) if not found.isHidden()]
    return " | ".join(visible_texts).replace("\u200b", "")


def test_only_fields_of_provider_are_shown(qtbot, open_dialog):
    dialog = open_dialog()
    assert _combo(dialog, "Model").isHidden()
    _choose(qtbot, dialog, "Provider", "openai")
    assert not any(_combo(dialog, name).isHidden() for name in ("Model", "Server"))
    _choose(qtbot, dialog, "Provider", "gguf")
    assert _combo(dialog, "Server").isHidden()
    assert _line(dialog, "Model file, or its name on the model hub").isVisible()
    assert _combo(dialog, "Model").isHidden()


def test_destination_of_texts_is_shown_before_saving(qtbot, open_dialog):
    dialog = open_dialog()
    assert "Nothing leaves this machine." in _words(dialog)
    _choose(qtbot, dialog, "Provider", "voyage")
    assert "are sent to api.voyageai.com" in _words(dialog)


def test_server_choice_fills_address_and_model(qtbot, open_dialog):
    dialog = open_dialog(provider="openai")
    _choose(qtbot, dialog, "Server", "ollama")
    assert _line(dialog, "Address of the API").text() == "http://127.0.0.1:11434/v1"
    assert _line(dialog, "Name of the model").text() == "nomic-embed-text"
    assert "a server on this machine" in _words(dialog)


def test_input_is_restored_when_provider_is_chosen_again(qtbot, open_dialog):
    dialog = open_dialog(provider="openai")
    _enter(qtbot, dialog, "Name of the model", "text-embedding-3-large")
    _choose(qtbot, dialog, "Provider", "gemini")
    assert _line(dialog, "Name of the model").text() == ""
    _choose(qtbot, dialog, "Provider", "openai")
    assert _line(dialog, "Name of the model").text() == "text-embedding-3-large"


def test_save_writes_workspace_settings_and_accepts_price(qtbot, open_dialog, memory, notes, keys, monkeypatch):
    keys.append(("openai", "sk-kept"))
    estimated = []

    def estimate(settings, cancel=None):
        estimated.append(settings)
        return make_estimate(cost=1.09)

    monkeypatch.setattr(memory, "estimate_embedding", estimate)
    dialog = open_dialog()
    _choose(qtbot, dialog, "Provider", "openai")
    _enter(qtbot, dialog, "Dimensions of the vectors", "256")
    assert (estimated[-1].provider, estimated[-1].dimensions) == ("openai", 256)
    with qtbot.waitSignal(dialog.saved) as saved:
        _button(dialog, "Save and embed for about $1.09").click()
    assert saved.args == [make_estimate(cost=1.09)]
    found = load_settings(notes)
    assert (found.provider, found.dimensions) == ("openai", 256)
    assert load_settings().provider == "embedded"
    assert not dialog.isVisible()


def test_remote_fallback_shows_consent_and_is_named_on_save(qtbot, open_dialog, memory, notes):
    memory.estimate = make_estimate(chunks=0, tokens=0, cost=0.0)
    dialog = open_dialog()
    page = dialog.pages.page("embedding")
    assert "Nothing leaves this machine." in _words(dialog)
    _choose(qtbot, dialog, "Fallback", "openai")
    assert "your queries, are sent to api.openai.com" in _words(dialog)
    assert "Nothing leaves this machine." not in _words(dialog)
    assert page.save_button.text() == "Save, allow sending to OpenAI"
    _choose(qtbot, dialog, "Fallback", "gguf")
    assert "are sent to" not in _words(dialog)
    assert page.save_button.text() == "Save"
    _choose(qtbot, dialog, "Fallback", "openai")
    with qtbot.waitSignal(dialog.saved):
        page.save_button.click()
    assert load_settings(notes).fallback == "openai"


def test_key_of_remote_fallback_is_saved_for_fallback(qtbot, open_dialog, memory, keys):
    memory.estimate = make_estimate(chunks=0, tokens=0, cost=0.0)
    dialog = open_dialog()
    field = _line(dialog, "API key of the fallback")
    assert field.parentWidget().isHidden()
    _choose(qtbot, dialog, "Fallback", "gemini")
    assert not field.parentWidget().isHidden()
    assert "No API key was found." in _words(dialog)
    field.setText("sk-fallback")
    with qtbot.waitSignal(dialog.saved):
        dialog.pages.page("embedding").save_button.click()
    assert keys == [("gemini", "sk-fallback")]


@pytest.mark.parametrize(
    ("field", "chosen", "another"),
    [
        ("API key of the fallback", ("Fallback", "openai"), ("Fallback", "gemini")),
        ("API key", ("Provider", "openai"), ("Provider", "gemini")),
        ("API key", ("Provider", "openai"), ("Server", "ollama")),
        ("API key", ("Provider", "openai"), ("Provider", "auto")),
    ],
)
def test_typed_key_is_cleared_for_another_receiver(qtbot, open_dialog, memory, keys, field, chosen, another):
    memory.estimate = make_estimate(chunks=0, tokens=0, cost=0.0)
    dialog = open_dialog()
    _choose(qtbot, dialog, *chosen)
    _line(dialog, field).setText("sk-openai-secret")
    _choose(qtbot, dialog, *another)
    assert _line(dialog, field).text() == ""
    with qtbot.waitSignal(dialog.saved):
        dialog.pages.page("embedding").save_button.click()
    assert keys == []


def test_typed_key_stays_for_the_same_receiver(qtbot, open_dialog):
    dialog = open_dialog(provider="openai", fallback="gemini")
    _line(dialog, "API key").setText("sk-openai")
    _line(dialog, "API key of the fallback").setText("sk-gemini")
    _enter(qtbot, dialog, "Name of the model", "text-embedding-3-large")
    assert _line(dialog, "API key").text() == "sk-openai"
    _choose(qtbot, dialog, "Provider", "voyage")
    assert _line(dialog, "API key of the fallback").text() == "sk-gemini"


def test_rows_for_keys_have_different_names(qtbot, open_dialog, keys):
    keys.append(("openai", "sk-kept"))
    dialog = open_dialog(provider="openai", fallback="gemini")
    labels = [found.text() for found in dialog.findChildren(QLabel) if found.isVisible()]
    assert [text for text in labels if text.startswith("API key")] == ["API key", "API key of the fallback"]
    buttons = [found for found in dialog.findChildren(QPushButton) if found.text() == "Remove the API key"]
    assert [button.accessibleName() for button in buttons] == [
        "Remove the API key from the keychain",
        "Remove the API key of the fallback from the keychain",
    ]


def test_saved_fallback_is_shown_unless_it_is_provider(qtbot, open_dialog, memory):
    memory.estimate = make_estimate(chunks=0, tokens=0, cost=0.0)
    dialog = open_dialog(fallback="openai")
    _choose(qtbot, dialog, "Provider", "gguf")
    assert dialog.pages.page("embedding").save_button.text() == "Save"
    assert "are sent to api.openai.com" in _words(dialog)
    fallback = _combo(dialog, "Fallback")
    assert fallback.findData("gguf") < 0 <= fallback.findData("embedded")
    _choose(qtbot, dialog, "Provider", "openai")
    assert (fallback.currentData(), fallback.findData("openai")) == ("none", -1)
    _choose(qtbot, dialog, "Provider", "voyage")
    assert fallback.currentData() == "openai"


def test_save_without_key_does_not_accept_embedding(qtbot, open_dialog, memory):
    memory.estimate = make_estimate(cost=1.09)
    dialog = open_dialog()
    _choose(qtbot, dialog, "Provider", "openai")
    assert dialog.pages.page("embedding").save_button.text() == "Save"
    _line(dialog, "API key").setText("sk-new")
    assert dialog.pages.page("embedding").save_button.text() == "Save and embed for about $1.09"
    _line(dialog, "API key").clear()
    with qtbot.waitSignal(dialog.saved) as saved:
        _button(dialog, "Save").click()
    assert saved.args == [None]


def test_custom_server_needs_no_key(qtbot, open_dialog, memory):
    memory.estimate = make_estimate(cost=1.09)
    dialog = open_dialog()
    _choose(qtbot, dialog, "Provider", "openai")
    _enter(qtbot, dialog, "Address of the API", "https://models.example/v1")
    assert dialog.pages.page("embedding").save_button.text() == "Save and embed for about $1.09"


def test_price_field_accepts_only_price_characters(qtbot, open_dialog):
    dialog = open_dialog(provider="openai")
    field = _line(dialog, "Price of a million tokens in US dollars")
    qtbot.keyClicks(field, "ab$0,0x2e")
    assert field.text() == "$0,02"


def test_save_is_disabled_without_changes(qtbot, open_dialog):
    dialog = open_dialog(provider="openai")
    assert not dialog.pages.page("embedding").save_button.isEnabled()
    _line(dialog, "API key").setText("sk-new")
    assert dialog.pages.page("embedding").save_button.isEnabled()


def test_key_is_saved_only_in_keychain(qtbot, open_dialog, keys, notes):
    dialog = open_dialog(provider="openai")
    line = _line(dialog, "API key")
    assert line.echoMode() == QLineEdit.EchoMode.Password
    line.setText(" sk-secret ")
    with qtbot.waitSignal(dialog.saved) as saved:
        dialog.pages.page("embedding").save_button.click()
    assert saved.args == [None]
    assert keys == [("openai", "sk-secret")]
    assert line.text() == ""
    assert not engine.settings_path().exists() or "sk-secret" not in engine.settings_path().read_text()


def test_key_in_keychain_can_be_removed(qtbot, open_dialog, keys):
    keys.append(("openai", "sk-secret"))
    dialog = open_dialog(provider="openai")
    assert "An API key was found in the keychain." in _words(dialog)
    _button(dialog, "Remove the API key").click()
    qtbot.waitUntil(lambda: dialog.ready)
    assert keys == []
    assert "No API key was found." in _words(dialog)


def test_key_field_is_disabled_while_environment_sets_key(qtbot, open_dialog, monkeypatch):
    place = "the environment variable OPENAI_API_KEY"
    given = KeyState(present=True, origin="environment", origin_text=place, problem="")
    monkeypatch.setattr(engine, "key_state", lambda provider, settings: given, raising=False)
    dialog = open_dialog(provider="openai")
    assert not _line(dialog, "API key").isEnabled()
    assert "takes precedence" in _words(dialog)
    monkeypatch.setattr(engine, "key_state", lambda provider, settings: NO_KEY, raising=False)
    _choose(qtbot, dialog, "Provider", "voyage")
    assert _line(dialog, "API key").isEnabled()


def test_closing_clears_typed_key(qtbot, open_dialog):
    dialog = open_dialog(provider="openai")
    _line(dialog, "API key").setText("sk-secret")
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()  # it asks first
    _button(dialog, "Discard").click()
    assert not dialog.isVisible()
    assert _line(dialog, "API key").text() == ""


def test_probe_uses_chosen_provider_and_typed_key(qtbot, open_dialog, monkeypatch):
    probes = []

    def probe(settings, key, *, cancel):
        probes.append((settings.provider, settings.model, key))
        return ProviderProbe(ok=True, error="", milliseconds=12, dims=1024, model=settings.model)

    monkeypatch.setattr(engine, "probe_provider", probe, raising=False)
    dialog = open_dialog()
    _choose(qtbot, dialog, "Provider", "voyage")
    _enter(qtbot, dialog, "Name of the model", "voyage-4")
    _line(dialog, "API key").setText("pa-key")
    _button(dialog.pages.page("embedding"), "Test").click()
    qtbot.waitUntil(lambda: dialog.ready)
    assert probes == [("voyage", "voyage-4", "pa-key")]
    assert "voyage-4 answered in 12 ms, with 1,024 dimensions." in _words(dialog)


def test_probe_tests_fallback_with_its_own_key(qtbot, open_dialog, monkeypatch):
    probes = []

    def probe(settings, key, *, fallback=False, cancel):
        probes.append((settings.fallback if fallback else settings.provider, key))
        return ProviderProbe(ok=not fallback, error="Refused.", milliseconds=12, dims=9, model="m")

    monkeypatch.setattr(engine, "probe_provider", probe, raising=False)
    dialog = open_dialog(provider="openai", fallback="gemini")
    _line(dialog, "API key").setText("sk-openai")
    _line(dialog, "API key of the fallback").setText("sk-gemini")
    _button(dialog.pages.page("embedding"), "Test").click()
    qtbot.waitUntil(lambda: dialog.ready)
    assert probes == [("openai", "sk-openai"), ("gemini", "sk-gemini")]
    assert "m answered in 12 ms, with 9 dimensions. Fallback: Refused." in _words(dialog)


def test_failed_probe_shows_reason_until_choice_changes(qtbot, open_dialog, monkeypatch):
    failed = ProviderProbe(ok=False, error="The key was refused.", milliseconds=0, dims=None, model="")
    monkeypatch.setattr(engine, "probe_provider", lambda *_, **__: failed, raising=False)
    dialog = open_dialog(provider="openai")
    _button(dialog.pages.page("embedding"), "Test").click()
    qtbot.waitUntil(lambda: dialog.ready)
    assert "The key was refused." in _words(dialog)
    _choose(qtbot, dialog, "Provider", "gemini")
    assert "The key was refused." not in _words(dialog)


@pytest.mark.parametrize("function", ["probe_provider", "key_state"])
def test_failed_request_ends_with_reason(qtbot, open_dialog, monkeypatch, function):
    dialog = open_dialog(provider="openai")

    def refuse(*_, **__):
        raise MnemoscopeError("The keychain is locked.")

    monkeypatch.setattr(engine, function, refuse, raising=False)
    _choose(qtbot, dialog, "Provider", "gemini")
    if function == "probe_provider":
        _button(dialog.pages.page("embedding"), "Test").click()
    qtbot.waitUntil(lambda: dialog.ready)
    assert "The keychain is locked." in _words(dialog)
    assert "Testing the provider with one word…" not in _words(dialog)


def test_nothing_to_embed_is_reported_only_after_a_change(qtbot, open_dialog, memory):
    memory.estimate = make_estimate(chunks=0, tokens=0, cost=0.0, cached=12)
    dialog = open_dialog()
    assert "already have a vector" not in _words(dialog)
    _choose(qtbot, dialog, "Provider", "voyage")
    qtbot.waitUntil(lambda: "already have a vector" in _words(dialog))


def test_page_ends_without_an_empty_strip(qtbot, open_dialog):
    dialog = open_dialog(provider="none")
    page = dialog.pages.page("embedding")
    [whole] = page.findChildren(ColumnWithFooter)
    [scroll] = whole.findChildren(VerticalScrollArea, options=Qt.FindChildOption.FindDirectChildrenOnly)
    qtbot.waitUntil(lambda: scroll.height() == whole.height())
    _choose(qtbot, dialog, "Provider", "openai")
    qtbot.waitUntil(lambda: scroll.height() < whole.height())
    _choose(qtbot, dialog, "Provider", "none")
    qtbot.waitUntil(lambda: scroll.height() == whole.height())


def test_failed_price_estimate_shows_reason(qtbot, open_dialog, memory, monkeypatch):
    def refuse(settings, cancel=None):
        raise ProviderError("There is no such model.")

    monkeypatch.setattr(memory, "estimate_embedding", refuse)
    assert "There is no such model." in _words(open_dialog(provider="openai"))


def test_failed_save_shows_reason_and_can_be_retried(qtbot, open_dialog, monkeypatch):
    def refuse(*_, **__):
        raise MnemoscopeError("The settings file is locked.")

    monkeypatch.setattr(engine, "save_settings", refuse, raising=False)
    dialog = open_dialog()
    _choose(qtbot, dialog, "Provider", "none")
    dialog.pages.page("embedding").save_button.click()
    qtbot.waitUntil(lambda: dialog.ready)
    assert "The settings file is locked." in _words(dialog)
    assert dialog.isVisible()
    assert dialog.pages.page("embedding").save_button.isEnabled()


def test_auto_sends_only_to_agreed_provider(qtbot, open_dialog, notes):
    dialog = open_dialog(provider="auto")
    next(box for box in dialog.findChildren(CheckBox) if box.label == "Allow sending texts to Google").click()
    with qtbot.waitSignal(dialog.saved):
        dialog.pages.page("embedding").save_button.click()
    assert load_settings(notes).remote.approved == ("gemini",)


def test_embedding_page_works_by_keyboard(qtbot, open_dialog):
    dialog = open_dialog()
    with qtbot.waitActive(dialog):
        dialog.activateWindow()
    provider = _combo(dialog, "Provider")
    qtbot.waitUntil(provider.hasFocus)
    for _ in range(2):
        qtbot.keyClick(provider, Qt.Key.Key_Down)
    qtbot.waitUntil(lambda: dialog.ready)
    assert provider.currentData() == "openai"
    assert isinstance(dialog.pages.page("embedding"), EmbeddingPage)
    seen = set()
    for _ in range(20):
        focused = dialog.focusWidget()
        seen.add(focused.accessibleName() or focused.text())
        qtbot.keyClick(focused, Qt.Key.Key_Tab)
    assert {"Provider", "Server", "API key", "Fallback", "Close"} <= seen


def test_own_price_applies_only_to_its_model(qtbot, open_dialog, memory, notes):
    engine.save_setting("prices", {"voyage/voyage-4": 0.5})
    dialog = open_dialog(provider="openai", prices={"voyage/voyage-4": 0.5})
    field = _line(dialog, "Price of a million tokens in US dollars")
    assert field.placeholderText().startswith("0.02 (list price of ")
    _enter(qtbot, dialog, "Price of a million tokens in US dollars", "$0,015")
    assert memory.estimated[-1].prices == {"voyage/voyage-4": 0.5, "openai/text-embedding-3-small": 0.015}
    _enter(qtbot, dialog, "Name of the model", "text-embedding-3-large")
    assert field.text() == ""
    with qtbot.waitSignal(dialog.saved):
        dialog.pages.page("embedding").save_button.click()
    assert load_settings(notes).prices["openai/text-embedding-3-small"] == 0.015


def test_batch_jobs_are_offered_only_where_supported(qtbot, open_dialog, notes):
    dialog = open_dialog(provider="voyage")
    box = next(box for box in dialog.findChildren(CheckBox) if box.label == "Use batch jobs")
    assert box.isVisible()
    box.click()
    _choose(qtbot, dialog, "Provider", "openai")
    _choose(qtbot, dialog, "Server", "ollama")
    assert not box.isVisible()
    _enter(qtbot, dialog, "Address of the API", "https://models.example/v1")
    assert box.isVisible()
    _choose(qtbot, dialog, "Provider", "voyage")
    with qtbot.waitSignal(dialog.saved):
        dialog.pages.page("embedding").save_button.click()
    assert load_settings(notes).remote.batch.enabled
