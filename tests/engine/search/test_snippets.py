"""The snippet shows the match, keeps lines whole where it can, and its ranges still point at the matched words."""

import re

from hypothesis import given
from hypothesis import strategies as st

from engine.search.snippets import LIMIT, make_snippet

_parts = st.text(alphabet="ab \n\tüあ😀", max_size=60)
texts = st.builds(lambda one, times, other: one * times + other, _parts, st.integers(0, 60), _parts)
"""Many are longer than a snippet: text drawn character by character hardly ever is."""


def ranges_of(text: str, word: str) -> list[tuple[int, int]]:
    return [match.span() for match in re.finditer(re.escape(word), text)]


def test_a_short_chunk_is_shown_whole() -> None:
    snippet = make_snippet("# Head\n\nThe timer skipped.", [(12, 17)])
    assert snippet.text == "# Head\n\nThe timer skipped."
    assert snippet.ranges == ((12, 17),)
    assert snippet.first_line == 0


def test_snippet_contains_most_different_words() -> None:
    filler = "nothing to see here\n" * 40
    text = "timer\n" + filler + "the timer on the irrigation\n" + filler
    snippet = make_snippet(text, sorted(ranges_of(text, "timer") + ranges_of(text, "irrigation")))
    assert "the timer on the irrigation" in snippet.text
    assert len(snippet.text) <= LIMIT
    assert [snippet.text[a:b] for a, b in snippet.ranges] == ["timer", "irrigation"]
    assert snippet.first_line > 0
    assert text.split("\n")[snippet.first_line] == snippet.text.split("\n")[0]


def test_an_overlong_line_is_cut_round_its_match() -> None:
    text = "word " * 1000 + "needle " + "word " * 1000
    snippet = make_snippet(text, ranges_of(text, "needle"))
    assert len(snippet.text) <= LIMIT
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    assert [snippet.text[a:b] for a, b in snippet.ranges] == ["needle"]


def test_without_matches_the_beginning_is_shown() -> None:
    assert make_snippet("\n\nfirst\nsecond", []).text == "first\nsecond"
    assert make_snippet("\n\nfirst\nsecond", []).first_line == 2


def test_row_begins_at_prose_rather_than_at_addresses() -> None:
    prose = "The [timer](https://example.org/timer) of the irrigation."
    text = f"# Garden\n\n{prose}\n\nhttps://example.org/timer-irrigation\nhttps://example.org/irrigation/timer\n"
    ranges = sorted(ranges_of(text, "timer") + ranges_of(text, "irrigation"))
    assert make_snippet(text, ranges).offset == text.index("timer")
    only_addresses = text.replace(prose, "Nothing.")
    ranges = sorted(ranges_of(only_addresses, "timer") + ranges_of(only_addresses, "irrigation"))
    assert make_snippet(only_addresses, ranges).offset == only_addresses.index("timer")


def test_snippet_match_late_in_long_paragraph_is_shown() -> None:
    for before, after in ((60, 0), (60, 60), (25, 60), (0, 60)):
        text = "# Heading\n\n" + "of no use at all " * before + "the needle itself" + " and so on" * after
        snippet = make_snippet(text, ranges_of(text, "needle"))
        assert [snippet.text[a:b] for a, b in snippet.ranges] == ["needle"]
        assert len(snippet.text) > LIMIT // 2
        assert snippet.text.split("\n")[-1].strip("…").split(" ")[-1] in ("on", "itself", "and", "so")
        assert snippet.text.strip("…").split()[0] in ("#", "of", "no", "use", "at", "all", "the")


def test_snippet_of_long_line_shows_its_densest_part() -> None:
    text = "valve " + "word " * 300 + "a valve and a pump with a timer " + "word " * 300 + "pump"
    snippet = make_snippet(text, sorted(span for word in ("valve", "pump", "timer") for span in ranges_of(text, word)))
    assert [snippet.text[a:b] for a, b in snippet.ranges] == ["valve", "pump", "timer"]


def test_forms_of_one_word_are_not_different_words() -> None:
    text = "a valve-key, valves and a valve " + "word " * 300 + "a valve and a pump"
    spans = [
        *ranges_of(text, "valve-key"),
        *ranges_of(text, "valves"),
        *ranges_of(text, "valve"),
        *ranges_of(text, "pump"),
    ]
    ranges = sorted({start: (start, end) for start, end in sorted(spans, reverse=True)}.values())
    snippet = make_snippet(text, ranges)
    assert [snippet.text[a:b] for a, b in snippet.ranges] == ["valve", "pump"]
    assert text[snippet.offset :].startswith("valve and a pump")


def test_snippet_without_match_shows_text_below_heading() -> None:
    snippet = make_snippet("# Heading\n\n" + "word " * 500, [])
    assert snippet.text.startswith("# Heading\n\nword word")
    assert snippet.text.endswith("word…")
    assert len(snippet.text) > LIMIT - 10


@given(
    st.lists(st.sampled_from(["a", "b", "cc", "word", "日本語", "\n", "x" * 60]), max_size=400),
    st.sampled_from([40, 100, LIMIT]),
)
def test_snippet_shows_most_words_of_any_half_window(words: list[str], limit: int) -> None:
    text = " ".join(words)
    ranges = sorted(span for word in ("a", "b", "cc", "日本語") for span in ranges_of(text, word))
    snippet = make_snippet(text, ranges, limit)
    marked = {snippet.text[a:b] for a, b in snippet.ranges}
    windows = ({text[a:b] for a, b in ranges if first <= a and b <= first + limit // 2} for first, _ in ranges)
    assert len(marked) >= max(map(len, windows), default=0)
    assert len(snippet.text) <= limit


@given(texts, st.sampled_from(["a", "b", "あ", "ab"]))
def test_snippet_ranges_and_length_are_valid(text: str, word: str) -> None:
    snippet = make_snippet(text, ranges_of(text, word))
    assert len(snippet.text) <= LIMIT
    assert all(snippet.text[a:b] == word for a, b in snippet.ranges if b - a == len(word))
    assert all(0 <= a < b <= len(snippet.text) for a, b in snippet.ranges)
    excerpt = snippet.text.strip("…")
    assert excerpt in text
    if snippet.text and "…" not in snippet.text:
        assert snippet.text.split("\n")[0] in text.split("\n")[snippet.first_line]
