"""Extracts mail: single messages, mailboxes and saved web pages (`.mht`), which all consist of MIME parts.

Written from RFC 5322 (messages), RFC 2045 to 2047 (MIME), RFC 2183 (attachments), RFC 4155 (mailboxes) and RFC 2557
(web pages in MIME). `.emlx`, of Apple Mail, has the number of a message's bytes before it and a property list after it.
"""

import re
from binascii import Error as Base64Error
from collections.abc import Callable, Iterator
from contextlib import suppress
from email import message_from_bytes
from email.errors import HeaderParseError, MessageError
from email.header import decode_header
from email.message import Message
from email.utils import parsedate_to_datetime
from itertools import pairwise

from engine.base import skip_reasons
from engine.base.errors import PARSER_FAULTS
from engine.corpus import encodings
from engine.corpus.documents import DocumentError
from engine.corpus.documents.text_collector import DocumentText, damaged, encrypted, one_line
from engine.corpus.documents.web_pages import HtmlText, codec_of

_SEPARATOR = re.compile(rb"(?:\A|(?<=\n))From [^\n]{0,1000}\n(?=[!-9;-~]{1,200}:)")
"""The line before each message of a mailbox. A paragraph that begins with "From" is not followed by a header."""
_QUOTED = re.compile(rb"^>(>*From )", re.MULTILINE)
_LENGTH = re.compile(rb"\s{0,100}(\d{1,12})[ \t\r]{0,100}\n")
_HEADER = re.compile(rb"(?:>?From [^\n]{0,1000}\n|[!-9;-~]{1,200}:)")
_BLANK_LINES = re.compile(r"\r?\n(?:[ \t\xa0]{0,200}\r?\n){2,}")
"""Several blank lines, which mail programs write for each part of a page that they turn into text."""
_SHOWN = ("From", "To", "Cc", "Date")
_LABELS = ("X-Gmail-Labels", "Keywords")
_LONGEST_HEADER = 20_000
_LONGEST_SHOWN = 1_000
_MAX_LEVELS = 20
"""Levels of parts within parts."""
_ENCRYPTED = ("multipart/encrypted", "application/pkcs7-mime", "application/x-pkcs7-mime")


def read_eml(data: bytes, text: DocumentText) -> None:
    """Read one message, also with the line before it that a mailbox has, or with its length."""
    if length := _LENGTH.match(data):
        data = data[length.end() : length.end() + int(length[1])]
    mail = _parsed(data)
    _Parts(text).read(mail)
    text.title, text.date = _header(mail, "Subject"), _date(mail)
    text.tags += (tag.strip() for name in _LABELS for tag in _header(mail, name).split(","))


def read_mbox(data: bytes, text: DocumentText) -> None:
    """Read the messages of a mailbox, each below its subject."""
    bounds = [match.span() for match in _SEPARATOR.finditer(data)]
    if not bounds:
        raise damaged(skip_reasons.NO_MAIL)
    for (_, start), (end, _) in pairwise((*bounds, (len(data), 0))):
        with suppress(DocumentError, *PARSER_FAULTS):  # an encrypted or damaged message doesn't cost the others
            mail = _parsed(_QUOTED.sub(rb"\1", data[start:end]))
            text.note(_header(mail, "Subject"))
            _Parts(text).read(mail)


def read_mht(data: bytes, text: DocumentText) -> None:
    """Read the page of a web archive; its pictures and styles, which are parts, too, are left out."""
    mail = _parsed(data)
    page = next((part for part in mail.walk() if part.get_content_type() == "text/html"), None)
    if page is None:
        raise damaged(skip_reasons.NO_MAIN_PART)
    reader = HtmlText(text)
    reader.read(_content(page))
    text.title = reader.title or _header(mail, "Subject")
    text.author, text.date = reader.author, _date(mail)


def _parsed(data: bytes) -> Message:
    data = data.lstrip(b"\r\n\xef\xbb\xbf")
    if not _HEADER.match(data):
        raise damaged(skip_reasons.NO_MAIL)
    return message_from_bytes(data)


class _Parts:
    """Adds the parts of a message that are text; attached files are named."""

    def __init__(self, text: DocumentText) -> None:
        self._text = text
        self._attached: list[str] = []

    def read(self, mail: Message, level: int = 0) -> None:
        """Read a message, which may be within another one."""
        shown = [("Subject", _header(mail, "Subject"))] if level else []
        shown += [(name, _date(mail) if name == "Date" else _header(mail, name)) for name in _SHOWN]
        self._text.paragraph("\n".join(f"{name}: {value[:_LONGEST_SHOWN]}" for name, value in shown if value))
        if mail.get_content_type() in _ENCRYPTED and not level:
            raise encrypted()
        self._part(mail, level)
        if not level and self._attached:
            self._text.paragraph("Attachments: " + ", ".join(self._attached))

    def _part(self, part: Message, level: int) -> None:
        if level > _MAX_LEVELS:
            raise damaged(skip_reasons.TOO_DEEP)
        kind = part.get_content_type()
        if kind == "message/rfc822" and part.is_multipart():
            for mail in _subparts(part):
                self.read(mail, level + 1)
        elif part.is_multipart():
            for inner in self._chosen(kind, _subparts(part)):
                self._part(inner, level + 1)
        elif name := self._name(part):
            self._attached.append(name)
        elif kind == "text/html":
            HtmlText(self._text).read(_content(part))
        elif kind == "text/plain":
            self._text.paragraph(_BLANK_LINES.sub("\n\n", _content(part)))

    def _chosen(self, kind: str, parts: list[Message]) -> list[Message]:
        """Return the parts to read: of several forms of the same text the plain one, unless it is empty."""
        if kind == "multipart/related":
            return parts[:1]
        if kind != "multipart/alternative":
            return parts
        plain = next(
            (part for part in parts if part.get_content_type() == "text/plain" and _content(part).strip()), None
        )
        others = [part for part in parts if part.get_content_type() == "text/html" or part.is_multipart()]
        return [plain] if plain is not None else others[-1:]

    def _name(self, part: Message) -> str:
        """Return the name of an attached file; "" for a part that is shown."""
        name = one_line(_decoded(_parameter(part.get_filename)))[:_LONGEST_SHOWN]
        shown = part.get_content_maintype() == "text" and part.get_content_disposition() != "attachment"
        return "" if shown else name


def _subparts(part: Message) -> list[Message]:
    """Return the parts of a part."""
    return [inner for inner in part.get_payload() if isinstance(inner, Message)]


def _content(part: Message) -> str:
    """Return the text of a part in the encoding that it names, else in the one that it seems to have."""
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    label = _parameter(part.get_content_charset)
    with suppress(LookupError, UnicodeError):
        return data.decode(codec_of(label) or "utf-8") if label else data.decode()
    try:
        codec = encodings.detect(lambda: (data,))
    except encodings.Binary:
        return ""
    return "".join(encodings.decoded(lambda: (data,), codec))


def _parameter(read: Callable[[], str | None]) -> str:
    """Return a parameter of a header; "" if there is none, or one that `email` fails on."""
    with suppress(TypeError, ValueError):
        return read() or ""
    return ""


def _header(mail: Message, name: str) -> str:
    """Return a header on one line; "" if there is none."""
    raw = next((value for key, value in mail.raw_items() if key.lower() == name.lower()), "")
    return one_line(_decoded(str(raw)))


def _decoded(header: str) -> str:
    """Return a header's text: its encoded words decoded, and bytes that are not ASCII as UTF-8."""
    header = header[:_LONGEST_HEADER]  # decoding takes quadratic time
    with suppress(UnicodeError):
        header = header.encode("ascii", "surrogateescape").decode("utf-8", "replace")
    if "=?" not in header:
        return header
    try:
        return "".join(_words(header))
    except (HeaderParseError, MessageError, Base64Error, LookupError, UnicodeError, ValueError):
        return header


def _words(header: str) -> Iterator[str]:
    for word, charset in decode_header(header):
        if isinstance(word, str):
            yield word
        else:
            yield word.decode(codec_of(charset) or "utf-8", "replace") if charset else word.decode("raw-unicode-escape")


def _date(mail: Message) -> str:
    """Return the date of a message as `2024-05-12 10:30:00+02:00`; "" if it has none that can be read."""
    try:
        return parsedate_to_datetime(_header(mail, "Date")).isoformat(" ")
    except (TypeError, ValueError, IndexError, OverflowError):
        return ""
