"""LaTeX, Typst, scripts, subtitles and wikis have titles, headings, tags and dates; data in them is not searched."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.chunking import chunk_note
from engine.corpus.link_parsing import markup_links_of
from engine.corpus.note_metadata import DocumentInfo, read_metadata, structure_of, tags_of


def outline(about: DocumentInfo) -> list[tuple[int, int, str]]:
    assert about.structure is not None
    return [(heading.line, heading.level, heading.title) for heading in about.structure.headings]


def searched(text: str, name: str) -> str:
    return "\n".join(chunk.text for chunk in chunk_note(text, read_metadata(text, name), tokens=400, overlap=0))


def test_latex_has_title_sections_keywords_and_code() -> None:
    text = (
        "\\documentclass{article}\n\\usepackage{secretpackage}\n\\title{The \\emph{Harbour} \\& its wall}\n"
        "\\keywords{sea, wall}\n\\begin{document}\n\\section*{Before~1900 {\\it old}}\n100\\% rain\n"
        "\\begin{verbatim}\n\\section{No}\n\\end{verbatim}\n\\subsection[short]{After}\\label{x}\nEnd\n"
    )
    about = read_metadata(text, "wall.tex")
    assert about.title == "The Harbour & its wall"
    assert outline(about) == [(6, 2, "Before 1900 old"), (11, 3, "After")]
    assert about.structure is not None
    assert about.structure.code == ((8, 10),)
    assert tags_of(text, about) == ("sea", "wall")
    assert "secretpackage" not in searched(text, "wall.tex")
    assert "100\\% rain" in searched(text, "wall.tex")


def test_latex_part_without_preamble_is_read_whole() -> None:
    assert outline(read_metadata("\\chapter{One}\ntext\n\\paragraph{Two} more", "part.tex")) == [
        (1, 1, "One"),
        (3, 5, "Two"),
    ]


def test_typst_has_title_headings_and_code() -> None:
    text = '#set document(title: "Harbour", date: auto)\n#import "x.typ"\n= One <one>\n```\n= No\n```\n== Two\n'
    about = read_metadata(text, "a.typ")
    assert (about.title, outline(about)) == ("Harbour", [(3, 1, "One"), (7, 2, "Two")])
    assert "x.typ" not in searched(text, "a.typ")


def test_script_has_title_and_scenes() -> None:
    text = (
        "Title:\n    _**Big Fish**_\nDraft date: 2003-11-20\n\n# Act one\n\nINT. KITCHEN - DAY\n\nWill waits.\n\n"
        "/* cut\n\nINT. CUT\n*/\n\n.FORCED SCENE\n\n...not a scene\n"
    )
    about = read_metadata(text, "script.fountain")
    assert (about.title, about.dates) == ("Big Fish", (1069286400.0,))
    assert outline(about) == [(5, 1, "Act one"), (7, 4, "INT. KITCHEN - DAY"), (16, 4, "FORCED SCENE")]


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.srt", "1\n00:00:01,000 --> 00:00:02,500\nHello there.\n2nd line\n\n2\n00:00:03,000 --> 00:00:04,000\n42\n"),
        (
            "a.vtt",
            "WEBVTT - talk\nKind: captions\n\nSTYLE\n::cue {}\n\nintro\n00:01.000 --> 00:02.500 align:start\n"
            "Hello there.\n2nd line\n\nNOTE hidden\n\n00:00:03.000 --> 00:00:04.000\n42\n",
        ),
    ],
)
def test_subtitles_are_searched_without_times(name: str, text: str) -> None:
    assert searched(text, name).split() == ["Hello", "there.", "2nd", "line", "42"]
    assert searched(text, name).count("\n") <= text.count("\n")


def test_note_of_tiddlywiki_has_fields_headings_and_links() -> None:
    text = (
        "created: 20240512080000000\ntags: garden [[to do]]\ntitle: Pond\ntype: text/vnd.tiddlywiki\n\n"
        "! Fish\n```\n! no\n```\nsee [[the pump|Pump]] and {{Hose||view}} and [[https://x.org]]\n"
    )
    about = read_metadata(text, "Pond.tid")
    assert (about.title, about.dates, outline(about)) == ("Pond", (1715472000.0,), [(6, 1, "Fish")])
    assert tags_of(text, about) == ("garden", "to do")
    assert about.structure is not None
    links = markup_links_of(text, "Pond.tid", about.structure.code)
    assert [(link.kind, link.target) for link in links] == [
        ("link", "to do"),  # a tag is the note of this name
        ("link", "Pump"),
        ("embed", "Hose"),
    ]
    assert "vnd" not in searched(text, "Pond.tid")


def test_note_of_zim_has_date_headings_and_tags() -> None:
    text = (
        "Content-Type: text/x-zim-wiki\nWiki-Format: zim 0.6\nCreation-Date: 2024-05-12T10:00:00+02:00\n\n"
        "====== The Pond ======\nCreated Sunday\n\n===== Fish =====\nfeed @garden me@example.org\n'''\n@no\n'''\n"
    )
    about = read_metadata(text, "Pond.txt")
    assert (about.title, about.dates) == ("The Pond", (1715508000.0,))
    assert outline(about) == [(5, 1, "The Pond"), (8, 2, "Fish")]
    assert tags_of(text, about) == ("garden",)
    assert structure_of("====== Only text ======", "other.txt") is None


_LINES = st.sampled_from(
    (
        r"\title{x|\section{a}|\begin{document}|= a|```|Title: x|INT. A|/*|*/|1|NOTE|WEBVTT|tags: [[a|! b|'''|====== c"
        "|00:00:01,000 --> 00:00:02,000|Content-Type: text/x-zim-wiki|"
    ).split("|")
)


@given(st.lists(_LINES | st.text(max_size=10)), st.sampled_from(["tex", "typ", "fountain", "srt", "vtt", "tid", "txt"]))
def test_any_lines_have_a_structure_within_them(lines: list[str], ending: str) -> None:
    text = "\n".join(lines)
    structure = structure_of(text, f"a.{ending}")
    if structure is not None:
        count = text.count("\n") + 1
        assert all(1 <= heading.line <= heading.last <= count for heading in structure.headings)
        assert all(1 <= first <= last <= count for first, last in structure.code)
        assert structure.searched_text(text).count("\n") == text.count("\n")
