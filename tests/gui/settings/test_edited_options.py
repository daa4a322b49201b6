from threading import Event

import pytest
from PySide6.QtCore import QTimer

import engine
from engine import SettingChange, SettingsError, load_settings, settings_path
from gui.settings.edited_options import SettingsModel


@pytest.fixture
def model(qtbot, jobs, notes, user_home) -> SettingsModel:
    model = SettingsModel(jobs)
    with qtbot.waitSignal(model.loaded):
        model.begin(notes)
    yield model
    qtbot.waitUntil(lambda: model.ready)
    model.stop_reopening()


def _rest(qtbot, model) -> None:
    qtbot.waitUntil(lambda: model.ready)


def test_window_option_is_saved_immediately(qtbot, model, notes):
    with qtbot.waitSignal(model.took_effect) as emitted:
        model.set("window.editor", "code {path}", "defaults")
    assert emitted.args[0].window.editor == "code {path}"
    _rest(qtbot, model)
    assert load_settings().window.editor == "code {path}"
    assert model.pending == 0


def test_consecutive_changes_are_all_saved(qtbot, model):
    for number in range(2, 9):
        model.set("facts.recall_results", number, "defaults")
    model.set("window.theme", "dark", "defaults")
    _rest(qtbot, model)
    settings = load_settings()
    assert (settings.facts.recall_results, settings.window.theme) == (8, "dark")


def test_settings_in_force_are_those_written_last(qtbot, jobs, model, monkeypatch):
    """The jobs of two changes may report in another order than they wrote."""
    save, reports, sizes = jobs.save, {}, []
    monkeypatch.setattr(
        jobs,
        "save",
        lambda work, done, failed: save(
            work, lambda saved: reports.update({saved.changes[0].value: lambda: done(saved)}), failed
        ),
    )
    model.took_effect.connect(lambda settings, _: sizes.append(settings.window.font_scale))
    for size in (1.1, 1.3):
        model.set("window.font_scale", size, "defaults")
    qtbot.waitUntil(lambda: len(reports) == 2)
    for size in (1.3, 1.1):
        reports[size]()
    assert sizes == [1.3, 1.3]


@pytest.fixture
def slow_file(monkeypatch) -> Event:
    """Delay writes of the settings file until this event is set."""
    change, free = engine.change_settings, Event()

    def wait(*arguments):
        assert free.wait(60)
        return change(*arguments)

    monkeypatch.setattr(engine, "change_settings", wait, raising=False)
    return free


def test_changes_made_during_a_save_survive_quitting(qtbot, jobs, notes, user_home, slow_file):
    model = SettingsModel(jobs)
    with qtbot.waitSignal(model.loaded):
        model.begin(notes)
    for number in (7, 9):
        model.set("facts.recall_results", number, "defaults")
    model.set("window.theme", "dark", "defaults")
    assert jobs.shutdown(60_000, last=slow_file.set)
    settings = load_settings()
    assert (settings.facts.recall_results, settings.window.theme) == (9, "dark")


def test_changes_are_saved_in_the_workspace_they_were_made_in(qtbot, model, notes, tmp_path, slow_file):
    model.set("facts.recall_results", 7, "workspace")
    model.set("facts.recall_results", 8, "workspace")
    other = tmp_path / "other"
    other.mkdir()
    model.begin(other)
    slow_file.set()
    qtbot.waitUntil(lambda: model.is_loaded and model.ready)
    assert load_settings(notes).facts.recall_results == 8
    assert model.layers.effective("facts.recall_results") == 3


def test_index_options_wait_for_apply(qtbot, model, notes):
    model.set("chunking.tokens", 200, "workspace")
    model.set("fallback", "gguf", "defaults")
    assert model.pending == 2
    assert model.consequences().full_rebuild
    assert model.layers.effective("chunking.tokens") == 200
    assert not settings_path().exists()
    with qtbot.waitSignal(model.applied):
        model.apply()
    assert load_settings(notes).chunking.tokens == 200
    assert load_settings().chunking.tokens == 400
    assert load_settings().fallback == "gguf"
    assert model.pending == 0


def test_change_without_approval_is_saved_immediately(qtbot, model, notes):
    model.set("chunking.tokens", 200, "defaults")
    with qtbot.waitSignal(model.applied):
        model.set("sync.interval_minutes", 9, "defaults")
    assert (load_settings().sync.interval_minutes, load_settings().chunking.tokens) == (9, 400)
    assert model.pending == 1
    model.set("exclude", ("old/",), "workspace")
    _rest(qtbot, model)
    assert load_settings(notes).exclude == ("old/",)
    assert model.undo() == "exclude"
    _rest(qtbot, model)
    assert load_settings(notes).exclude == ()


def test_folder_is_reopened_once_for_several_changes(model, qtbot):
    received = []
    model.applied.connect(lambda: received.append("applied"))
    for minutes in (7, 8):
        model.set("sync.interval_minutes", minutes, "defaults")
        _rest(qtbot, model)
    model.set("sync.watch_debounce_ms", 900, "defaults")
    _rest(qtbot, model)
    assert load_settings().sync.interval_minutes == 8
    assert received == []
    model.reopen_now()
    model.reopen_now()
    assert received == ["applied"]


def test_reopening_requested_while_saving_follows_it(model, qtbot):
    model.findChild(QTimer).setInterval(600_000)  # longer than this test waits
    model.set("sync.interval_minutes", 7, "defaults")
    with qtbot.waitSignal(model.applied):
        model.reopen_now()
    assert load_settings().sync.interval_minutes == 7


def test_more_files_for_a_service_wait_for_apply(model, qtbot):
    engine.save_setting("provider", "openai")
    model.read_again()
    _rest(qtbot, model)
    model.set("extensions", (".md", ".txt"), "defaults")
    assert model.pending == 1


@pytest.mark.parametrize("sends", [{"provider": "openai"}, {"provider": "gguf", "fallback": "openai"}])
def test_creating_vectors_with_a_service_waits_for_apply(model, qtbot, sends):
    for key, value in {**sends, "store.vector.enabled": False}.items():
        engine.save_setting(key, value)
    model.read_again()
    _rest(qtbot, model)
    model.set("store.vector.enabled", True, "defaults")
    assert model.pending == 1
    assert not load_settings().store.vector.enabled


def test_vectors_of_a_local_model_need_no_approval(model, qtbot):
    for key, value in {"provider": "gguf", "store.vector.enabled": False}.items():
        engine.save_setting(key, value)
    model.read_again()
    _rest(qtbot, model)
    model.set("store.vector.enabled", True, "defaults")
    assert model.pending == 0
    _rest(qtbot, model)
    assert load_settings().store.vector.enabled


def test_undone_pending_change_is_not_written(model, qtbot):
    received = []
    model.applied.connect(lambda: received.append("applied"))
    model.set("chunking.tokens", 200, "defaults")
    model.undo()
    model.set("chunking.tokens", 200, "defaults")
    model.set("chunking.tokens", None, "defaults")
    _rest(qtbot, model)
    assert (model.pending, received) == (0, [])
    assert not settings_path().exists()


def test_default_written_over_pending_change_is_saved(model, qtbot):
    refused = []
    model.refused.connect(lambda keys, sentence: refused.append(sentence))
    model.set("chunking.tokens", 200, "defaults")
    model.set("chunking.tokens", 400, "defaults")
    _rest(qtbot, model)
    assert (model.pending, refused) == (0, [])
    assert "tokens = 400" in settings_path().read_text()


@pytest.mark.parametrize(
    ("key", "value"),
    [("query.min_score", 0.5), ("query.hybrid.enabled", False), ("qmd.limits.max_results", 9), ("qmd.min_score", 0.2)],
)
def test_query_option_applies_immediately(qtbot, model, key, value):
    with qtbot.waitSignal(model.took_effect) as emitted:
        model.set(key, value, "defaults")
    assert engine.value_at(emitted.args[0], key) == value
    assert model.pending == 0


def test_resetting_pending_change_leaves_none_pending(model):
    model.set("chunking.tokens", 200, "defaults")
    model.reset("chunking.tokens")
    assert model.pending == 0
    assert not model.consequences().any


def test_undo_covers_saved_and_pending_changes(qtbot, model):
    model.set("window.theme", "dark", "defaults")
    model.set("chunking.tokens", 200, "defaults")
    model.set("chunking.tokens", 300, "defaults")
    assert model.undo() == "chunking.tokens"
    assert model.layers.effective("chunking.tokens") == 200
    model.undo()
    assert model.pending == 0
    assert model.undo() == "window.theme"
    assert model.undo() == ""
    _rest(qtbot, model)
    assert load_settings().window.theme == "system"


def test_pending_changes_can_be_discarded(model):
    model.set("chunking.tokens", 200, "defaults")
    model.discard()
    assert model.pending == 0
    assert model.layers.effective("chunking.tokens") == 400


def test_external_change_refuses_conflicting_save(qtbot, model, notes):
    engine.save_setting("window.theme", "light")
    refused = []
    model.refused.connect(lambda keys, sentence: refused.append((keys, sentence)))
    model.set("window.theme", "dark", "defaults")
    qtbot.waitUntil(lambda: bool(refused))
    _rest(qtbot, model)
    assert "meanwhile" in refused[0][1]
    assert refused[0][0] == ("window.theme",)
    assert load_settings().window.theme == "light"
    assert model.layers.effective("window.theme") == "light"


def test_external_change_is_shown_after_reload(qtbot, model):
    engine.save_setting("query.max_results", 12)
    with qtbot.waitSignal(model.loaded):
        model.read_again()
    assert model.layers.effective("query.max_results") == 12


def test_unreadable_file_is_reported(qtbot, model):
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text("[broken")
    with qtbot.waitSignal(model.unreadable) as emitted:
        model.read_again()
    assert "settings.toml, line 1" in emitted.args[0]
    _rest(qtbot, model)


def test_failed_write_is_reported_and_reverted(qtbot, model, monkeypatch):
    def refuse(*_args, **_options):
        raise SettingsError("The disk is full.")

    monkeypatch.setattr(engine, "change_settings", refuse, raising=False)
    with qtbot.waitSignal(model.refused) as emitted:
        model.set("window.theme", "dark", "defaults")
        model.set("query.max_results", 9, "defaults")
        model.set("window.theme", "light", "defaults")
    assert emitted.args == [("window.theme", "query.max_results"), "The disk is full."]
    _rest(qtbot, model)
    assert model.layers.effective("window.theme") == "system"
    assert model.layers.effective("query.max_results") == 6


def test_failed_write_is_reported_despite_later_changes(qtbot, model, monkeypatch):
    change, refused = engine.change_settings, []

    def refuse_theme(changes, *others):
        if changes[0].key == "window.theme":
            raise SettingsError("The disk is full.")
        return change(changes, *others)

    monkeypatch.setattr(engine, "change_settings", refuse_theme, raising=False)
    read_again = model.read_again
    monkeypatch.setattr(model, "read_again", lambda: [read_again(), model.set("query.max_results", 9, "defaults")])
    model.refused.connect(lambda keys, _: refused.append(keys))
    model.set("window.theme", "dark", "defaults")
    qtbot.waitUntil(lambda: load_settings().query.max_results == 9)
    _rest(qtbot, model)
    assert refused == [("window.theme",)]


def test_failed_write_is_reported_though_the_file_breaks(qtbot, model, monkeypatch):
    def refuse(*_args, **_options):
        settings_path().parent.mkdir(parents=True, exist_ok=True)
        settings_path().write_text("[broken")
        raise SettingsError("The disk is full.")

    monkeypatch.setattr(engine, "change_settings", refuse, raising=False)
    with qtbot.waitSignals([model.refused, model.unreadable]):
        model.set("window.theme", "dark", "defaults")
    _rest(qtbot, model)


def test_move_to_other_layer_is_one_undo_step(qtbot, model, notes):
    model.set("window.theme", "dark", "defaults")
    model.change(SettingChange("window.theme", "workspace", "light"), SettingChange("window.theme", "defaults", None))
    _rest(qtbot, model)
    assert load_settings(notes).window.theme == "light"
    assert load_settings().window.theme == "system"
    model.undo()
    _rest(qtbot, model)
    assert load_settings(notes).window.theme == "dark"
