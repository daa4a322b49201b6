from pathlib import Path

import pytest

from engine.settings import load_settings
from engine.settings.loading import BUILT_IN, origin_of
from engine.settings.saving import add_extra_path


@pytest.fixture
def config(tmp_path: Path) -> Path:
    path = tmp_path / "settings.toml"
    path.write_text(
        f"""[defaults]
include = ["*.md"]
exclude = ["old/"]
query.min_score = 0.2
[workspace."{(tmp_path / "notes").as_posix()}"]
exclude = ["new/"]
"""
    )
    return path


@pytest.mark.parametrize(
    ("key", "item", "layer", "line"),
    [
        ("include", "*.md", "defaults", 2),
        ("exclude", None, "workspace", 6),
        ("exclude", "old/", "defaults", 3),
        ("query.min_score", None, "defaults", 4),
    ],
)
def test_origin_names_layer_file_and_line(
    tmp_path: Path, config: Path, key: str, item: str | None, layer: str, line: int
) -> None:
    found = origin_of(key, tmp_path / "notes", config, item)
    assert (found.layer, found.file, found.line) == (layer, str(config), line)


def test_unset_option_is_builtin(tmp_path: Path, config: Path) -> None:
    assert origin_of("extensions", tmp_path, config) == BUILT_IN
    assert origin_of("exclude", tmp_path / "notes", tmp_path / "none.toml") == BUILT_IN
    config.write_text("no = settings = file")
    assert origin_of("exclude", tmp_path / "notes", config) == BUILT_IN


def test_an_extra_path_joins_those_of_the_workspace(tmp_path: Path, config: Path) -> None:
    notes = tmp_path / "notes"
    for _ in range(2):
        add_extra_path("/mnt/more", notes, config)
    add_extra_path("/mnt/again", notes, config)
    assert load_settings(notes, config=config).extra_paths == ("/mnt/more", "/mnt/again")
    assert load_settings(notes, config=config).exclude == ("new/",)
    assert load_settings(config=config).extra_paths == ()
