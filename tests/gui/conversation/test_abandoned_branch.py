"""Branches that the user left by going back: folded in the conversation, marked in results."""

import msgspec
import pytest

from engine import CancelToken, SessionText
from gui.conversation.actions import conversation_markdown
from gui.conversation.display_entries import Conversation, prepare, spoken, summary
from gui.conversation.panel import ConversationPanel
from gui.conversation.row_folding import SUMMARY, Row, Rows
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import make_session

LEFT = slice(2, 6)


@pytest.fixture
def session() -> SessionText:
    session = make_session(
        [
            ("user", [("text", "Rig the mast.")]),
            ("assistant", [("text", "How?")]),
            ("user", [("text", "With rope.")]),
            ("assistant", [("tool-call", "ls", "Bash")]),
            ("tool", [("tool-result", "rope", "Bash")]),
            ("assistant", [("text", "Roped.")]),
            ("user", [("text", "With wire.")]),
        ]
    )
    messages = list(session.messages)
    messages[LEFT] = [msgspec.structs.replace(message, rewound=True) for message in messages[LEFT]]
    return msgspec.structs.replace(session, messages=tuple(messages))


@pytest.fixture
def conversation(session: SessionText) -> Conversation:
    return prepare(session, CancelToken())


def rows_of(rows: Rows) -> list[tuple[int, int]]:
    return [tuple(rows.rows[position]) for position in range(len(rows.rows))]


@pytest.mark.parametrize("count", range(8))
@pytest.mark.parametrize("left", [False, True])
def test_prepare_grown_session_equals_prepare_whole(session: SessionText, *, count: int, left: bool) -> None:
    messages = list(session.messages[:count])
    if not left:  # the user goes back only after this state
        messages[LEFT] = [msgspec.structs.replace(message, rewound=False) for message in messages[LEFT]]
    before = prepare(msgspec.structs.replace(session, messages=tuple(messages)), CancelToken())
    grown, whole = prepare(session, CancelToken(), before), prepare(session, CancelToken())
    assert grown.entries == whole.entries
    assert [*map(grown.pieces.__getitem__, range(len(grown.pieces)))] == [
        *map(whole.pieces.__getitem__, range(len(whole.pieces)))
    ]
    assert (grown.prompts, [*grown.entry_of_piece]) == (whole.prompts, [*whole.entry_of_piece])
    unchanged = sum(new is old for new, old in zip(grown.entries, before.entries, strict=False))
    assert unchanged == (7 if left and count == 7 else min(count, 2))


def test_abandoned_branch_has_a_heading(conversation: Conversation) -> None:
    assert [entry.kind for entry in conversation.entries] == [
        "user",
        "speech",
        "branch",
        "user",
        "tool",
        "speech",
        "user",
    ]
    heading = conversation.entries[2]
    assert (heading.members, heading.piece_count) == (3, 0)
    assert [entry.branch for entry in conversation.entries] == [-1, -1, -1, 2, 2, 2, -1]
    assert summary(conversation, heading)[:3] == ("Abandoned branch", "With rope.", "2 messages")
    assert spoken(conversation, 2, folded=True).endswith("Abandoned branch · With rope. · 2 messages, collapsed")
    assert conversation.entries[3].speaker == "You (abandoned branch)"
    assert conversation.prompts == (0, 6)


@pytest.mark.parametrize("detail", ["hidden", "short", "full"])
def test_abandoned_branch_is_folded_at_first(conversation: Conversation, detail: str) -> None:
    rows = Rows(conversation)
    rows.set_detail(detail)
    assert rows_of(rows) == [(0, 0), (1, 0), (2, SUMMARY), (6, 0)]
    assert [rows.fold(entry) for entry in (2, 3, 4, 5)] == ["folded", "gone", "gone", "gone"]
    assert bytes(rows.kinds) == b"ustu"


def test_abandoned_branch_unfolds_and_folds(conversation: Conversation) -> None:
    rows = Rows(conversation)
    before = rows_of(rows)
    rows.set_fold(2, "clamped")
    unfolded = [(0, 0), (1, 0), (2, SUMMARY), (3, 0), (4, SUMMARY), (5, 0), (6, 0)]
    assert rows_of(rows) == unfolded
    assert bytes(rows.kinds) == b"ustutsu"
    rows.set_fold(4, "clamped")
    again = Rows(conversation)
    again.fold_like(rows)
    assert rows_of(again) == rows_of(rows) != unfolded
    rows.set_fold(2, "folded")
    assert (rows_of(rows), bytes(rows.kinds)) == (before, b"ustu")


def test_reveal_unfolds_the_branch_of_a_piece(conversation: Conversation) -> None:
    rows = Rows(conversation)
    piece = conversation.entries[5].first_piece
    position = rows.reveal(piece)
    assert rows.rows[position] == Row(5, 0)
    assert rows.fold(2) == "clamped"


def test_line_of_a_branch_is_its_message_not_the_heading(conversation: Conversation) -> None:
    line = conversation.session.messages[2].line
    assert conversation.at_line(line) == (3, [conversation.entries[3].first_piece])


def test_markdown_has_abandoned_branches_only_in_full(conversation: Conversation) -> None:
    short = conversation_markdown(conversation, "short", CancelToken())
    assert "*Abandoned branch: With rope. · 2 messages*" in short
    assert "Roped." not in short
    full = conversation_markdown(conversation, "full", CancelToken())
    assert full.count("With rope.") == 1
    assert "## You (abandoned branch)" in full


def test_two_branches_have_a_heading_each(session: SessionText) -> None:
    messages = [
        msgspec.structs.replace(message, rewound=number != 3) for number, message in enumerate(session.messages)
    ]
    conversation = prepare(msgspec.structs.replace(session, messages=tuple(messages[:4] + messages[5:])), CancelToken())
    kinds = [entry.kind for entry in conversation.entries]
    assert kinds == ["branch", "user", "speech", "user", "tool", "branch", "speech", "user"]


def test_branch_unfolds_in_the_view(
    qtbot, conversation_panel: ConversationPanel, memory: FakeMemory, session: SessionText
):
    memory.session_texts[session.summary.path] = session
    with qtbot.waitSignal(conversation_panel.session_shown):
        conversation_panel.show_session(session.summary.path)
    layout, folding = conversation_panel.view.scroller.layout, conversation_panel.view.folding
    assert layout is not None
    assert layout.count == 4
    folding.toggle(2)
    assert layout.count == 7
    conversation_panel.view.repaint()
    folding.toggle(2)
    assert layout.count == 4
