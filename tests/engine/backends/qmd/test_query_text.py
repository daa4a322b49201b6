"""Translation of queries for `qmd`."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.backends.qmd.query_runner import read_query_text


@pytest.mark.parametrize(
    ("text", "ways"),
    [
        ("when did we move the database to Hetzner?", ("move database Hetzner",)),
        ('"left valve" -hose -"old one"', ('"left valve" -hose -"old one"',)),
        ("timer OR clock pump", ("timer pump", "clock pump")),
        ("irrig* path:daily/* after:2026-01-01", ("irrig",)),
        ("and/or foo.bar os_path", ('"and or" foo.bar os_path',)),
        ("--help", ("help",)),
        ("the who", ("the who",)),
        ("-only", ()),
        ("path:x", ()),
        ("?!", ()),
        ("", ()),
    ],
)
def test_query_keeps_words_phrases_and_exclusions(text, ways):
    assert read_query_text(text).variants == ways


def test_single_words_are_longest_first():
    assert read_query_text("move the database -hose").loose == ("database -hose", "move -hose")
    assert read_query_text("database").loose == ()


def test_unspaced_sentence_is_split_into_pairs():
    query = read_query_text("数据库迁移")
    assert query.variants == ("数据库迁移",)
    assert query.loose == ("数据", "据库", "库迁", "迁移")


def test_model_query_is_words_on_one_line():
    assert read_query_text('lex: "left valve"\n-hose path:x').sentence == "lex left valve"


def test_unsupported_query_syntax_reported():
    assert "does not support filters by tag" in " ".join(read_query_text("pump tag:garden").remarks)
    assert "does not support filters by speaker" in " ".join(read_query_text("pump role:user").remarks)
    assert "one combination" in " ".join(read_query_text("a1 OR b1 c1 OR d1 e1 OR f1").remarks)


@given(st.text(max_size=300) | st.lists(st.from_regex("[a-z]{3,9}", fullmatch=True), max_size=40).map(" ".join))
@example(" ".join(f"pump{number}" for number in range(40)))
def test_any_text_makes_a_valid_query(text):
    query = read_query_text(text)
    for line in (*query.variants, *query.loose, query.sentence):
        assert "\n" not in line
        assert "\0" not in line
        line.encode()
        assert line.count('"') % 2 == 0 or line == query.sentence
    assert len(query.variants) <= 4
    assert len(query.loose) <= 12
    assert not re.match(r"\s*(lex|vec|hyde|intent|expand)\s*:", query.sentence, re.IGNORECASE)
