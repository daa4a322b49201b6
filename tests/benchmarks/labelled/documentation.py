"""Third-party documentation from package registries as collections of notes, at pinned versions.

Nothing but the markup of titles changes: reStructuredText underlines become `# title`, the header of a wiki page
becomes front matter. The packages stay in the folder of the benchmarks; no text of theirs is part of this project.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from typing import NamedTuple

_ADORNMENT = re.compile(r"([=\-`:.'\"~^_*+#<>])\1{2,}\s*")
_PREAMBLE = re.compile(r"\.\. |:\w+:|\s")
"""Starts of the lines that may precede the title of a reStructuredText document: targets, fields, comments."""
_WIKI_HEADING = re.compile(r"^(!{1,6})[ ]*", re.MULTILINE)
_WIKI_FOLDERS = frozenset(
    "about commands concepts customising definitions editions features fields fileformats filters gettingstarted "
    "hiddensettings howtos languages learning macros mechanisms messages nodejs platforms plugins pragmas procedures "
    "saving styleguide variables webserver widgets wikitext workingwithtw".split()
)
_WIKI_TAG = re.compile(r"\[\[(.+?)\]\]|(\S+)")
_README = re.compile(r"readme(\.md|\.markdown|\.txt)?", re.IGNORECASE)


class Package(NamedTuple):
    """A source archive of a registry: `fetch` names the client, `name` the package with its version."""

    fetch: str
    name: str
    sha256: str


class Collection(NamedTuple):
    package: Package
    documents: Callable[[str, str], tuple[str, str] | None]
    """Convert the path and the text of an archive's file to those of a note; None for other files."""


def write_collection(name: str, cache: Path, folder: Path) -> int:
    """Write the notes of a collection below the folder; returns their number."""
    package, to_note = COLLECTIONS[name]
    count = 0
    with tarfile.open(_archive(package, cache)) as archive:
        for member in archive:
            if not member.isfile() or not _may_be_text(member.name):
                continue
            file = archive.extractfile(member)
            assert file is not None
            note = to_note(member.name.partition("/")[2], file.read().decode("utf-8", "replace"))
            if note is None:
                continue
            path = folder / f"{note[0]}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(note[1], "utf-8")
            count += 1
    return count


def _archive(package: Package, cache: Path) -> Path:
    """Return the archive, downloaded unless an earlier run did."""
    folder = cache / "packages"
    folder.mkdir(exist_ok=True)
    target = folder / package.sha256
    if not target.exists():
        with tempfile.TemporaryDirectory(dir=folder) as scratch:
            if package.fetch == "npm":
                command = [shutil.which("npm") or "npm", "pack", "--silent", package.name]
            else:
                command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:"]
                command.append(package.name)
            try:
                subprocess.run(command, cwd=scratch, check=True, stdout=subprocess.DEVNULL)
            except (OSError, subprocess.CalledProcessError) as error:
                raise SystemExit(f"Can't download {package.name} with {package.fetch}: {error}") from error
            (archive,) = Path(scratch).iterdir()
            if hashlib.sha256(archive.read_bytes()).hexdigest() != package.sha256:
                raise SystemExit(f"The checksum of {package.name} doesn't match.")
            archive.rename(target)
    return target


def _may_be_text(path: str) -> bool:
    name = PurePosixPath(path)
    return name.suffix in {".txt", ".rst", ".tid", ".md"} or _README.fullmatch(name.name) is not None


def _django(path: str, text: str) -> tuple[str, str] | None:
    """Yield the documents of Django without release notes before 4.0, which outnumber all others."""
    name = PurePosixPath(path)
    old = name.parts[1:2] == ("releases",) and name.name[:1] in "0123"
    if name.parts[0] != "docs" or name.suffix != ".txt" or old or name.parts[1] in {"_theme", "requirements.txt"}:
        return None
    return str(name.relative_to("docs").with_suffix("")), _from_rest(text)


def _sphinx(path: str, text: str) -> tuple[str, str] | None:
    name = PurePosixPath(path)
    if name.parts[0] != "doc" or name.suffix != ".rst":
        return None
    return str(name.relative_to("doc").with_suffix("")), _from_rest(text)


def _npm(path: str, text: str) -> tuple[str, str] | None:
    name = PurePosixPath(path)
    if name.parts[:2] != ("docs", "content") or name.suffix != ".md":
        return None
    return str(name.relative_to("docs/content").with_suffix("")), text


def _readmes(path: str, text: str) -> tuple[str, str] | None:
    """Yield the README of each package that npm bundles, named by the package."""
    parts = PurePosixPath(path).parts
    scoped = len(parts) == 4 and parts[1].startswith("@")
    if parts[0] != "node_modules" or not (len(parts) == 3 or scoped) or not _README.fullmatch(parts[-1]):
        return None
    return "/".join(parts[1:-1]), text


def _wiki(path: str, text: str) -> tuple[str, str] | None:
    """Yield pages of a wiki about itself: many short notes, named by concept and linked with `[[…]]`."""
    name = PurePosixPath(path)
    if name.parts[:3] != ("editions", "tw5.com", "tiddlers") or name.suffix != ".tid" or len(name.parts) < 5:
        return None
    header, _, body = text.replace("\r\n", "\n").partition("\n\n")
    fields = dict(line.split(":", 1) for line in header.split("\n") if ":" in line)
    title = fields.get("title", "").strip()
    if name.parts[3] not in _WIKI_FOLDERS or "xample" in path or not title or title.startswith("$:/"):
        return None
    tags = [bracketed or plain for bracketed, plain in _WIKI_TAG.findall(fields.get("tags", ""))]
    matter = [f"title: {json.dumps(title, ensure_ascii=False)}", f"tags: {json.dumps(tags, ensure_ascii=False)}"]
    matter += [f"{field}: {fields[field].strip()}" for field in ("created", "modified") if field in fields]
    body = _WIKI_HEADING.sub(lambda found: "#" * len(found[1]) + " ", body)
    return str(name.relative_to("editions/tw5.com/tiddlers").with_suffix("")), "\n".join(["---", *matter, "---", body])


def _from_rest(text: str) -> str:
    """Convert reStructuredText titles to `#` headings, levels by the order in which adornments first occur.

    Blank lines and the preamble before the first title are left out.
    """
    lines = [*text.splitlines(), ""]
    found: list[str] = []
    levels: list[str] = []
    at = 0
    while at < len(lines):
        line, following = lines[at], lines[at + 1] if at + 1 < len(lines) else ""
        over = _ADORNMENT.fullmatch(line)
        if over and following.strip() and at + 2 < len(lines) and lines[at + 2].rstrip() == line.rstrip():
            style, title, taken = f"{line[0]}{line[0]}", following.strip(), 3
        elif line[:1].strip() and not over and _ADORNMENT.fullmatch(following) and len(following) >= len(line.rstrip()):
            style, title, taken = following[0], line.strip(), 2
        else:
            found.append(line)
            at += 1
            continue
        if not levels:
            found = [text for text in found if text.strip() and not _PREAMBLE.match(text)]
        if style not in levels:
            levels.append(style)
        found.append(f"{'#' * (levels.index(style) + 1)} {title}")
        at += taken
    return "\n".join(found)


COLLECTIONS = {
    "wiki": Collection(
        Package("npm", "tiddlywiki@5.3.8", "b83a9d8c5c08aa9d9ffd1a4c79116fbaee995eed1e8574d4f69bec6b598b8116"), _wiki
    ),
    "django": Collection(
        Package("pip", "Django==5.2.8", "23254866a5bb9a2cfa6004e8b809ec6246eba4b58a7589bc2772f1bcc8456c7f"), _django
    ),
    "npm": Collection(
        Package("npm", "npm@11.6.2", "585f95094ee5cb2788ee11d90f2a518a7c9ef6e083fa141d0b63ca3383675a20"), _npm
    ),
    "sphinx": Collection(
        Package("pip", "Sphinx==8.2.3", "398ad29dee7f63a75888314e9424d40f52ce5a6a87ae88e7071e80af296ec348"), _sphinx
    ),
    "readmes": Collection(
        Package("npm", "npm@6.14.18", "c9b15f277e2a0b1b57e05bad04504296a27024555d56c2aa967f862e957ad2ed"), _readmes
    ),
}
"""`wiki`: short notes named by concept. `django`, `npm`, `sphinx`: nearly every note contains the name of the subject.
`readmes`: 350 packages that describe themselves.
"""
