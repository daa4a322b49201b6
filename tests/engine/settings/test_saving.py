import errno
import os
from pathlib import Path

import pytest

from engine.base.errors import SettingsError
from engine.settings import Settings, load_settings
from engine.settings.saving import save_setting, save_settings


@pytest.fixture
def config(tmp_path: Path) -> Path:
    return tmp_path / "made" / "settings.toml"


def test_a_setting_is_written_and_read_back(config: Path, tmp_path: Path) -> None:
    save_setting("query.hybrid.text_weight", 0.5, config=config)
    save_setting("extensions", (".md", ".txt"), tmp_path / "notes", config)
    settings = load_settings(tmp_path / "notes", config=config)
    assert settings.extensions == (".md", ".txt")
    assert settings.query.hybrid.text_weight == pytest.approx(0.5 / 1.2)
    assert load_settings(config=config).extensions == Settings().extensions
    assert config.read_text().startswith("version = 1\n")


def test_rest_of_settings_file_stays_on_saving(config: Path, tmp_path: Path) -> None:
    config.parent.mkdir()
    text = f"""# mine
[defaults] # why
provider = "none"   # offline

[workspace."{tmp_path}/./notes"]
query.max_results = 3
"""
    config.write_text(text)
    config.chmod(0o640)
    save_setting("provider", "embedded", config=config)
    save_setting("query.max_results", 4, tmp_path / "notes", config)
    changed = text.replace('"none"  ', '"embedded"  ').replace("= 3", "= 4")
    assert config.read_text() == changed
    assert list(config.parent.iterdir()) == [config]
    assert config.stat().st_mode & 0o777 == 0o640


def test_saving_none_removes_the_setting(config: Path) -> None:
    save_setting("model", "x", config=config)
    save_setting("model", None, config=config)
    save_setting("query.min_score", None, config=config)
    assert load_settings(config=config) == Settings()


@pytest.mark.parametrize(
    "text",
    [
        "version = 1\n",
        "version = 1\n[defaults.query] # mine\n# later\n",
        "version = 1\n[defaults]\nquery.min_score = 0.1\n",
        "version = 1\ndefaults.query.min_score = 0.1\n",
        "version = 1\ndefaults = {query = {min_score = 0.1}}\n",
    ],
)
def test_removed_option_leaves_no_empty_table(config: Path, tmp_path: Path, text: str) -> None:
    for workspace in (None, tmp_path / "notes"):
        config.parent.mkdir(exist_ok=True)
        config.write_text(text)
        save_setting("query.hybrid.text_weight", 0.25, workspace, config)
        assert load_settings(workspace, config=config).query.hybrid.text_weight != Settings().query.hybrid.text_weight
        save_setting("query.hybrid.text_weight", None, workspace, config)
        assert config.read_text().rstrip() == text.rstrip()


@pytest.mark.parametrize(
    ("key", "value"), [("nothing", 1), ("query.max_results", "6"), ("query", 3), ("api_key", "x"), ("query.a.b", 1)]
)
def test_unreadable_value_not_written(config: Path, key: str, value: object) -> None:
    save_setting("model", "x", config=config)
    before = config.read_bytes()
    with pytest.raises(SettingsError):
        save_setting(key, value, config=config)
    assert config.read_bytes() == before


def test_broken_file_stays_unchanged(config: Path) -> None:
    config.parent.mkdir()
    config.write_text("[defaults")
    with pytest.raises(SettingsError):
        save_setting("model", "x", config=config)
    assert config.read_text() == "[defaults"


def test_a_link_to_the_file_stays_a_link(config: Path, tmp_path: Path) -> None:
    config.parent.mkdir()
    (tmp_path / "real.toml").write_text("")
    config.symlink_to(tmp_path / "real.toml")
    save_setting("model", "x", config=config)
    assert config.is_symlink()
    assert "model" in (tmp_path / "real.toml").read_text()


@pytest.mark.parametrize(
    ("number", "sentence"), [(errno.ENOSPC, "is full. Free some space"), (errno.EROFS, "Make the file and its folder")]
)
def test_a_write_that_fails_changes_nothing(
    config: Path, monkeypatch: pytest.MonkeyPatch, number: int, sentence: str
) -> None:
    save_setting("model", "x", config=config)
    before = config.read_bytes()

    def full(_handle: int) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(SettingsError, match=sentence):
        save_setting("model", "y", config=config)
    assert config.read_bytes() == before
    assert list(config.parent.iterdir()) == [config]


def test_several_options_are_set_together_or_not_at_all(config: Path) -> None:
    server = "http://127.0.0.1:8080/v1"
    save_settings({"provider": "openai", "remote.base_url": server, "dimensions": None}, config=config)
    assert load_settings(config=config).remote.base_url == server
    with pytest.raises(SettingsError):
        save_settings({"provider": "gemini", "query.max_results": "many"}, config=config)
    assert load_settings(config=config).provider == "openai"


def test_changed_option_not_overwritten(tmp_path):
    file = tmp_path / "settings.toml"
    save_settings({"model": "one"}, config=file)
    seen = load_settings(config=file)
    save_settings({"model": "two", "query.max_results": 9}, config=file)
    with pytest.raises(SettingsError, match=r'Another program .*"model".* meanwhile'):
        save_settings({"model": "three"}, config=file, seen=seen)
    save_settings({"provider": "none"}, config=file, seen=seen)
    settings = load_settings(config=file)
    assert (settings.model, settings.provider, settings.query.max_results) == ("two", "none", 9)
