"""Extracts the text of a PDF (2.0, ISO 32000-2:2020) by page, with pdfium.

Of three libraries it was the fastest on six manuals of 17 to 146 pages: 0.5 s for 145 pages; pypdf took 9 s and lost
spaces between words, pdfminer.six 20 s.
"""

import re
from contextlib import closing
from typing import Any

from engine.base import skip_reasons
from engine.corpus.documents.text_collector import CUT, DocumentText, damaged, encrypted

MOST_PAGES = 20_000

_SOFT_HYPHEN = re.compile("(\\w?)[\x02\ufffe](\\w{0,2})")
"""A hyphen at the end of a line, which pdfium joins with the next one."""


def read_pdf(data: bytes, text: DocumentText) -> None:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(data)
    except pypdfium2.PdfiumError as error:
        locked = error.err_code in (pypdfium2.raw.FPDF_ERR_PASSWORD, pypdfium2.raw.FPDF_ERR_SECURITY)
        raise (encrypted() if locked else damaged(skip_reasons.NO_PDF)) from None
    with closing(document):
        text.title, text.author = (document.get_metadata_value(key) for key in ("Title", "Author"))
        for number in range(min(len(document), MOST_PAGES)):
            text.page(number + 1, _pdf_page(document, number, pypdfium2))
        if len(document) > MOST_PAGES:
            text.paragraph(CUT)


def _pdf_page(document: Any, number: int, pdfium: Any) -> str:
    """The text of a page, with its number from 0; empty for a damaged one."""
    try:
        with closing(document[number]) as page:
            if not _has_filled_fields(page, pdfium.raw):
                return _text_of(page)
            pdfium.raw.FPDFPage_Flatten(page, pdfium.raw.FLAT_NORMALDISPLAY)  # in memory
        with closing(document[number]) as page:
            return _text_of(page)
    except pdfium.PdfiumError:
        return ""


def _text_of(page: Any) -> str:
    with closing(page.get_textpage()) as found:
        return _SOFT_HYPHEN.sub(_joined, found.get_text_bounded())


def _has_filled_fields(page: Any, raw: Any) -> bool:
    """Whether the page has fields of a form or text that was written on it, which pdfium reads once they are flat."""
    for index in range(raw.FPDFPage_GetAnnotCount(page)):
        annotation = raw.FPDFPage_GetAnnot(page, index)
        kind = raw.FPDFAnnot_GetSubtype(annotation)
        raw.FPDFPage_CloseAnnot(annotation)
        if kind in (raw.FPDF_ANNOT_WIDGET, raw.FPDF_ANNOT_FREETEXT):
            return True
    return False


def _joined(hyphen: re.Match[str]) -> str:
    """The two halves of a word; the hyphen stays before a capital letter that begins a word, and between digits."""
    before, after = hyphen[1], hyphen[2]
    joins = after[:1].islower() or (len(after) > 1 and after.isupper() and before.isupper())
    return before + after if joins else f"{before}-{after}"
