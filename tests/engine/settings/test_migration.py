from pathlib import Path

import pytest

from engine.base.errors import SettingsError
from engine.settings import load_settings

OLD = """# mine
[defaults]
extraPaths = ["a"] # here
maxFileBytes = 5
query = { minScore = 0.1, maxResults = 2 }

[defaults.store.vector]
extensionPath = "x" # there

[workspace."/notes".sync]
watchDebounceMs = 7
"""


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(OLD)
    return path


def test_reference_names_replaced_old_file_saved(config: Path) -> None:
    settings = load_settings(Path("/notes"), config=config)
    assert (settings.extra_paths, settings.max_file_bytes) == (("a",), 5)
    assert (settings.query.min_score, settings.query.max_results) == (0.1, 2)
    assert settings.store.vector.extension_path == "x"
    assert settings.sync.watch_debounce_ms == 7
    assert config.with_name("settings.toml.bak").read_text() == OLD
    changed = OLD
    for old, new in [
        ("extraPaths", "extra_paths"),
        ("maxFileBytes", "max_file_bytes"),
        ("minScore", "min_score"),
        ("maxResults", "max_results"),
        ("extensionPath", "extension_path"),
        ("watchDebounceMs", "watch_debounce_ms"),
        ("# mine\n", "# mine\nversion = 1\n"),
    ]:
        changed = changed.replace(old, new)
    assert config.read_text().replace("\n\n", "\n") == changed.replace("\n\n", "\n")
    assert load_settings(Path("/notes"), config=config) == settings


def test_a_file_that_cannot_be_written_counts_all_the_same(config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("engine.base.private_files.replacing", refuse)
    assert load_settings(config=config).query.min_score == 0.1
    assert config.read_text() == OLD


def test_both_names_together_refused(config: Path) -> None:
    config.write_text("[defaults.query]\nminScore = 0.1\nmin_score = 0.2\n")
    with pytest.raises(SettingsError, match=r'line 2: "query.minScore" is the old name of "min_score"'):
        load_settings(config=config)


def test_an_unknown_key_of_an_old_file_is_still_refused(config: Path) -> None:
    config.write_text("[defaults.query]\nminScore = 0.1\nminScores = 0.2\n")
    with pytest.raises(SettingsError, match="minScores"):
        load_settings(config=config)
