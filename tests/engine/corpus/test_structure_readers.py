"""Titles, headings, tags, properties and code of notes in Org, reStructuredText and AsciiDoc."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.chunking import Chunk, chunk_text
from engine.corpus.note_metadata import read_metadata, structure_of, tags_of
from engine.corpus.note_structure import Structure, lines_of

ORG = """:PROPERTIES:
:ID:       5b6f7c1e
:ROAM_ALIASES: "Glass house" conservatory
:END:
#+title: The /Greenhouse/
#+filetags: :garden:plants:
#+date: [2024-05-01 Wed 10:00]
#+startup: overview
#+todo: NEXT(n) | CANCELLED(c)
# A comment before the text.

Frost damaged two panes.

* NEXT [#A] Water the [[id:77][tomatoes]]                             :daily:
:PROPERTIES:
:EFFORT: 0:10
:END:
The valve sticks.

#+begin_src sh
# close the valve
* A heading ends the block
#+end_src

** COMMENT Drip lines
#+caption: Irrigation plan
#+BEGIN_EXAMPLE
#+title: not the title
#+END_EXAMPLE
* Harvest
"""
RST = """==============
The Greenhouse
==============

:Author: Ines
:Date: 2024-05-01
:Tags: garden, plants
:Abstract: Panes, valves and
   the harvest.

Frost damaged two panes. For example::

    # close the valve
    =====

Watering `tomatoes <https://example.org>`_
==========================================

.. code-block:: sh
   :linenos:

   # close the valve

.. a comment
   ------------

.. note::

   The valve sticks.

Drip lines
----------

>>> 1 + 1
2

Harvest
=======

Table:

=====  =====
A      B
=====  =====
"""
ADOC = """// A comment before the title.
= The _Greenhouse_
Ines Weber <ines@example.org>
v1.2, 2024-05-01: after the frost
:keywords: garden, plants
:description: Panes and valves
:toc: left

Frost damaged two panes.

== Watering https://example.org[tomatoes]

[source,sh]
----
# close the valve
== no section
----

=== Drip lines

....
= not the title
....

Harvest
-------

The last `tomatoes`.
"""


def found(text: str, ending: str) -> Structure:
    structure = structure_of(text, f"notes/greenhouse.{ending}")
    assert structure is not None
    return structure


def code(text: str, structure: Structure) -> list[str]:
    lines = text.split("\n")
    return ["\n".join(lines[first - 1 : last]) for first, last in structure.code]


def test_org_follows_its_specification() -> None:
    structure = found(ORG, "org")
    assert structure.title == "The Greenhouse"
    assert structure.aliases == ("Glass house", "conservatory")
    assert structure.tags == ("garden", "plants", "daily")
    assert structure.properties["date"] == "2024-05-01 10:00"
    assert [(heading.level, heading.title) for heading in structure.headings] == [
        (1, "Water the tomatoes"),
        (1, "A heading ends the block"),
        (2, "Drip lines"),
        (1, "Harvest"),
    ]
    assert code(ORG, structure) == ["#+BEGIN_EXAMPLE\n#+title: not the title\n#+END_EXAMPLE"]


def test_rst_follows_its_specification() -> None:
    structure = found(RST, "rst")
    assert structure.title == "The Greenhouse"
    assert structure.tags == ("garden", "plants")
    assert [(heading.level, heading.title) for heading in structure.headings] == [
        (1, "The Greenhouse"),
        (2, "Watering tomatoes"),
        (3, "Drip lines"),
        (2, "Harvest"),
    ]
    assert [block.strip() for block in code(RST, structure)] == [
        "# close the valve\n    =====",
        ".. code-block:: sh\n   :linenos:\n\n   # close the valve",
        ">>> 1 + 1\n2",
    ]


def test_asciidoc_follows_its_specification() -> None:
    structure = found(ADOC, "adoc")
    assert structure.title == "The Greenhouse"
    assert structure.tags == ("garden", "plants")
    assert structure.properties["date"] == "2024-05-01"
    assert [(heading.level, heading.title) for heading in structure.headings] == [
        (1, "The Greenhouse"),
        (2, "Watering tomatoes"),
        (3, "Drip lines"),
        (2, "Harvest"),
    ]
    assert code(ADOC, structure) == ["----\n# close the valve\n== no section\n----", "....\n= not the title\n...."]


ADOC_BLOCKS = """\
ifdef::env-github[:toc:]
:product: Greenhouse
// A remark above the title.
= The {product} {unknown}
// A remark in the header.
:description: Panes \\
and valves

.Example
====
Frost
====

[source,sh]
# close the valve

[source,sh]
.Script
--
== no section
--

|===
|Bed

== no section in a table
|===

[quote, Ines]
____
[discrete]
== A heading of its own
## no section
____

[[drip]]
Drip lines
----------
Text that goes on
== in the next line.

[#harvest.wide]
== Harvest footnote:[late]
"""


def test_asciidoc_sections_begin_outside_of_blocks() -> None:
    structure = found(ADOC_BLOCKS, "adoc")
    assert structure.title == "The Greenhouse {unknown}"
    assert structure.properties["description"] == "Panes and valves"
    assert [(heading.level, heading.title) for heading in structure.headings] == [
        (1, "The Greenhouse {unknown}"),
        (2, "A heading of its own"),
        (2, "Drip lines"),
        (2, "Harvest"),
    ]
    assert code(ADOC_BLOCKS, structure) == ["# close the valve", "--\n== no section\n--"]


@pytest.mark.parametrize("line", ["<<<", "'''", "* * *", "image::a b.png[]", "toc::[]", ".Name of a block"])
def test_asciidoc_section_below_block_of_one_line(line: str) -> None:
    for text, titles in (("", ["One", "Two"]), ("Levers:: [open]\n", ["One"])):
        headings = found(f"== One\n\n{text}{line}\n== Two\n", "adoc").headings
        assert [heading.title for heading in headings] == titles  # no section begins within a paragraph


@pytest.mark.parametrize(
    ("ending", "markup", "title"),
    [
        ("rst", "Docutils_ and `the guide`__", "Docutils and the guide"),
        ("rst", "H\\ :sub:`2`\\ O in |place|", "H2O in place"),
        ("rst", "Beds [1]_ [#soil]_ [*]_ [CIT2002]_", "Beds"),
        ("rst", "snake_case and __init__", "snake_case and __init__"),
        ("rst", "_`Target` and \\*args", "Target and *args"),
        ("org", "* Beds [2/5] [40%] [fn:1] [fn:: aside]", "Beds"),
        ("org", "* <<beds>> Beds and <<<soil>>>", "Beds and soil"),
        ("org", "* a << b >> c", "a << b >> c"),
        ("org", "* Beds @@html:<b>@@wide", "Beds wide"),
    ],
)
def test_title_is_read_without_its_markup(ending: str, markup: str, title: str) -> None:
    text = f"{markup}\n{'=' * 60}\n" if ending == "rst" else f"{markup}\n"
    assert [heading.title for heading in found(text, ending).headings] == [title]


@pytest.mark.parametrize(("text", "ending"), [(ORG, "org"), (RST, "rst"), (ADOC, "adoc")])
def test_note_is_described_and_cut_by_its_structure(text: str, ending: str) -> None:
    name = f"notes/a.{ending}"
    about = read_metadata(text, name)
    assert about.title == "The Greenhouse"
    assert about.dates
    assert {"garden", "plants"} <= set(tags_of(text, about))
    chunks = chunk_text(text, tokens=8, overlap=0, structure=about.structure)
    lines = text.split("\n")
    for chunk in chunks:
        for number, line in enumerate(chunk.text.split("\n"), chunk.start_line):
            assert line in lines[number - 1]
    headings = {chunk.heading for chunk in chunks}
    assert any(heading[-1:] == ("Drip lines",) for heading in headings)
    assert any(heading[-1:] == ("Harvest",) for heading in headings)
    whole = "\n".join(chunk.text for chunk in chunks)
    assert "Frost damaged two panes." in whole
    assert not any(word in whole for word in ("5b6f7c1e", "overview", "0:10", "Weber", ":toc:", "Ines"))


@pytest.mark.parametrize(
    ("name", "text", "title"),
    [
        ("a.org", "# A comment\n\n* Panes\n", "Panes"),
        ("a.org", "Text\n* Panes\n", "a"),
        ("a.org", "#+title:Panes\n", "Panes"),
        ("a.org", "** Panes\n", "a"),
        ("a.org", "#+TITLE: Two\n#+TITLE: lines\n* Panes\n", "Two lines"),
        ("a.org", "#+begin_src c\n#+title: x\n#+end_src\n", "a"),
        ("a.org", "#+begin_src c\n* A heading ends it\n#+title: Panes\n", "Panes"),
        ("a.rst", ".. comment\n\nPanes\n=====\n", "Panes"),
        ("a.rst", "Text\n\nPanes\n=====\n", "a"),
        ("a.rst", "Panes and frames\n----\n", "Panes and frames"),
        ("a.rst", "=======\n Panes\n=======\n", "Panes"),
        ("a.rst", "ガラス\n======\n", "ガラス"),
        ("a.rst", "Two\nlines\n=====\n", "a"),
        ("a.rst", ".. title: Panes\n.. tags: x\n\nText\n", "Panes"),
        ("a.adoc", "= Panes =\n", "Panes"),
        ("a.adoc", "Panes\n=====\n", "Panes"),
        ("a.adoc", "Panes\n-----\n", "a"),
        ("a.adoc", "----\n= Panes\n----\n", "a"),
        ("a.adoc", "== Panes\n", "a"),
        ("a.asciidoc", "# Panes\n", "Panes"),
        ("a.md", "* Panes\n", "a"),
    ],
)
def test_title_is_read_in_each_format_or_from_the_file_name(name: str, text: str, title: str) -> None:
    assert read_metadata(text, name).title == title


def test_crlf_and_lf_give_the_same_structure() -> None:
    for text, ending in ((ORG, "org"), (RST, "rst"), (ADOC, "adoc")):
        assert found(text.replace("\n", "\r\n"), ending) == found(text, ending)


_MARKUP = (
    "|text|  indented|* One|** Two :tag:|#+title: T|#+begin_src|#+end_src|:PROPERTIES:|:END:|:key: value|Title|====="
    "|-----|~~~~~|.. code::|.. note::|so::|>>> 1|= T|== S|----|....|====|--|[source]|[float]|.Name|:k: v \\\\|```"
    "|:a:b:|:!:|* |[[|#+|…|\r|日本語|::"
).split("|")
_LINES = st.lists(st.sampled_from([*_MARKUP, "x" * 500]), max_size=30)


@given(lines=_LINES, ending=st.sampled_from(["org", "rst", "adoc"]), tokens=st.integers(1, 30))
def test_any_text_is_read_and_cut_without_loss(lines: list[str], ending: str, tokens: int) -> None:
    text = "\n".join(lines)
    structure = found(text, ending)
    count = len(text.split("\n"))
    ends = [0, *(last for _, last in structure.code)]
    assert all(before < first <= last <= count for before, (first, last) in zip(ends, structure.code, strict=False))
    assert all(1 <= heading.line <= heading.last <= count for heading in structure.headings)
    searched = structure.searched_text(text)
    assert len(searched.split("\n")) == count
    chunks: list[Chunk] = chunk_text(text, tokens=tokens, overlap=0, structure=structure)
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == "".join(searched.split())
    for chunk in chunks:
        assert 1 <= chunk.start_line <= chunk.end_line <= count


@given(text=st.text(max_size=300), ending=st.sampled_from(["org", "rst", "adoc"]))
def test_no_text_raises(text: str, ending: str) -> None:
    structure = found(text, ending)
    assert len(structure.searched_text(text).split("\n")) == len(text.split("\n"))
    assert list(lines_of(text)) == text.split("\n")


@pytest.mark.parametrize(
    ("text", "searched"),
    [
        ("= T\nfirst line of prose\nsecond line\n\nrest", "= T\nfirst line of prose\nsecond line\n\nrest"),
        ("= T\nAda Byron <ada@example.org>\nv1.0, 2024-05-01\n\nrest", "= T\n\n\n\nrest"),
    ],
)
def test_asciidoc_authors_and_revision_are_not_text(text: str, searched: str) -> None:
    structure = structure_of(text, "a.adoc")
    assert structure is not None
    assert structure.searched_text(text) == searched


@pytest.mark.parametrize(
    ("name", "text"),
    [("a.rst", "Title\n=====\n\n:field: a\n" + "  b\n" * 100_000), ("a.org", "#+title: a\n" * 100_000)],
)
def test_property_on_many_lines_is_cut(name: str, text: str) -> None:
    structure = structure_of(text, name)
    assert structure is not None
    assert max(map(len, structure.properties.values())) < 5_000
