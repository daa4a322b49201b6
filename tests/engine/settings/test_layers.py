from pathlib import Path

import pytest

from engine import SettingChange, SettingsError, change_settings, read_layers

TEXT = """# mine
[defaults]
extra_paths = ["/all"]

[defaults.query]
max_results = 8 # enough

[workspace."{folder}"]
extra_paths = ["/own"]
"""


@pytest.fixture
def notes(tmp_path) -> Path:
    folder = tmp_path / "notes"
    folder.mkdir()
    return folder


@pytest.fixture
def file(tmp_path, notes) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(TEXT.format(folder=notes))
    return path


def test_layers_show_values_and_their_origin(notes, file):
    layers = read_layers(notes, file)
    assert layers.get("query.max_results", "defaults") == 8
    assert layers.get("query.max_results", "workspace") is None
    assert layers.layer_of("query.max_results") == "defaults"
    assert layers.layer_of("extra_paths") == "workspace"
    assert layers.layer_of("query.min_score") == "built-in"
    assert layers.effective("extra_paths") == ("/all", "/own")
    assert layers.inherited("extra_paths") == ("/all",)


def test_preview_touches_no_file(notes, file):
    before = file.read_text()
    layers = read_layers(notes, file)
    meant = layers.changed([SettingChange("query.max_results", "workspace", 3)])
    assert meant.effective("query.max_results") == 3
    assert layers.effective("query.max_results") == 8
    back = meant.changed([SettingChange("query.max_results", "workspace", None)])
    assert back == layers
    assert file.read_text() == before


def test_both_layers_written_with_comments(notes, file):
    moved = [
        SettingChange("query.max_results", "workspace", 9),
        SettingChange("query.max_results", "defaults", None, 8),
    ]
    layers = change_settings(moved, notes, file)
    assert layers == read_layers(notes, file)
    assert layers.layer_of("query.max_results") == "workspace"
    assert file.read_text().startswith("# mine\n")
    undone = change_settings([change.undo for change in moved], notes, file)
    assert undone.get("query.max_results", "defaults") == 8


def test_concurrent_change_not_overwritten(notes, file):
    file.write_text(file.read_text().replace("max_results = 8", "max_results = 11"))
    text = file.read_text()
    with pytest.raises(SettingsError, match="to 11 in"):
        change_settings(
            [SettingChange("sync.watch", "defaults", False), SettingChange("query.max_results", "defaults", 9, 8)],
            notes,
            file,
        )
    assert file.read_text() == text


def test_concurrent_change_of_another_key_is_preserved(notes, file):
    file.write_text(file.read_text() + '\n[workspace."/elsewhere"]\nmodel = "other"\n')
    change_settings([SettingChange("query.max_results", "defaults", 9, 8)], notes, file)
    assert 'model = "other"' in file.read_text()
    assert read_layers(notes, file).effective("query.max_results") == 9


def test_file_changed_during_write_untouched(notes, file, monkeypatch):
    from engine.settings import saving

    put = saving.check_settings

    def interfere(*arguments):
        file.write_text("version = 1\n")
        put(*arguments)

    monkeypatch.setattr(saving, "check_settings", interfere)
    with pytest.raises(SettingsError, match="try again"):
        change_settings([SettingChange("query.max_results", "defaults", 9, 8)], notes, file)
    assert file.read_text() == "version = 1\n"


def test_without_file_first_change_creates_it(notes, user_home):
    layers = read_layers(notes)
    assert layers.layer_of("window.theme") == "built-in"
    change_settings([SettingChange("window.theme", "defaults", "dark")], notes)
    assert read_layers(notes).layer_of("window.theme") == "defaults"


def test_invalid_value_not_written(notes, file):
    text = file.read_text()
    with pytest.raises(SettingsError, match="number"):
        change_settings([SettingChange("query.max_results", "defaults", "many", 8)], notes, file)
    assert file.read_text() == text


@pytest.mark.parametrize("key", ["workspace", "store.vector.extension_path"])
def test_path_that_does_not_exist_is_refused(tmp_path, notes, file, key):
    before = file.read_text()
    with pytest.raises(SettingsError, match="gone is not a f"):
        change_settings([SettingChange(key, "defaults", str(tmp_path / "gone"))], notes, file)
    assert file.read_text() == before
    there = str(notes if key == "workspace" else file)
    assert change_settings([SettingChange(key, "defaults", there)], notes, file).get(key, "defaults") == there
