import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.note_metadata import read_metadata, tags_of


@pytest.mark.parametrize(
    ("text", "tags"),
    [
        ("", ()),
        ("No tags, only # a heading and issue #42.", ()),
        ("#one and (#Two, #two) or\n#drei/vier;", ("drei/vier", "one", "two")),
        ("#Äpfel #日記", ("apfel", "日記")),
        ("http://x.de/#anchor a#b ##c", ()),
        ("See [above](#anchor), [x](#a-b) (#one) and\n[name]: #heading\n[#in](https://x.de) [y](z#w)", ("one",)),
        ('<p style="color: #ccc">#one</p> <a href=#x> <!-- #two --> 3 < #four', ("four", "one", "two")),
        ("`#code` #text ``#more ` code``", ("text",)),
        ("```sh\n#comment\n```\n#after", ("after",)),
        ("~~~\n#comment\n", ()),
        ("---\ntags: [Garden, 'water drip', \"#c\"]\n---\n", ("c", "drip", "garden", "water")),
        ("---\ntags: a, b c\n---\n", ("a", "b", "c")),
        ('---\ntitle: x\ntags:\n  - one\n  - "two"\nother:\n  - three\n---\n#four', ("four", "one", "two")),
        ("---\nTag: single # a comment\n---\n", ("single",)),
        ("---\nkeywords:\n  - slow food\ntags: [a]\n---\n", ("a", "slow food")),
        ('+++\ntags = ["a", "b"]\n+++\n', ("a", "b")),
        ("---\ntags:\n- one # why\n- 'two words'\n---\n", ("one", "two words")),
        ("---\ntags: [a,\n  b]\nx: 1\n---\n", ("a", "b")),
        ('+++\n[taxonomies]\ntags = [\n  "a",\n]\n+++\n', ("a",)),
        ("---\nid: 1\ndate: 2\n---\n#after", ("after",)),
        ("tags: [not, front, matter]", ()),
        ("#include <stdio.h>\n#ifdef DEBUG\n  # define A 1\n    #pragma once\n#endif\n#after", ("after",)),
        ('#include "a.h"\n#if !A\n#elif B\n#else\n#error "no"\n#endif /* A */', ()),
        ("#include #define, #if\n#else-where #endif/x", ("define", "else-where", "endif/x", "if", "include")),
    ],
)
def test_tags_are_read_from_front_matter_and_text(text: str, tags: tuple[str, ...]) -> None:
    assert tags_of(text, read_metadata(text, "note.md")) == tags


@given(st.text(st.sampled_from("#`~ab-\n :[],\"'+/"), max_size=200) | st.text())
def test_any_text_has_clean_tags(text: str) -> None:
    tags = tags_of(text, read_metadata(text, "note.md"))
    assert list(tags) == sorted(set(tags))
    assert all(tag and not tag.startswith("#") and "\n" not in tag for tag in tags)


def test_note_has_at_most_500_tags() -> None:
    assert len(tags_of(" ".join(f"#tag{number}" for number in range(2000)), None)) == 500
