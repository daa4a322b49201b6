"""Mail, Rich Text Format and presentations become text with titles, dates and tags; broken ones end with a reason."""

import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from email.message import EmailMessage

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus import documents
from engine.corpus.documents import DocumentError
from engine.corpus.documents.mail import read_eml, read_mbox, read_mht
from engine.corpus.documents.rtf import read_rtf
from engine.corpus.documents.slides import read_odp, read_pptx
from engine.corpus.documents.text_collector import DocumentText, TextFull
from engine.corpus.note_metadata import read_metadata, tags_of
from tests.helpers.document_files import archive

_MAIN = 'xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main"'
_SLIDES = 'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"'
_RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
_PACKAGE = 'xmlns="http://schemas.openxmlformats.org/package/2006/relationships"'


def text_in(read: Callable[[bytes, DocumentText], None], data: bytes) -> str:
    text = DocumentText()
    with suppress(TextFull):
        read(data, text)
    return text.finish()


def rule_of(read: Callable[[bytes, DocumentText], None], data: bytes) -> str:
    with pytest.raises(DocumentError) as caught:
        text_in(read, data)
    return caught.value.rule


# --- mail -------------------------------------------------------------------------------------------------------------


def mail(subject: str, body: str, *, html: str = "", attached: str = "") -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"] = "Jürgen Ärmel <j@example.org>", "ann@example.org"
    message["Subject"] = subject
    message["Date"] = "Sun, 12 May 2024 10:30:00 +0200"
    message.set_content(body)
    if html:
        message.add_alternative(html, subtype="html")
    if attached:
        message.add_attachment(b"%PDF", maintype="application", subtype="pdf", filename=attached)
    return message


def test_mail_has_subject_date_people_text_and_files() -> None:
    message = mail("Grüße vom Gewächshaus", "Der Schlauch tropft.\n", html="<p>not read</p>", attached="Skizze Ä.pdf")
    message["X-Gmail-Labels"] = "Garden,To do"
    text = text_in(read_eml, bytes(message))
    assert text == (
        "---\ntitle: Grüße vom Gewächshaus\ndate: 2024-05-12 10:30:00+02:00\ntag: Garden\ntag: To do\n---\n\n"
        "From: Jürgen Ärmel <j@example.org>\nTo: ann@example.org\nDate: 2024-05-12 10:30:00+02:00\n\n"
        "Der Schlauch tropft.\n\nAttachments: Skizze Ä.pdf\n"
    )
    about = read_metadata(text, "inbox/4711.eml")
    assert (about.title, about.dates) == ("Grüße vom Gewächshaus", (1715509800.0,))
    assert tags_of(text, about) == ("garden", "to do")


@pytest.mark.parametrize(
    ("head", "body", "expected"),
    [
        ("Content-Type: text/html; charset=utf-8", b"<p>Hose &amp; tap</p>", "Hose & tap"),
        ("Content-Type: text/plain; charset=windows-1252", "Café".encode("cp1252"), "Café"),
        ("Content-Type: text/plain; charset=no-such-thing", "Café".encode(), "Café"),
        ("Content-Type: text/plain", "Grüße aus Zürich und Köln".encode("cp1252"), "Grüße aus Zürich und Köln"),
        ("Content-Transfer-Encoding: base64", b"SG9zZQ==", "Hose"),
        ("Content-Type: text/plain", b"one\n\ntwo\r\n\r\n \r\n\r\nthree", "one\n\ntwo\n\nthree"),
        ("Content-Transfer-Encoding: quoted-printable", b"soft=\nline =E2=82=AC", "softline €"),
    ],
)
def test_mail_body_is_decoded(head: str, body: bytes, expected: str) -> None:
    text = text_in(read_eml, f"Subject: =?iso-8859-1?Q?Caf=E9_?= =?utf-8?B?w6k=?=\n{head}\n\n".encode() + body)
    assert text == f"---\ntitle: Café é\n---\n\n{expected}\n"


def test_forwarded_mail_is_read_within_another_one() -> None:
    outer = mail("Fwd: Pump", "See below.")
    outer.add_attachment(mail("Pump", "The valve leaks."))
    assert text_in(read_eml, bytes(outer)).endswith(
        "See below.\n\nSubject: Pump\nFrom: Jürgen Ärmel <j@example.org>\nTo: ann@example.org\n"
        "Date: 2024-05-12 10:30:00+02:00\n\nThe valve leaks.\n"
    )


def test_mail_of_apple_is_read_without_its_property_list() -> None:
    message = b"Subject: Hose\n\nIt leaks.\n"
    data = b"%d      \n%s<plist><dict><key>flags</key></dict></plist>" % (len(message), message)
    assert text_in(read_eml, data) == "---\ntitle: Hose\n---\n\nIt leaks.\n"


def test_mailbox_has_each_mail_below_its_subject() -> None:
    parts = (
        b"From a@b Mon Jan  1 10:00:00 2024\nSubject: One\n\nFrom here on it rains.\n>From the roof.\n\n",
        b"From - Mon Jan  1 10:00:00 2024\r\nSubject: Two\r\nContent-Type: text/html\r\n\r\n<h1>Plan</h1>Dig.\r\n\r\n",
        b"From a@b\nX-Other: 1\n\nNo subject.\n",
    )
    text = text_in(read_mbox, b"".join(parts))
    assert text == (
        "---\nnotes: 3\n---\n\n# One\n\nFrom here on it rains.\nFrom the roof.\n\n"
        "# Two\n\n## Plan\n\nDig.\n\n# …\n\nNo subject.\n"
    )
    about = read_metadata(text, "Archive 2024.mbox")
    assert about.title == "Archive 2024"
    assert about.structure is not None
    assert about.structure.separate_pages


@pytest.mark.parametrize(
    ("head", "body"),
    [
        ("Content-Type: multipart/encrypted; boundary=b", "--b\n\nsecret\n--b--"),
        ("Content-Type: multipart/mixed; boundary*0=b; boundary*=c", "--b\n\nsecret\n--b--"),
    ],
)
def test_unreadable_mail_is_skipped_in_mailbox(head: str, body: str) -> None:
    mails = ("Subject: One\n\nDig.\n", f"Subject: Two\nFrom: ann@x\n{head}\n\n{body}\n", "Subject: Three\n\nSow.\n")
    text = text_in(read_mbox, "\n".join(f"From a@b\n{one}" for one in mails).encode())
    assert "# One\n\nDig." in text
    assert "# Three\n\nSow." in text
    assert "secret" not in text


@pytest.mark.parametrize(
    "parameter", ["charset=utf\0-8", "name*0=a; name*=b", "name*=utf\0'en'x", "charset*0=a; charset*=b"]
)
def test_damaged_mail_parameter_preserves_text(parameter: str) -> None:
    data = f"Subject: Hose\nContent-Type: text/plain; {parameter}\n\nIt leaks.\n"
    assert text_in(read_eml, data.encode()) == "---\ntitle: Hose\n---\n\nIt leaks.\n"


def test_name_of_an_attached_file_is_cut() -> None:
    head = f'Content-Type: application/pdf; name="{"=?a?q?" * 10_000}"'
    assert len(text_in(read_eml, f"Subject: x\n{head}\n\n".encode())) < 2_000


def test_web_archive_is_read_as_its_page() -> None:
    data = (
        b"From: <Saved by Blink>\nSubject: Other\nDate: Fri, 10 Mar 2006 13:40:00 -0000\nMIME-Version: 1.0\n"
        b'Content-Type: multipart/related; type="text/html"; boundary="b"\n\n--b\nContent-Type: text/html\n'
        b"Content-Transfer-Encoding: quoted-printable\n\n<title>Pond</title><h1>Fish=20care</h1><p>Feed them.</p>\n"
        b"--b\nContent-Type: text/css\n\np { color: red }\n--b--\n"
    )
    assert text_in(read_mht, data) == (
        "---\ntitle: Pond\ndate: 2006-03-10 13:40:00\n---\n\n# Fish care\n\nFeed them.\n"
    )


@pytest.mark.parametrize(
    ("read", "data", "rule"),
    [
        (read_eml, b"", "damaged"),
        (read_eml, b"Once upon a time", "damaged"),
        (read_mbox, b"Once upon a time", "damaged"),
        (read_mht, b"Subject: x\n\ntext", "damaged"),
        (read_eml, b"Subject: x\nContent-Type: multipart/encrypted; boundary=b\n\n--b\n\nx\n--b--", "encrypted"),
        (read_eml, b"X-Nothing: 1\n\n", "no-text"),
    ],
)
def test_mail_without_text_says_why(read, data: bytes, rule: str) -> None:
    assert rule_of(read, data) == rule


def test_deeply_nested_mail_is_refused() -> None:
    head = "".join(f"Content-Type: multipart/mixed; boundary=b{n}\n\n--b{n}\n" for n in range(60))
    assert rule_of(read_eml, f"Subject: x\n{head}\n\ntext".encode()) == "damaged"


@given(
    st.lists(
        st.sampled_from(["From a\n", "Subject: x\n", "\n", ">From b\n", "text\n", "--b\n", "\x00é\n"]), max_size=30
    )
)
def test_any_mailbox_ends_with_text_or_a_reason(lines: Sequence[str]) -> None:
    for read in (read_eml, read_mbox, read_mht):
        with suppress(DocumentError):
            assert text_in(read, "".join(lines).encode()).strip()


# --- RTF --------------------------------------------------------------------------------------------------------------


def rtf(body: str, head: str = "") -> bytes:
    return f"{{\\rtf1\\ansi\\ansicpg1252{head}\n{body}}}".encode("cp1252")


STYLES = r"{\stylesheet{\s0 Normal;}{\s1\sbasedon0 heading 1;}{\s2 Heading 2;}{\*\cs10 Default;}}"


def test_rtf_headings_lists_and_tables_have_a_structure() -> None:
    body = (
        r"{\info{\title The plan}{\author Ann}}\pard\s1 Garden\par\pard Some \b bold\b0\line text\par"
        r"\pard{\listtext\'95\tab}\ls1 one\par{\listtext\'95\tab}two\par\pard\ls1\ilvl1 below\par"
        r"\pard\outlinelevel2 Deep\par\pard\trowd\intbl a\par b\cell c\cell\row"
        r"\trowd\intbl d\cell e\cell\row\pard End\par"
    )
    assert text_in(read_rtf, rtf(body, STYLES)) == (
        "---\ntitle: The plan\nauthor: Ann\n---\n\n# Garden\n\nSome bold\ntext\n\n- one\n- two\n  - below\n\n"
        "### Deep\n\na b | c\nd | e\n\nEnd\n"
    )


def test_rtf_table_in_a_cell_has_rows_of_its_own() -> None:
    end = r"{\*\nesttableprops\trowd\cellx1\nestrow}{\nonesttables\par}"
    body = rf"\intbl\itap2 a\nestcell b\nestcell{end}c\nestcell d\nestcell{end}\intbl\itap1 e\cell\row\pard End\par"
    assert text_in(read_rtf, rtf(body)) == "a | b\nc | d\ne\n\nEnd\n"


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (r"Caf\'e9", "Café"),
        (r"\uc1\u8364?5 and \u-10179?\u-8704? and \uc0\u233 x", "€5 and 😀 and éx"),
        (
            r"{\fonttbl{\f0 A;}{\f1\fcharset204 B;}{\f2\fcharset128 C;}}\f1\'cf\'f0\f0 x{\f2\'93\'fa\'96\'7b}y",
            "Прx日本y",
        ),
        (r"a\emdash b\~c\_d \ldblquote q\rdblquote  \{x\} C:\\y", "a—b\xa0c-d “q” {x} C:\\y"),
        (r"one{\*\unknown secret}{\pict ff00}{\v hidden} two\v  gone\v0  three", "one two three"),
        (r'see {\field{\*\fldinst HYPERLINK "https://x.org"}{\fldrslt this page}}', "see this page"),
        ("one\\\ntwo", "one\n\ntwo"),
        (r"x{\footnote {\super\chftn} A note\par}y\par{\*\atnauthor Ann}{\*\annotation Really?}z", None),
    ],
)
def test_rtf_characters_and_groups_are_read(body: str, expected: str | None) -> None:
    expected = expected or "x[1]y\n\n[1] A note\n\nz\n\nComment by Ann: Really?"
    assert text_in(read_rtf, rtf(body)) == f"{expected}\n"


def test_rtf_binary_data_is_skipped() -> None:
    assert text_in(read_rtf, rtf("one {\\pict\\bin4 }{}}} two")) == "one  two\n"


def test_rtf_margins_follow_the_text_once() -> None:
    body = r"{\header Harbour wall\par}{\headerr Harbour wall}{\footer \chpgn 3}Text\par"
    assert text_in(read_rtf, rtf(body)) == "Text\n\nHeader: Harbour wall\n"


def test_rtf_title_in_unicode_replaces_the_first_one() -> None:
    body = r"{\info{\upr{\title ??}{\*\ud{\title \u26085?\u26412?}}}}Text"
    assert text_in(read_rtf, rtf(body)) == "---\ntitle: 日本\n---\n\nText\n"


@pytest.mark.parametrize(("data", "rule"), [(b"plain", "damaged"), (rtf(""), "no-text"), (rtf("{" * 9_000), "damaged")])
def test_rtf_without_text_says_why(data: bytes, rule: str) -> None:
    assert rule_of(read_rtf, data) == rule


def test_rtf_takes_linear_time() -> None:
    start = time.process_time()
    read_rtf(rtf(r"{\b word} \'e9\par " * 30_000 + "{\\pict " + "f" * 1_000_000), DocumentText())
    assert time.process_time() - start < 10  # quadratic: far more


@given(
    st.lists(st.sampled_from([*"{}", *r"\par \s1 \u8364? \'93 \bin3 \uc9 \v \* \footnote \cell \row x ".split(" ")]))
)
def test_any_rtf_ends_with_text_or_a_reason(tokens: Sequence[str]) -> None:
    with suppress(DocumentError):
        assert text_in(read_rtf, ("{\\rtf1 " + "".join(tokens)).encode()).strip()


# --- presentations ----------------------------------------------------------------------------------------------------


def shape(text: str, kind: str = "", more: str = "") -> str:
    paragraphs = "".join(f"<a:p>{more}<a:r><a:t>{line}</a:t></a:r></a:p>" for line in text.split("|"))
    placeholder = f'<p:nvSpPr><p:nvPr><p:ph type="{kind}"/></p:nvPr></p:nvSpPr>' if kind else ""
    return f"<p:sp>{placeholder}<p:txBody>{paragraphs}</p:txBody></p:sp>"


def relations(*targets: tuple[str, str]) -> str:
    listed = (
        f'<Relationship Id="r{number}" Type="{_RELATIONS}/{kind}" Target="{target}"/>'
        for number, (kind, target) in enumerate(targets, 1)
    )
    return f"<Relationships {_PACKAGE}>{''.join(listed)}</Relationships>"


def pptx(slides: Sequence[str], *, notes: str = "", title: str = "") -> bytes:
    """A presentation whose slides, in reverse order of their files, have these shapes; the first one has the notes."""
    count = len(slides)
    ids = "".join(f'<p:sldId id="{300 + n}" r:id="r{count - n}"/>' for n in range(count))
    core = f'<x xmlns:dc="http://purl.org/dc/elements/1.1/"><dc:title>{title}</dc:title></x>'
    parts = {
        "_rels/.rels": relations(("officeDocument", "ppt/presentation.xml")),
        "docProps/core.xml": core,
        "ppt/presentation.xml": f'<p:presentation {_SLIDES} xmlns:r="{_RELATIONS}"><p:sldIdLst>{ids}</p:sldIdLst>'
        "</p:presentation>",
        "ppt/_rels/presentation.xml.rels": relations(*(("slide", f"slides/s{n}.xml") for n in range(1, count + 1))),
        f"ppt/slides/_rels/s{count}.xml.rels": relations(("notesSlide", "../notesSlides/n.xml")),
        "ppt/notesSlides/n.xml": f"<p:notes {_SLIDES} {_MAIN}>{notes}</p:notes>",
    }
    for number, body in enumerate(slides):
        parts[f"ppt/slides/s{count - number}.xml"] = f"<p:sld {_SLIDES} {_MAIN}>{body}</p:sld>"
    return archive(parts)


def test_slides_have_titles_lists_tables_and_notes() -> None:
    row = "<a:tr><a:tc><a:txBody><a:p><a:r><a:t>{}</a:t></a:r></a:p></a:txBody></a:tc><a:tc/></a:tr>"
    table = f"<a:tbl>{row.format('w')}{row.format('x')}</a:tbl>"
    data = pptx(
        [
            shape("Harbour| wall", "ctrTitle") + shape("3", "sldNum") + shape("by Ann", "subTitle"),
            shape("one|two", "body") + shape("below", "body", '<a:pPr lvl="1"/>') + table + shape("free|box"),
            "",
        ],
        notes=shape("Say hello", "body") + shape("1", "sldNum"),
        title="PowerPoint-Präsentation",
    )
    text = text_in(read_pptx, data)
    assert text == (
        "---\ntitle: Harbour wall\n---\n\n# Slide 1: Harbour wall\n\nby Ann\n\nNotes: Say hello\n\n"
        "# Slide 2\n\n- one\n- two\n\n  - below\n\nw |\nx |\n\nfree\nbox\n"
    ).replace("w |\nx |", "w | \nx | ".replace(" \n", "\n").rstrip())
    assert read_metadata(text, "talk.pptx").title == "Harbour wall"


def test_untitled_slides_give_no_title() -> None:
    text = text_in(read_pptx, pptx([shape("Only text")]))
    assert text == "# Slide 1\n\nOnly text\n"
    assert read_metadata(text, "My talk.pptx").title == "My talk"
    assert documents.read(text, "My talk.pptx").headings[0].title == "Slide 1"


@pytest.mark.parametrize(
    ("read", "data", "rule"),
    [
        (read_pptx, b"\xd0\xcf\x11\xe0" + b"\0" * 600, "encrypted"),
        (read_pptx, archive({"a.txt": "x"}), "damaged"),
        (read_pptx, pptx(["", ""]), "no-text"),
        (read_odp, archive({"a.txt": "x"}), "damaged"),
        (read_odp, b"PK broken", "damaged"),
    ],
)
def test_presentation_without_text_says_why(read, data: bytes, rule: str) -> None:
    assert rule_of(read, data) == rule


def test_damaged_slide_loses_only_its_text() -> None:
    assert text_in(read_pptx, pptx([shape("first"), "<p:sp>"])) == "# Slide 1\n\nfirst\n"


def test_slides_of_opendocument_have_titles_and_notes() -> None:
    spaces = " ".join(
        f'xmlns:{name}="urn:oasis:names:tc:opendocument:xmlns:{name}:1.0"'
        for name in ("office", "draw", "text", "presentation")
    )
    frame = '<draw:frame presentation:class="{}"><draw:text-box>{}</draw:text-box></draw:frame>'
    items = "<text:list><text:list-item><text:p>one</text:p></text:list-item></text:list>"
    page = (
        frame.format("outline", items)
        + frame.format("title", "<text:p>The pond</text:p>")
        + f"<presentation:notes>{frame.format('notes', '<text:p>Slowly</text:p>')}</presentation:notes>"
    )
    body = f"<draw:page>{page}</draw:page><draw:page>{frame.format('', '<text:p>Bye</text:p>')}</draw:page>"
    content = f"<office:document-content {spaces}><office:body><office:presentation>{body}</office:presentation>"
    data = archive({"content.xml": content + "</office:body></office:document-content>"})
    assert text_in(read_odp, data) == (
        "---\ntitle: The pond\n---\n\n# Slide 1: The pond\n\n- one\n\nNotes: Slowly\n\n# Slide 2\n\nBye\n"
    )
