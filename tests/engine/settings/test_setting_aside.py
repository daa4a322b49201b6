from datetime import datetime

import pytest

from engine import load_settings, set_settings_aside

DAY = datetime(2026, 11, 22, 18, 5)


def test_a_damaged_file_gets_a_dated_name_and_the_defaults_hold(tmp_path):
    file = tmp_path / "settings.toml"
    file.write_bytes(b"[defaults\n\xff")
    kept = set_settings_aside(file, DAY)
    assert kept == tmp_path / "settings-2026-11-22.toml"
    assert kept.read_bytes() == b"[defaults\n\xff"
    assert kept.name in file.read_text()
    assert load_settings(config=file) == load_settings(config=None)


def test_no_file_of_that_day_is_ever_replaced(tmp_path):
    file = tmp_path / "settings.toml"
    for number in range(3):
        file.write_text(f"broken {number}")
        set_settings_aside(file, DAY)
    kept = sorted(path for path in tmp_path.iterdir() if path != file)
    assert sorted(path.read_text() for path in kept) == ["broken 0", "broken 1", "broken 2"]


def test_where_it_cannot_be_renamed_nothing_changes(tmp_path, monkeypatch):
    file = tmp_path / "settings.toml"
    file.write_text("broken")

    def refuse(*_):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("os.replace", refuse)
    with pytest.raises(PermissionError):
        set_settings_aside(file, DAY)
    assert file.read_text() == "broken"
    assert list(tmp_path.iterdir()) == [file]
