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

_SOFT_HYPHEN = re.compile("(\\w?)[\x02\ufffe](\\w?)")
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
            text.page(number + 1, _pdf_page(document, number, pypdfium2.PdfiumError))
        if len(document) > MOST_PAGES:
            text.paragraph(CUT)


def _pdf_page(document: Any, number: int, error: type[Exception]) -> str:
    """The text of a page, with its number from 0; empty for a damaged one."""
    try:
        with closing(document[number]) as page, closing(page.get_textpage()) as found:
            return _SOFT_HYPHEN.sub(_joined, found.get_text_bounded())
    except error:
        return ""


def _joined(hyphen: re.Match[str]) -> str:
    """The two halves of a word; the hyphen stays before a capital letter and between digits."""
    before, after = hyphen[1], hyphen[2]
    joins = after.islower() or (after.isupper() and before.isupper())
    return before + after if joins else f"{before}-{after}"
