from pathlib import Path

from gui.core.window_context import AppPaths
from tests.helpers.fake_records import make_status


def test_listed_contains_only_existing_paths(user_home):
    config, log = Path("settings.toml"), Path("mnemoscope.log")
    assert [name for name, _ in AppPaths().listed(None)] == ["Settings", "Window"]
    listed = dict(AppPaths(config, log).listed(make_status(db_path="index.sqlite")))
    assert listed["Settings"] == "settings.toml"
    assert listed["Index"] == "index.sqlite"
    assert listed["Log"] == "mnemoscope.log"
    assert Path(listed["Window"]).is_relative_to(user_home)
