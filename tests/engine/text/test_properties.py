"""Properties of every text: index, query and highlighting agree."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from engine.text import analyse, analyse_query, detect_language, highlight_ranges
from engine.text.tokens_and_stems import phrase_tokens
from engine.text.writing_systems import script_of

ANY_TEXT = st.text(st.characters(exclude_categories=()), max_size=80)
DENSE_TEXT = st.text(st.sampled_from("aAbsTtz'’._-+#/@:09 \nÉßìжЙ東京カ\u3099は한국에ที่นक़ि\ud800👍½"), max_size=40)
TEXTS = ANY_TEXT | DENSE_TEXT
WORDS = st.text(
    st.characters(categories=("Ll", "Lu", "Lo", "Nd")) | st.sampled_from("abcdeXYZéß'.-東한"), min_size=1, max_size=12
)
LANGUAGES = st.sampled_from(["english", "danish", "german", "russian", "turkish", "arabic", "korean", ""])


def tokens_of(term_word: str | tuple[str, ...]) -> list[str]:
    return [term_word] if isinstance(term_word, str) else list(term_word)


def contains(stream: list[str], wanted: list[str]) -> bool:
    return any(stream[at : at + len(wanted)] == wanted for at in range(len(stream) - len(wanted) + 1))


@given(TEXTS, TEXTS, LANGUAGES)
@settings(max_examples=130)
def test_any_text_and_query_give_ordered_ranges(text: str, query: str, language: str) -> None:
    analyse(text, language)
    detect_language(text)
    for ranges in (
        highlight_ranges(text, query, [language]),
        highlight_ranges(text, query),
        highlight_ranges(text, text),
    ):
        end_before = -1
        for start, end in ranges:
            assert end_before < start < end <= len(text)
            end_before = end


@given(TEXTS, LANGUAGES)
@settings(max_examples=130)
def test_query_terms_occur_in_analysed_query(query: str, language: str) -> None:
    analysis = analyse_query(query, [language])
    words = analyse(query, language).words.split()
    stems = [analyse(query, each).stems.split() for each in analysis.languages]
    for term in analysis.terms:
        assert query[term.start : term.end] == term.surface
        tokens = tokens_of(term.word)
        single_character = term.is_prefix and not term.stems and any(word.startswith(tokens[0]) for word in words)
        assert contains(words, tokens) or single_character
        # Arabic words are also searched in their form with an article.
        for stem in term.stems[:1] if script_of(term.surface[0]) == "arabic" else term.stems:
            # Decimal numbers are only searched as a whole.
            assert any(contains(stream, stem.split()) for stream in stems) or stem == term.word


@given(WORDS, ANY_TEXT, ANY_TEXT, LANGUAGES)
@settings(max_examples=130)
def test_a_word_is_found_in_every_text_that_has_it(word: str, before: str, after: str, language: str) -> None:
    text = f"{before} {word} {after}"
    own, in_text = (analyse(of, language) for of in (word, text))
    for alone, among in ((own.words, in_text.words), (own.stems, in_text.stems)):
        keys = [token for token in alone.split() if token.startswith(("+", ":"))]
        assert set(keys) <= set(among.split())
    stems = [token for token in own.stems.split() if not token.startswith(("+", ":"))]
    assert contains(in_text.stems.split(), stems)
    wholes = list(phrase_tokens(f"{word} x").tokens[:-1])  # without the parts of camelCase words, which come last
    assert contains(in_text.words.split(), wholes)
    assert contains(in_text.words.split(), own.words.split()[len(wholes) :])
    content = [term for term in analyse_query(word, [language]).terms if not term.stop]
    ranges = highlight_ranges(text, word, [language])
    at = len(before) + 1
    for term in content:
        assert any(start < at + term.end and at + term.start < end for start, end in ranges)


@given(WORDS, TEXTS, LANGUAGES)
@settings(max_examples=200)
def test_every_highlighted_word_was_searched(word: str, text: str, language: str) -> None:
    """For plain words; the space after the word marks it as completely typed."""
    query, text = analyse_query(f"{word} ", [language]), f"{text} {word.upper()} {word}s"
    for term in query.terms:
        if isinstance(term.word, str) and term.stems and not any(" " in stem for stem in term.stems):
            alone = replace(query, terms=(replace(term, loose=(), loose_stems=()),))
            for start, end in highlight_ranges(text, alone):
                words = analyse(text[start:end], "").words.split()
                stems = {stem for each in query.languages for stem in analyse(text[start:end], each).stems.split()}
                assert term.word in words or not stems.isdisjoint(term.stems)


@pytest.mark.parametrize(
    "text", ["_" * 1000, "'" * 1000, "a'" * 500, "#" * 1000, "a#" * 500, "//" * 500, "_'_", "a_'b_'", "\u0301" * 1000]
)
def test_odd_runs_are_accepted(text: str) -> None:
    analyse(text, "english")
    highlight_ranges(text, text)
