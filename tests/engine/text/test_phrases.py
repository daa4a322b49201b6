import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import analyse, highlight_ranges, parse_query
from engine.text.tokens import RUN, groups, pieces
from engine.text.tokens_and_stems import phrase_ranges, phrase_tokens

_TEXTS = st.text(st.sampled_from("ab Z_-.'#/:,\n京都東ไท학교é✅1"), max_size=40) | st.text()


def marked(text: str, query: str) -> list[str]:
    return [text[start:end] for start, end in highlight_ranges(text, parse_query(query))]


@pytest.mark.parametrize(
    ("text", "query", "marks"),
    [
        ("Valve left. The left valve, left.", '"left valve"', ["left valve"]),
        ("The left\nvalve", '"left valve"', ["left", "valve"]),
        ("LEFT  Válve", '"left valve"', ["LEFT  Válve"]),
        ("left valves", '"left valve"', []),
        ("to be or not to be", '"not to be"', ["not to be"]),
        ("東京都庁と京都", '"京都"', ["京都", "京都"]),
        ("東京都庁と京都", '"都"', ["都", "都"]),
        ("use os_replace or os.replace", '"os replace"', ["os_replace", "os.replace"]),
        ("On GitHub Actions, with JavaScript.", '"on github actions"', ["On GitHub Actions"]),
        ("On GitHub Actions, with JavaScript.", '"git hub"', ["GitHub"]),
        ("On GitHub, and OpenAI ends", '"hub open"', []),
        ("On GitHub, and OpenAI ends", '"ends git"', []),
        ("Call getUserName, setPassword", '"user name"', ["UserName"]),
        ("An iPhone 15 Pro", '"iphone 15 pro"', ["iPhone 15 Pro"]),
        ("the left valve of a valve", '"left valve" valve', ["left valve", "valve"]),
        ("garden hose and hoses", '"garden hose" -hose path:x', ["garden hose"]),
        ("use git hub", "git_hub", ["git", "hub"]),
        ("use git with os_replace and a hub", "git_hub", []),
    ],
)
def test_only_whole_phrases_are_marked(text: str, query: str, marks: list[str]) -> None:
    assert marked(text, query) == marks


@given(_TEXTS)
def test_phrase_tokens_begin_the_word_stream(text: str) -> None:
    phrase = phrase_tokens(text)
    words = analyse(text, "").words.split()
    assert list(phrase.tokens) == words[: len(phrase.tokens)]
    parts = [
        piece
        for run in RUN.findall(text)
        for group in groups(run)
        if not group.kind
        for piece in pieces(run[group.start : group.end])
        if piece.inner
    ]
    assert len([word for word in words if word != "/"]) - len(parts) - len(phrase.tokens) <= 1
    if phrase.tokens:
        ranges = list(phrase_ranges(f"x {text} x", [phrase]))
        assert ranges
        assert all(0 <= start < end <= len(text) + 4 for start, end in ranges)
