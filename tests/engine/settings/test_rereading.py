"""Settings that a running program reads again."""

from pathlib import Path

import pytest

from engine.base.errors import SettingsError
from engine.settings import load_settings
from engine.settings.loading import RereadSettings


def test_changed_settings_file_is_read_again(tmp_path: Path) -> None:
    path, reads = tmp_path / "settings.toml", []

    def load():
        reads.append(1)
        return load_settings(tmp_path, config=path if path.exists() else None)

    settings = RereadSettings(path, load)
    assert settings.current().citations == "auto"
    path.write_text('[defaults]\ncitations = "off"\n')
    assert settings.current().citations == settings.current().citations == "off"
    path.write_text("[defaults]\ncitations = 5\n")
    for _ in range(2):
        with pytest.raises(SettingsError, match="citations"):
            settings.current()
    path.unlink()
    assert settings.current().citations == "auto"
    assert len(reads) == 5
