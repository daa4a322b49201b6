"""Makes small documents from the specifications of their formats; nothing is copied from a program.

PDF 1.7 (ISO 32000-1:2008), Office Open XML (ECMA-376, 5th edition), OpenDocument 1.3 and EPUB 3.3.
"""

import zipfile
from collections.abc import Mapping, Sequence
from io import BytesIO

_WORD = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
_OFFICE_TYPE = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
_ODF = (
    'xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" '
    'xmlns:text="urn:oasis:names:tc:opendocument:xmlns:text:1.0" '
    'xmlns:style="urn:oasis:names:tc:opendocument:xmlns:style:1.0" '
    'xmlns:draw="urn:oasis:names:tc:opendocument:xmlns:drawing:1.0" '
    'xmlns:svg="urn:oasis:names:tc:opendocument:xmlns:svg-compatible:1.0" '
    'xmlns:table="urn:oasis:names:tc:opendocument:xmlns:table:1.0" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/"'
)
_DUBLIN_CORE = (
    '<cp:coreProperties xmlns:cp="http://schemas.openxmlformats.org/package/2006/metadata/core-properties" '
    'xmlns:dc="http://purl.org/dc/elements/1.1/">{}</cp:coreProperties>'
)


def pdf(
    pages: Sequence[Sequence[str | tuple[int, int, str]]],
    *,
    title: str = "",
    encrypted: bool = False,
    written: Sequence[str] = (),
    annotated: Sequence[str] = (),
) -> bytes:
    """A PDF whose pages have these lines, in the standard font Helvetica; page objects follow the font.

    A line may have its place before it, in points from the left and the bottom.

    `written` is on the first page: the first in a field of a form, the others are remarks (12.5.6.6 and 12.7.5.3).
    `annotated`: the entries of other annotations of the first page, without their place, which is its first lines.
    """
    objects = [b"<< /Type /Catalog /Pages 2 0 R >>", b"", b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"]
    kids = []
    for lines in pages:
        text_lines = b"\n".join(
            b"(%s) Tj T*" % _escaped(line)
            if isinstance(line, str)
            else b"1 0 0 1 %d %d Tm (%s) Tj" % (*line[:2], _escaped(line[2]))
            for line in lines
        )
        content = b"BT /F1 12 Tf 14 TL 72 720 Td\n" + text_lines + b"\nET"
        objects.append(b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content))
        objects.append(
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F1 3 0 R >> >> >>" % len(objects)
        )
        kids.append(b"%d 0 R" % len(objects))
    for index, remark in enumerate(written):
        content = b"BT /F1 12 Tf 2 4 Td (%s) Tj ET" % _escaped(remark)
        objects.append(
            b"<< /Type /XObject /Subtype /Form /BBox [0 0 200 20] /Resources << /Font << /F1 3 0 R >> >> "
            b"/Length %d >>\nstream\n%s\nendstream" % (len(content), content)
        )
        kind = b"/FreeText" if index else b"/Widget /FT /Tx /T (name)"
        bottom = 600 - 40 * index
        objects.append(
            b"<< /Type /Annot /Subtype %s /F 4 /Rect [72 %d 272 %d] /AP << /N %d 0 R >> >>"
            % (kind, bottom, bottom + 20, len(objects))
        )
    annotations = b" ".join(b"%d 0 R" % (len(objects) - 2 * index) for index in reversed(range(len(written))))
    for entries in annotated:
        objects.append(b"<< /Type /Annot /Rect [70 690 400 735] %s >>" % entries.encode("latin-1"))
        annotations += b" %d 0 R" % len(objects)
    if annotations:
        objects[4] = objects[4].replace(b"/Contents", b"/Annots [%s] /Contents" % annotations)
    objects[1] = b"<< /Type /Pages /Count %d /Kids [%s] >>" % (len(kids), b" ".join(kids))
    objects.append(b"<< /Title (%s) >>" % _escaped(title))
    trailer = b"/Size %d /Root 1 0 R /Info %d 0 R" % (len(objects) + 1, len(objects))
    if encrypted:
        objects.append(b"<< /Filter /Standard /V 1 /R 2 /P -44 /O <" + b"28" * 32 + b"> /U <" + b"41" * 32 + b"> >>")
        identifier = b"<" + b"00" * 16 + b">"
        trailer = trailer.replace(b"/Size %d" % len(objects), b"/Size %d" % (len(objects) + 1))
        trailer += b" /Encrypt %d 0 R /ID [%s %s]" % (len(objects), identifier, identifier)
    return _pdf_file(objects, trailer)


def _pdf_file(objects: Sequence[bytes], trailer: bytes) -> bytes:
    file, offsets = bytearray(b"%PDF-1.7\n"), []
    for number, body in enumerate(objects, 1):
        offsets.append(len(file))
        file += b"%d 0 obj\n%s\nendobj\n" % (number, body)
    start = len(file)
    file += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    file += b"".join(b"%010d 00000 n \n" % offset for offset in offsets)
    file += b"trailer\n<< %s >>\nstartxref\n%d\n%%%%EOF\n" % (trailer, start)
    return bytes(file)


def _escaped(text: str) -> bytes:
    return text.replace("\\", "\\\\").replace("(", "\\(").replace(")", "\\)").encode("latin-1")


def archive(parts: Mapping[str, str | bytes]) -> bytes:
    """A zip archive of these parts."""
    made = BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in parts.items():
            file.writestr(name, content)
    return made.getvalue()


def docx(body: str, *, title: str = "", more: Mapping[str, str] | None = None) -> bytes:
    """A Word document with this content of `w:body`; the style `H1` is a heading of level 1, `H2` of level 2."""
    styles = "".join(
        f'<w:style w:type="paragraph" w:styleId="H{level}"><w:name w:val="heading {level}"/></w:style>'
        for level in (1, 2)
    )
    parts = {
        "_rels/.rels": '<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">'
        f'<Relationship Id="r1" Type="{_OFFICE_TYPE}" Target="word/document.xml"/></Relationships>',
        "word/document.xml": f"<w:document {_WORD}><w:body>{body}</w:body></w:document>",
        "word/styles.xml": f"<w:styles {_WORD}>{styles}</w:styles>",
    }
    if title:
        parts["docProps/core.xml"] = _DUBLIN_CORE.format(
            f"<dc:title>{title}</dc:title><dc:creator>A. Author</dc:creator>"
        )
    return archive({**parts, **(more or {})})


def word_margins(**contents: str) -> dict[str, str]:
    """The parts of a Word document with these headers and footers, by the names of their parts."""
    elements = {name: "w:hdr" if name.startswith("header") else "w:ftr" for name in contents}
    kind = _OFFICE_TYPE.removesuffix("officeDocument")
    relations = "".join(
        f'<Relationship Id="m{name}" Type="{kind}{name.rstrip("0123456789")}" Target="{name}.xml"/>'
        for name in contents
    )
    return {
        "word/_rels/document.xml.rels": "<Relationships "
        f'xmlns="http://schemas.openxmlformats.org/package/2006/relationships">{relations}</Relationships>',
        **{
            f"word/{name}.xml": f"<{elements[name]} {_WORD}>{body}</{elements[name]}>"
            for name, body in contents.items()
        },
    }


def word_paragraph(text: str, properties: str = "") -> str:
    return f"<w:p><w:pPr>{properties}</w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"


def odt(body: str, *, title: str = "", manifest: str = "", styles: str = "", master: str = "") -> bytes:
    """An OpenDocument text with this content of `office:text`, these automatic styles and this of `master-page`."""
    content = (
        f"<office:document-content {_ODF}><office:automatic-styles>{styles}</office:automatic-styles><office:body>"
        f"<office:text>{body}</office:text></office:body>"
    )
    return archive(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": content + "</office:document-content>",
            "styles.xml": f"<office:document-styles {_ODF}><office:styles/><office:master-styles>"
            f"<style:master-page>{master}</style:master-page></office:master-styles></office:document-styles>",
            "meta.xml": f"<office:document-meta {_ODF}><office:meta><dc:title>{title}</dc:title></office:meta>"
            "</office:document-meta>",
            "META-INF/manifest.xml": f"<manifest>{manifest}</manifest>",
        }
    )


def epub(chapters: Mapping[str, str], *, title: str = "A book", more: Mapping[str, str] | None = None) -> bytes:
    """A book whose chapters have these bodies, by the names that its navigation document gives them."""
    names = [f"c{number}.xhtml" for number in range(1, len(chapters) + 1)]
    items = "".join(f'<item id="i{name}" href="{name}" media-type="application/xhtml+xml"/>' for name in names)
    links = "".join(f'<li><a href="{name}">{label}</a></li>' for name, label in zip(names, chapters, strict=True))
    spine = "".join(f'<itemref idref="i{name}"/>' for name in names)
    parts = {
        "mimetype": "application/epub+zip",
        "META-INF/container.xml": '<container xmlns="urn:oasis:names:tc:opendocument:xmlns:container"><rootfiles>'
        '<rootfile full-path="OPS/book.opf"/></rootfiles></container>',
        "OPS/book.opf": '<package xmlns="http://www.idpf.org/2007/opf" xmlns:dc="http://purl.org/dc/elements/1.1/">'
        f"<metadata><dc:title>{title}</dc:title></metadata><manifest>"
        f'<item id="nav" href="nav.xhtml" properties="nav"/>{items}</manifest><spine>{spine}</spine></package>',
        "OPS/nav.xhtml": f"<html><body><nav><ol>{links}</ol></nav></body></html>",
    }
    pages = {
        f"OPS/{name}": f'<?xml version="1.0"?><html><head><title/></head><body>{body}</body></html>'
        for name, body in zip(names, chapters.values(), strict=True)
    }
    return archive({**parts, **pages, **(more or {})})
