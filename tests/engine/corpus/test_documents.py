"""Documents become text with headings or pages; errors for those without text name the reason."""

import os
import signal
import struct
import sys
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from html.parser import HTMLParser
from io import BytesIO
from multiprocessing import active_children
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from pathlib import Path
from threading import Timer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.corpus import documents
from engine.corpus.chunking import chunk_note
from engine.corpus.documents import DocumentError
from engine.corpus.documents.epub import read_epub
from engine.corpus.documents.extraction_process import DocumentReader, Worker
from engine.corpus.documents.note_exports import read_enex
from engine.corpus.documents.office import read_docx, read_odt
from engine.corpus.documents.pdf import _by_columns, _Run
from engine.corpus.documents.text_collector import MAX_CHARACTERS, DocumentText, TextFull
from engine.corpus.documents.web_pages import read_html
from engine.corpus.line_reader import NumberedText
from engine.corpus.note_metadata import read_metadata
from engine.corpus.note_reader import Unreadable, read_note
from tests.helpers.document_files import archive, docx, epub, odt, pdf, word_margins, word_paragraph

OTHERS: set[BaseProcess] = set()
"""Processes of other readers."""
NUMBERED = '<w:numPr><w:numId w:val="1"/></w:numPr>'
READERS = {".docx": read_docx, ".odt": read_odt, ".epub": read_epub, ".html": read_html, ".enex": read_enex}


@pytest.fixture(scope="module")
def reader() -> Iterator[DocumentReader]:
    made = DocumentReader()
    yield made
    made.close()


@pytest.fixture(autouse=True)
def other_readers() -> None:
    OTHERS.clear()
    OTHERS.update(readers())


def text_in(data: bytes, ending: str) -> str:
    """Return the text as the reader's process extracts it."""
    text = DocumentText()
    with suppress(TextFull):
        READERS[ending](data, text)
    return text.finish()


def problem_of(data: bytes, ending: str) -> tuple[str, str]:
    with pytest.raises(DocumentError) as caught:
        text_in(data, ending)
    return caught.value.rule, caught.value.detail


def readers() -> set[BaseProcess]:
    """Return the running processes that began after the module's own reader."""
    return {child for child in active_children() if child.name == "mnemoscope-documents"} - OTHERS


def outcome(read: Callable[[], str]) -> str:
    """Return the rule of the error, or "text" if there is none."""
    try:
        return "text" if read().strip() else "blank"
    except DocumentError as problem:
        return problem.rule


# --- PDF --------------------------------------------------------------------------------------------------------------


def test_pdf_pages_are_headings(reader: DocumentReader) -> None:
    data = pdf([["First page", "# not a heading"], [], ["Third (page)"]], title="Annual report")
    text = reader.text_of(data, "a/Report.PDF")
    assert text == (
        "---\ntitle: Annual report\n---\n\n# Page 1\n\nFirst page\n # not a heading\n\n# Page 2\n\n"
        "# Page 3\n\nThird (page)\n"
    )
    about = read_metadata(text, "a/Report.PDF")
    assert about.title == "Annual report"
    assert about.structure is not None
    assert [heading.title for heading in about.structure.headings] == ["Page 1", "Page 2", "Page 3"]


def test_pdf_without_title_has_that_of_its_file(reader: DocumentReader) -> None:
    assert read_metadata(reader.text_of(pdf([["Words"]]), "scan 7.pdf"), "scan 7.pdf").title == "scan 7"


@pytest.mark.parametrize(
    ("declared", "title"),
    [
        ("Tides. A study of 3.5 years", "Tides. A study of 3.5 years"),
        ("Microsoft Word - Tides", "Tides"),
        ("Microsoft Word - Tides.docx", ""),
        ("tides_final-2.indd", ""),
        ("Untitled-1", ""),
        ("(anonymous)", ""),
        (" - ", ""),
    ],
)
def test_pdf_title_made_by_a_program_is_ignored(reader: DocumentReader, declared: str, title: str) -> None:
    text = reader.text_of(pdf([["words"]], title=declared), "a.pdf")
    assert read_metadata(text, "a.pdf").title == (title or "a")


def test_pdf_has_the_text_of_fields_and_remarks(reader: DocumentReader) -> None:
    data = pdf([["Name:"], ["End"]], written=["Ada Quill", "A remark"])
    text = reader.text_of(data, "form.pdf")
    assert text.split() == "# Page 1 Name: Ada Quill A remark # Page 2 End".split()


MARKED = "/QuadPoints [96 730 144 730 96 718 144 718 72 716 102 716 72 704 102 704]"
"""Marks "tide is" at the end of the first line and "rising" at the beginning of the second."""


@pytest.mark.parametrize(
    ("entries", "comment"),
    [
        ("/Subtype /Text /T (Ann) /Contents (Is this so?)", "Comment by Ann: Is this so?"),
        ("/Subtype /Text /Contents <FEFF0044006F006E0065000D4E2D> /F 28", "Comment: Done\n中"),
        (f"/Subtype /Highlight /T (Ann) /Contents (Right?) {MARKED}", "Comment by Ann on “tide is rising”: Right?"),
        ("/Subtype /Highlight /T (Ann) /Contents (Right?)", "Comment by Ann: Right?"),
        (f"/Subtype /Underline /T (Ann) /Contents (tide\\ris ri-sing) {MARKED}", ""),
        (f"/Subtype /StrikeOut /T (Ann) {MARKED}", ""),
        ("/Subtype /Square /Contents (rising)", "Comment: rising"),
        ("/Subtype /Text /T (Ann) /Contents (Accepted set by Ann) /F 30", ""),
        ("/Subtype /Popup /Contents (Twice)", ""),
        ("/Subtype /Link /Contents (Go to page 2)", ""),
        ("/Subtype /Text /T (Ann) /Contents ( )", ""),
    ],
)
def test_pdf_comments_follow_the_text_of_their_page(reader: DocumentReader, entries: str, comment: str) -> None:
    data = pdf([["The tide is", "rising fast."], ["End"]], annotated=[entries])
    page = "The tide is\nrising fast." + (f"\n\n{comment}" if comment else "")
    assert reader.text_of(data, "a.pdf") == f"# Page 1\n\n{page}\n\n# Page 2\n\nEnd\n"


def test_pdf_comments_of_pages_with_fields_are_read(reader: DocumentReader) -> None:
    note = "/Subtype /Text /T (Ann) /Contents (Why?)"
    text = reader.text_of(pdf([["Name:"]], written=["Ada Quill"], annotated=[note]), "form.pdf")
    assert text == "# Page 1\n\nName:\nAda Quill\n\nComment by Ann: Why?\n"


def test_pdf_form_keeps_text_of_pages_with_a_common_size(reader: DocumentReader) -> None:
    data = pdf([[(72, 1100, "Above"), (72, 700, "Name:")]], written=["Ada Quill"])
    data = data.replace(b"/MediaBox [0 0 612 792]", b"").replace(
        b"/Type /Pages", b"/Type /Pages /MediaBox [0 0 612 1200]"
    )
    assert sorted(reader.text_of(data, "form.pdf").split()) == sorted("# Page 1 Above Name: Ada Quill".split())


def test_pdf_form_keeps_words_in_fonts_that_pages_inherit(reader: DocumentReader) -> None:
    data = pdf([["Xbme:"]], written=["Ada Quill"])
    fonts, field = b"/Resources << /Font << /F1 3 0 R >> >>", b"/T (name)"
    data = data.replace(fonts, b"", 1).replace(b"/Type /Pages", b"/Type /Pages " + fonts)
    data = data.replace(b"/Helvetica", b"/Helvetica /Encoding << /Differences [97 /b /a 88 /N] >>")
    text = reader.text_of(data.replace(field, field + b" /V (Ada Quill)"), "form.pdf")
    assert text == "# Page 1\n\nName:\nAda Quill\n"


def test_pdf_field_has_its_value_without_an_appearance(reader: DocumentReader) -> None:
    data = pdf([["Name:"]], written=["unused"])
    field = data.index(b"/AP <<")
    data = data[:field] + b"/V (Ada Quill) /DA (/F1 12 Tf)" + data[data.index(b">>", field) + 2 :]
    form = b"/Catalog /AcroForm << /NeedAppearances true /Fields [7 0 R] /DR << /Font << /F1 3 0 R >> >> >>"
    text = reader.text_of(data.replace(b"/Catalog", form), "form.pdf")
    assert text.split() == "# Page 1 Name: Ada Quill".split()


def test_pdf_keeps_lines_that_are_written_sideways(reader: DocumentReader) -> None:
    lines = [(100 + 20 * number, 100, f"Sideways line {number} of five") for number in range(5)]
    data = pdf([lines]).replace(b"1 0 0 1", b"0 1 -1 0")
    assert reader.text_of(data, "a.pdf").splitlines()[2:] == [line for *_, line in lines]


_SIGNS = {"A": "ا", "L": "ل", "S": "س", "M": "م", "X": "لا", "Y": "لأ"}
"""Arabic letters, and two signs that stand for lam and alef, by the letters with which a font encodes them."""


@pytest.mark.parametrize("encoded", ["MXSLA", "YMS", "LASM"])
def test_pdf_reads_lam_and_alef_in_one_sign_in_order(reader: DocumentReader, encoded: str) -> None:
    signs = "".join(f"<{ord(code):02x}> <{sign.encode('utf-16-be').hex()}>\n" for code, sign in _SIGNS.items())
    codes = "1 begincodespacerange <00> <ff> endcodespacerange"
    table = f"begincmap {codes} {len(_SIGNS)} beginbfchar {signs} endbfchar endcmap"
    stream = f"99 0 obj\n<< /Length {len(table)} >>\nstream\n{table}\nendstream\nendobj\nxref".encode()
    data = pdf([[encoded]]).replace(b"/BaseFont /Helvetica", b"/BaseFont /Helvetica /ToUnicode 99 0 R")
    text = reader.text_of(data.replace(b"xref", stream, 1), "a.pdf")
    assert text == f"# Page 1\n\n{''.join(_SIGNS[code] for code in reversed(encoded))}\n"


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["hyphen-", "ation"], "hyphenation"),
        (["E-", "Mail"], "E-Mail"),
        (["NA-", "TO"], "NATO"),
    ],
)
def test_pdf_joins_a_word_across_lines(reader: DocumentReader, lines: list[str], text: str) -> None:
    assert reader.text_of(pdf([lines]), "a.pdf") == f"# Page 1\n\n{text}\n"


_LEFT = [f"line {number} of the column at the left" for number in range(19)] + ["which ends within a hyphen-"]
_RIGHT = ["ated word in the second column", *(f"line {number} of the column at the right" for number in range(19))]


def _rows(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int, str]]:
    """Return the lines of two columns row by row, each with its place on a page."""
    pairs = enumerate(zip(left, right, strict=True))
    return [(x, 700 - 14 * row, text) for row, pair in pairs for x, text in zip((72, 320), pair, strict=True)]


def test_pdf_written_by_rows_is_read_by_columns(reader: DocumentReader) -> None:
    heading = (72, 740, "A heading that is above both of the columns, and longer than one of them is")
    text = reader.text_of(pdf([[heading, *_rows(_LEFT, _RIGHT)]]), "a.pdf")
    columns = "\n".join([*_LEFT, *_RIGHT]).replace("hyphen-\nated", "hyphenated")
    assert text == f"# Page 1\n\n{heading[2]}\n{columns}\n"


def test_pdf_columns_from_right_to_left_stay() -> None:
    runs = [_Run(x, x + 200, y, y + 10, text) for x, y, text in _rows(_LEFT, _RIGHT)]
    assert _by_columns(runs)
    assert not _by_columns([*runs, runs[0]._replace(text="\u05e9\u05dc\u05d5\u05dd")])


def test_pdf_table_is_read_by_rows(reader: DocumentReader) -> None:
    cells = [f"Item {number}" for number in range(20)], [f"{number},00" for number in range(20)]
    text = reader.text_of(pdf([_rows(*cells)]), "a.pdf")
    assert "Item 3 3,00" in text.split("\n")


def test_chunks_of_short_pages_are_never_joined(reader: DocumentReader) -> None:
    text = reader.text_of(pdf([["One"], [], ["Two", "more"], ["long text " * 8] * 40]), "a.pdf")
    chunks = chunk_note(text, read_metadata(text, "a.pdf"), tokens=400, overlap=80)
    assert [chunk.heading for chunk in chunks[:2]] == [("Page 1",), ("Page 3",)]
    assert {chunk.heading for chunk in chunks[2:]} == {("Page 4",)}
    assert len(chunks) > 3
    assert [chunk.text for chunk in chunks[:2]] == ["One", "Two\nmore"]
    lines = text.split("\n")
    for chunk in chunks:
        assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])


@pytest.mark.parametrize(
    ("data", "rule"),
    [
        (pdf([["Secret"]], encrypted=True), "encrypted"),
        (pdf([[], []]), "no-text"),
        (b"", "damaged"),
        (b"%PDF-1.7\n" + b"\0" * 500, "damaged"),
    ],
    ids=["encrypted", "scanned", "empty", "damaged"],
)
def test_pdf_without_text_says_why(reader: DocumentReader, data: bytes, rule: str) -> None:
    with pytest.raises(DocumentError) as caught:
        reader.text_of(data, "a.pdf")
    assert caught.value.rule == rule


@given(data=st.binary(max_size=300), start=st.integers(0, 900))
@settings(max_examples=30, deadline=None)
def test_broken_pdf_raises_nothing_else(reader: DocumentReader, data: bytes, start: int) -> None:
    whole = pdf([["A page"], ["Another one"]])
    broken = whole[:start] + data + whole[start + len(data) :]
    assert outcome(lambda: reader.text_of(broken, "a.pdf")) in ("text", "damaged", "no-text", "encrypted")


# --- Word, OpenDocument -----------------------------------------------------------------------------------------------


def test_docx_headings_lists_tables_and_notes() -> None:
    cell = "<w:tc>{}</w:tc>".format
    body = (
        word_paragraph("Plan", '<w:pStyle w:val="H1"/>')
        + word_paragraph("Text &amp; more", '<w:tabs><w:tab w:val="left"/></w:tabs>')
        + word_paragraph("one", NUMBERED)
        + word_paragraph("two", NUMBERED)
        + f"<w:tbl><w:tr>{cell(word_paragraph('a'))}{cell(word_paragraph('b') + word_paragraph('c'))}</w:tr></w:tbl>"
        + "<w:p><w:del><w:r><w:t>gone</w:t></w:r></w:del>"
        + "<w:r><w:t>x</w:t><w:tab/><w:t>y</w:t><w:br/><w:t>z</w:t></w:r></w:p>"
        + word_paragraph("Part", '<w:pStyle w:val="H2"/>')
        + word_paragraph("# 5 of them")
    )
    text = text_in(docx(body, title="The plan"), ".docx")
    assert text == (
        "---\ntitle: The plan\nauthor: A. Author\n---\n\n# Plan\n\nText & more\n\n- one\n- two\na | b c\n\n"
        "x\ty\nz\n\n## Part\n\n # 5 of them\n"
    )
    about = read_metadata(text, "a.docx")
    assert about.title == "The plan"
    chunks = chunk_note(text, about, tokens=400, overlap=80)
    assert [chunk.heading[0] for chunk in chunks] == ["Plan"]
    assert "title:" not in chunks[0].text


def test_docx_without_title_has_its_first_heading() -> None:
    text = text_in(docx(word_paragraph("Before") + word_paragraph("Plan", '<w:pStyle w:val="H2"/>')), ".docx")
    assert read_metadata(text, "a.docx").title == "Plan"


def test_document_laid_out_in_a_table_keeps_its_paragraphs() -> None:
    heading, long = word_paragraph("Plan", '<w:pStyle w:val="H1"/>'), word_paragraph("word " * 60)
    table = "<w:tbl><w:tr><w:tc>{}</w:tc><w:tc>{}</w:tc></w:tr></w:tbl>".format
    paragraph = "word " * 59 + "word"
    assert text_in(docx(table(heading + long + long, word_paragraph("b"))), ".docx") == (
        f"# Plan\n\n{paragraph}\n\n{paragraph}\n\nb\n"
    )
    assert text_in(docx(table(table(heading + long, long), "")), ".docx") == f"# Plan\n\n{paragraph}\n\n{paragraph}\n"
    assert text_in(docx(table(long, long)), ".docx") == f"{paragraph} | {paragraph}\n"
    assert text_in(docx(table(heading, "<w:p/>") + table(heading, heading)), ".docx") == "# Plan\n\nPlan | Plan\n"
    many = text_in(docx(table(word_paragraph("some words") * 50_000, "")), ".docx")
    assert many == "\n\n".join(["some words"] * 50_000) + "\n"


def test_empty_items_of_lists_are_left_out() -> None:
    items = "".join(word_paragraph(text, NUMBERED) for text in ("one", "", "two"))
    assert text_in(docx(items), ".docx") == "- one\n- two\n"


def test_docx_has_the_text_of_web_pages_in_it() -> None:
    page = "<title>Other</title><h2>Tides</h2><p>It is caf\xe9 time.</p>"
    archive = f"Subject: x\nMIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n{page}"
    relation = '<Relationship Id="{0}" Type="http://x/aFChunk" Target="{0}"/>'
    more = {
        "word/a.html": f'<meta charset="utf-8">{page}',
        "word/b.mht": archive,
        "word/_rels/document.xml.rels": f"<r>{relation.format('a.html')}{relation.format('b.mht')}</r>",
    }
    body = word_paragraph("Before") + '<w:altChunk w:id="a.html"/><w:altChunk w:id="b.mht"/><w:altChunk w:id="c"/>'
    text = text_in(docx(body + word_paragraph("After"), more=more), ".docx")
    assert text == "---\ntitle: Other\n---\n\nBefore\n\n" + 2 * "## Tides\n\nIt is caf\xe9 time.\n\n" + "After\n"


def test_style_before_tracked_change_is_not_a_heading() -> None:
    old = '<w:pStyle w:val="H2"/><w:pPrChange><w:pPr><w:pStyle w:val="H1"/></w:pPr></w:pPrChange>'
    assert text_in(docx(word_paragraph("Part", old)), ".docx") == "## Part\n"


def test_docx_notes_follow_the_text_that_refers_to_them() -> None:
    note = '<w:{0} w:id="{1}"><w:p><w:r><w:{0}Ref/></w:r><w:r><w:t>{2}</w:t><w:br/><w:t>ends</w:t></w:r></w:p></w:{0}>'
    more = {
        f"word/{kind}s.xml": f'<w:{kind}s xmlns:w="urn:w"><w:{kind} w:id="0" w:type="separator"><w:p/></w:{kind}>'
        f"{note.format(kind, 2, kind + ' two')}{note.format(kind, 3, kind + ' three')}</w:{kind}s>"
        for kind in ("footnote", "endnote")
    }
    refer = '<w:r><w:t>{}</w:t></w:r><w:r><w:{}Reference w:id="{}"/></w:r>'.format
    body = (
        f"<w:p>{refer('word', 'footnote', 3)}{refer(' more', 'endnote', 2)}</w:p>"
        f"<w:p><w:pPr>{NUMBERED}</w:pPr>{refer('item', 'footnote', 2)}</w:p>{word_paragraph('other', NUMBERED)}"
        '<w:p><w:r><w:t>own</w:t></w:r><w:r><w:endnoteReference w:customMarkFollows="1" w:id="3"/><w:t>*</w:t></w:r>'
        "</w:p>"
    )
    assert text_in(docx(body, more=more), ".docx") == (
        "word[1] more[2]\n\n[1] footnote three\nends\n\n[2] endnote two\nends\n\n"
        "- item[3]\n[3] footnote two\nends\n- other\n\nown*\n\nendnote three\nends\n"
    )


def test_docx_footnotes_of_a_table_row_follow_the_row() -> None:
    notes = f'<w:footnotes xmlns:w="urn:w"><w:footnote w:id="2">{word_paragraph("A note")}</w:footnote></w:footnotes>'
    refers = '<w:p><w:r><w:t>word</w:t></w:r><w:r><w:footnoteReference w:id="2"/></w:r></w:p>'
    long = "long " * 120
    row = f"<w:tbl><w:tr><w:tc>{word_paragraph(long)}{refers}</w:tc></w:tr></w:tbl>"
    text = text_in(docx(row, more={"word/footnotes.xml": notes}), ".docx")
    assert text == f"{long.strip()}\n\nword[1]\n\n[1] A note\n"


def test_docx_comments_follow_the_text_they_are_about() -> None:
    remark = '<w:comment w:id="{}" w:author="{}">{}</w:comment>'.format
    more = {
        "word/comments.xml": '<w:comments xmlns:w="urn:w">'
        + remark(0, "Ann &amp; Bo", word_paragraph("Is this so?") + word_paragraph("I doubt it."))
        + remark(1, "", word_paragraph("Cite it"))
        + remark(2, "Ann", word_paragraph("See there"))
        + remark(3, "Ann", word_paragraph(""))
        + "</w:comments>",
        "word/footnotes.xml": '<w:footnotes xmlns:w="urn:w"><w:footnote w:id="2"><w:p><w:r><w:t>A note</w:t>'
        '<w:commentReference w:id="2"/></w:r></w:p></w:footnote></w:footnotes>',
    }
    refer = '<w:r><w:t>{}</w:t></w:r><w:r><w:{}Reference w:id="{}"/></w:r>'.format
    about = '<w:commentRangeStart w:id="0"/>{}<w:commentRangeEnd w:id="0"/>'.format
    body = (
        f"<w:p>{about(refer('word', 'comment', 0))}{refer(' more', 'footnote', 2)}</w:p>"
        f'<w:p><w:pPr><w:pStyle w:val="H2"/></w:pPr>{refer("Part", "comment", 1)}{refer("", "comment", 3)}</w:p>'
    )
    assert text_in(docx(body, more=more), ".docx") == (
        "word more[1]\n\nComment by Ann & Bo: Is this so?\n\nI doubt it.\n\n[1] A note\n\nComment by Ann: See there\n\n"
        "## Part\n\nComment: Cite it\n"
    )


def test_docx_items_keep_their_levels() -> None:
    at = '<w:numPr><w:ilvl w:val="{}"/><w:numId w:val="1"/></w:numPr>'.format
    styles = (
        '<w:styles xmlns:w="urn:w"><w:style w:styleId="B2"><w:name w:val="List Bullet 2"/><w:pPr><w:numPr><w:numId '
        'w:val="4"/></w:numPr></w:pPr></w:style><w:style w:styleId="C3"><w:name w:val="Own"/><w:pPr><w:numPr><w:ilvl '
        'w:val="2"/><w:numId w:val="4"/></w:numPr></w:pPr></w:style><w:style w:styleId="D3"><w:basedOn w:val="C3"/>'
        "</w:style></w:styles>"
    )
    styled = '<w:pStyle w:val="{}"/>'.format
    items = (
        word_paragraph("one", at(0)),
        f"<w:p><w:pPr>{at(1)}</w:pPr><w:r><w:t>two</w:t><w:br/><w:t>lines</w:t></w:r></w:p>",
        word_paragraph("three", styled("D3")),
        word_paragraph("two again", styled("B2")),
        word_paragraph("one again", styled("D3") + at(0)),
        word_paragraph("text", at(1).replace('numId w:val="1"', 'numId w:val="0"')),
    )
    assert text_in(docx("".join(items), more={"word/styles.xml": styles}), ".docx") == (
        "- one\n  - two\n    lines\n    - three\n  - two again\n- one again\n\ntext\n"
    )


def test_docx_styles_inherit_from_their_base() -> None:
    styles = "".join(
        f'<w:style w:styleId="{name}"><w:name w:val="{label}"/><w:basedOn w:val="{base}"/>{more}</w:style>'
        for name, label, base, more in (
            ("T", "Title", "N", ""),
            ("A", "Author", "T", ""),
            ("H1", "heading 1", "N", ""),
            ("C", "Chapter", "H1", ""),
            ("TOC", "TOC Heading", "H1", '<w:pPr><w:outlineLvl w:val="9"/></w:pPr>'),
            ("L", "List Bullet", "N", f"<w:pPr>{NUMBERED}</w:pPr>"),
            ("L2", "Own list", "L", ""),
            ("X", "x", "Y", ""),
            ("Y", "y", "X", ""),
        )
    )
    more = {"word/styles.xml": f'<w:styles xmlns:w="urn:w">{styles}</w:styles>'}
    body = "".join(word_paragraph(name, f'<w:pStyle w:val="{name}"/>') for name in "T A C TOC L L2 X".split())
    body += word_paragraph("none", '<w:pStyle w:val="L"/><w:numPr><w:numId w:val="0"/></w:numPr>')
    assert text_in(docx(body, more=more), ".docx") == "# T\n\nA\n\n# C\n\nTOC\n\n- L\n- L2\n\nX\n\nnone\n"


@pytest.mark.parametrize(
    ("run", "text"),
    [
        ("<w:rPr><w:vanish/></w:rPr><w:t>hidden</w:t>", "a b\n"),
        ('<w:rPr><w:vanish w:val="0"/></w:rPr><w:t>shown</w:t>', "a shownb\n"),
        ("<w:rPr><w:rPrChange><w:rPr><w:vanish/></w:rPr></w:rPrChange></w:rPr><w:t>shown</w:t>", "a shownb\n"),
        (
            "<w:ruby><w:rt><w:r><w:t>kan</w:t></w:r></w:rt><w:rubyBase><w:r><w:t>漢</w:t></w:r></w:rubyBase></w:ruby>",
            "a 漢b\n",
        ),
    ],
)
def test_docx_has_the_text_that_word_shows(run: str, text: str) -> None:
    body = f"<w:p><w:r><w:t>a </w:t></w:r><w:r>{run}</w:r><w:r><w:t>b</w:t></w:r></w:p>"
    assert text_in(docx(body), ".docx") == text


def test_docx_drop_cap_begins_the_next_word() -> None:
    body = word_paragraph("O", '<w:framePr w:dropCap="drop" w:lines="3"/>') + word_paragraph("nce upon")
    assert text_in(docx(body + word_paragraph("a time")), ".docx") == "Once upon\n\na time\n"


def test_main_part_has_any_form_of_address() -> None:
    data = docx("", more={"doc/main.xml": f'<w:body xmlns:w="urn:w">{word_paragraph("Text")}</w:body>'})
    with zipfile.ZipFile(BytesIO(data)) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    for target in (b"./doc/main.xml", b"/doc/main.xml", b"doc/../doc/main.xml"):
        relations = parts["_rels/.rels"].replace(b"word/document.xml", target)
        assert text_in(archive({**parts, "_rels/.rels": relations}), ".docx") == "Text\n"


def test_docx_headers_and_footers_follow_the_text_once() -> None:
    row = f"<w:tbl><w:tr><w:tc>{word_paragraph('Pump Works')}</w:tc><w:tc>{word_paragraph('2 Mill Lane')}</w:tc></w:tr>"
    margins = word_margins(
        header1=f"{row}</w:tbl>",
        header2=word_paragraph("First page", '<w:pStyle w:val="H1"/>') + "<w:p/>" + word_paragraph("of two"),
        footer1=word_paragraph("Confidential"),
        footer2=word_paragraph("Confidential"),
        footer3=word_paragraph("3"),
        footer4="<w:p>",
    )
    assert text_in(docx(word_paragraph("Text"), more=margins), ".docx") == (
        "Text\n\nHeader: Pump Works | 2 Mill Lane\n\nHeader: First page\nof two\n\nFooter: Confidential\n"
    )


def test_odt_headers_and_footers_follow_the_text_once() -> None:
    master = (
        "<style:header><text:p>Pump Works</text:p><text:p>2 Mill Lane</text:p></style:header>"
        "<style:header-left><text:p>Pump Works</text:p><text:p>2 Mill Lane</text:p></style:header-left>"
        "<style:footer><text:p>Page <text:page-number>2</text:page-number></text:p></style:footer>"
        "<style:footer-first><text:p>2</text:p></style:footer-first>"
    )
    assert text_in(odt("<text:p>Text</text:p>", master=master), ".odt") == (
        "Text\n\nHeader: Pump Works\n2 Mill Lane\n\nFooter: Page 2\n"
    )


def test_odt_paragraphs_of_an_item_have_one_bullet() -> None:
    inner = "<text:list><text:list-item><text:p>two</text:p><text:p>more</text:p></text:list-item></text:list>"
    items = (
        f"<text:list-item><text:p/><text:p>one</text:p><text:p>again</text:p>{inner}<text:p>end</text:p>"
        "</text:list-item><text:list-item><text:p>three</text:p></text:list-item>"
    )
    assert text_in(odt(f"<text:list>{items}</text:list>"), ".odt") == (
        "- one\n  again\n  - two\n    more\n  end\n- three\n"
    )


@pytest.mark.parametrize("word", ["word ", "水"])
def test_heading_that_is_a_paragraph_keeps_its_text(word: str) -> None:
    heading, _, rest = text_in(docx(word_paragraph(word * 300, '<w:pStyle w:val="H1"/>')), ".docx").partition("\n\n")
    assert len(heading) <= 202
    assert heading.removeprefix("# ").replace(" ", "") + rest.strip().replace(" ", "") == word.strip() * 300
    assert rest.startswith(word)


def test_odt_pictures_are_left_out() -> None:
    body = "<text:p>a<office:binary-data>aGVsbG8=</office:binary-data>b</text:p>"
    assert text_in(odt(body), ".odt") == "ab\n"


def test_odt_headings_lists_tables_and_spaces() -> None:
    body = (
        "<text:tracked-changes><text:p>deleted</text:p></text:tracked-changes>"
        '<text:h text:outline-level="1">Plan</text:h><text:p>two<text:s text:c="2"/>blanks<text:tab/>and '
        "<text:span> a\n span</text:span><text:line-break/>new</text:p>"
        "<text:list><text:list-item><text:p>one</text:p></text:list-item><text:list-item><text:p>two</text:p>"
        "</text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>a</text:p>"
        "</table:table-cell><table:table-cell><text:p>b</text:p></table:table-cell></table:table-row></table:table>"
        '<text:h text:outline-level="2">Part</text:h><text:p>End</text:p>'
    )
    assert text_in(odt(body, title="The plan"), ".odt") == (
        "---\ntitle: The plan\n---\n\n# Plan\n\ntwo  blanks\tand a span\nnew\n\n- one\n- two\na | b\n\n## Part\n\nEnd\n"
    )


def test_odt_notes_follow_the_text_that_refers_to_them() -> None:
    note = (
        "<text:note><text:note-citation>{}</text:note-citation><text:note-body><text:p>{}</text:p><text:p>ends</text:p>"
        "</text:note-body></text:note>"
    ).format
    body = (
        f'<text:h text:outline-level="2">Part{note("0", "On the part")}</text:h>'
        f"<text:p>word{note('1', 'A footnote')} more.</text:p>"
        f"<text:list><text:list-item><text:p>one{note('i', 'An endnote')}</text:p></text:list-item>"
        "<text:list-item><text:p>two</text:p></text:list-item></text:list>"
    )
    assert text_in(odt(body), ".odt") == (
        "## Part\n\n[0] On the part\n\nends\n\nword[1] more.\n\n[1] A footnote\n\nends\n\n"
        "- one[i]\n[i] An endnote\n\nends\n- two\n"
    )


def test_odt_comments_follow_the_text_they_are_about() -> None:
    remark = (
        "<office:annotation><dc:creator>{}</dc:creator>\n<dc:date>2026-02-03T04:05:06</dc:date>{}</office:annotation>"
    ).format
    items = "<text:list><text:list-item><text:p>I doubt it.</text:p></text:list-item></text:list>"
    note = (
        f"<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note"
        f"{remark('Bo', '<text:p>See there</text:p>')}.</text:p></text:note-body></text:note>"
    )
    body = (
        f"<text:p>wo{remark('Ann', f'<text:p>Is this <text:s/>so?</text:p>{items}')}rd{note} by <text:creator>Cy"
        f'</text:creator></text:p><text:h text:outline-level="2">Part{remark("", "<text:p>Cite it</text:p>")}'
        f"{remark('Ann', '<text:p/>')}</text:h>"
    )
    assert text_in(odt(body), ".odt") == (
        "word[1] by Cy\n\nComment by Ann: Is this  so?\n\nI doubt it.\n\nComment by Bo: See there\n\n[1] A note.\n\n"
        "## Part\n\nComment: Cite it\n"
    )


def test_odt_items_keep_their_levels() -> None:
    inner = "<text:list><text:list-item><text:p>two</text:p></text:list-item></text:list>"
    one = f"<text:list-item><text:p>one</text:p>{inner}</text:list-item>"
    body = f"<text:list>{one}<text:list-item><text:p>again</text:p></text:list-item></text:list>"
    assert text_in(odt(body), ".odt") == "- one\n  - two\n- again\n"


def test_odt_title_and_hidden_text_by_their_styles() -> None:
    styles = (
        '<style:style style:name="P1" style:parent-style-name="Title"/><style:style style:name="T1">'
        '<style:text-properties text:display="none"/></style:style>'
    )
    body = (
        '<text:p text:style-name="P1">The book</text:p><text:p>a<text:span text:style-name="T1">b<text:span>c'
        "</text:span></text:span>d<draw:frame><svg:desc>a picture</svg:desc></draw:frame><text:ruby><text:ruby-base>漢"
        "</text:ruby-base><text:ruby-text>kan</text:ruby-text></text:ruby></text:p>"
    )
    assert text_in(odt(body, styles=styles), ".odt") == "# The book\n\nad a picture 漢\n"


@pytest.mark.parametrize(
    ("data", "ending", "rule"),
    [
        (b"\xd0\xcf\x11\xe0" + b"\0" * 600, ".docx", "encrypted"),
        (odt("<text:p>x</text:p>", manifest="<encryption-data/>"), ".odt", "encrypted"),
        (odt(""), ".odt", "no-text"),
        (docx(""), ".docx", "no-text"),
        (b"PK\x03\x04 broken", ".docx", "damaged"),
        (archive({"a.txt": "x"}), ".docx", "damaged"),
        (archive({"a.txt": "x"}), ".odt", "damaged"),
        (archive({"a.txt": "x"}).replace(b"PK\1\2\x14\3\x14", b"PK\1\2\x14\3\xff"), ".odt", "damaged"),
        (archive({"a.txt": "x"}), ".epub", "damaged"),
        (docx("<w:p><w:r>"), ".docx", "damaged"),
    ],
)
def test_archive_without_text_says_why(data: bytes, ending: str, rule: str) -> None:
    assert problem_of(data, ending)[0] == rule


# --- HTML, EPUB -------------------------------------------------------------------------------------------------------


def test_html_blocks_become_paragraphs() -> None:
    page = (
        "<!doctype html><html><head><title>My &amp; page</title><style>p { color: red }</style><script>var a = '<p>no';"
        "</script></head><body><h1>Plan <em>B</em></h1><p>Some <b>bold</b>\n text<br>and more</p>"
        "<ul><li>one<li>two</ul>"
        "<table><tr><th>a</th><td>b</td></tr><tr><td><p>c</p></td><td>d</td></tr></table>"
        "<pre>  x = 1\n  y = 2</pre><h2>Part</h2># no heading<template>no</template></body></html>"
    )
    assert text_in(page.encode(), ".html") == (
        "---\ntitle: My & page\n---\n\n# Plan B\n\nSome bold text\nand more\n\n- one\n- two\na | b\nc | d\n\n"
        "  x = 1\n  y = 2\n\n## Part\n\n # no heading\n"
    )


@pytest.mark.parametrize(
    ("page", "codec"),
    [
        ("<meta charset=utf-8><p>Grüße</p>", "utf-8"),
        ("<meta charset='windows-1251'><p>Привет</p>", "cp1251"),
        ('<meta http-equiv="Content-Type" content="text/html; charset=Shift_JIS"><p>日本語</p>', "shift_jis"),
        ("<meta charset=no-such-thing><p>Grüße</p>", "utf-8"),
        ("<p>Grüße</p>", "utf-16"),
        ("<p>Grüße aus Zürich</p>", "cp1252"),
    ],
)
def test_html_is_read_in_its_encoding(page: str, codec: str) -> None:
    words = page.rpartition("<p>")[2].removesuffix("</p>")
    assert text_in(page.encode(codec), ".html") == f"{words}\n"


@pytest.mark.parametrize(
    ("page", "codec", "text"),
    [
        ("<meta charset=undefined><p>plain</p>", "ascii", "plain"),
        ("<meta charset=utf-16><p>Grüße</p>", "utf-8", "Grüße"),
        ("<meta charset=utf-7><p>a +AGE- b</p>", "ascii", "a +AGE- b"),
        ("<meta charset=unicode_escape><p>a\\x41</p>", "ascii", "a\\x41"),
        ("<meta charset=hex><p>plain</p>", "ascii", "plain"),
        ("<meta charset=iso-8859-1><p>“10 €”</p>", "cp1252", "“10 €”"),
        ("<meta charset=us-ascii><p>10 €</p>", "cp1252", "10 €"),
        ("<meta charset=iso-8859-9><p>10 € ğ</p>", "cp1254", "10 € ğ"),
        ("<meta charset=gb2312><p>朱镕基</p>", "gb18030", "朱镕基"),
        ("<meta charset=shift_jis><p>①日本</p>", "cp932", "①日本"),
        ("<meta charset=euc-kr><p>똠방각하</p>", "cp949", "똠방각하"),
        ("<meta charset=windows-1251><p>Grüße</p>", "utf-8-sig", "Grüße"),
        ("<?xml version='1.0' encoding='iso-8859-2'?><p>Łódź</p>", "iso-8859-2", "Łódź"),
    ],
)
def test_declared_encoding_is_read_as_browsers_do(page: str, codec: str, text: str) -> None:
    assert text_in(page.encode(codec), ".html") == f"{text}\n"


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ruby>漢<rt>kan</ruby>字<p>the rest", "漢字\n\nthe rest\n"),
        ("<ruby>漢<rp>(<rt>kan<rp>)</ruby> and", "漢 and\n"),
        ("<ruby>漢<rp>(</rp><rt>kan</rt><rp>)</rp></ruby>字", "漢字\n"),
        ("<p><ruby>漢<rt>kan</p><p>the rest", "漢\n\nthe rest\n"),
        ("a<noscript><img>no</noscript>b", "ab\n"),
        ("<noscript>no<p>the rest", "the rest\n"),
        ("<noscript><p>Enable scripts</p></noscript><p>the rest", "the rest\n"),
    ],
)
def test_unclosed_elements_hide_no_more_than_their_words(page: str, text: str) -> None:
    assert text_in(page.encode(), ".html") == text


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("a<div hidden>no<div>no</div></div>b", "ab\n"),
        ("<div style='color: red; display: none'>no</div><div style='display:block'>b</div>", "b\n"),
        ("<dialog>no</dialog><dialog open>yes</dialog>", "yes\n"),
        ("<video><p>Get a browser</p></video><p>b", "b\n"),
        ("<p hidden=until-found>a</p><body hidden><p>b", "a\n\nb\n"),
        ("<p hidden>a<p>b", "a\n\nb\n"),
        ("<p>a</p><![note[ no ]]><p>b</p>", "a\n\nb\n"),
        ("<p>a</p><![if !IE]><p>b</p><![endif]><![C no]>", "a\n\nb\n"),
        ("<img hidden>a<p hidden>no</p><script>'<p>'</script>", "a\n"),
        ("<p>a</p><p hidden>no<div>b</div></p><p>c</p>", "a\n\nb\n\nc\n"),
        ("</p><p hidden>no <p>a</p><p>b</p>", "a\n\nb\n"),
        ("<div><p hidden>no</div>a</p>", "a\n"),
        ("<p hidden>no<br>no<svg></svg><map><area></map>no</p>a", "a\n"),
    ],
)
def test_html_has_the_text_that_browsers_show(page: str, text: str) -> None:
    assert text_in(page.encode(), ".html") == text


@pytest.mark.parametrize(
    ("mark", "text"),
    [
        ('<sup><a href="#n">1</a></sup>', "word[1].\n"),
        ('<a href="#n"><sup>1</sup></a>', "word[1].\n"),
        ('<a href="n.xhtml#q" role="doc-noteref">1</a>', "word[1].\n"),
        ('<a href="#n" epub:type="noteref">†</a>', "word†.\n"),
        ('<sup><a href="#n">[1]</a></sup>', "word[1].\n"),
        ('<sup>2</sup> <a href="#n">m<sup>2</sup></a>', "word2 m2.\n"),
        ('<sup><a href="/page">th</a></sup>', "wordth.\n"),
    ],
)
def test_number_of_html_footnote_is_not_part_of_a_word(mark: str, text: str) -> None:
    assert text_in(f"<p>word{mark}.</p>".encode(), ".html") == text


def test_paragraphs_of_a_cell_are_separate_words() -> None:
    page = b"<table><tr><td><p>Mill Lane</p><p>2 km from <b>town</b></p><td><p>x</table>"
    assert text_in(page, ".html") == "Mill Lane 2 km from town | x\n"


def test_values_of_a_property_of_notion_are_separate_words() -> None:
    value = '<span class="selected-value select-value-color-blue">{}</span>'.format
    page = f"<table><tr><th>Tags</th><td>{value('home office')}{value('coffee')}</td></tr></table>"
    assert text_in(page.encode(), ".html") == "Tags | home office coffee\n"


def test_heading_has_no_number_of_a_footnote() -> None:
    html = b'<h2>Part<sup><a href="#n">1</a></sup> two</h2>'
    assert text_in(html, ".html") == "## Part two\n"
    note = f'<w:footnote w:id="2">{word_paragraph("A note")}</w:footnote>'
    notes = f'<w:footnotes xmlns:w="urn:w">{note}</w:footnotes>'
    reference = '<w:r><w:footnoteReference w:id="2"/></w:r>'
    heading = word_paragraph("Part", '<w:pStyle w:val="H2"/>').replace("</w:p>", f"{reference}</w:p>")
    assert text_in(docx(heading, more={"word/footnotes.xml": notes}), ".docx") == "## Part\n\n[1] A note\n"


def test_html_author_and_table_laid_out_with_blocks() -> None:
    page = "<meta name=Author content='A. Author'><table><tr><td><div>one</div><div>two</div><td>x<tr><td>a </td><td> b"
    assert text_in(page.encode(), ".html") == "---\nauthor: A. Author\n---\n\none\n\ntwo\n\nx\n\na | b\n"


def enex(*notes: str) -> bytes:
    head = '<?xml version="1.0"?><!DOCTYPE en-export SYSTEM "http://xml.evernote.com/pub/evernote-export4.dtd">'
    return f"{head}<en-export>{''.join(notes)}</en-export>".encode()


def evernote(title: str, page: str, more: str = "") -> str:
    content = f'<?xml version="1.0"?><!DOCTYPE en-note SYSTEM "x"><en-note>{page}</en-note>'
    return f"<note><title>{title}</title><content><![CDATA[{content}]]></content>{more}</note>"


def test_notes_of_evernote_have_title_day_tags_and_text() -> None:
    page = '<div>Wall &amp; <b>sea</b></div><div><en-todo checked="true"/>done</div><div><en-todo/>open</div>'
    more = (
        "<created>20240501T120000Z</created><tag>harbour</tag><tag>a wall</tag><task><title>No title</title></task>"
        '<resource><data encoding="base64">aGlkZGVu</data></resource>'
    )
    crypt = '<en-crypt hint="x">aGlkZGVu</en-crypt><p>End</p>'
    text = text_in(enex(evernote("One &lt;1&gt;", page, more), evernote("", crypt)), ".enex")
    assert text == (
        "---\nnotes: 2\ntag: harbour\ntag: a wall\n---\n\n"
        "# One <1>\n\n2024-05-01, harbour, a wall\n\nWall & sea\n\n[x] done\n\n[ ] open\n\n# …\n\nEnd\n"
    )
    structure = documents.read(text, "Old notes.enex")
    assert (structure.title, structure.separate_pages, structure.tags) == ("", True, ("harbour", "a wall"))
    assert [heading.title for heading in structure.headings] == ["One <1>", "…"]


def test_unclosed_encrypted_texts_of_evernote_take_linear_time() -> None:
    start = time.process_time()
    assert "Wall" in text_in(enex(evernote("", "<p>Wall</p>" + "<en-crypt >" * 20_000)), ".enex")
    assert time.process_time() - start < 10  # quadratic: 50 s


def test_broken_export_of_evernote_is_reported() -> None:
    assert problem_of(b"<en-export><note>", ".enex")[0] == "damaged"
    assert problem_of(enex(), ".enex")[0] == "no-text"


@pytest.mark.parametrize("end", ["</script language>", "</SCRIPT\n>", "</script/>", "</script x='1'>"])
def test_html_script_ends_at_a_tag_with_attributes(end: str) -> None:
    page = f"<p>one</p><script>var a = '</scripts>'{end}<p>two</p><style>p {{}}</style ><p>three</p>"
    assert text_in(page.encode(), ".html") == "one\n\ntwo\n\nthree\n"


def test_html_headings_have_blocks_inside() -> None:
    page = "<h2><button>One</button></h2><h3><div>Two</div><div>words</div></h3><p>End</p>"
    assert text_in(page.encode(), ".html") == "## One\n\n### Two words\n\nEnd\n"
    unclosed = "<h2>Open" + "<p>some words" * 40 + "<h2>Next</h2>"
    text = text_in(unclosed.encode(), ".html")
    assert (text.count("some words"), text[-9:]) == (40, "\n## Next\n")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("<ul><li>a<ol><li>b<br>c</li><li>d</ol><li>e</ul>", "- a\n  - b\n    c\n  - d\n- e\n"),
        ("<ul><li><p>a</p><ul><li>b</ul></ul><ul><li>c</ul>", "- a\n  - b\n- c\n"),
        ("<li>a</ul><ul><li>b</ul></ul><ul><li>c</ul>", "- a\n- b\n- c\n"),
    ],
)
def test_html_items_keep_their_levels(page: str, text: str) -> None:
    assert text_in(page.encode(), ".html") == text


def test_empty_html_item_leaves_no_bullet() -> None:
    assert text_in(b"<ul><li>one</li><li></li></ul><p>Text</p>", ".html") == "- one\n\nText\n"


def test_epub_parts_other_than_pages_are_left_out() -> None:
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="i" href="a.jpg" media-type="image/jpeg"/>'
        '<item id="b" href="b.xhtml"/><item id="c" href="c1.xhtml" media-type="application/xhtml+xml"/></manifest>'
        '<spine><itemref idref="i"/><itemref idref="b"/><itemref idref="c"/></spine></package>'
    )
    parts = {"OPS/book.opf": package, "OPS/a.jpg": "a picture", "OPS/b.xhtml": "\0\1\2\3" * 50}
    assert text_in(epub({"x": "<p>Once</p>"}, more=parts), ".epub") == "Once\n"


def test_epub_chapters_have_headings() -> None:
    data = epub(
        {"First": "<p>Once &nbsp;upon</p>", "Second": "<h1>Second one</h1><p>a time</p><h2>Inside</h2><p>end</p>"},
        title="A tale",
    )
    text = text_in(data, ".epub")
    assert text == ("---\ntitle: A tale\n---\n\n# First\n\nOnce upon\n\n# Second one\n\na time\n\n## Inside\n\nend\n")


def test_epub_2_has_chapters_by_its_ncx() -> None:
    ncx = (
        '<ncx xmlns="http://www.daisy.org/z3986/2005/ncx/"><navMap><navPoint>'
        "<navLabel><text>The start</text></navLabel>"
        '<content src="c1.xhtml#a"/></navPoint></navMap></ncx>'
    )
    package = (
        '<package xmlns="http://www.idpf.org/2007/opf"><manifest><item id="n" href="toc.ncx" '
        'media-type="application/x-dtbncx+xml"/><item id="c" href="c1.xhtml"/></manifest><spine><itemref idref="c"/>'
        "</spine></package>"
    )
    data = epub({"x": "<p>Once</p>"}, more={"OPS/book.opf": package, "OPS/toc.ncx": ncx})
    assert text_in(data, ".epub") == "# The start\n\nOnce\n"


def test_epub_with_encrypted_chapters_is_reported() -> None:
    locked = '<encryption><CipherReference URI="OPS/c1.xhtml"/></encryption>'
    assert problem_of(epub({"x": "?"}, more={"META-INF/encryption.xml": locked}), ".epub")[0] == "encrypted"
    fonts = '<encryption><CipherReference URI="OPS/font.otf"/></encryption>'
    assert "Once" in text_in(epub({"x": "<p>Once</p>"}, more={"META-INF/encryption.xml": fonts}), ".epub")


@given(page=st.text(alphabet="<>/!-ph1tdrlia= \"'&;\n\x00x", max_size=300))
def test_any_html_gives_text_or_a_reason(page: str) -> None:
    assert outcome(lambda: text_in(page.encode(), ".html")) in ("text", "no-text", "damaged")


# --- hostile files ----------------------------------------------------------------------------------------------------


def test_entities_are_refused() -> None:
    bomb = '<!DOCTYPE a [<!ENTITY x "ha"><!ENTITY y "&x;&x;">]><a>&y;</a>'
    rule, detail = problem_of(docx("", more={"word/document.xml": bomb}), ".docx")
    assert (rule, "entities" in detail) == ("damaged", True)


def test_deep_xml_is_refused() -> None:
    rule, detail = problem_of(docx("<w:sdt>" * 100_000), ".docx")
    assert (rule, "deep" in detail) == ("damaged", True)


@pytest.mark.parametrize("opening", ["<!--", "<![CDATA[", "<?php ", "<a b='", "<p"])
def test_unclosed_html_takes_little_time(opening: str) -> None:
    assert text_in(b"<p>First" + opening.encode() * 400_000, ".html") == "First\n"  # hangs if each reads the rest


def test_unclosed_tag_is_read_only_a_few_times(monkeypatch: pytest.MonkeyPatch) -> None:
    page, fed, feed = b"<p>First" + b"<a b='" * 200_000, 0, HTMLParser.feed

    def counted(parser: HTMLParser, data: str) -> None:
        nonlocal fed
        fed += len(parser.rawdata) + len(data)
        feed(parser, data)

    monkeypatch.setattr(HTMLParser, "feed", counted)
    text_in(page, ".html")
    assert len(page) <= fed < 4 * len(page)


def test_deep_html_is_read() -> None:
    assert text_in(b"<div><ul><li>" * 10_000 + b"End", ".html") == f"{'  ' * 8}- End\n"


def test_zip_bomb_is_refused_before_it_is_unpacked() -> None:
    rule, detail = problem_of(docx("<w:p/>" * 20_000_000), ".docx")
    assert (rule, "too large" in detail) == ("damaged", True)


def test_size_that_a_zip_archive_declares_is_not_trusted() -> None:
    data = bytearray(docx("<w:p/>" * 400_000))
    with zipfile.ZipFile(BytesIO(data)) as file:
        size = file.getinfo("word/document.xml").file_size
    while (at := data.find(struct.pack("<L", size))) >= 0:
        data[at : at + 4] = struct.pack("<L", 100)
    assert problem_of(bytes(data), ".docx")[0] == "damaged"


def test_long_text_is_cut_with_a_remark() -> None:
    text = text_in(b"<p>" + b"word " * 3_000_000 + b"<p>and more", ".html")
    assert len(text) < MAX_CHARACTERS + 100
    assert text.endswith("since it is too long.\n")


def test_pdf_of_100_000_pages_is_bounded(reader: DocumentReader) -> None:
    data = pdf([["Same"]]).replace(b"/Count 1 /Kids [5 0 R]", b"/Count 100000 /Kids [" + b"5 0 R " * 100_000 + b"]")
    text = reader.text_of(data, "a.pdf")
    assert text.count("# Page ") == 20_000
    assert text.endswith("since it is too long.\n")


# --- the process ------------------------------------------------------------------------------------------------------


def test_reader_that_takes_too_long_is_ended() -> None:
    reader = DocumentReader(seconds=0)
    with pytest.raises(DocumentError) as caught:
        reader.text_of(b"<p>x</p>", "a.html")
    assert caught.value.rule == "unfinished"
    assert not readers()


@pytest.mark.skipif(sys.platform == "win32", reason="CPU time is not limited there")
def test_document_beyond_cpu_limit_is_reported() -> None:
    reader = DocumentReader(seconds=0.4)
    with pytest.raises(DocumentError) as caught:
        reader.text_of(b"<p>x</p>" * 1_000_000, "a.html")
    assert caught.value.rule == "unfinished"
    assert "could not be read within" in caught.value.detail
    assert reader.text_of(b"<p>still</p>", "a.html") == "still\n"
    reader.close()


@pytest.mark.skipif(sys.platform == "win32", reason="processes can't be stopped there")
def test_reader_that_gets_no_cpu_time_may_take_longer() -> None:
    reader = DocumentReader(seconds=1)
    assert reader.text_of(b"<p>x</p>", "a.html") == "x\n"
    (process,) = readers()
    os.kill(process.pid, signal.SIGSTOP)
    later = Timer(1.5, os.kill, (process.pid, signal.SIGCONT))
    later.start()
    assert reader.text_of(b"<p>y</p>", "a.html") == "y\n"
    later.join()
    assert readers() == {process}
    reader.close()


def test_cancelled_document_ends_its_process() -> None:
    token, reader = CancelToken(), DocumentReader()
    token.cancel()
    with pytest.raises(Cancelled):
        reader.text_of(b"<p>x</p>", "a.html", token)
    assert not readers()


def test_dead_reader_is_replaced() -> None:
    reader = DocumentReader()
    assert reader.text_of(b"<p>x</p>", "a.html") == "x\n"
    (process,) = readers()
    process.kill()
    process.join()
    assert reader.text_of(b"<p>y</p>", "a.html") == "y\n"
    assert len(readers()) == 1
    reader.close()
    assert not readers()


def test_reader_that_has_just_died_on_windows_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = DocumentReader()
    assert reader.text_of(b"<p>x</p>", "a.html") == "x\n"
    (process,) = readers()
    process.kill()
    process.join()
    poll = Connection.poll

    def polled(pipe: Connection, timeout: float = 0.0) -> bool:
        if not timeout:
            raise BrokenPipeError
        return poll(pipe, timeout)

    monkeypatch.setattr(Connection, "poll", polled)
    monkeypatch.setattr(type(process), "is_alive", lambda _: True)
    assert reader.text_of(b"<p>y</p>", "a.html") == "y\n"
    reader.close()


def test_reader_that_ends_on_request_is_replaced(monkeypatch: pytest.MonkeyPatch) -> None:
    reader = DocumentReader()
    assert reader.text_of(b"<p>x</p>", "a.html") == "x\n"
    (process,) = readers()
    process.kill()
    process.join()
    monkeypatch.setattr(Worker, "is_alive", lambda worker: True)
    assert reader.text_of(b"<p>y</p>", "a.html") == "y\n"
    reader.close()


@pytest.mark.skipif(sys.platform != "linux", reason="other systems don't limit the memory of a process")
def test_document_needing_too_much_memory_is_reported() -> None:
    reader = DocumentReader(memory=300_000_000)
    with pytest.raises(DocumentError) as caught:
        reader.text_of(b"<p>" + b"x" * 80_000_000, "a.html")
    assert caught.value.rule == "unfinished"
    assert "memory" in caught.value.detail
    assert reader.text_of(b"<p>still</p>", "a.html") == "still\n"
    reader.close()


def test_same_document_is_extracted_once(reader: DocumentReader) -> None:
    text = reader.text_of(b"<p>again</p>", "a.html")
    assert reader.text_of(b"<p>again</p>", "b/other.HTML") is text


# --- where notes are read ---------------------------------------------------------------------------------------------


def test_index_and_viewer_have_the_same_lines(tmp_path: Path) -> None:
    path = tmp_path / "a.odt"
    path.write_bytes(odt('<text:h text:outline-level="1">Plan</text:h><text:p>Words</text:p>'))
    text = read_note(str(path), "a.odt", 10_000_000).text
    with NumberedText.open(path) as lines:
        assert lines.full_text() == text
        assert lines.line(3) == "Words"
        assert lines.size == path.stat().st_size


def test_missing_library_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(documents, "find_spec", lambda name: None)
    (tmp_path / "a.pdf").write_bytes(pdf([["x"]]))
    with pytest.raises(Unreadable) as caught:
        read_note(str(tmp_path / "a.pdf"), "a.pdf", 10_000_000)
    assert caught.value.issue.rule == "missing-reader"
    assert ".[documents]" in caught.value.issue.detail
    with pytest.raises(DocumentError, match="documents"):
        NumberedText.open(tmp_path / "a.pdf")


def test_document_larger_than_the_setting_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.html").write_bytes(b"<p>x</p>" * 100)
    with pytest.raises(Unreadable) as caught:
        read_note(str(tmp_path / "a.html"), "a.html", 100)
    assert caught.value.issue.rule == "too-large"


def test_process_that_cannot_start_condemns_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("multiprocessing.spawn._python_exe", b"/bin/false")
    with pytest.raises(DocumentError) as caught:
        DocumentReader().text_of(b"<p>Otter</p>", "a.html")
    assert caught.value.rule == "no-reader"
