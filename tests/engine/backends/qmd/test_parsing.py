"""Any output of `qmd` is parsed as an answer or raises `QmdError`."""

import contextlib
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from engine.backends.qmd import output_parsing
from engine.backends.qmd.command import QmdError
from engine.backends.qmd.output_parsing import Counts, parse_hits

anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
rows = st.fixed_dictionaries(
    {
        "file": st.sampled_from(["qmd://notes/a.md", "qmd://n/ä b/c?.md", "qmd://x", "qmd://x/", "notes/a.md"])
        | anything
    },
    optional={
        "docid": st.sampled_from(["#abc123", "abc", ""]) | anything,
        "score": st.floats() | st.integers() | anything,
        "line": st.integers() | anything,
        "title": anything,
        "snippet": st.builds(
            "@@ -{},{} @@ (1 before, 2 after)\n{}".format, st.integers(), st.integers(), st.text(max_size=60)
        )
        | anything,
        "explain": anything
        | st.fixed_dictionaries(
            {"rrf": st.fixed_dictionaries({"contributions": st.lists(st.dictionaries(st.text(max_size=6), anything))})}
        ),
    },
)


@given(st.text(), st.text())
@example("[" * 90_000, "")
@example("[" + "9" * 5000 + "]", "")
@example("[]\n[{}]", "")
def test_any_output_parses_or_raises_expected_error(output, errors):
    with contextlib.suppress(QmdError):
        assert isinstance(parse_hits(output, errors), list)


@given(st.lists(rows, max_size=4), st.text(max_size=30), st.text(max_size=30))
def test_any_row_gives_score_in_range(listed, before, behind):
    try:
        hits = parse_hits(f"{before}\n{json.dumps(listed)}\n{behind}")
    except QmdError:
        return
    for hit in hits:
        assert hit.collection
        assert hit.path
        assert 1 <= hit.start <= hit.line <= hit.end < 2**31
        assert 0 <= hit.score <= 1
        assert all(0 <= leg.score <= 1 for leg in hit.legs)
        hit.snippet.encode()
        hit.title.encode()


def test_snippet_header_gives_line_numbers():
    row = {
        "docid": "#0a1b2c",
        "score": 0.61,
        "file": "qmd://memory-dir-x/sub/nö te.md",
        "line": 7,
        "title": "T",
        "snippet": "@@ -6,4 @@ (5 before, 0 after)\n\nalpha\nbeta",
    }
    (hit,) = parse_hits(json.dumps([row]))
    assert hit == ("memory-dir-x", "sub/nö te.md", 0.61, "T", 6, 9, 7, "\nalpha\nbeta", ())
    (hit,) = parse_hits(json.dumps([{"file": "qmd://c/a.md", "snippet": "one\ntwo"}]))
    assert (hit.start, hit.end, hit.score) == (1, 2, 0.0)


@pytest.mark.parametrize("output", ["No results found.", "warn: no results found above minimum score threshold.", "[]"])
def test_no_results_message_is_empty_list(output):
    assert parse_hits(output) == []
    assert parse_hits(f"Loading…\n{output}\n") == []


def test_first_array_of_objects_is_used():
    rows = json.dumps([{"file": "qmd://c/a.md"}])
    assert [hit.path for hit in parse_hits(f"[1, 2]\n[warn] x\n[]\n{rows}\n[3/4]")] == ["a.md"]


def test_counts_of_an_update_are_parsed():
    assert output_parsing.parse_counts("Indexed: 1 new, 2 updated, 30 unchanged, 4 removed") == Counts(1, 2, 30, 4)
    assert output_parsing.parse_counts("Indexed: many") is None
    assert output_parsing.parse_collection("[2/3] memory-dir-x (**/*.md)") == "memory-dir-x"
    assert output_parsing.parse_collection("Collection: /x (**/*.md)") is None
    unreadable = output_parsing.parse_skipped("⚠ Skipped unreadable file: a (b).md (EACCES)")
    assert unreadable == ("a (b).md", "qmd could not read it (EACCES).")
    outside = output_parsing.parse_skipped("⚠ Skipped file outside collection: a:b.md")
    assert outside is not None
    assert outside[0] == "a:b.md"
    assert output_parsing.parse_skipped("Skipped 2 unreadable file(s)") is None


@given(st.text())
def test_lines_of_an_update_never_raise(line):
    output_parsing.parse_counts(line)
    output_parsing.parse_collection(line)
    output_parsing.parse_skipped(line)
