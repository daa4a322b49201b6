"""Extracts the text of EPUB books, which consist of HTML pages; written from EPUB 3.3 and EPUB 2.0.1."""

import posixpath
import re
from collections.abc import Iterator
from contextlib import suppress
from urllib.parse import unquote

from engine.base import skip_reasons
from engine.corpus.documents import DocumentError
from engine.corpus.documents.text_collector import (
    DocumentText,
    damaged,
    encrypted,
)
from engine.corpus.documents.web_pages import HtmlText, decoded
from engine.corpus.documents.xml_archive import Archive, Element, elements, read_dublin_core

_PAGES = ("", "application/xhtml+xml", "text/html", "text/x-oeb1-document", "application/x-dtbook+xml")
"""Media types of chapters; "" if none is named."""


def read_epub(data: bytes, text: DocumentText) -> None:
    """Read a book into `text`, in the order of its spine. Raises `DocumentError`."""
    archive = Archive(data)
    roots = (one for one in elements(archive.part("META-INF/container.xml")) if one.tag == "rootfile")
    main = next(filter(None, (root.attributes.get("full-path", "") for root in roots)), "")
    body = archive.part(main)
    if not body:
        raise damaged(skip_reasons.NO_MAIN_PART)
    read_dublin_core(body, text)
    package, folder = _Package(elements(body)), posixpath.dirname(main)
    chapters = [_resolve_href(folder, href) for href in package.chapters()]
    locked = archive.part("META-INF/encryption.xml").decode("utf-8", "replace")
    if any(chapter and f'"{chapter}"' in unquote(locked) for chapter in chapters):
        raise encrypted()
    labels = _labels(archive, folder, package)
    for chapter in chapters:
        if page := _page(archive.part(chapter)):
            _read_chapter(page, labels.get(chapter, ""), text)


def _page(data: bytes) -> str:
    """The text of a page of a book; "" for data that is not a page."""
    try:
        return decoded(data)
    except DocumentError:
        return ""


def _read_chapter(page: str, label: str, text: DocumentText) -> None:
    """Add a chapter, below its name in the table of contents unless it has a heading."""
    if label and not re.search(r"<h[1-6][\s>]", page, re.IGNORECASE):
        text.heading(1, label)
    HtmlText(text).read(page)


def _labels(archive: Archive, folder: str, package: "_Package") -> dict[str, str]:
    """The name of each chapter in the table of contents: an EPUB 3 navigation document, or an NCX."""
    for href, read in ((package.navigation, _navigation_links), (package.contents, _ncx_links)):
        name = _resolve_href(folder, href) if href else ""
        if part := archive.part(name):
            labels: dict[str, str] = {}
            for address, label in read(part):
                labels.setdefault(_resolve_href(posixpath.dirname(name), address), label)
            return labels
    return {}


def _navigation_links(data: bytes) -> list[tuple[str, str]]:
    page = HtmlText(DocumentText())
    page.read(_page(data))
    return page.links


def _ncx_links(data: bytes) -> list[tuple[str, str]]:
    links, label = list[tuple[str, str]](), ""
    with suppress(DocumentError):
        for tag, attributes, text in elements(data):
            if tag == "content":
                links.append((attributes.get("src", ""), label))
            elif tag in ("navPoint", "text"):
                label = label + "".join(text) if tag == "text" else ""
    return links


def _resolve_href(folder: str, href: str) -> str:
    """The name of a part of the archive; its anchor is left out."""
    return posixpath.normpath(posixpath.join(folder, unquote(href.partition("#")[0])))


class _Package:
    """The parts of a publication and their order."""

    def __init__(self, found: list[Element]) -> None:
        self.navigation = self.contents = ""
        self._parts: dict[str, str] = {}
        self._order: list[str] = []
        for element in found:
            self._read(element.tag, element.attributes)

    def _read(self, tag: str, attributes: dict[str, str]) -> None:
        href = attributes.get("href", "")
        media_type = attributes.get("media-type", "").partition(";")[0].strip().lower()
        if tag == "item":
            if media_type in _PAGES:
                self._parts[attributes.get("id", "")] = href
            if "nav" in attributes.get("properties", "").split():
                self.navigation = href
            if media_type == "application/x-dtbncx+xml":
                self.contents = href
        elif tag == "itemref":
            self._order.append(attributes.get("idref", ""))

    def chapters(self) -> Iterator[str]:
        """The addresses of the chapters in reading order, each once; images and the like are left out."""
        return iter(dict.fromkeys(self._parts[part] for part in self._order if part in self._parts))
