import pytest
from PySide6.QtCore import QEvent, QObject, QPoint, Qt
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QApplication, QLabel, QLineEdit, QListWidget, QPushButton, QScrollArea

import engine
from engine import Settings, SettingsError, load_settings, settings_path
from gui.commands.keymap import keymap
from gui.core.capabilities import capabilities
from gui.settings.custom_keys import CustomKeys
from gui.settings.dialog import SettingsDialog
from gui.settings.keyboard_page import KeyboardPage
from gui.settings.option_pages import PAGES, placed_options, whole_page
from gui.settings.option_row import DialogPage, OptionRow
from gui.widgets.form_controls import ComboBox, RadioButton
from tests.helpers.windows import MovedParts


@pytest.fixture
def dialog(show_dialog) -> SettingsDialog:
    return show_dialog("search")


def _row(dialog, key: str) -> OptionRow:
    return next(row for row in dialog.findChildren(OptionRow) if row.placed.key == key and row.isVisible())


def _type(qtbot, dialog, key: str, text: str) -> QLineEdit:
    line = _row(dialog, key).field.focusProxy()
    line.setFocus()
    line.selectAll()
    qtbot.keyClicks(line, text)
    return line


def _shown_text(widget) -> str:
    return " | ".join(found.text().replace("\u200b", "") for found in widget.findChildren(QLabel) if found.isVisible())


def _button(dialog, words: str) -> QPushButton:
    return next(b for b in dialog.findChildren(QPushButton) if b.text() == words and b.isVisible())


def _rest(qtbot, dialog) -> None:
    qtbot.waitUntil(lambda: dialog.ready)


def test_pages_have_their_options_in_place_at_same_height(qtbot, appearance, jobs, memory, notes, user_home, tmp_path):
    own = CustomKeys(jobs, keymap(), tmp_path / "settings.toml")
    dialog = SettingsDialog(jobs, makers={"keyboard": lambda _, parent: KeyboardPage(own, keymap(), parent)})
    qtbot.addWidget(dialog)
    dialog.begin(notes, Settings(), memory, "search")
    dialog.show()
    _rest(qtbot, dialog)
    positions = {}
    for name in dialog.pages.names:
        moved = MovedParts(least=10)
        dialog.show_page(name)
        _rest(qtbot, dialog)
        assert not {"OptionRow", "EmbeddingForm", type(dialog.pages.page(name)).__name__} & set(moved.names), name
        wanted = {key for key, placed in placed_options().items() if placed.page == name}
        rows = {row.placed.key for row in dialog.findChildren(OptionRow) if row.isVisible()}
        assert rows == (set() if name in ("embedding", "keyboard") else wanted), name
        titles = [found for found in dialog.findChildren(QLabel) if found.property("role") == "title"]
        [title] = [found for found in titles if found.isVisible()]
        positions[name] = title.mapTo(dialog, QPoint()).y()
    assert len(set(positions.values())) == 1, positions
    assert list(dialog.pages.names) == [name for name in PAGES if whole_page(name) == name]
    assert isinstance(dialog.pages.page("keyboard"), KeyboardPage)
    dialog.reject()


def test_tab_from_outside_shows_field_that_was_scrolled_away(qtbot, dialog):
    first = next(row for row in dialog.findChildren(OptionRow) if row.isVisible()).field.focusProxy()
    scroller = next(area for area in dialog.findChildren(QScrollArea) if area.isAncestorOf(first))
    dialog.page_choice.list.setFocus()
    scroller.verticalScrollBar().setValue(scroller.verticalScrollBar().maximum())
    assert first.visibleRegion().isEmpty()
    qtbot.keyClick(dialog.page_choice.list, Qt.Key.Key_Tab)
    assert first.hasFocus()
    assert not first.visibleRegion().isEmpty()


@pytest.mark.parametrize("page", ["privacy", "found"])
def test_rows_are_whole_while_page_is_built(dialog, page):
    """Each turn that adds rows also gives the page their height, since Qt may paint before the next turn."""
    heights: dict[OptionRow, int] = {}
    dialog.search("ex") if page == "found" else dialog.show_page(page)
    while not dialog.ready:
        QApplication.processEvents()
        rows = (row for row in dialog.findChildren(OptionRow) if row.isVisible())
        heights |= {row: min(row.height(), heights.get(row, row.height())) for row in rows}
    assert not [row.placed.key for row, least in heights.items() if least < row.minimumSizeHint().height() // 2]


def test_typing_into_opened_dialog_searches_and_changes_nothing(qtbot, appearance, jobs, memory, notes, user_home):
    dialog = SettingsDialog(jobs)
    qtbot.addWidget(dialog)
    for _ in range(2):
        with qtbot.waitActive(dialog):
            dialog.begin(notes, Settings(), memory)
            dialog.activateWindow()
        _rest(qtbot, dialog)
        assert dialog.page == "general"
        qtbot.keyClicks(QApplication.focusWidget(), "language")
        _rest(qtbot, dialog)
        assert dialog.query_field.text() == "language"
        dialog.query_field.clear()
        dialog.reject()
        _rest(qtbot, dialog)
    assert not settings_path().exists()


def test_closed_dialog_keeps_no_pages(qtbot, dialog, notes, memory):
    for page in ("general", "search", "embedding", "advanced"):
        dialog.show_page(page)
        qtbot.waitUntil(lambda: dialog.ready)
    assert len(dialog.findChildren(DialogPage)) > 4
    dialog.search("score")
    qtbot.waitUntil(lambda: dialog.ready)
    dialog.reject()
    qtbot.waitUntil(lambda: dialog.findChildren(DialogPage) == [dialog.results])
    qtbot.waitUntil(lambda: not dialog.results.findChildren(OptionRow))
    dialog.begin(notes, Settings(), memory)
    qtbot.waitUntil(lambda: dialog.ready)
    assert dialog.page == "advanced"
    assert dialog.pages.page("advanced").isVisible()
    assert not dialog.pages.form("engine").unsaved


def test_row_shows_label_unit_origin_and_effect(qtbot, dialog, notes):
    dialog.show_page("advanced")
    _rest(qtbot, dialog)
    row = _row(dialog, "chunking.tokens")
    assert "chunking.tokens" not in _shown_text(row)
    assert not row.footer.origin.isVisible()
    row.take_focus()
    qtbot.waitUntil(lambda: "chunking.tokens" in _shown_text(row))
    text = _shown_text(row)
    for words in ("Passage length", "in tokens of four characters", "rebuilds the index", "chunking.tokens"):
        assert words in text
    assert row.footer.origin.text() == "Default"
    described = row.field.focusProxy().accessibleDescription()
    assert "Default: 400 tokens" in described
    assert "rebuilds the index" in described


def test_pending_change_waits_for_apply(qtbot, dialog, notes):
    dialog.show_page("advanced")
    _rest(qtbot, dialog)
    line = _type(qtbot, dialog, "chunking.tokens", "200")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    assert dialog.isVisible()
    assert "change not applied yet" in _shown_text(_row(dialog, "chunking.tokens"))
    assert "The change rebuilds the index" in dialog.footer.text
    assert "Nothing leaves this machine." in dialog.footer.text
    assert not settings_path().exists()
    with qtbot.waitSignal(dialog.saved):
        _button(dialog, "Apply").click()
    assert load_settings().chunking.tokens == 200
    assert dialog.isVisible()
    assert "change not applied yet" not in _shown_text(_row(dialog, "chunking.tokens"))
    assert _row(dialog, "chunking.tokens").footer.origin.text() == "Global"


def test_pending_change_names_server_texts_are_sent_to(qtbot, dialog):
    engine.save_setting("provider", "openai")
    dialog.model.read_again()
    _rest(qtbot, dialog)
    dialog.model.set("chunking.tokens", 200, "defaults")
    assert "sent to api.openai.com" in dialog.footer.text
    dialog.model.discard()


def test_switching_vectors_on_names_server_texts_are_sent_to(qtbot, dialog):
    engine.save_setting("provider", "openai")
    engine.save_setting("store.vector.enabled", False)
    dialog.model.read_again()
    _rest(qtbot, dialog)
    dialog.model.set("store.vector.enabled", True, "defaults")
    assert "Missing vectors are created after the change." in dialog.footer.text
    assert "sent to api.openai.com" in dialog.footer.text
    dialog.model.discard()


def test_invalid_input_shows_error_and_is_not_saved(qtbot, dialog):
    line = _row(dialog, "query.max_results").field.focusProxy()
    for text, sentence in (
        ("x", "It must be a whole number."),
        ("0", "It must be 1 or more."),
        ("", "It must be a whole number."),
    ):
        line.setFocus()
        line.selectAll()
        qtbot.keyClick(line, Qt.Key.Key_Delete)
        qtbot.keyClicks(line, text)
        assert sentence in _shown_text(_row(dialog, "query.max_results"))
        qtbot.keyClick(line, Qt.Key.Key_Return)
        assert dialog.model.pending == 0
        assert line.text() == text
        qtbot.keyClick(line, Qt.Key.Key_Escape)
        assert dialog.isVisible()
        assert line.text() == "6"
        assert sentence not in _shown_text(_row(dialog, "query.max_results"))


def test_arrow_keys_step_number_within_range(qtbot, dialog):
    line = _row(dialog, "query.min_score").field.focusProxy()
    line.setFocus()
    for _ in range(20):
        qtbot.keyClick(line, Qt.Key.Key_Up)
    assert line.text() == "1"
    qtbot.keyClick(line, Qt.Key.Key_Down)
    assert line.text() == "0.95"


def test_window_switch_saves_immediately_and_ctrl_z_undoes(qtbot, dialog):
    dialog.show_page("privacy")
    _rest(qtbot, dialog)
    box = _row(dialog, "window.search_history").field.focusProxy()
    with qtbot.waitSignal(dialog.model.took_effect) as emitted:
        box.click()
    assert not emitted.args[0].window.search_history
    _rest(qtbot, dialog)
    assert not load_settings().window.search_history
    qtbot.keyClick(dialog, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    _rest(qtbot, dialog)
    assert box.isChecked()
    assert load_settings().window.search_history


def test_ctrl_z_undoes_field_text_before_dialog_change(qtbot, dialog):
    dialog.model.set("facts.recall_results", 5, "defaults")
    _rest(qtbot, dialog)
    line = _type(qtbot, dialog, "query.max_results", "77")
    qtbot.keyClick(line, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert line.text() == "6"
    assert dialog.model.layers.effective("facts.recall_results") == 5


@pytest.fixture
def full_disk(monkeypatch) -> None:
    def refuse(*_args, **_options):
        raise SettingsError("The disk is full.")

    monkeypatch.setattr(engine, "change_settings", refuse, raising=False)


@pytest.mark.usefixtures("full_disk")
@pytest.mark.parametrize("query", ["", "number of results"])
def test_failed_save_is_shown_at_its_option(qtbot, dialog, query):
    if query:
        dialog.search(query)
        _rest(qtbot, dialog)
    line = _type(qtbot, dialog, "query.max_results", "7")
    qtbot.keyClick(line, Qt.Key.Key_Return)
    _rest(qtbot, dialog)
    assert line.text() == "6"
    assert line.hasFocus()
    assert "The disk is full." in _shown_text(_row(dialog, "query.max_results"))


@pytest.mark.usefixtures("full_disk")
def test_failed_save_names_all_options_that_were_not_saved(qtbot, dialog):
    dialog.model.set("query.max_results", 7, "defaults")
    dialog.model.set("facts.recall_results", 5, "defaults")
    _rest(qtbot, dialog)
    titles = [placed_options()[key].title for key in ("query.max_results", "facts.recall_results")]
    assert f"Not saved: {', '.join(titles)}. The disk is full." in _shown_text(_row(dialog, "query.max_results"))


@pytest.mark.usefixtures("full_disk")
def test_failed_save_shows_the_page_of_its_option(qtbot, dialog):
    dialog.model.set("facts.recall_results", 5, "defaults")
    _rest(qtbot, dialog)
    assert "The disk is full." in _shown_text(_row(dialog, "facts.recall_results"))


@pytest.mark.parametrize(
    ("key", "typed", "saved", "before"), [("query.max_results", "7", 7, 6), ("exclude", "old/**", ("old/**",), ())]
)
def test_ctrl_z_after_saving_undoes_the_saved_change(qtbot, dialog, key, typed, saved, before):
    dialog.show_page(placed_options()[key].page)
    qtbot.waitUntil(lambda: dialog.ready)
    field = _row(dialog, key).field
    editor = field.focusProxy()
    editor.setFocus()
    editor.selectAll()
    qtbot.keyClicks(editor, typed)
    field.commit()
    _rest(qtbot, dialog)
    assert dialog.model.layers.effective(key) == saved
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    _rest(qtbot, dialog)
    assert dialog.model.layers.effective(key) == before


TYPED = {
    "exclude": (
        ("old/**\nnew", 0, "/**", ("old/**", "new/**")),
        ("old/**\n", 0, "new/**", ("old/**", "new/**")),
        ("old/**", 3, "er", ("older/**",)),
    ),
    "query.max_results": (("19", 1, "0", 109),),
    "window.editor": (("code ", 0, "{path}", "code {path}"), ("code {path}", 7, " -g", "code -g {path}")),
}
"""Text, steps to the left after it, text that follows the return to the window, and the saved value, by option."""


@pytest.mark.parametrize("key", TYPED)
def test_leaving_the_window_keeps_the_place_of_typing(qtbot, dialog, key):
    for typed, back, typed_on, saved in TYPED[key]:
        _type_around_a_switch(qtbot, dialog, key, typed, back, typed_on)
        assert dialog.model.layers.effective(key) == saved


def _type_around_a_switch(qtbot, dialog, key: str, typed: str, back: int, typed_on: str) -> None:
    """Type into a field, leave the window and return twice, and type on."""
    dialog.show_page(placed_options()[key].page)
    _rest(qtbot, dialog)
    editor = _row(dialog, key).field.focusProxy()
    editor.setFocus()
    editor.selectAll()
    for letter in typed:
        qtbot.keyClick(editor, Qt.Key.Key_Return) if letter == "\n" else qtbot.keyClicks(editor, letter)
    for _ in range(back):
        qtbot.keyClick(editor, Qt.Key.Key_Left)
    for _ in range(2):  # the second time, there is nothing to save
        for left in (QEvent.Type.FocusOut, QEvent.Type.FocusIn):
            QApplication.sendEvent(editor, QFocusEvent(left, Qt.FocusReason.ActiveWindowFocusReason))
            _rest(qtbot, dialog)
    qtbot.keyClicks(editor, typed_on)
    dialog.page_choice.list.setFocus()
    _rest(qtbot, dialog)


def test_option_is_set_globally_or_per_folder_and_reset(qtbot, dialog, notes):
    dialog.show_page("general")
    _rest(qtbot, dialog)
    row = _row(dialog, "window.editor")
    qtbot.keyClick(_type(qtbot, dialog, "window.editor", "vim {path}"), Qt.Key.Key_Return)
    _rest(qtbot, dialog)
    assert row.footer.origin.text() == "Global"
    next(
        action for action in row.footer.layer_menu().actions() if action.text() == "Only for the open folder"
    ).trigger()
    qtbot.keyClick(_type(qtbot, dialog, "window.editor", "code {path}"), Qt.Key.Key_Return)
    _rest(qtbot, dialog)
    assert load_settings(notes).window.editor == "code {path}"
    assert load_settings().window.editor == "vim {path}"
    assert row.footer.reset.text() == "Reset to vim {path}"
    row.footer.reset.click()
    _rest(qtbot, dialog)
    assert load_settings(notes).window.editor == "vim {path}"
    row.footer.reset.click()
    _rest(qtbot, dialog)
    assert load_settings(notes).window.editor == ""
    assert not row.footer.reset.isVisible()


def test_search_matches_name_key_help_and_value(qtbot, dialog):
    qtbot.keyClick(dialog, Qt.Key.Key_F, Qt.KeyboardModifier.ControlModifier)
    assert QApplication.focusWidget() is dialog.query_field
    for query, key in (
        ("half-life", "query.hybrid.temporal_decay.half_life_days"),
        ("vector_weight", "query.hybrid.vector_weight"),
        ("vector weight", "query.hybrid.vector_weight"),
        ("follow the system", "window.theme"),
        ("opens a file in an editor", "window.editor"),
    ):
        dialog.query_field.clear()
        qtbot.keyClicks(dialog.query_field, query)
        _rest(qtbot, dialog)
        assert key in dialog.results.rows, query
    texts = [label.text() for label in dialog.results.rows["window.editor"].findChildren(QLabel)]
    assert any("<span" in text and "editor" in text for text in texts)


def test_search_shows_keys_that_contain_a_word(qtbot, dialog):
    def visible_parts(key: str) -> list[str]:
        row = dialog.results.rows[key]
        return [part.text() for part in (row.footer.origin, row.footer._key) if part.isVisible()]

    qtbot.mouseMove(dialog.query_field)  # a row under the mouse shows its key
    qtbot.keyClicks(dialog.query_field, "editor")
    _rest(qtbot, dialog)
    dialog.query_field.setFocus()
    qtbot.waitUntil(lambda: visible_parts("window.editor") != [])
    assert visible_parts("window.editor")[0] == "Default"
    dialog.query_field.clear()
    qtbot.keyClicks(dialog.query_field, "opens a file in")
    _rest(qtbot, dialog)
    qtbot.waitUntil(lambda: visible_parts("window.editor") == [])


def test_search_result_can_be_edited_in_place(qtbot, dialog):
    qtbot.keyClicks(dialog.query_field, "half-life")
    qtbot.keyClick(dialog.query_field, Qt.Key.Key_Down)
    _rest(qtbot, dialog)
    focus = QApplication.focusWidget()
    row = next(row for row in dialog.results.rows.values() if row.isAncestorOf(focus))
    assert row.placed.key == "query.hybrid.temporal_decay.half_life_days"
    focus.selectAll()
    qtbot.keyClicks(focus, "90")
    with qtbot.waitSignal(dialog.model.took_effect):
        qtbot.keyClick(focus, Qt.Key.Key_Return)
    _rest(qtbot, dialog)
    assert load_settings().query.hybrid.temporal_decay.half_life_days == 90


def test_removed_result_is_not_focused_again(qtbot, dialog, notes, memory):
    for _ in range(2):
        qtbot.keyClicks(dialog.query_field, "min_score")
        qtbot.keyClick(dialog.query_field, Qt.Key.Key_Tab)
        qtbot.keyClick(QApplication.focusWidget(), Qt.Key.Key_Tab)
        assert dialog.pages.page("search").isAncestorOf(QApplication.focusWidget())
        _rest(qtbot, dialog)
        assert _row(dialog, "query.min_score") in dialog.results.rows.values()
        assert dialog.results.isAncestorOf(QApplication.focusWidget())
        dialog.page_choice.choose("search")
        dialog.query_field.clear()
        dialog.query_field.setFocus()


def test_form_option_in_search_opens_its_page(qtbot, dialog):
    qtbot.keyClicks(dialog.query_field, "fallback provider")
    _rest(qtbot, dialog)
    _button(dialog, "Change on the page Embedding").click()
    assert dialog.page == "embedding"
    assert dialog.query_field.text() == ""
    assert dialog.pages.page("embedding").isVisible()


@pytest.mark.parametrize(("query", "key"), [("extra folders", "extra_paths"), ("session folders", "sessions.folders")])
def test_folders_in_search_open_the_buttons_of_their_page(qtbot, dialog, query, key):
    qtbot.keyClicks(dialog.query_field, query)
    _rest(qtbot, dialog)
    _button(dialog, "Change on the page Sources").click()
    page = dialog.pages.page("sources")
    assert page.isVisible()
    focused = QApplication.focusWidget()
    assert page.rows[key].isAncestorOf(focused)
    assert focused.text() == "Add a folder…"
    _rest(qtbot, dialog)


def test_empty_search_result_is_shown_and_escape_clears(qtbot, dialog):
    qtbot.keyClicks(dialog.query_field, "qwertz")
    _rest(qtbot, dialog)
    assert "No setting matches" in _shown_text(dialog)
    qtbot.keyClick(dialog.query_field, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert dialog.pages.page("search").isVisible()


def test_closing_with_pending_changes_asks_to_apply(qtbot, dialog):
    dialog.model.set("chunking.tokens", 200, "defaults")
    dialog.reject()
    assert dialog.isVisible()
    assert "Apply the changed settings before closing?" in dialog.footer.text
    _button(dialog, "Discard").click()
    assert not dialog.isVisible()
    assert load_settings().chunking.tokens == 400


def test_closing_with_unsaved_form_asks_to_save(qtbot, dialog, notes):
    dialog.show_page("engine")
    next(button for button in dialog.findChildren(RadioButton) if button.label == "qmd").click()
    dialog.show_page("general")
    qtbot.keyClick(dialog, Qt.Key.Key_Escape)
    assert dialog.isVisible()
    assert dialog.page == "advanced"
    assert dialog.footer.text == "Save the changed settings before closing?"
    assert _button(dialog, "Save").hasFocus()
    _button(dialog, "Discard").click()
    assert not dialog.isVisible()
    assert load_settings(notes).backend == "builtin"
    dialog.begin(notes, Settings(), None)
    assert dialog.footer.text == ""
    assert dialog.pages.unsaved is None


def test_unfinished_input_counts_on_close(qtbot, dialog):
    dialog.show_page("advanced")
    _rest(qtbot, dialog)
    _type(qtbot, dialog, "chunking.tokens", "200")
    dialog.reject()
    assert dialog.model.pending == 1
    with qtbot.waitSignal(dialog.saved):
        _button(dialog, "Apply").click()
    assert not dialog.isVisible()
    assert load_settings().chunking.tokens == 200


def test_damaged_settings_file_can_be_set_aside(qtbot, dialog):
    settings_path().parent.mkdir(parents=True, exist_ok=True)
    settings_path().write_text("[broken")
    dialog.model.read_again()
    _rest(qtbot, dialog)
    assert "settings.toml, line 1" in _shown_text(dialog)
    with qtbot.waitSignal(dialog.file_requested):
        _button(dialog, "Open the settings file").click()
    with qtbot.waitSignal(dialog.set_aside_requested):
        _button(dialog, "Rename the file and use the defaults").click()


def test_narrow_dialog_replaces_page_list_with_combo_box(qtbot, dialog, appearance):
    pages = dialog.findChild(QListWidget)
    assert pages.isVisible()
    assert not dialog.page_choice.box.isVisible()
    dialog.resize(560, 400)
    assert (dialog.width(), dialog.height()) == (560, 400)
    assert not pages.isVisible()
    assert dialog.page_choice.box.isVisible()
    box = dialog.page_choice.box
    box.setItemText(0, "Behaltene Vektoren")  # as long as another language's
    for scale in (1.0, 2.0):
        appearance.set_font_scale(scale)
        for index in range(box.count()):
            box.setCurrentIndex(index)
            qtbot.waitUntil(lambda: box.shown_text() == box.currentText())
    dialog.page_choice.box.setCurrentIndex(dialog.page_choice.box.findData("sync"))
    dialog.page_choice.box.activated.emit(dialog.page_choice.box.currentIndex())
    assert dialog.page == "sync"


def test_no_label_is_cut_at_minimum_size(qtbot, dialog, appearance):
    appearance.set_font_scale(2.0)
    for page in ("general", "sources", "search", "privacy", "advanced"):
        dialog.show_page(page)
        dialog.resize(560, 400)
        _rest(qtbot, dialog)
        qtbot.wait(1)
        assert (dialog.width(), dialog.height()) == (560, 400)
        for found in dialog.pages.page(page).findChildren(QLabel):
            if found.isVisible() and found.text():
                assert found.height() >= found.heightForWidth(found.width()), found.text()
                right = found.mapTo(dialog, found.rect().bottomRight()).x()
                assert right <= dialog.width(), found.text()
        assert _button(dialog, "Close").visibleRegion().boundingRect().size() == _button(dialog, "Close").size()


def test_every_row_is_reached_by_tab_and_named(qtbot, dialog):
    dialog.show_page("agents")
    _rest(qtbot, dialog)
    rows = [row for row in dialog.findChildren(OptionRow) if row.isVisible()]
    reached = set()
    for _ in range(200):
        focus = QApplication.focusWidget()
        assert focus.accessibleName() or (isinstance(focus, QPushButton) and focus.text()), focus
        reached |= {row.placed.key for row in rows if row.isAncestorOf(focus)}
        qtbot.keyClick(focus, Qt.Key.Key_Tab)
    assert reached == {row.placed.key for row in rows}


def test_pending_changes_survive_saving_a_form(qtbot, dialog):
    dialog.model.set("chunking.tokens", 200, "defaults")
    dialog.show_page("embedding")
    _rest(qtbot, dialog)
    with qtbot.waitSignal(dialog.saved):
        dialog.pages.page("embedding").saved.emit(None)
    assert dialog.isVisible()
    assert dialog.model.pending == 1


def test_workspace_option_cannot_be_set_per_folder(qtbot, dialog):
    dialog.show_page("general")
    _rest(qtbot, dialog)
    row = _row(dialog, "workspace")
    enabled = {action.text(): action.isEnabled() for action in row.footer.layer_menu().actions()}
    assert enabled["For all folders"]
    assert not enabled["Only for the open folder"]


def test_form_option_reset_in_search_names_server(qtbot, dialog, notes):
    engine.save_setting("provider", "openai")
    engine.save_setting("provider", "embedded", notes)
    dialog.model.read_again()
    _rest(qtbot, dialog)
    qtbot.keyClicks(dialog.query_field, "model for searching by meaning")
    _rest(qtbot, dialog)
    _button(dialog, "Reset to OpenAI-compatible").click()
    assert "Missing vectors of the other model" in dialog.footer.text
    assert "sent to api.openai.com" in dialog.footer.text
    with qtbot.waitSignal(dialog.saved):
        _button(dialog, "Apply").click()
    assert load_settings(notes).provider == "openai"


def _choose_engine(dialog, name: str) -> None:
    dialog.show_page("engine")
    next(button for button in dialog.findChildren(RadioButton) if button.label == name).click()


def _choose_provider(qtbot, dialog, provider: str) -> None:
    dialog.show_page("embedding")
    _rest(qtbot, dialog)
    boxes = dialog.pages.page("embedding").findChildren(ComboBox)
    box = next(box for box in boxes if box.accessibleName() == "Provider")
    box.setCurrentIndex(box.findData(provider))
    box.activated.emit(box.currentIndex())
    _rest(qtbot, dialog)


def test_part_of_an_unsupported_page_shows_the_reason(qtbot, dialog):
    capabilities().begin({"models": "This engine has its own models."})
    dialog.show_page("stored")
    assert dialog.page == "embedding"
    assert "This engine has its own models." in _shown_text(dialog)
    dialog.show_page("engine")
    assert dialog.page == "advanced"
    assert dialog.pages.page("engine").isVisible()


def test_closing_ignores_an_unsupported_form(qtbot, dialog):
    _choose_provider(qtbot, dialog, "none")
    assert dialog.pages.unsaved == "embedding"
    capabilities().begin({"models": "This engine has its own models."})
    dialog.reject()
    assert not dialog.isVisible()


def test_page_is_shown_again_for_another_folder(qtbot, dialog, memory, tmp_path):
    dialog.show_page("advanced")
    _choose_engine(dialog, "qmd")
    dialog.close_without_saving()
    other = tmp_path / "other"
    other.mkdir()
    dialog.begin(other, Settings(), memory, "sync")
    _rest(qtbot, dialog)
    assert dialog.pages.page("sync").isVisible()
    dialog.close_without_saving()
    dialog.begin(tmp_path / "notes", Settings(), memory, "embedding")
    _rest(qtbot, dialog)
    assert _button(dialog, "Save").isVisible()


def test_apply_before_closing_asks_about_unsaved_form(qtbot, dialog, notes):
    _choose_engine(dialog, "qmd")
    dialog.model.set("chunking.tokens", 200, "defaults")
    dialog.reject()
    with qtbot.waitSignal(dialog.saved):
        _button(dialog, "Apply").click()
    _rest(qtbot, dialog)
    assert dialog.isVisible()
    assert dialog.footer.text == "Save the changed settings before closing?"
    with qtbot.waitSignal(dialog.saved):
        _button(dialog, "Save").click()
    assert not dialog.isVisible()
    assert load_settings(notes).backend == "qmd"


def test_discard_before_closing_asks_about_unsaved_form(qtbot, dialog):
    _choose_engine(dialog, "qmd")
    dialog.model.set("chunking.tokens", 200, "defaults")
    dialog.reject()
    _button(dialog, "Discard").click()
    assert dialog.footer.text == "Save the changed settings before closing?"
    _button(dialog, "Discard").click()
    assert not dialog.isVisible()


def test_saving_one_form_asks_about_the_other(qtbot, dialog, notes):
    _choose_provider(qtbot, dialog, "none")
    _choose_engine(dialog, "qmd")
    with qtbot.waitSignal(dialog.saved):
        dialog.pages.page("engine").save_button.click()
    assert load_settings(notes).backend == "qmd"
    assert dialog.isVisible()
    assert dialog.page == "embedding"
    assert dialog.footer.text == "Save the changed settings before closing?"
    assert dialog.pages.unsaved == "embedding"


def test_closing_reopens_folder_for_saved_changes_once(qtbot, dialog):
    received = []
    dialog.saved.connect(received.append)
    dialog.model.set("sync.interval_minutes", 7, "defaults")
    _rest(qtbot, dialog)
    assert received == []
    dialog.reject()
    assert received == [None]


def test_returning_to_the_window_does_not_scroll(qtbot, dialog):
    first = next(row for row in dialog.findChildren(OptionRow) if row.isVisible()).field.focusProxy()
    bar = next(area for area in dialog.findChildren(QScrollArea) if area.isAncestorOf(first)).verticalScrollBar()
    first.setFocus()
    bar.setValue(bar.maximum())
    QApplication.instance().focusChanged.emit(None, first)
    assert bar.value() == bar.maximum()


def test_tab_from_outside_shows_the_whole_field(qtbot, dialog):
    first = next(row for row in dialog.findChildren(OptionRow) if row.isVisible()).field.focusProxy()
    scroller = next(area for area in dialog.findChildren(QScrollArea) if area.isAncestorOf(first))
    dialog.page_choice.list.setFocus()
    below = first.mapTo(scroller.widget(), QPoint()).y() + first.height()
    scroller.verticalScrollBar().setValue(below - 2)
    assert first.visibleRegion().boundingRect().height() == 2
    qtbot.keyClick(dialog.page_choice.list, Qt.Key.Key_Tab)
    assert first.hasFocus()
    assert first.visibleRegion().boundingRect().height() == first.height()


class _SquashedRows(QObject):
    """Collects the keys of options whose rows are painted with less than the height that they need."""

    def __init__(self) -> None:
        super().__init__()
        self.painted: set[str] = set()
        self.squashed: set[str] = set()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() == QEvent.Type.Paint and isinstance(watched, OptionRow):
            self.painted.add(watched.placed.key)
            if watched.height() < watched.minimumSizeHint().height():
                self.squashed.add(watched.placed.key)
        return False


def test_found_rows_are_never_painted_squashed(qtbot, show_dialog):
    dialog = show_dialog("appearance")
    rows = _SquashedRows()
    QApplication.instance().installEventFilter(rows)
    dialog.search("ex")  # finds fields of several lines on several pages
    qtbot.waitUntil(lambda: dialog.ready and "extensions" in rows.painted)
    QApplication.instance().removeEventFilter(rows)
    assert rows.squashed == set()


def test_pending_change_can_be_applied_after_saving_another(qtbot, dialog):
    dialog.model.set("chunking.tokens", 200, "defaults")
    dialog.model.set("window.language", "de", "defaults")
    _rest(qtbot, dialog)
    assert _button(dialog, "Apply").isEnabled()


def _choose_german(dialog) -> None:
    """Choose another language than that of the window, as a user does."""
    box = _row(dialog, "window.language").field.box
    box.choose("de")
    box.activated.emit(box.currentIndex())


def test_restart_for_language_follows_saving_and_closing(qtbot, show_dialog):
    dialog = show_dialog("appearance")
    _choose_german(dialog)
    with qtbot.waitSignal(dialog.restart_requested) as restarted:
        _button(dialog, "Restart now").click()
    assert restarted.args == ["de"]
    assert load_settings().window.language == "de"
    assert not dialog.isVisible()


def test_restart_for_language_asks_about_pending_changes_first(qtbot, show_dialog, notes):
    dialog = show_dialog("advanced")
    dialog.model.set("chunking.tokens", 200, "defaults")
    dialog.show_page("appearance")
    _rest(qtbot, dialog)
    _choose_german(dialog)
    restarts = []
    dialog.restart_requested.connect(lambda language: restarts.append((language, load_settings().chunking.tokens)))
    _button(dialog, "Restart now").click()
    assert dialog.isVisible()
    assert "before closing?" in dialog.footer.text
    _button(dialog, "Apply").click()
    qtbot.waitUntil(lambda: bool(restarts))
    assert restarts == [("de", 200)]


def test_failed_save_restarts_nothing(qtbot, show_dialog, monkeypatch):
    dialog = show_dialog("appearance")
    restarts = []
    dialog.restart_requested.connect(restarts.append)

    def fail(*_args) -> None:
        raise SettingsError("The disk is full.")

    monkeypatch.setattr(engine, "change_settings", fail)
    _choose_german(dialog)
    with qtbot.waitSignal(dialog.refused):
        _button(dialog, "Restart now").click()
    assert restarts == []
