from datetime import datetime

import pytest

from engine import load_settings, set_settings_aside

DAY = datetime(2026, 11, 22, 18, 5)


def test_damaged_file_is_renamed_and_defaults_apply(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_bytes(b"[defaults\n\xff")
    aside = set_settings_aside(file, DAY)
    assert aside == tmp_path / "settings-2026-11-22.toml"
    assert aside.read_bytes() == b"[defaults\n\xff"
    assert aside.name in file.read_text()
    assert load_settings(config=file) == load_settings(config=None)


def test_no_file_of_that_day_is_ever_replaced(tmp_path):
    file = tmp_path / "settings.toml"
    for number in range(3):
        file.write_text(f"broken {number}")
        set_settings_aside(file, DAY)
    copies = sorted(path for path in tmp_path.iterdir() if path != file)
    assert sorted(path.read_text() for path in copies) == ["broken 0", "broken 1", "broken 2"]


def test_failed_rename_changes_nothing(tmp_path, monkeypatch):
    file = tmp_path / "settings.toml"
    file.write_text("broken")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(PermissionError):
        set_settings_aside(file, DAY)
    assert file.read_text() == "broken"
    assert list(tmp_path.iterdir()) == [file]
