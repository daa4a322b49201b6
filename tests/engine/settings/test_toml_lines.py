import tomllib
from pathlib import Path

import pytest
import tomlkit
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import SettingsError
from engine.settings import load_settings
from engine.settings.checking import find_lines, line_of

names = st.text("ab.\"'= -#[]\\é", min_size=1, max_size=4)
trees = st.recursive(
    st.integers(0, 9) | st.text("ab=[]\"'\n#", max_size=6),
    lambda inner: st.dictionaries(names, inner, min_size=1, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(names, trees, max_size=3))
def test_every_key_of_a_table_is_found_on_its_line(tree: dict[str, object]) -> None:
    text = tomlkit.dumps(tree)
    assert tomllib.loads(text) == tree
    lines = text.split("\n")
    found = find_lines(text)
    for path, number in found.items():
        line = lines[number - 1]
        if not line.lstrip().startswith("["):
            assert list(tomllib.loads(line).values()) == [_at(tree, path)]
    assert set(_leaves(tree)) <= set(found)


def _at(tree: object, path: tuple[str, ...]) -> object:
    for part in path:
        assert isinstance(tree, dict)
        tree = tree[part]
    return tree


def _leaves(tree: object, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    if not isinstance(tree, dict):
        return [path]
    return [leaf for key, value in tree.items() for leaf in _leaves(value, (*path, key))]


def test_text_inside_long_strings_is_not_a_key() -> None:
    text = "a = '''\nb = 1\n'''\nb = \"\"\"x\n[c]\n\"\"\" # '''\nd = 4"
    assert find_lines(text) == {("a",): 1, ("b",): 4, ("d",): 7}


def test_inline_table_key_has_table_line() -> None:
    lines = find_lines("[a]\nb = { c = 1 }")
    assert line_of(lines, ("a", "b", "c")) == 2
    assert line_of(lines, ("x",)) == 1


@pytest.mark.parametrize(
    "text",
    [
        "\n\n\n[defaults.provider.x]\na = 1\n",
        "[defaults]\n\n\nprovider.x = 1\n",
        '\n\n\n[workspace."a\\u0000b"]\nprovider = "auto"\n',
        "\n\n\ndefaults = {query = {max_results = 'x'}}\n",
    ],
)
def test_table_without_header_is_reported_on_its_line(tmp_path: Path, text: str) -> None:
    config = tmp_path / "settings.toml"
    config.write_text(text)
    with pytest.raises(SettingsError, match="line 4:"):
        load_settings(tmp_path, config=config)
