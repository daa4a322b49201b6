"""Patterns match like those of .gitignore."""

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.corpus.globs import Globs


@pytest.mark.parametrize(
    ("pattern", "name", "matches"),
    [
        ("*.draft.md", "a.draft.md", True),
        ("*.draft.md", "deep/down/a.draft.md", True),
        ("*.draft.md", "a.md", False),
        ("/top.md", "top.md", True),
        ("/top.md", "sub/top.md", False),
        ("a/*.md", "a/x.md", True),
        ("a/*.md", "a/b/x.md", False),
        ("a/**/x.md", "a/x.md", True),
        ("a/**/x.md", "a/b/c/x.md", True),
        ("**/x.md", "x.md", True),
        ("**/x.md", "a/b/x.md", True),
        ("**/x.md", "a/yx.md", False),
        ("a/**", "a/b/c.md", True),
        ("a/**", "a", False),
        ("a/**", "ab/c.md", False),
        ("a/**/**/b.md", "a/b.md", True),
        ("?.md", "é.md", True),
        ("?.md", "ab.md", False),
        ("[a-c]1.md", "b1.md", True),
        ("[!a-c]1.md", "b1.md", False),
        ("[!a-c]1.md", "z1.md", True),
        ("[z-a].md", "[z-a].md", True),
        ("[open.md", "[open.md", True),
        ("a[!b]c.md", "a/c.md", False),
        ("x**y.md", "xay.md", True),
        ("x**y.md", "x/y.md", False),
        ("a.md", "aXmd", False),
        ("  spaced.md ", "spaced.md", True),
    ],
)
def test_a_pattern_matches_a_file(pattern: str, name: str, matches: bool) -> None:
    assert (Globs([pattern]).matching(name, is_dir=False) is not None) is matches


def test_a_closing_slash_means_folders_only() -> None:
    globs = Globs(["build/"])
    assert globs.matching("a/build", is_dir=True) == "build/"
    assert globs.matching("a/build", is_dir=False) is None
    assert globs.covers("a/build/x.md")
    assert not globs.covers("a/build")


def test_matching_pattern_is_named_as_written() -> None:
    assert Globs(["*.txt", "archive/**", "archive/"]).matching("archive/x.md", is_dir=False) == "archive/**"


def test_unicode_forms_match_both_ways() -> None:
    composed, decomposed = "Tagebücher/*.md", unicodedata.normalize("NFD", "Tagebücher/*.md")
    name = unicodedata.normalize("NFD", "Tagebücher/mai.md")
    assert Globs([composed]).covers(name)
    assert Globs([decomposed]).covers(unicodedata.normalize("NFC", name))


def test_no_patterns_match_nothing() -> None:
    globs = Globs(["", " / "])
    assert not globs
    assert globs.matching("a", is_dir=True) is None
    assert not globs.covers("a")


_segment = st.sampled_from(["a", "b", "ab", "c.md", "*", "**", "?", "[ab]", "x*"])
_name = st.lists(st.sampled_from(["a", "b", "ab", "c.md", "xy"]), min_size=1, max_size=5)


@given(st.lists(_segment, min_size=1, max_size=4), st.booleans(), _name)
def test_parents_of_covered_files_are_searched(segments: list[str], closed: bool, parts: list[str]) -> None:
    globs = Globs(["/".join(segments) + "/" * closed])
    if globs.covers("/".join(parts)):
        assert all(globs.may_cover_inside("/".join(parts[:depth])) for depth in range(1, len(parts)))


@given(st.text(max_size=20), st.text(max_size=20))
def test_any_text_is_accepted_as_glob(pattern: str, name: str) -> None:
    globs = Globs([pattern])
    globs.matching(name, is_dir=True)
    globs.may_cover_inside(name)
    globs.covers(name)


@given(st.text(alphabet="ab[]!^-&|~\\.+()", min_size=1, max_size=12))
@example("[[--]")
@example("[--b]")
def test_brackets_never_match_across_a_slash(pattern: str) -> None:
    assert Globs(["x" + pattern]).matching("x/" + "a" * len(pattern), is_dir=False) is None


@pytest.mark.parametrize(
    ("pattern", "inside", "outside"),
    [("[+--]", ",", "."), ("[--5]", ".", "a"), ("[---]", "-", "."), ("[a-]", "-", "b"), ("[-a]", "-", "b")],
)
def test_range_may_begin_or_end_with_hyphen(pattern: str, inside: str, outside: str) -> None:
    assert Globs([pattern]).matching(inside, is_dir=False) == pattern
    assert Globs([pattern]).matching(outside, is_dir=False) is None
