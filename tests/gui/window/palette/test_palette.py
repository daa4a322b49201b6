import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QToolTip

from engine import SavedSearch
from gui.commands.keymap import keymap
from gui.settings.option_pages import placed_options
from gui.window.command_palette import PaletteBox
from gui.window.palette_entries import ALSO_CALLED, Entry, choose
from tests.helpers.windows import at_rest

Key = Qt.Key
Control, Shift = Qt.KeyboardModifier.ControlModifier, Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def box(opened) -> PaletteBox:
    return opened.keyboard.palette.box


@pytest.fixture
def open_palette(qtbot, opened, box):
    def run(typed: str = "") -> list[str]:
        qtbot.keyClick(QApplication.focusWidget() or opened, Key.Key_P, Control | Shift)
        assert box.is_open
        assert box.edit.hasFocus()
        qtbot.keyClicks(box.edit, typed)
        return _listed(box)

    return run


def _listed(box) -> list[str]:
    return [found.entry.label for found in box.model.found]


def _entry(box, words):
    return next(found.entry for found in box.model.found if found.entry.label == words)


def test_every_command_is_listed_with_its_keys(opened, box, open_palette):
    listed = open_palette()
    named = {action.objectName() for action in opened.findChildren(QAction)} & set(keymap().commands)
    missing = named - {found.entry.key for found in box.model.found} - {"help.palette"}
    assert not missing
    assert len(listed) > 60
    assert _entry(box, "Update now").keys == "F5"
    assert _entry(box, "Wrap lines").where.startswith("File")
    assert _entry(box, "Copy session as Markdown").reason == "Open a session first."  # its panel isn't made yet


def test_translated_command_matches_english_words_and_name():
    sync = Entry("index.sync", "Jetzt abgleichen", "", "", "", bool, "Update now index.sync")
    other = Entry("go.back", "Synchron zurück", "", "", "", bool, "Back go.back")
    both = (sync, other)
    assert [found.entry for found in choose(both, "abgl", ())] == [sync]
    assert [found.entry for found in choose(both, "sync", ())] == [other, sync]
    assert [found.word_match.marks for found in choose(both, "index.sync", ())] == [()]
    assert not choose(both, "nx", ())


def test_enter_runs_best_match_and_restores_focus(qtbot, opened, box, open_palette):
    opened.search.focus_box()
    before = QApplication.focusWidget()
    assert open_palette("diagn")[0] == "Show or hide diagnostics"
    was_visible = opened.dock.diagnostics.isVisible()
    qtbot.keyClick(box.edit, Key.Key_Return)
    assert not box.is_open
    assert opened.dock.diagnostics.isVisible() is not was_visible
    assert QApplication.focusWidget() is before


def test_palette_opens_each_page_of_the_index(qtbot, opened, box, open_palette):
    for page in ("overview", "map", "duplicates", "health"):
        assert open_palette(page)[0] == f"Index: {page.title()}"
        qtbot.keyClick(box.edit, Key.Key_Return)
        assert (opened.views.current, opened.views.index.page) == ("index", page)
        opened.views.switch("search")


@pytest.mark.parametrize("key", [Key.Key_Escape, Key.Key_Tab])
def test_escape_and_tab_close_palette_and_restore_focus(qtbot, opened, box, open_palette, key):
    button = opened.frame.header.menu_button
    button.setFocus()
    open_palette("sync")
    qtbot.keyClick(box.edit, key)
    assert not box.is_open
    assert button.hasFocus()


def test_shortcut_closes_open_palette(qtbot, opened, box, open_palette):
    open_palette()
    qtbot.keyClick(box.edit, Key.Key_P, Control | Shift)
    assert not box.is_open


def test_often_used_commands_come_first(qtbot, opened, box, open_palette):
    for words in ("larger text", "larger text", "theme dark"):
        open_palette(words)
        qtbot.keyClick(box.edit, Key.Key_Return)
    assert open_palette()[:2] == ["Larger text", "Theme: Dark"]
    assert opened.state.recent_commands == ["theme.dark", "text.larger", "text.larger"]


def test_recent_commands_come_first(qtbot, opened, box, open_palette):
    open_palette("larger text")
    qtbot.keyClick(box.edit, Key.Key_Return)
    open_palette("theme dark")
    qtbot.keyClick(box.edit, Key.Key_Return)
    assert open_palette()[:2] == ["Theme: Dark", "Larger text"]
    assert opened.state.recent_commands[:2] == ["theme.dark", "text.larger"]


def test_unavailable_command_shows_reason_and_does_not_run(qtbot, monkeypatch, opened, box, open_palette):
    tooltips: list[str] = []
    monkeypatch.setattr(QToolTip, "showText", lambda _at, text, *_: tooltips.append(text))
    open_palette("save this search")
    assert _entry(box, "Save this search…").reason == "Search for something first."
    qtbot.keyClick(box.edit, Key.Key_Return)
    assert box.is_open
    assert tooltips == ["Search for something first."]
    box.edit.setText("your messages")
    assert _entry(box, "Your messages").reason == "Open a session first."
    box.edit.setText("back")
    assert _entry(box, "Back").reason == "There is no earlier location to go back to."


def test_pane_commands_run_on_last_focused_pane(qtbot, opened, box, open_palette):
    opened.search.search("timer")
    qtbot.waitUntil(lambda: at_rest(opened) and opened.viewer.has_file)
    opened.search.focus_list()
    before = opened.viewer.wrap_action.isChecked()
    open_palette("wrap lines")
    qtbot.keyClick(box.edit, Key.Key_Return)
    assert opened.viewer.wrap_action.isChecked() is not before
    QApplication.clipboard().clear()
    open_palette("copy snippet")
    qtbot.keyClick(box.edit, Key.Key_Return)
    assert QApplication.clipboard().text() == opened.search.body.list.current_result().snippet


def test_arrow_keys_wrap_and_losing_focus_closes_palette(qtbot, opened, box, open_palette):
    count = len(open_palette())
    qtbot.keyClick(box.edit, Key.Key_Up)
    assert box.list.currentIndex().row() == count - 1
    qtbot.keyClick(box.edit, Key.Key_Down)
    assert box.list.currentIndex().row() == 0
    opened.search.focus_box()
    assert not box.is_open
    assert not opened.keyboard.palette.box.edit.hasFocus()


def test_saved_searches_and_recent_folders_are_listed(qtbot, opened, box, open_palette, tmp_path):
    opened.search.search("timer")
    qtbot.waitUntil(lambda: at_rest(opened))
    query = opened.search.controller.saved_searches.query
    store = opened.search.controller.saved_searches.store
    store.restore(SavedSearch(name="All about timers", query=query, last_used=1.0))
    qtbot.waitUntil(lambda: not store.busy)
    opened.state.recent.append(str(tmp_path))
    opened.views.switch("index")
    assert f"Open {tmp_path.name}" in open_palette()
    box.edit.setText("about timers")
    assert _listed(box)[0] == "All about timers"
    qtbot.keyClick(box.edit, Key.Key_Return)
    qtbot.waitUntil(lambda: at_rest(opened))
    assert opened.views.current == "search"


def test_own_keys_are_shown(box, open_palette):
    keymap().set_own({"index.sync": ["Ctrl+F5"]})
    open_palette("update now")
    assert _entry(box, "Update now").keys == "Ctrl+F5"


def test_palette_synonyms_belong_to_commands(opened, open_palette, box):
    open_palette()
    assert set(ALSO_CALLED) <= {found.entry.key for found in box.model.found}


@pytest.mark.parametrize(
    ("typed", "words"),
    [
        ("continue", "Copy resume command"),
        ("zoom in", "Larger text"),
        ("hotkeys", "Keyboard shortcuts"),
        ("bookmark", "Save this search…"),
        ("preferences", "Settings…"),
        ("refresh", "Update now"),
        ("exit", "Quit"),
    ],
)
def test_palette_finds_commands_by_other_words(open_palette, typed, words):
    assert words in open_palette(typed)[:3]


@pytest.mark.parametrize(
    ("typed", "key"),
    [("language", "window.language"), ("add folder", "extra_paths"), ("text size", "window.font_scale")],
)
def test_palette_opens_setting_by_its_words(qtbot, opened, open_palette, box, typed, key):
    title = placed_options()[key].title
    assert title not in open_palette()  # settings are listed for a query only
    qtbot.keyClicks(box.edit, typed)
    row = _listed(box).index(title)
    for _ in range(row):
        qtbot.keyClick(box.edit, Key.Key_Down)
    qtbot.keyClick(box.edit, Key.Key_Return)
    dialog = opened.settings.dialog
    assert dialog.isVisible()
    assert dialog.query_field.text() == key
    dialog.close()


def test_commands_come_before_equally_good_settings():
    setting = Entry("setting:window.theme", "Theme", "Setting", "", "", bool, "window.theme", is_setting=True)
    dark = Entry("theme.dark", "Theme: Dark", "", "", "", bool, "Theme: Dark theme.dark")
    assert [found.entry for found in choose((setting, dark), "theme", ())] == [dark, setting]
    assert [found.entry for found in choose((setting, dark), "", ())] == [dark]
    assert not choose((setting,), "tm", ())  # scattered letters


def test_settings_without_open_folder_show_why_not(qtbot, window):
    qtbot.keyClick(window, Key.Key_P, Control | Shift)
    box = window.keyboard.palette.box
    qtbot.keyClicks(box.edit, "language")
    assert _entry(box, "Language").reason
