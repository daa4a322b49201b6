"""Back and forward in a list of locations, one of them current."""

from hypothesis import given
from hypothesis import strategies as st

from gui.controllers.navigation import History, HistoryEntry


def entry(requested: object, opened: object = None, state: object = None) -> HistoryEntry:
    return HistoryEntry("search", requested, opened, state)


def history_of(*entries: HistoryEntry) -> History:
    made = History()
    for each in entries:
        made.visit(each)
    return made


A, B, C = entry("a"), entry("b"), entry("c")


def test_empty_history_has_no_entries():
    empty = History()
    assert not empty.can_go_back(A)
    assert not empty.can_go_forward(A)
    assert empty.back(A) is None
    assert empty.forward(A) is None


def test_back_and_forward_return_entries():
    made = history_of(A, B, C)
    assert not made.can_go_forward(C)
    assert made.back(C) == B
    assert made.back(B) == A
    assert made.back(A) is None
    assert made.forward(A) == B
    assert made.forward(B) == C
    assert made.forward(C) is None


def test_unvisited_current_entry_is_reached_by_forward():
    made = history_of(A, B)
    draft = entry("draft")
    assert made.can_go_back(draft)
    assert made.back(draft) == B
    assert made.forward(B) == draft


def test_visit_clears_forward_entries():
    made = history_of(A, B, C)
    made.back(C)
    made.visit(entry("d"))
    assert not made.can_go_forward(entry("d"))
    assert made.back(entry("d")) == B


def test_same_entry_twice_is_one_with_newest_state():
    made = history_of(A, entry("b", state=1), entry("b", state=2), C)
    assert made.back(C).state == 2


def test_entry_state_is_taken_on_leaving():
    made = history_of(A, entry("b", state="top"))
    made.back(entry("b", state="below"))
    assert made.forward(A).state == "below"


def test_query_and_its_first_opened_result_are_one_entry():
    first, second = entry("a", "one"), entry("a", "two")
    made = history_of(A, first, second)
    assert made.back(second) == first
    assert not made.can_go_back(first)
    assert made.can_go_forward(A)  # the user looks at something else that wasn't opened from the history


def test_history_length_is_limited():
    made = history_of(*(entry(number) for number in range(300)))
    now, steps = entry(299), 0
    while (found := made.back(now)) is not None:
        now, steps = found, steps + 1
    assert (now.requested, steps) == (200, 99)


moves = st.lists(st.one_of(st.builds(entry, st.integers(0, 3), st.none() | st.integers(0, 1)), st.booleans()))


@given(moves)
def test_forward_undoes_back_after_any_moves(done: list[HistoryEntry | bool]):
    made, now = History(), A
    for move in done:
        if isinstance(move, HistoryEntry):
            made.visit(move)
            now = move
        else:
            found = made.back(now) if move else made.forward(now)
            now = found or now
    for shown in (now, entry("draft")):
        assert made.directions(lambda shown=shown: shown) == (made.can_go_back(shown), made.can_go_forward(shown))
    if made.can_go_back(now):
        before = made.back(now)
        assert before is not None
        assert made.can_go_forward(before)
        assert made.forward(before) == now
