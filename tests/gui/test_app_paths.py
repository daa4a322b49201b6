from pathlib import Path

from engine import cache_folder
from gui.core.window_context import AppPaths
from tests.helpers.fake_records import make_status


def test_listed_contains_only_existing_paths(user_home, tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    config, log = Path("settings.toml"), Path("mnemoscope.log")
    assert [name for name, _ in AppPaths().listed(None)] == ["Settings", "Window"]
    cache_folder().mkdir(parents=True)
    listed = dict(AppPaths(config, log).listed(make_status(db_path="index.sqlite")))
    assert listed["Settings"] == "settings.toml"
    assert listed["Index"] == "index.sqlite"
    assert listed["Log"] == "mnemoscope.log"
    assert listed["Unpacked model"] == str(cache_folder())
    assert Path(listed["Window"]).is_relative_to(user_home)
