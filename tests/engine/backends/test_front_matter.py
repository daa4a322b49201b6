"""Front matter is data: only the values that describe the subject of a note are searched."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.search.result_builder import ranges_of
from engine.text import analyse_query, highlight_ranges
from tests.helpers.health import findings

NOTE = """\
---
uuid: 5d1c9a52
created: 2024-03-17T09:30:00
stub: false
title: Pressure loss
aliases: [Weak flow]
tags:
  - hydraulics
keywords: [manometer]
description: >-
  Why the gauge
  drops overnight
---

## Questions and advice

The left hose leaks at the joint.
"""


@pytest.fixture
def memory(open_memory, workspace: Path):
    (workspace / "loss.md").write_text(NOTE, "utf-8")
    (workspace / "empty one.md").write_text("---\nid: 77aa\ncreated: 2024-03-18\n---\n", "utf-8")
    opened = open_memory(use=None)
    opened.sync()
    return opened


@pytest.mark.parametrize(
    "query", ["uuid", "5d1c9a52", "created", "stub", "false", "aliases", "2024-03-17", '"stub false"']
)
def test_search_front_matter_keys_and_data_match_nothing(memory, query: str) -> None:
    assert "loss.md" not in {result.path for result in memory.search(query, min_score=0.0).results}


@pytest.mark.parametrize(
    ("query", "in_snippet"),
    [
        ("pressure loss", "Pressure loss"),
        ("weak flow", "Weak flow"),
        ("hydraulics", "hydraulics"),
        ("manometer", "manometer"),
        ("gauge drops", "Why the gauge\ndrops overnight"),
    ],
)
def test_search_front_matter_values_match_and_are_shown(memory, query: str, in_snippet: str) -> None:
    best = memory.search(query).results[0]
    assert (best.path, best.title) == ("loss.md", "Pressure loss")
    assert in_snippet in best.snippet
    assert "uuid" not in best.snippet
    first = best.match_ranges[0][0]
    line = best.snippet_line + best.snippet[:first].count("\n")
    assert best.snippet[first : best.match_ranges[0][1]] in NOTE.split("\n")[line - 1]


def test_search_alias_that_is_the_query_comes_first(memory) -> None:
    explanation = memory.search("weak flow", explain=True).explanation
    assert explanation.results[0].named
    assert {term.term: term.fields for term in explanation.results[0].terms}["weak"] == ("body", "alias")


def test_note_with_only_front_matter_is_found_by_name(memory) -> None:
    assert memory.search("empty one").results[0].path == "empty one.md"
    assert "77aa" not in memory.search("empty one").results[0].snippet


def test_hit_below_front_matter_names_its_section(memory, workspace: Path) -> None:
    text = "---\ntags: [shed]\n---\n# Shed\n\nRoof.\n\n## Beds\n\nSow in May.\n\n## Tools\n\nOil the mower.\n"
    (workspace / "shed.md").write_text(text, "utf-8")
    memory.sync()
    assert memory.search("mower").results[0].heading == ("Shed", "Tools")


def test_health_finds_no_fault_in_aliases(memory) -> None:
    assert findings(memory)["keyword-words"].state == "fine"


def test_result_says_which_words_of_title_heading_and_path_match(memory, workspace: Path) -> None:
    (workspace / "orchard").mkdir()
    (workspace / "orchard/kiwi.md").write_text("# Grüne Kiwis 🥝\n\n## Watering plan\n\nEvery evening.\n", "utf-8")
    memory.sync()
    (result,) = memory.search("kiwi orchard watering", min_score=0.0).results[:1]
    assert [result.title[a:b] for a, b in result.title_ranges] == ["Kiwis"]
    assert [
        [part[a:b] for a, b in ranges] for part, ranges in zip(result.heading, result.heading_ranges, strict=True)
    ] == [
        ["Kiwis"],
        ["Watering"],
    ]
    assert [result.path[a:b] for a, b in result.path_ranges] == ["orchard", "kiwi"]


@given(st.lists(st.text("ab \n🥝é", max_size=8), max_size=5), st.text("ab é", min_size=1, max_size=5))
def test_ranges_of_several_texts_equal_those_of_each(texts: list[str], query: str) -> None:
    question = analyse_query(query, ("english",))
    first, others = ranges_of("a b", texts, question, "english")
    assert first == highlight_ranges("a b", question, ("english",))
    assert [list(ranges) for ranges in others] == [highlight_ranges(text, question, ("english",)) for text in texts]
