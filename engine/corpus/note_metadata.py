"""Reads a note's metadata: title, aliases, date and tags."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping

import msgspec

from engine.base import lazy_pattern, skip_reasons
from engine.base.index_rule_versions import TAGS_VERSION
from engine.corpus import documents, front_matter, markdown_line_types
from engine.corpus.front_matter import FrontMatter
from engine.corpus.note_structure import Structure
from engine.text.folding import fold

HEAD_CHARACTERS = 64 * 1024
"""Number of characters in which a title is searched."""
_MAX_ALIASES = 100
_TEXT_FORMATS = (".tex", ".typ", ".fountain", ".srt", ".vtt", ".tid")
_ZIM = "Content-Type: text/x-zim-wiki"
"""Beginning of a note of Zim."""
_COMMENTS = (("<!--", "-->"), ("%%", "%%"), ("{/*", "*/}"))
"""Beginnings and ends of comments: of HTML, Obsidian and MDX."""
_MODULE = lazy_pattern(r"(?:import|export)[ \t{*]")


class DocumentInfo(msgspec.Struct, frozen=True):
    title: str
    aliases: tuple[str, ...]
    """Other names of the note, as in Obsidian."""
    dates: tuple[float, ...]
    """The dates in the front matter, ascending, in seconds since the epoch."""
    evergreen: bool
    """Whether the front matter says that the note doesn't age."""
    front: FrontMatter | None
    structure: Structure | None = None
    """Structure of a note in another format than Markdown."""
    exported: Mapping[str, str] = {}
    """Properties that Joplin or Notion wrote into the text of a note, by key as in front matter."""


def read_metadata(text: str, name: str) -> DocumentInfo:
    """Return the metadata of the note with this name (its path relative to its folder, with slashes).

    Its title is that of the front matter, else a level 1 heading at the beginning of the text, else the file name. The
    title of a journal page of Logseq is its date; the date as Logseq writes it is an alias. A page in a namespace of
    Logseq, such as `a___b.md`, is never named by a heading.
    """
    # A search needs only the structure of notes, and these modules take longer to import than it runs.
    from engine.corpus.link_parsing import journal_names
    from engine.corpus.note_dates import dates_in_front_matter, is_evergreen

    structure = structure_of(text, name)
    if structure is not None:
        values = structure.properties
        day = journal_names(name)
        # In an Org graph of Logseq, each block of a journal page is a heading.
        title = structure.title if day is None or values.get("title") else day[0]
        return DocumentInfo(
            title=title or _file_title(name),
            aliases=_aliases((*structure.aliases, *(day[1:] if day else ()))),
            dates=dates_in_front_matter(values),
            evergreen=is_evergreen(values),
            front=None,
            structure=structure,
        )
    front = front_matter.read(text)
    if front is None and name.lower().endswith(".canvas"):
        return DocumentInfo(_file_title(name), (), (), False, None)  # its first heading is that of a card
    day = journal_names(name)
    file_title, more = (day[0], (day[1],)) if day else (_file_title(name), ())
    in_namespace = _NAMESPACE in name.rpartition("/")[2]
    modules = name.lower().endswith(".mdx")
    heading = "" if in_namespace else _leading_heading(text, front.length if front else 0, modules=modules)
    if front is None:
        if not heading and _ID.fullmatch(file_title):
            # Joplin exports the title as the first line of a note that is named by an id (format "RAW").
            first_line = text[:_LINE].strip().partition("\n")[0]
            file_title = markdown_line_types.plain_title(first_line) or file_title
        values = _exported_properties(text, name)
        return DocumentInfo(heading or file_title, more, dates_in_front_matter(values), False, None, exported=values)
    title = markdown_line_types.plain_title(front.scalar("title")) or heading or file_title
    values = front.scalars()
    return DocumentInfo(
        title=title,
        aliases=_aliases((*front_matter.listed(front, "aliases", "alias"), *more)),
        dates=dates_in_front_matter(values),
        evergreen=is_evergreen(values),
        front=front,
    )


def note_title(text: str, name: str) -> str:
    """Return the title of the note with this name, from the beginning of its `text`."""
    return read_metadata(text, name).title


def structure_of(text: str, name: str) -> Structure | None:
    """Return the structure of a note in another format, known by its name; None for Markdown and plain text."""
    ending = name[name.rfind(".") :].lower()
    if ending == ".org":
        from engine.corpus import org_mode

        return org_mode.read(text)
    if ending in (".rst", ".rest"):
        from engine.corpus import restructuredtext

        return restructuredtext.read(text)
    if ending in (".adoc", ".asciidoc", ".asc"):
        from engine.corpus import asciidoc

        return asciidoc.read(text)
    if documents.is_document(name):
        return documents.read(text, name)
    if ending in _TEXT_FORMATS or (ending == ".txt" and text.startswith(_ZIM)):
        from engine.corpus import text_formats

        return text_formats.read(text, ending)
    return None


def markdown_of(text: str, name: str) -> Iterator[str] | None:
    """Yield a note in another format as lines of Markdown; None for Markdown, plain text and documents.

    The first step reads the structure of the whole note; each of the others writes one block. The headings are those
    of `structure_of`, in the same order, after its title if that is separate.
    """
    ending = name[name.rfind(".") :].lower()
    if ending == ".org":
        from engine.corpus import org_mode

        return org_mode.markdown(text)
    if ending in (".rst", ".rest"):
        from engine.corpus import restructuredtext_page

        return restructuredtext_page.markdown(text)
    if ending in (".adoc", ".asciidoc", ".asc"):
        from engine.corpus import asciidoc_page

        return asciidoc_page.markdown(text)
    return None


def _aliases(aliases: Iterable[str]) -> tuple[str, ...]:
    plain = (markdown_line_types.plain_title(alias) for alias in aliases)
    return tuple(dict.fromkeys(alias for alias in plain if alias))[:_MAX_ALIASES]


def _exported_properties(text: str, name: str) -> dict[str, str]:
    """Return the properties that Joplin writes below a note, and Notion below the title of a page of a database.

    Both have the page's id in the file name. Keys are written as those of front matter.
    """
    stem = name.rpartition("/")[2].rpartition(".")[0]
    if _ID.fullmatch(stem):
        return split_joplin(text)[1]
    if not _EXPORTED_ID.fullmatch(stem):
        return {}
    block = text[:HEAD_CHARACTERS].replace("\r", "").partition("\n\n")[2].partition("\n\n")[0]
    lines = (line.partition(": ") for line in block.split("\n"))
    return {key.lower().replace(" ", "_"): value for key, colon, value in lines if colon}


def joplin_issue(text: str, name: str) -> tuple[str, str] | None:
    """Return rule and reason of a file of Joplin that isn't a readable note; None for all others."""
    fields = _exported_properties(text, name)
    if "type_" not in fields:  # a page of Notion may have a "Deleted time", too
        return None
    if fields.get("encryption_applied") == "1":
        return "encrypted", skip_reasons.ENCRYPTED.message()
    if fields.get("deleted_time", "0") != "0":
        return documents.NOT_NOTES, skip_reasons.IN_TRASH.message()
    if fields["type_"] != "1":
        return documents.NOT_NOTES, skip_reasons.NOT_A_NOTE.message()
    return None


def split_joplin(entry: str) -> tuple[str, dict[str, str]]:
    """Split a file of Joplin's format RAW into its text, title first, and the fields at its end; {} for other files."""
    tail = entry[-_LONGEST_FIELDS:]
    match = _FIELDS.search(tail)
    if match is None:
        return entry, {}
    return entry[: len(entry) - len(tail) + match.start()], dict(_FIELD.findall(match[1]))


def _leading_heading(text: str, front: int, *, modules: bool) -> str:
    """Return the title of a level 1 heading at the beginning of a text, after comments and `front` lines; else "".

    `modules`: also after the imports and exports of MDX.
    """
    lines = text[:HEAD_CHARACTERS].lstrip("\ufeff").split("\n")
    at = _first_text(lines, front, modules=modules)
    first, second, third = (*lines[at : at + 3], "", "", "")[:3]
    if heading := markdown_line_types.atx_heading(first):
        return heading[1] if heading[0] == 1 else ""
    if markdown_line_types.underline_mark(first, second) == "=":
        return markdown_line_types.plain_title(first)
    overlined = markdown_line_types.is_overline(first) and first.rstrip() == third.rstrip()
    return (
        markdown_line_types.plain_title(second)
        if overlined and markdown_line_types.underline_mark(second, third)
        else ""
    )


def _first_text(lines: list[str], at: int, *, modules: bool) -> int:
    """Return the number of the first line, from `at` on, that is neither blank nor part of a comment or module."""
    while at < len(lines):
        line = lines[at].strip()
        if end := next((end for begin, end in _COMMENTS if line.startswith(begin)), ""):
            below = lines[at].partition(line[:2])[2]
            while at < len(lines) and end not in below:
                at += 1
                below = lines[at] if at < len(lines) else ""
            if at == len(lines) or below.rpartition(end)[2].strip():
                return at
        elif modules and _MODULE.match(lines[at]):
            while at < len(lines) and lines[at].strip():
                at += 1
        elif line:
            return at
        at += 1
    return at


_BUNDLE = lazy_pattern(r"(?:.*/)?([^/]+)\.(?:textbundle/text\.[^/]+|rtfd/TXT\.rtf)", re.IGNORECASE)
"""Matches the note in a TextBundle (textbundle.org), as Bear exports notes, or in an RTFD; its folder has the name."""
_EXPORTED_ID = lazy_pattern(r"(.*\S) [0-9a-f]{32}")
"""Matches the name that Notion gives to the file of an exported page."""
_ID = lazy_pattern(r"[0-9a-f]{32}")
_FIELDS = lazy_pattern(r"(?:\A|\n\n)((?:[a-z_]{1,40}:[^\n]*\n)*id: ?[0-9a-f]{32}(?:\n[a-z_]{1,40}:[^\n]*)*)\s*\Z")
"""The fields at the end of a file of Joplin's."""
_FIELD = lazy_pattern(r"^(\w+): ?(.*)$", re.MULTILINE)
_LONGEST_FIELDS = 20_000
_NAMESPACE = "___"
"""Stands for a slash of the title in the file name of a page of Logseq."""


def _file_title(name: str) -> str:
    """Return the file name without its extension and without the suffix that some note programs add."""
    if bundle := _BUNDLE.fullmatch(name):
        return bundle[1]
    base = name.rpartition("/")[2]
    stem, dot, _ = base.rpartition(".")
    if not (dot and stem):
        return base
    exported = _EXPORTED_ID.fullmatch(stem)
    return exported[1] if exported else stem.replace(_NAMESPACE, "/")


_LINE = 4096
"""Maximum number of characters of a line that are searched for tags."""
_MAX_TAGS = 500
_LONGEST = 100
_SEPARATORS = lazy_pattern(r"[,\[\]\s]+")
HASHTAG = lazy_pattern(
    r"(?:^|(?<=[\s(,;])(?<!\]\())#([^\s!-,.:-@\[-^`{-\x7f\u00a1-\u00bf\u2000-\u200b\u200e-\u206f\u2e00-\u2e7f"
    r"\u3000-\u303f\ufe30-\ufe6f\uff00-\uff0f\uff1a-\uff20\uff3b-\uff3e\uff5b-\uff65]+)"
)
"""A tag in the text of a note, outside of code: any characters but spaces and punctuation other than `-`, `_` and `/`.

One of digits alone is the number of an issue, and one right after `](` the anchor of a link.
"""
_HTML_TAG = lazy_pattern(r"</?[A-Za-z][^<>\n]*>")
_ANCHOR = lazy_pattern(r" {0,3}\[[^\[\]]{1,400}\]:[ \t]*#")
"""The definition of a link to a heading of the same note."""
_DIRECTIVE = lazy_pattern(
    r"[ \t]*#[ \t]*(?:include[ \t]*[<\"]|(?:define|undef|ifdef|ifndef|pragma)[ \t]+\w|(?:if|elif)[ \t]+[\w!(]"
    r"|(?:error|warning|line)[ \t]+[\"\d]|(?:else|endif)(?![\w/-]))"
)
"""A line for the preprocessor of C, which is often in notes as plain text."""
_PAGE_TAG = lazy_pattern(r"(?:^|(?<=[\s(,;]))#\[\[([^\[\]\n]+)\]\]")
"""A tag of several words, as Logseq writes it."""


def indexed_by(fingerprint: object) -> bool:
    """Whether an index with this fingerprint contains the tags of its notes."""
    return isinstance(fingerprint, str) and fingerprint.endswith(f"tags {TAGS_VERSION}")


def tags_of(text: str, about: DocumentInfo | None) -> tuple[str, ...]:
    """Return the note's tags, folded, without #, sorted; at most 500. A nested tag is written `garden/greenhouse`.

    Without `about`, only those in the text.
    """
    tags: set[str] = set()
    for raw in _all_tags(text, about) if about is None or about.structure is None else about.structure.tags:
        tag = fold(raw.strip("\"'").removeprefix("#").strip("/"))
        # An issue's number isn't a tag.
        if tag and len(tag) <= _LONGEST and not tag.isdigit():
            tags.add(tag)
        if len(tags) == _MAX_TAGS:
            break
    return tuple(sorted(tags))


def hashtag_ranges(text: str, tags: Collection[str]) -> list[tuple[int, int]]:
    """Return the ranges of the #tags in a text that are one of these folded tags, or nested in one."""
    return [found.span() for found in HASHTAG.finditer(text) if _is_within(fold(found[1].strip("/")), tags)]


def _is_within(tag: str, tags: Collection[str]) -> bool:
    return any(tag == outer or tag.startswith(f"{outer}/") for outer in tags)


def _all_tags(text: str, about: DocumentInfo | None) -> Iterator[str]:
    start = 0
    front = None if about is None else about.front
    if about is not None:
        for key in ("tags", "tag"):
            yield from map(str.strip, about.exported.get(key, "").split(","))
    if front is not None:
        yield from _front_matter_tags(front)
        for _ in range(front.length):
            start = text.find("\n", start) + 1 or len(text)
    if "#" in text:
        yield from _hashtags(text, start)


def _front_matter_tags(front: FrontMatter) -> Iterator[str]:
    for key in ("tags", "tag", "keywords"):  # Zettlr and Pandoc call them keywords
        for item in front.items(key):
            # Between commas or brackets a space separates tags, too; an item on a separate line is one tag.
            yield from (item,) if front.kind(key) == "block" else _SEPARATORS.split(item)


def _hashtags(text: str, start: int) -> Iterator[str]:
    """Yield the #tags in a text from `start` on, outside of code, line by line."""
    fence = ""
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start : min(end, start + _LINE)]
        start = end + 1
        if fence and markdown_line_types.is_below_item(line, fence):
            fence = ""
        if fence:
            fence = "" if markdown_line_types.closes_fence(line, fence) else fence
        elif not (fence := markdown_line_types.fence_marks(line)) and "#" in line and not _DIRECTIVE.match(line):
            line = markdown_line_types.CODE_SPAN.sub(" ", line) if "`" in line else line
            line = _HTML_TAG.sub(" ", line) if "<" in line else line  # attributes have colours
            line = _ANCHOR.sub("", line) if "]:" in line else line
            yield from HASHTAG.findall(line)
            if "#[[" in line:
                yield from _PAGE_TAG.findall(line)
