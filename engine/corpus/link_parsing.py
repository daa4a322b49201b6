"""Finds links between notes as Obsidian and Logseq write them, and the names by which links find a note.

Written from the help pages of both programs: Obsidian's "Internal links", "Aliases" and "Embed files", Logseq's "Block
reference" and "Properties", and its file names (`___` for the `/` of a page's name). Links in Org files are those of
the Org manual ("Link Format", "External Links"), and names of pages as Logseq writes them. Links in AsciiDoc are those
of its language documentation ("Cross References", "Link Macro"), in reStructuredText the roles `:doc:` and `:ref:` of
Sphinx and the embedded addresses of docutils.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from posixpath import dirname, normpath
from posixpath import join as join_path
from typing import Literal, NamedTuple
from urllib.parse import unquote

import msgspec

from engine.base import lazy_pattern
from engine.corpus import documents, json_notes, markdown_line_types
from engine.text.folding import fold

LinkKind = Literal["link", "embed", "block"]
NameKind = Literal["file", "alias", "block"]

_LINE = 16 * 1024
"""Maximum number of characters of a line that are searched for links."""
_MAX_LINKS = 2_000
_CONTEXT = 240
_AROUND = 1_000
"""Characters on each side of a link that are searched for the ends of its sentence."""
_NOTES = (".md", ".markdown", ".org")
_TYPES = (
    *_NOTES,
    *(".mdx", ".txt", ".rst", ".rest", ".adoc", ".asciidoc", ".asc", ".tex", ".typ", ".tid", ".fountain"),
    *json_notes.ENDINGS,
    *documents.ENDINGS,
)
"""Endings of the files that can be indexed: a target that ends in one of them is a path."""
_FILES = frozenset("avif bmp gif jpeg jpg png svg webp flac m4a mp3 ogg wav 3gp mkv mov mp4 ogv webm zip base".split())
"""Extensions of files that are not notes."""

_WIKI = lazy_pattern(r"(!?)\[\[([^\[\]\n|]{1,400})(?:\|([^\[\]\n]{0,400}))?\]\]")
_DENDRON = lazy_pattern(r"(?:dendron://[^/]+/[\w.-]+|[a-z0-9_-]+(?:\.[a-z0-9_-]+){2,})(?:#[^#]*)?")
"""The last part of a Dendron link `[[words|dendron.topic.links]]`: the name of a note in a hierarchy or a vault."""
_MARKDOWN = lazy_pattern(
    r"(!?)\[((?:[^\[\]\n]{1,400}+|\[[^\[\]\n]{0,100}+\]){0,40}+)\]"
    r"\((?:<([^<>\n]{1,400}+)>|((?:[^\s()<>]{1,400}+|\([^\s()<>]{0,100}+\)){1,40}+))"
    r"(?:[ \t]++(?:\"[^\"\n]{0,200}+\"|'[^'\n]{0,200}+'|\([^()\n]{0,200}+\)))?\)"
)
"""A link `[text](target "title")`; possessive, which takes a third of the time."""
_DEFINITION = lazy_pattern(
    r"( {0,3})\[(?!\^)([^\[\]\n]{1,400})\]:[ \t]*(?:<([^<>\n]{1,400})>|([^\s<>]{1,400}))"
    r"(?:[ \t]+(?:\"[^\"\n]{0,200}\"|'[^'\n]{0,200}'|\([^()\n]{0,200}\)))?\s*"
)
"""The definition of a link `[text][name]`."""
_BLOCK = lazy_pattern(r"\(\(([0-9A-Za-z][0-9A-Za-z-]{3,63})\)\)")
_LABELLED = lazy_pattern(r"\[([^\[\]\n]{1,400})\]\((\[\[[^\[\]\n|]{1,400}\]\]|\(\([0-9A-Za-z-]{4,64}\)\))\)")
"""A link of Logseq with other words: `[text]([[page]])` or `[text](((block)))`."""
_ORG = lazy_pattern(r"\[\[([^\[\]\n]{1,400})\](?:\[([^\[\]\n]{1,400})\])?\]")
ASCIIDOC = lazy_pattern(
    r"(?<!\\)(?:xref|link):([^\s\[\]]{1,400}+)\[([^\[\]\n]{0,400})\]"
    r"|(?<!\\)<<([^<>,\n]{1,400})(?:,([^<>\n]{0,400}))?>>"
)
_ASCIIDOC_LITERAL = lazy_pattern(r"\A//.*|(?<![\w+:])(\+{1,3})(?![\s+])[^+\n]{1,400}+(?<!\s)\1(?![\w+])")
"""A comment, or text whose markup is shown; between mere back-ticks, links are links."""
_TIDDLER = lazy_pattern(
    r"\[\[(?:([^\[\]|\n]{1,400})\|)?([^\[\]|\n]{1,400})\]\]|\{\{([^{}|!\n]{1,400})[^{}\n]{0,400}\}\}"
)
"""A link of TiddlyWiki, whose text comes first, or a note that is shown within another one."""
_RESTRUCTURED = lazy_pattern(
    r"(:doc:|:(?:std:)?(?:num)?ref:)?`(?:([^`<>\n]{1,400}?)\s*<([^<>`\n]{1,400})>|([^`<>\n]{1,400}))`(_{0,2})"
)
_RESTRUCTURED_LITERAL = lazy_pattern(
    r"\A\s*+\.\.\s++(?!_|\||\[|[\w:.+-]{1,80}::).*|``(?=[^\s`])(?:[^`\n]++|`(?!`))++``"
)
"""A comment, or text whose markup is shown."""
_ORG_ID = lazy_pattern(r"[ \t]*:id:[ \t]+([0-9A-Za-z][0-9A-Za-z-]{3,63})[ \t]*", re.IGNORECASE)
_LABEL = lazy_pattern(r"[ \t]*\.\. _(?:`([^`]+)`|((?!_)(?:\\.|[^:`\\]|:(?!\s|\Z))+)):")
_QUOTED = lazy_pattern(r"(?:[ \t]*>[ \t]?)+")
_SCHEME = lazy_pattern(r"[A-Za-z][A-Za-z0-9+.-]+:")
_BLOCK_ID = lazy_pattern(r"[ \t]*(?:[-*+][ \t]+)?id::[ \t]*([0-9A-Za-z][0-9A-Za-z-]{3,63})[ \t]*")
_ANCHOR = lazy_pattern(r"(?:.*\s)?\^([0-9A-Za-z-]{1,64})[ \t]*", re.DOTALL)
_MARKER = lazy_pattern(r"(?:[ \t>]|(?:[-+]|\*{1,9})(?=[ \t])|\d{1,9}[.)](?=[ \t])|#{1,6}(?=[ \t])|\[.\](?=[ \t]))+")
_SENTENCE_END = lazy_pattern(r"[.!?…]['\"”’)]*\s+|[\u3002\uff01\uff1f]")
_ZETTEL = lazy_pattern(r"(\d{8}t\d{6}|\d{12}|\d{14})(?=[^0-9a-z]).*")
"""Matches a folded file name that begins with a date and time, the note's id in Zettlr, The Archive and Denote."""
_JOURNAL = lazy_pattern(r"([12]\d{3})[_-]([01]\d)[_-]([0-3]\d)")


class NoteLink(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A link from a note to another note or block."""

    line: int
    kind: LinkKind
    target: str
    """Name or path of a note as written, without a heading; or the id of a block."""
    anchor: str
    """Heading, or `^` and a block's id, that the link points to; may be empty."""
    context: str
    """The sentence around the link, without the syntax of links."""


class NoteName(msgspec.Struct, frozen=True, array_like=True, gc=False):
    """A name by which links find a note or a block in it."""

    key: str
    kind: NameKind
    line: int = 1


class WrittenLink(NamedTuple):
    """A link in one line of text."""

    start: int
    end: int
    kind: LinkKind
    target: str
    anchor: str
    label: str
    """The text to show for the link."""


def links_of(text: str) -> tuple[NoteLink, ...]:
    """Return the links in a note to other notes and blocks, in order; at most 2,000."""
    if not _may_link(text):
        return ()
    links: list[NoteLink] = []
    for number, line in _prose(text):
        if not _may_link(line):
            continue
        written = [link for link in written_links(line) if link.target]
        links += (NoteLink(number, link.kind, link.target, link.anchor, _context(line, link)) for link in written)
        if len(links) >= _MAX_LINKS:
            break
    return tuple(links[:_MAX_LINKS])


def _may_link(text: str) -> bool:
    return "[[" in text or "](" in text or "((" in text or "]:" in text


def markup_links_of(text: str, name: str, code: Sequence[tuple[int, int]]) -> tuple[NoteLink, ...]:
    """Return the links in a file of Org, AsciiDoc or reStructuredText to notes and blocks, in order; at most 2,000.

    `code` has the lines of blocks of code.
    """
    links, signs = _LINKS_IN.get(name[name.rfind(".") :].lower(), (_org_links, ()))
    if not any(sign in text for sign in signs):
        return ()
    hidden = {number for first, last in code for number in range(first, last + 1)}
    note_links: list[NoteLink] = []
    for number, whole in enumerate(text.split("\n"), 1):
        line = whole[:_LINE]
        if number not in hidden and any(sign in line for sign in signs):
            note_links += (
                NoteLink(number, link.kind, link.target, link.anchor, _context(line, link, links))
                for link in links(line)
            )
            if len(note_links) >= _MAX_LINKS:
                break
    return tuple(note_links[:_MAX_LINKS])


def _org_links(line: str) -> list[WrittenLink]:
    links = [link for match in _ORG.finditer(line) if (link := _org(match)) is not None]
    links += (WrittenLink(*match.span(), "block", match[1].lower(), "", "") for match in _BLOCK.finditer(line))
    return sorted(links)


def _org(match: re.Match[str]) -> WrittenLink | None:
    written, label = match[1].strip(), (match[2] or "").strip()
    scheme, _, id_ = written.partition(":")
    if scheme.lower() in ("id", "denote"):
        id_ = id_.partition("::")[0].strip().lower()
        return WrittenLink(*match.span(), "block", id_, "", label or id_) if id_ else None
    target, _, anchor = written.removeprefix("file:").partition("::")
    if not target or target[0] in "*#(" or _SCHEME.match(target) or is_attachment(target):
        return None
    return WrittenLink(*match.span(), "link", target, anchor.lstrip("*#"), label or target)


def _asciidoc_links(line: str) -> list[WrittenLink]:
    bare = _ASCIIDOC_LITERAL.sub(_blanks, line)
    return [link for match in ASCIIDOC.finditer(bare) if (link := asciidoc_link(match)) is not None]


def asciidoc_link(match: re.Match[str]) -> WrittenLink | None:
    """Return the link to another file; None for one within its file or to a web page."""
    written = (match[1] or match[3]).strip().removeprefix("++").removesuffix("++")
    if "://" in written or written.startswith("mailto:"):
        return None
    place, _, address = unquote(written).rpartition(":")
    target, hash_, anchor = address.partition("#")
    if hash_ and target and not target.lower().endswith(_TYPES):
        target += ".adoc"  # of an address without ending
    label = (match[2] or match[4] or "").strip(" ^") or anchor.strip("_") or target
    module = place.rpartition(":")[2]  # of Antora, after a version and a component
    return _file_link(match, f"{module}/pages/{target}" if module and target else target, anchor, label)


def _restructured_links(line: str) -> list[WrittenLink]:
    bare = _RESTRUCTURED_LITERAL.sub(_blanks, line)
    return [link for match in _RESTRUCTURED.finditer(bare) if (link := _restructured(match)) is not None]


def _restructured(match: re.Match[str]) -> WrittenLink | None:
    role, label, address, name, reference = match.groups()
    if role:
        if (label or name).startswith("!"):  # not to be a link
            return None
        target = (address or name).strip()
        if role != ":doc:":
            return WrittenLink(*match.span(), "block", reference_target(target), "", label or target)
        return _file_link(match, f"{target.removesuffix('.rst')}.rst", "", label or target)
    if not address or not reference or _SCHEME.match(address):
        return None
    target, _, anchor = unquote(address).partition("#")
    return _file_link(match, target, anchor, label)


def _tiddler_links(line: str) -> list[WrittenLink]:
    bare = markdown_line_types.CODE_SPAN.sub(_blanks, line)
    return [link for match in _TIDDLER.finditer(bare) if (link := _tiddler(match)) is not None]


def _tiddler(match: re.Match[str]) -> WrittenLink | None:
    target, label = (match[2] or match[3]).strip(), (match[1] or "").strip()
    if not target or _SCHEME.match(target) or is_attachment(target):
        return None
    return WrittenLink(*match.span(), "embed" if match[3] else "link", target, "", label or target)


def reference_target(label: str) -> str:
    """Return the target of a link to a label of Sphinx, which may be in any file of reStructuredText."""
    return f"ref={' '.join(label.split()).casefold()}"


def _file_link(match: re.Match[str], target: str, anchor: str, label: str) -> WrittenLink | None:
    if not target.lower().endswith(_TYPES):
        return None
    return WrittenLink(*match.span(), "link", target, anchor, label or target)


_LINKS_IN: dict[str, tuple[Callable[[str], list[WrittenLink]], tuple[str, ...]]] = {
    ".org": (_org_links, ("[[", "((")),
    **dict.fromkeys((".adoc", ".asciidoc", ".asc"), (_asciidoc_links, ("xref:", "link:", "<<"))),
    ".tid": (_tiddler_links, ("[[", "{{")),
    **dict.fromkeys((".rst", ".rest"), (_restructured_links, (":doc:`", "ref:`", ">`_"))),
}
"""For each file extension: a function that finds the links in a line, and characters; a line without any of them has no
links."""


def written_links(line: str) -> list[WrittenLink]:
    """Return the links to notes and blocks in one line, outside of code, in order."""
    bare = markdown_line_types.CODE_SPAN.sub(_blanks, line) if "`" in line else line
    links: list[WrittenLink] = []
    if "[[" in bare:
        links += (link for match in _WIKI.finditer(bare) if (link := _wiki(match)) is not None)
    if "](" in bare:
        links += (link for match in _MARKDOWN.finditer(bare) if (link := _plain(match)) is not None)
    if "]:" in bare and (definition := _DEFINITION.fullmatch(bare)) and (link := _plain(definition)) is not None:
        links.append(link)
    if "((" in bare:
        links += (WrittenLink(*match.span(), "block", match[1].lower(), "", "") for match in _BLOCK.finditer(bare))
    if "([[" in bare or "(((" in bare:
        links = _labelled(bare, links)
    return sorted(links)


def _labelled(line: str, links: list[WrittenLink]) -> list[WrittenLink]:
    """Return the links of a line, with each labelled link of Logseq in place of the link within it."""
    for match in _LABELLED.finditer(line):
        inner = next((link for link in links if link.start == match.start(2)), None)
        if inner is not None:
            links = [link for link in links if not match.start() <= link.start < match.end()]
            links.append(inner._replace(start=match.start(), end=match.end(), label=match[1]))
    return links


def _blanks(code: re.Match[str]) -> str:
    return " " * len(code[0])


def split_target(target: str) -> tuple[str, str]:
    """Split a link's target into the note's name and the heading or `^block`; of nested headings the last."""
    name, _, anchor = target.partition("#")
    return name.strip(), anchor.rpartition("#")[2].strip()


def is_attachment(target: str) -> bool:
    """Whether a link's target is a file that is not a note, such as an image."""
    return target.rpartition(".")[2].lower() in _FILES


def anchor_line(line: str) -> str:
    """Return the id of the block that ends with this line, written `^id` as in Obsidian; "" if there is none."""
    if "^" not in line[-80:]:
        return ""
    match = _ANCHOR.fullmatch(line[-_CONTEXT:])
    return match[1] if match else ""


def link_key(target: str) -> str:
    """Return the key by which the index finds notes that a target may mean: its last part, folded."""
    return fold(_without_ending(target.strip().strip("/").rpartition("/")[2]))


def page_path(path: str) -> str:
    """Return a stable name as links write it, folded, without extension: Logseq's `a___b.md` is the page `a/b`."""
    folder, slash, base = _without_ending(path).rpartition("/")
    page = base.replace("___", "/")
    return fold(folder + slash + (unquote(page) if "%" in page else page))


def names_of(path: str, title: str, aliases: tuple[str, ...], text: str) -> tuple[NoteName, ...]:
    """Return the names by which links find the note with this stable name, and its blocks."""
    page = page_path(path)
    base = page.rpartition("/")[2]
    names = {NoteName(base, "file"): None}
    if zettel := _ZETTEL.fullmatch(base):
        names[NoteName(zettel[1], "alias")] = None
    for alias in (title, *aliases):
        for key in (fold(alias.strip()), link_key(alias)):
            if key and NoteName(key, "file") not in names:
                names[NoteName(key, "alias")] = None
    if "id::" in text:
        names |= {NoteName(id_.lower(), "block", line): None for id_, line in _block_ids(text)}
    if path.lower().endswith(".org") and (":id:" in text or ":ID:" in text):
        names |= {NoteName(id_.lower(), "block", line): None for id_, line in _org_ids(text)}
    if path.lower().endswith((".rst", ".rest")) and ".. _" in text:
        names |= {NoteName(fold(reference_target(label)), "block", line): None for label, line in _labels(text)}
    return tuple(names)


def link_distance(target: str, from_note: str, path: str) -> int | None:
    """Return how far a link target in the note `from_note` is from the note at `path`; 0 is nearest.

    Both have the same last part; None if their folders differ. As in Obsidian, a path counts from the vault or from any
    folder in it, and the notes in the folder of `from_note` come before others. A target with an ending is a path from
    there first.
    """
    written = target.strip()
    if written.lower().endswith(".org") and not path.lower().endswith(".org"):
        return None
    folded, page, folder = fold(_without_ending(written)), page_path(path), fold(dirname(from_note))
    if folded.startswith("/"):
        folded = folded.strip("/")
        return 0 if page == folded else 3 if page.endswith(f"/{folded}") else None
    if page == normpath(join_path(folder, folded)) and (folded.startswith(".") or written.lower().endswith(_TYPES)):
        return 0
    if page == folded:
        return 1
    if folded.startswith(".") or not page.endswith(f"/{folded}"):
        return None
    return 2 if folder and page.startswith(f"{folder}/") else 3


def journal_names(path: str) -> tuple[str, str] | None:
    """Return the date of a page in Logseq's folder `journals`, as title and as links write it by default.

    `journals/2024_05_08.md` gives "2024-05-08" and "May 8th, 2024". None for other notes.
    """
    folder, _, base = _without_ending(path).rpartition("/")
    match = _JOURNAL.fullmatch(base)
    if match is None or folder.rpartition("/")[2].lower() != "journals":
        return None
    year, month, day = map(int, match.groups())
    if not 1 <= month <= 12 or not 1 <= day <= 31:
        return None
    ending = "th" if day in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{year}-{month:02}-{day:02}", f"{_MONTHS[month - 1]} {day}{ending}, {year}"


_MONTHS = tuple("Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split())


def _without_ending(path: str) -> str:
    for ending in _NOTES:
        if path.lower().endswith(ending):
            return path[: -len(ending)]
    return path


def _wiki(match: re.Match[str]) -> WrittenLink | None:
    written, label = match[2].removesuffix("\\"), (match[3] or "").strip()
    if _DENDRON.fullmatch(label):
        written, label = label, written.strip()
    if written.startswith("dendron://"):
        written = written.rpartition("/")[2]
    target, anchor = split_target(written)
    if is_attachment(target) or _SCHEME.match(target):
        return None
    label = label or " › ".join(part for part in (target, anchor.lstrip("^")) if part)
    return WrittenLink(*match.span(), "embed" if match[1] else "link", target, anchor, label)


def _plain(match: re.Match[str]) -> WrittenLink | None:
    written = match[3] or match[4]
    if _SCHEME.match(written) or written.startswith("//"):
        return None
    target, anchor = split_target(unquote(written.removeprefix(":/")))  # Joplin writes `:/` before a note's id
    if is_attachment(target):
        return None
    return WrittenLink(*match.span(), "embed" if match[1] == "!" else "link", target, anchor, match[2] or target)


def _block_ids(text: str) -> Iterator[tuple[str, int]]:
    """Yield Logseq's ids of blocks, each with the first line of the block."""
    block = 1
    for number, line in enumerate(text.split("\n"), 1):
        if markdown_line_types.is_list_item(line):
            block = number
        if "id::" in line and len(line) < _CONTEXT and (match := _BLOCK_ID.fullmatch(line.rstrip("\r"))):
            yield match[1], block


def _org_ids(text: str) -> Iterator[tuple[str, int]]:
    """Yield the ids of the headings of an Org file, each with the heading's line; 1 for the id of the file."""
    block = 1
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("*") and line.lstrip("*")[:1] == " ":
            block = number
        elif len(line) < _CONTEXT and (match := _ORG_ID.fullmatch(line.rstrip("\r"))):
            yield match[1], block


def _labels(text: str) -> Iterator[tuple[str, int]]:
    """Yield the labels of a file of reStructuredText, each with the line of the title or the block below it."""
    lines = text.split("\n")
    for number, line in enumerate(lines, 1):
        if line.lstrip().startswith(".. _") and len(line) < _CONTEXT and (match := _LABEL.fullmatch(line.rstrip())):
            yield match[1] or match[2].replace("\\", ""), titled_line(lines, number, ".rst")


_ABOVE_TITLE = lazy_pattern(
    r"[ \t]*(?:\.\. _.*:|\[.*\]|\.[^ \t.].*|<a(?:[ \t][^<>]*)?>(?:</a>)?|\(\S+\)=|:\w+:.*|)[ \t]*"
)
"""Matches a line that may be between a target and the title or the block that it names."""
_MAX_ABOVE_TITLE = 20


def titled_line(lines: Sequence[str], number: int, ending: str) -> int:
    """Return the line that a target in line `number` names: the next title or block, or in Org the title above."""
    line = lines[number - 1]
    if ending == ".org":
        above = (at for at in range(number, 0, -1) if lines[at - 1].startswith("*"))
        return next(above, 1) if ":custom_id:" in line.lower() else number
    below = number
    last = min(len(lines), number + _MAX_ABOVE_TITLE)
    while below <= last and _ABOVE_TITLE.fullmatch(lines[below - 1]):
        below += 1
    return below if below <= last else number


def _prose(text: str) -> Iterator[tuple[int, str]]:
    """Yield the lines outside of fenced code, with numbers from 1."""
    fence, start, number = "", 0, 0
    while start < len(text):
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        number += 1
        line = text[start : min(end, start + _LINE)]
        start = end + 1
        if not fence and "```" not in line and "~~~" not in line:
            yield number, line
            continue
        inner = line[match.end() :] if (match := _QUOTED.match(line)) else line
        if fence and markdown_line_types.is_below_item(inner, fence):
            fence = ""
        if fence:
            fence = "" if markdown_line_types.closes_fence(inner, fence) else fence
        elif not (fence := markdown_line_types.fence_marks(inner)):
            yield number, line


def _context(line: str, link: WrittenLink, links: Callable[[str], Sequence[WrittenLink]] = written_links) -> str:
    """Return the sentence around a link, as plain text."""
    begin, stop = max(0, link.start - _AROUND), min(len(line), link.end + _AROUND)
    first = max((end for end in _sentence_ends(line, begin, link.start)), default=begin)
    last = next(iter(_sentence_ends(line, link.end, stop)), stop)
    if last - first > _CONTEXT:
        first, last = max(first, link.start - _CONTEXT // 2), min(last, link.end + _CONTEXT)
    marker = _MARKER.match(line, first, link.start)
    return without_links(line[marker.end() if marker else first : last], links)[:_CONTEXT]


def _sentence_ends(line: str, start: int, end: int) -> list[int]:
    return [match.end() for match in _SENTENCE_END.finditer(line, start, end)]


def without_links(text: str, links: Callable[[str], Sequence[WrittenLink]] = written_links) -> str:
    """Return the text with each link replaced by the text that it shows. `links`: finds the links of a line."""
    parts, done = [], 0
    for link in links(text):
        if link.start >= done:
            parts += [text[done : link.start], link.label]
            done = link.end
    return " ".join("".join((*parts, text[done:])).split())
