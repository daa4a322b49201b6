import pytest

import engine
from gui.commands.keymap import Command, Keymap
from gui.core.key_listing import fixed_keys, groups, key_conflict
from gui.settings.custom_keys import CustomKeys, plain

BOX = Command("search.focus", "Go to the search box", ("window",), ("Ctrl+K", "Ctrl+L"))
WRAP = Command("file.wrap", "Wrap lines…", ("file",), ("Alt+Z",))
TURN = Command("index.toggle-table", "Show as chart or table", ("index",), ("T",))


@pytest.fixture
def mapped(qapp) -> Keymap:
    made = Keymap()
    for one in (BOX, WRAP, TURN):
        made.declare(one)
    return made


@pytest.fixture
def config(tmp_path):
    return tmp_path / "settings.toml"


@pytest.fixture
def own(qtbot, jobs, mapped, config):
    made = CustomKeys(jobs, mapped, config)
    yield made
    qtbot.waitUntil(lambda: not made.saving)


def _in_file(config):
    return engine.load_settings(config=config).window.keys


def test_new_key_applies_immediately_and_keeps_file_content(qtbot, own, mapped, config):
    config.write_text('# mine\n[defaults]\nprovider = "none"\n[defaults.window]\ntheme = "dark"\n')
    own.assign("file.wrap", ["Ctrl+Alt+W", "F7"])
    assert mapped.keys("file.wrap") == ("Ctrl+Alt+W", "F7")
    assert own.is_custom("file.wrap")
    qtbot.waitUntil(lambda: not own.saving)
    assert _in_file(config) == {"file.wrap": ("Ctrl+Alt+W", "F7")}
    assert "# mine" in config.read_text()
    assert engine.load_settings(config=config).window.theme == "dark"


def test_last_of_many_changes_is_saved(qtbot, own, config):
    for number in range(1, 10):
        own.assign("file.wrap", [f"Ctrl+F{number}"])
    qtbot.waitUntil(lambda: not own.saving)
    assert _in_file(config) == {"file.wrap": ("Ctrl+F9",)}


def test_own_key_is_taken_from_clashing_command(own, mapped):
    own.assign("file.wrap", ["Ctrl+K"])
    assert mapped.keys("search.focus") == ("Ctrl+L",)
    own.reset("search.focus")
    assert mapped.keys("search.focus") == ("Ctrl+K", "Ctrl+L")
    assert mapped.keys("file.wrap") == ()


def test_separate_scopes_may_share_a_key(own, mapped):
    own.assign("index.toggle-table", ["Alt+Z"])
    assert mapped.keys("file.wrap") == ("Alt+Z",)
    assert key_conflict(mapped, WRAP, "T") is None


def test_reset_all_restores_defaults_and_file(qtbot, own, mapped, config):
    own.assign("file.wrap", [])
    own.assign("index.toggle-table", ["G"])
    assert mapped.keys("file.wrap") == ()
    own.reset_all()
    qtbot.waitUntil(lambda: not own.saving)
    assert (mapped.keys("file.wrap"), mapped.keys("index.toggle-table"), own.any) == (("Alt+Z",), ("T",), False)
    assert _in_file(config) == {}


def test_invalid_entry_is_reported_and_ignored(qtbot, own, mapped, config):
    saved = {"file.wrap": ("Ctrl+Nonsense", "F7"), "file.unheard": ("F8",), "index.toggle-table": ("Ctrl+",)}
    with qtbot.waitSignal(own.problem) as emitted:
        own.load(saved)
    [sentence] = emitted.args
    assert "“file.unheard”" in sentence
    assert "“Ctrl+Nonsense” is not a valid shortcut for “file.wrap”." in sentence
    assert (mapped.keys("file.wrap"), mapped.keys("index.toggle-table")) == (("F7",), ("T",))
    with qtbot.assertNotEmitted(own.problem):
        own.load(saved)  # the workspace was reopened
    own.assign("search.focus", ["F9"])
    qtbot.waitUntil(lambda: not own.saving)
    assert _in_file(config)["file.unheard"] == ("F8",)


def test_clashing_key_is_reported_with_its_command(qtbot, own, mapped):
    with qtbot.waitSignal(own.problem) as emitted:
        own.load({"file.wrap": ("Ctrl+L",), "index.toggle-table": ("Return",)})
    assert "Ctrl+L for “file.wrap” is already used by “Go to the search box” (All views)." in emitted.args[0]
    details = "Details of an update, and its errors"
    assert f"Return for “index.toggle-table” is already used by “{details}” (Index)." in emitted.args[0]
    assert mapped.keys("search.focus") == ("Ctrl+K", "Ctrl+L")
    assert mapped.keys("file.wrap") == ()


def test_two_commands_may_swap_keys(own, mapped):
    own.load({"file.wrap": ("Ctrl+K",), "search.focus": ("Alt+Z",)})
    assert (mapped.keys("file.wrap"), mapped.keys("search.focus")) == (("Ctrl+K",), ("Alt+Z",))


def test_unsaved_keys_are_reported_and_still_apply(qtbot, own, mapped, config):
    config.write_text("this is no settings file")
    with qtbot.waitSignal(own.not_saved) as emitted:
        own.assign("file.wrap", ["F7"])
    assert emitted.args[0].startswith("The shortcuts work until you quit")
    assert mapped.keys("file.wrap") == ("F7",)


@pytest.mark.parametrize(
    ("key", "known"),
    [
        ("ctrl+k", "Ctrl+K"),
        ("Ctrl++", "Ctrl++"),
        ("", ""),
        ("Ctrl+Foo", ""),
        ("Ctrl+K, Foo", ""),
        ("Ctrl+K, F2", "Ctrl+K, F2"),
    ],
)
def test_plain_key_is_empty_for_an_invalid_key(qapp, key, known):
    assert plain(key) == known


def test_fixed_keys_are_valid_keys(qapp):
    assert not [(fixed.label, key) for fixed in fixed_keys() for key in fixed.keys if not plain(key)]


def test_listing_shows_current_keys(own, mapped):
    own.assign("file.wrap", ["F7", "F8"])
    own.assign("index.toggle-table", [])
    listed = {group.title: [(row.keys, row.label) for row in group.rows] for group in groups(mapped)}
    assert listed["File"][0] == ("F7 or F8", "Wrap lines")
    assert all(words != "Show as chart or table" for _, words in listed["Index"])
    assert "Results" in listed
