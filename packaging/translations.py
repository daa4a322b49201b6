#!/usr/bin/env python3
"""Maintains the translation catalogues of the window's texts.

    .venv/bin/python packaging/translations.py update     bring the .po files up to the code, and list missing ones
    .venv/bin/python packaging/translations.py compile    make the .mo files from the .po files

Translators edit `resources/translations/<language>.po`; the program reads the .mo file next to it, which is compiled
from it.
"""

import ast
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages.catalog import Catalog, Message
from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po, write_po

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = ROOT / "resources" / "translations"
KEYWORDS = {"tr": slice(1), "marked": slice(1), "tr_count": slice(2), "command": slice(1, 2)}
"""Functions that take translatable text, and the positions of those arguments."""
_NO_DATE = datetime(2026, 1, 1, tzinfo=UTC)
"""Date of every catalogue, so that the same texts yield the same bytes."""
_HEADER = """msgid ""
msgstr ""
"Language: {language}\\n"
"Plural-Forms: {forms}\\n"
"Content-Type: text/plain; charset=utf-8\\n"

"""


def in_code() -> Catalog:
    """Return all translatable texts of the code, each with the files that contain it."""
    catalog = Catalog(charset="utf-8")
    for path in sorted(path for package in ("engine", "gui") for path in (ROOT / package).rglob("*.py")):
        for text in texts_of(path.read_text("utf-8")):
            catalog.add(text, locations=[(path.relative_to(ROOT).as_posix(), 0)])
    return catalog


def texts_of(code: str) -> Iterator[str | tuple[str, ...]]:
    """Yield the translatable texts of a module in its order: one, or singular and plural."""
    calls = [node for node in ast.walk(ast.parse(code)) if isinstance(node, ast.Call)]
    for call in sorted(calls, key=lambda call: (call.lineno, call.col_offset)):
        name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if name == "option":  # label, help and search words
            also = [keyword.value for keyword in call.keywords if keyword.arg == "also"]
            yield from filter(None, map(_literal, (*call.args[:2], *also)))
        elif positions := KEYWORDS.get(name):
            texts = [_literal(argument) for argument in call.args[positions]]
            if texts and all(texts):
                yield texts[0] if len(texts) == 1 else tuple(texts)


def _literal(node: ast.expr) -> str:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def read(path: Path) -> Catalog:
    with path.open("rb") as file:
        catalogue = read_po(file, locale=path.stem)
    catalogue.creation_date = _NO_DATE
    return catalogue


def updated(old: Catalog, code: Catalog) -> Catalog:
    """Return the texts of the code in order, with their translations in `old`; texts no longer in use are dropped."""
    new = Catalog(locale=old.locale, charset="utf-8", creation_date=_NO_DATE, fuzzy=False)
    for message in sorted(code, key=_order):
        if message.id:
            known = old.get(message.id)
            string = known.string if known is not None and not known.fuzzy else None
            new.add(message.id, string, locations=sorted(set(message.locations)))
    return new


def untranslated(catalogue: Catalog) -> list[str]:
    """Return the texts without a complete translation; of plurals, the singular."""
    return [_first(message.id) for message in catalogue if message.id and not _is_whole(message)]


def _is_whole(message: Message) -> bool:
    string = message.string
    return bool(string) if isinstance(string, str) else bool(string) and all(string or ())


def _first(text: str | tuple[str, ...] | list[str]) -> str:
    return text if isinstance(text, str) else text[0]


def _order(message: Message) -> tuple[str, str]:
    where = min(message.locations)[0] if message.locations else ""
    return where, _first(message.id)


def write(catalogue: Catalog, path: Path) -> None:
    """Write both files with the minimal gettext header: dates would change on every run."""
    with path.open("wb") as file:
        file.write(_HEADER.format(language=path.stem, forms=catalogue.plural_forms).encode())
        write_po(file, catalogue, width=120, omit_header=True, include_lineno=False)
    compile_into(catalogue, path.with_suffix(".mo"))


def compile_into(catalogue: Catalog, path: Path) -> None:
    with path.open("wb") as file:
        write_mo(file, catalogue)


def main(arguments: list[str]) -> int:
    if arguments not in (["update"], ["compile"]):
        print(__doc__)
        return 2
    lacks = 0
    for path in sorted(CATALOGUES.glob("*.po")):
        if arguments == ["compile"]:
            compile_into(read(path), path.with_suffix(".mo"))
            continue
        catalogue = updated(read(path), in_code())
        write(catalogue, path)
        missing = untranslated(catalogue)
        lacks += len(missing)
        print(f"{path.name}: {len(catalogue)} sentences, {len(missing)} without a translation")
        print(*(f"    {text}" for text in missing), sep="\n")
    return 1 if lacks else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
