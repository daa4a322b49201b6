import pytest
from hypothesis import given
from hypothesis import strategies as st
from PySide6.QtCore import Qt

from gui.core.capabilities import capabilities
from gui.search.completion import Completion, Part, completed, part_at
from gui.search.panel import QueryHelpButton, QueryHelpMenu

Key = Qt.Key


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("", Part("", "", 0)),
        ("drip ta", Part("", "ta", 5)),
        ("drip -ta", Part("", "ta", 6)),
        ("drip tag:", Part("tag", "", 9)),
        ("drip -tag:ga", Part("tag", "ga", 10)),
        ('Title:"reading l', Part("title", "reading l", 6)),
        ('"left valve" path:da', Part("path", "da", 18)),
        ("tag:garden ", Part("", "", 11)),
        ("drip #ga", Part("tag", "ga", 6)),
        ("drip -#ga", Part("tag", "ga", 7)),
        ("drip#ga", Part("", "drip#ga", 0)),
    ],
)
def test_part_at_returns_operator_and_typed_value(text: str, part: Part) -> None:
    assert part_at(text, len(text)) == part
    assert part_at(f"{text} more", len(text)) == part


@pytest.mark.parametrize(
    ("text", "value", "after"),
    [
        ("drip ta", "tag:", "drip tag:"),
        ("drip tag:ga", "garden", "drip tag:garden "),
        ("title:rea", "Reading list", 'title:"Reading list" '),
        ("drip #ga", "garden/tools", "drip #garden/tools "),
        ("drip -#re", "reading list", 'drip -tag:"reading list" '),
        ('title:"rea', "Reading list", 'title:"Reading list" '),
    ],
)
def test_completion_replaces_typed_part(text: str, value: str, after: str) -> None:
    part = part_at(text, len(text))
    assert completed(text, len(text), part, value) == (after, len(after))
    behind = completed(f"{text} more", len(text), part, value)
    assert behind[0].split() == f"{after} more".split()


@given(st.text(), st.integers(0, 50))
def test_part_of_any_query_ends_at_the_cursor(text: str, cursor: int) -> None:
    cursor = min(cursor, len(text))
    part = part_at(text, cursor)
    assert 0 <= part.begin <= cursor
    assert text[:cursor].endswith(part.typed)


@pytest.fixture
def completion(box) -> Completion:
    return box.findChild(Completion)


@pytest.fixture
def focused(qtbot, panel, box):
    window = panel.header.window()
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    box.setFocus()
    qtbot.waitUntil(box.hasFocus)
    return box


def test_operator_values_are_offered_while_typing(qtbot, focused, completion) -> None:
    qtbot.keyClicks(focused, "drip tag:ga")
    qtbot.waitUntil(lambda: completion.popup.values == ["garden", "gas"])
    for key in (Key.Key_Down, Key.Key_Down, Key.Key_Up, Key.Key_Return):
        qtbot.keyClick(focused, key)
    assert focused.text() == "drip tag:garden "
    assert not completion.popup.isVisible()


def test_tab_takes_first_value_and_click_any(qtbot, focused, completion) -> None:
    qtbot.keyClicks(focused, "tag:ga")
    qtbot.waitUntil(completion.popup.isVisible)
    qtbot.keyClick(focused, Key.Key_Tab)
    assert focused.text() == "tag:garden "
    qtbot.keyClicks(focused, "tag:ga")
    qtbot.waitUntil(completion.popup.isVisible)
    row = completion.popup.visualItemRect(completion.popup.item(1)).center()
    qtbot.mouseClick(completion.popup.viewport(), Qt.MouseButton.LeftButton, pos=row)
    assert focused.text() == "tag:garden tag:gas "
    assert focused.hasFocus()


def test_rows_stay_while_a_completion_is_open(qtbot, panel, focused, completion, memory) -> None:
    qtbot.keyClicks(focused, "timer tag")
    qtbot.waitUntil(lambda: not panel.busy and panel.view.has_results)
    count = len(memory.searches)
    qtbot.keyClicks(focused, ":ga")
    qtbot.waitUntil(lambda: completion.popup.values == ["garden", "gas"])
    qtbot.waitUntil(lambda: not panel.busy)
    assert len(memory.searches) == count
    assert panel.view.answer.query.text == "timer tag"
    qtbot.keyClick(focused, Key.Key_Escape)
    qtbot.waitUntil(lambda: not panel.busy and len(memory.searches) > count)
    assert memory.searches[-1][0] == "timer tag:ga"


def test_chosen_value_is_searched(qtbot, panel, focused, completion, memory) -> None:
    qtbot.keyClicks(focused, "tag")
    qtbot.waitUntil(lambda: not panel.busy and bool(memory.searches))
    memory.searches.clear()
    qtbot.keyClicks(focused, ":ga")
    qtbot.waitUntil(completion.popup.isVisible)
    assert not memory.searches
    qtbot.keyClick(focused, Key.Key_Tab)
    qtbot.waitUntil(lambda: not panel.busy and bool(memory.searches))
    assert memory.searches[-1][0] == "tag:garden"


def test_value_without_completion_is_searched(qtbot, panel, focused, memory) -> None:
    qtbot.keyClicks(focused, "tag:zzz")
    qtbot.waitUntil(lambda: not panel.busy and bool(memory.searches))
    assert memory.searches[-1][0] == "tag:zzz"


def test_complete_value_is_searched_while_longer_are_offered(qtbot, panel, focused, completion, memory) -> None:
    qtbot.keyClicks(focused, "title:Readin")
    qtbot.waitUntil(lambda: completion.popup.values == ["Reading", "Reading list"] and not panel.busy)
    assert "title:Readin" not in [query for query, *_ in memory.searches]
    qtbot.keyClicks(focused, "g")
    qtbot.waitUntil(lambda: not panel.busy and memory.searches[-1:] and memory.searches[-1][0] == "title:Reading")
    assert completion.popup.isVisible()


def test_folder_is_searched_while_its_folders_are_offered(
    qtbot, panel, focused, completion, memory, monkeypatch
) -> None:
    folders = ("daily/", "daily/2026/")
    monkeypatch.setattr(memory, "query_values", lambda _, start: tuple(f for f in folders if f.startswith(start)))
    qtbot.keyClicks(focused, "path:daily")
    qtbot.waitUntil(lambda: not panel.busy and memory.searches[-1:] and memory.searches[-1][0] == "path:daily")
    assert completion.popup.values == list(folders)


def test_plain_words_offer_no_completions(qtbot, focused, completion) -> None:
    qtbot.keyClicks(focused, "tag")
    assert not completion.busy
    assert not completion.popup.isVisible()


def test_ctrl_space_offers_operators_then_values(qtbot, focused, completion) -> None:
    qtbot.keyClicks(focused, "ta")
    qtbot.keyClick(focused, Key.Key_Space, Qt.KeyboardModifier.ControlModifier)
    qtbot.waitUntil(lambda: completion.popup.values == ["tag:"])
    qtbot.keyClick(focused, Key.Key_Tab)
    assert focused.text() == "tag:"
    qtbot.waitUntil(lambda: completion.popup.values == ["garden", "gas"])
    qtbot.keyClick(focused, Key.Key_Escape)
    assert not completion.popup.isVisible()
    assert focused.text() == "tag:"


def test_enter_without_choice_submits_query(qtbot, focused, completion, memory) -> None:
    qtbot.keyClicks(focused, "tag:ga")
    qtbot.waitUntil(completion.popup.isVisible)
    qtbot.keyClick(focused, Key.Key_Return)
    assert focused.text() == "tag:ga"


def test_completions_close_when_focus_leaves(qtbot, panel, focused, completion) -> None:
    qtbot.keyClicks(focused, "tag:ga")
    qtbot.waitUntil(completion.popup.isVisible)
    panel.header.findChild(QueryHelpButton).setFocus()
    assert not completion.popup.isVisible()


def test_help_inserts_example_into_box(qtbot, focused, monkeypatch) -> None:
    menus: list[QueryHelpMenu] = []
    monkeypatch.setattr(QueryHelpMenu, "popup", lambda menu, at: menus.append(menu))  # offscreen grabs no keyboard
    qtbot.keyClicks(focused, "drip")
    for times in (1, 2):
        qtbot.keyClick(focused, Key.Key_H, Qt.KeyboardModifier.AltModifier)
        qtbot.waitUntil(lambda times=times: len(menus) == times)
    [action] = [action for action in menus[1].actions() if action.text().startswith("tag:garden\t")]
    action.trigger()
    assert focused.text() == "drip tag:garden"
    assert focused.selectedText() == "tag:garden"


def test_help_writes_examples_left_to_right(qtbot, right_to_left) -> None:
    menu = QueryHelpMenu()
    qtbot.addWidget(menu)
    chosen: list[str] = []
    menu.fill((("-hose", "no results with this word"),), chosen.append)
    menu.fit(9000)
    assert menu.actions()[0].text() == "\u2066-hose\u2069\tno results with this word"
    menu.actions()[0].trigger()
    assert chosen == ["-hose"]


def test_help_that_is_too_high_stays_one_column(qtbot, appearance) -> None:
    menu = QueryHelpMenu()
    qtbot.addWidget(menu)
    menu.fill((("tag:garden", "only notes with this tag"),) * 60, lambda _: None)
    menu.ensurePolished()
    assert menu.sizeHint().height() > menu.screen().availableGeometry().height()
    assert len({menu.actionGeometry(action).left() for action in menu.actions()}) == 1


def test_help_is_shortened_to_fit_the_screen(qtbot) -> None:
    menu = QueryHelpMenu()
    qtbot.addWidget(menu)
    menu.fill((("-hose", "no results with this word"), ("tag:garden", "only notes with this tag " * 4)), lambda _: None)
    whole = [action.text() for action in menu.actions()]
    wide = menu.sizeHint().width()
    capabilities().begin({"filters": "This engine has no operators."})
    menu.fit(wide * 3 // 4)
    assert "no operators" in menu.actions()[1].toolTip()
    capabilities().begin({})
    menu.fit(wide * 3 // 4)
    assert menu.sizeHint().width() <= wide * 3 // 4
    texts = [action.text() for action in menu.actions() if action.text()]
    assert texts[0].startswith("-hose\tno results")
    assert texts[1].endswith("…")
    assert "only notes with this tag only" in menu.actions()[1].toolTip()
    menu.fit(wide)
    assert [action.text() for action in menu.actions()] == whole
