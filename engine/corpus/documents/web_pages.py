"""Extracts the text of HTML pages, written from the HTML Living Standard and the Encoding Standard."""

import codecs
import re
from collections import Counter
from contextlib import suppress
from html.parser import HTMLParser

from engine.base import skip_reasons
from engine.corpus import encodings
from engine.corpus.documents.text_collector import (
    BLANKS,
    LONGEST_TITLE,
    DocumentText,
    damaged,
    list_item,
)

_BLOCK = 64 * 1024
_LONGEST_UNCLOSED = 16 * 1024
_CHARSET = re.compile(rb"<meta[^>]{0,200}?charset\s*=\s*[\"']?\s*([\w.:-]{1,40})", re.IGNORECASE)
_XML_ENCODING = re.compile(rb"\s*<\?xml[^>]{0,200}?encoding\s*=\s*[\"']\s*([\w.:-]{1,40})")
_READ_AS = {
    "ascii": "cp1252",
    "iso8859-1": "cp1252",
    "iso8859-9": "cp1254",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "shift_jis": "cp932",
    "euc_kr": "cp949",
}
"""Encodings that pages declare, with the wider ones that browsers read them as."""
_NOT_HTML_ENCODINGS = ("utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape")
"""Codecs that no page uses, although they leave most of ASCII unchanged."""
_IN_LINE = frozenset(
    "a abbr b bdi bdo big button cite code data del dfn em font i img input ins kbd label mark q s samp small span"
    " strike strong sub sup time tt u var wbr ruby rb rt rtc rp".split()
)
"""Elements within a paragraph; all others begin and end one."""
_HTML_SKIPPED = frozenset("script style template noscript svg math rp rt select textarea".split())
_REPLACED = frozenset("audio canvas iframe video".split())
"""Elements whose content browsers show only if they can't show the element."""
_ALWAYS_SHOWN = frozenset("html head body".split())
_NOT_DISPLAYED = re.compile(r"(?:^|;)\s*display\s*:\s*none", re.IGNORECASE)
_ENDS_P = frozenset(
    "address article aside blockquote body center dd details dialog dir div dl dt fieldset figcaption figure footer"
    " form h1 h2 h3 h4 h5 h6 header hgroup hr html li main menu nav ol p pre search section summary table td th tr"
    " ul".split()
)
"""Elements that can't be within a paragraph: their tags end it."""
_RUBY = ("rb", "rt", "rtc", "rp")
"""Parts of ruby annotations; each one ends the previous one."""
_LISTS = ("ul", "ol", "menu", "dir")
_HEADINGS = ("h1", "h2", "h3", "h4", "h5", "h6")


def read_html(data: bytes, text: DocumentText) -> None:
    """Read an HTML file into `text`, with its title and author."""
    page = HtmlText(text)
    page.read(decoded(data))
    text.title, text.author = page.title, page.author


def decoded(data: bytes) -> str:
    """The text of a page in the encoding that it declares, else in the one that it seems to have."""
    if data.startswith(codecs.BOM_UTF8):
        return data.decode("utf-8-sig", "replace")
    declared = _CHARSET.search(data[:4096]) or _XML_ENCODING.match(data[:4096])
    with suppress(LookupError, UnicodeError):
        if declared and not encodings.wide_encoding(data) and (codec := codec_of(declared[1].decode("ascii"))):
            return data.decode(codec)
    try:
        codec = encodings.detect(lambda: (data,))
    except encodings.Binary:
        raise damaged(skip_reasons.NO_PAGE) from None
    return "".join(encodings.decoded(lambda: (data,), codec))


def codec_of(label: str) -> str:
    """The codec of a declared encoding; "" if no page can declare it. Raises `LookupError`, `UnicodeError`."""
    if "\0" in label:  # `codecs` raises a plain `ValueError`
        raise LookupError(label)
    name = codecs.lookup(label).name
    if name.replace("_", "-") in _NOT_HTML_ENCODINGS or b"<meta>".decode(name) != "<meta>":  # as in UTF-16 or EBCDIC
        return ""
    return _READ_AS.get(name, name)


class _Tolerant(HTMLParser):
    """Reads unusual markup like browsers.

    A section with an unknown keyword, such as `<![note[ … ]]>`, is a comment; `</script x>` ends a script.
    """

    def set_cdata_mode(self, elem: str, **options: bool) -> None:
        super().set_cdata_mode(elem, **options)
        if not options:  # newer versions of Python, which have some, end a script as browsers do
            self.interesting = re.compile(rf"</{elem}(?=[\s/>])", re.IGNORECASE)

    def parse_endtag(self, i: int) -> int:
        end = self.rawdata.find(">", i) + 1
        if self.cdata_elem is None or not end or not self.interesting.match(self.rawdata, i):
            return super().parse_endtag(i)
        self.handle_endtag(self.cdata_elem)
        self.clear_cdata_mode()
        return end

    def parse_marked_section(self, i: int, report: bool = True) -> int:
        try:
            return super().parse_marked_section(i, report)
        except AssertionError:
            return self.parse_bogus_comment(i, report)


class HtmlText(_Tolerant):
    """Puts together the paragraphs of a page; tags may be missing, wrong or unclosed."""

    def __init__(self, text: DocumentText) -> None:
        super().__init__()
        self._text = text
        self.title = self.author = ""
        self.links: list[tuple[str, str]] = []
        """Addresses of all links with their words."""
        self._page = ""
        self._unclosed: _UnclosedElements | None = None
        self._parts: list[str] = []
        self._lines: list[str] = []
        """Consecutive items of lists and rows of tables."""
        self._skipped = ""
        self._levels = 0
        self._in_title = self._in_row = self._in_heading = False
        self._row_is_whole = False
        """Whether no paragraph of the open row has ended."""
        self._code = 0
        self._in_sup = self._in_note = False
        self._link = -1
        """Index in the parts at which the open link to an anchor begins; -1 for none."""
        self._lists = 0
        """Number of open lists, which are inside of each other."""
        self._item = -1
        """Level of a list's item that has begun, from 0; -1 for none."""

    def read(self, page: str) -> None:
        self._page = page
        _feed(self, page)
        self._break()
        self._flush()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self._end_unclosed(tag)
        if self._skipped:
            self._levels += tag == self._skipped
        elif self._hides(tag, dict(attributes)):
            self._skipped, self._levels = tag, 1
        elif tag == "title":
            self._in_title = True
        elif tag == "br":
            self._parts.append("\n")
        elif tag in ("td", "th"):
            if any(map(str.strip, self._parts)):
                self._parts.append(" | ")
        elif tag == "a":
            self._begin_link(dict(attributes))
        elif tag == "sup":
            self._in_sup = True
            self._in_note = self._in_note or self._link == len(self._parts)
        elif tag == "meta":
            about = dict(attributes)
            is_author = (about.get("name") or "").lower() == "author"
            self.author = self.author or (is_author and about.get("content")) or ""
        elif self._in_row and (tag == "p" or "selected-value" in (dict(attributes).get("class") or "")):
            self._parts.append(" ")  # nothing else separates paragraphs of a cell, and values in exports of Notion
        elif tag not in _IN_LINE:
            self._begin_block(tag)

    def _begin_block(self, tag: str) -> None:
        self._in_heading = self._in_heading and tag not in _HEADINGS
        self._end_block(tag)
        self._in_heading = self._in_heading or tag in _HEADINGS
        self._in_row = self._in_row or tag == "tr"
        self._row_is_whole = self._row_is_whole or tag == "tr"
        self._code += tag == "pre"
        self._lists += tag in _LISTS
        self._item = max(self._lists - 1, 0) if tag == "li" else self._item

    def handle_startendtag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        if tag == "title" or self._hides(tag, dict(attributes)):
            return  # an empty element of XHTML, which nothing closes
        self.handle_starttag(tag, attributes)

    def handle_endtag(self, tag: str) -> None:
        if tag != self._skipped:
            self._end_unclosed(tag)
        if self._skipped:
            self._levels -= tag == self._skipped
            self._skipped = self._skipped if self._levels else ""
        elif tag == "title":
            self._in_title = False
        elif tag == "a":
            self._end_link()
        elif tag == "sup":
            self._in_sup = False
        elif tag in _HEADINGS:
            self._flush()
            self._text.heading(int(tag[1]), "".join(self._parts))
            self._parts, self._item, self._in_heading, self._link = [], -1, False, -1
        elif tag not in _IN_LINE and tag not in ("td", "th", "br") and not (self._in_row and tag == "p"):
            self._end_block(tag)
            self._item = -1 if tag == "li" or tag in _LISTS else self._item
            self._lists -= tag in _LISTS and self._lists > 0
            self._in_row = self._in_row and tag not in ("tr", "table")
            self._code -= tag == "pre" and self._code > 0

    def handle_data(self, data: str) -> None:
        if self._in_title:
            self.title += data[: LONGEST_TITLE * 2]
        elif not self._skipped:
            self._parts.append(data if self._code else BLANKS.sub(" ", data))
            if self.links:
                self.links[-1] = (self.links[-1][0], (self.links[-1][1] + data)[:LONGEST_TITLE])

    def _end_unclosed(self, tag: str) -> None:
        """End a skipped element that nothing closes at a tag that can't be within it."""
        block = tag not in _IN_LINE
        if (
            (self._skipped in _RUBY and (block or tag in _RUBY or tag == "ruby"))
            or (self._skipped == "p" and tag in _ENDS_P)
            or (self._skipped == "noscript" and block and tag != "br" and not self._is_closed("noscript"))
        ):
            self._skipped = ""

    def _hides(self, tag: str, attributes: dict[str, str | None]) -> bool:
        """Whether browsers don't show the content of an element; it is shown if its end is missing."""
        if tag in _HTML_SKIPPED:
            return True
        hidden = (
            ("hidden" in attributes and attributes["hidden"] != "until-found")
            or (tag == "dialog" and "open" not in attributes)
            or tag in _REPLACED
            or _NOT_DISPLAYED.search(attributes.get("style") or "")
        )
        return bool(hidden) and tag not in _ALWAYS_SHOWN and self._is_closed(tag)

    def _is_closed(self, tag: str) -> bool:
        """Whether the page closes these elements as often as it opens them."""
        if self._unclosed is None:
            self._unclosed = _UnclosedElements()
            _feed(self._unclosed, self._page)
        return self._unclosed.counts[tag] <= 0

    def _begin_link(self, attributes: dict[str, str | None]) -> None:
        address = attributes.get("href") or ""
        self.links.append((address, ""))
        self._link = len(self._parts) if "#" in address else -1
        self._in_note = self._in_sup or "noteref" in f"{attributes.get('role')} {attributes.get('epub:type')}"

    def _end_link(self) -> None:
        """Put the number of a footnote in brackets: it would become part of the word before. Headings have none."""
        if self._in_note and self._link >= 0 and (number := "".join(self._parts[self._link :]).strip()).isalnum():
            self._parts[self._link :] = [] if self._in_heading else [f"[{number}]"]
        self._link = -1

    def _end_block(self, tag: str) -> None:
        """End the current paragraph; a heading continues, unless it is longer than a title."""
        if self._in_heading and sum(map(len, self._parts)) < LONGEST_TITLE:
            self._parts.append(" ")
        else:
            self._in_heading = False
            self._break(tag)

    def _break(self, tag: str = "") -> None:
        """End the current paragraph, at the beginning or end of an element with this tag."""
        text = "".join(self._parts)
        self._parts, self._link, self._in_sup = [], -1, False
        if not text.strip():
            return
        if not self._code:
            text = "\n".join(BLANKS.sub(" ", line).strip() for line in text.split("\n"))
        if self._item >= 0 or (tag == "tr" and self._row_is_whole):
            self._lines.append(list_item(self._item, text) if self._item >= 0 else text)
        else:
            self._flush()
            self._text.paragraph(text)
        self._item, self._row_is_whole = -1, False

    def _flush(self) -> None:
        lines, self._lines = self._lines, []
        if lines:
            self._text.paragraph("\n".join(lines))


class _UnclosedElements(_Tolerant):
    """Counts the elements of a page that are opened and not closed, by their tags."""

    def __init__(self) -> None:
        super().__init__()
        self.counts = Counter[str]()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.counts[tag] += 1

    def handle_endtag(self, tag: str) -> None:
        self.counts[tag] -= 1


def _feed(parser: HTMLParser, page: str) -> None:
    at = 0
    while at < len(page):
        size = max(_BLOCK, len(parser.rawdata))  # an unclosed tag is read again with each block
        parser.feed(page[at : at + size])
        at += size
    if parser.rawdata.startswith("<") and len(parser.rawdata) > _LONGEST_UNCLOSED:
        parser.rawdata = ""  # an unclosed tag or comment extends to the end, and each "<" in it would read all of it
    parser.close()
