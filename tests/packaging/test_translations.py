"""Check that the catalogues are complete, match the code, and use the same fields as the code."""

import ast
import io
import re
import string
from pathlib import Path

import pytest

from engine.base.language import LANGUAGES

PROJECT = Path(__file__).parents[2]
FOREIGN = sorted(set(LANGUAGES) - {"en"})
_MARKUP = re.compile(r"</?\w+|&\w+;|\*\*|`")


@pytest.fixture
def translations(load):
    return load("translations")


def forms(text) -> tuple[str, ...]:
    return (text,) if isinstance(text, str) else tuple(text)


def fields(text: str) -> set[str]:
    """Return the field names; number formats are up to the language, and a stray brace raises an error."""
    return {name for _, name, _, _ in string.Formatter().parse(text) if name is not None}


def wrong_fields(message) -> list[str]:
    """Return translations with wrong fields; a singular form may omit `{count}`, as in `a file` for `{count} file`."""
    expected = fields(forms(message.id)[-1])
    allowed = [expected]
    if len(forms(message.id)) > 1:
        allowed.append(expected - {"count"})
    return [translated for translated in forms(message.string) if fields(translated) not in allowed]


@pytest.mark.parametrize("language", FOREIGN)
def test_catalogue_is_complete_and_matches_code(translations, language):
    path = translations.CATALOGUES / f"{language}.po"
    catalogue = translations.read(path)
    code = translations.in_code()
    assert len(code) > 1000  # the sentences are found at all
    assert {message.id for message in code} - {message.id for message in catalogue} == set(), "not in the catalogue"
    assert {message.id for message in catalogue} - {message.id for message in code} == set(), "no longer in the code"
    assert translations.untranslated(catalogue) == []
    written = io.BytesIO()
    translations.write_mo(written, catalogue)
    compiled = path.with_suffix(".mo").read_bytes()
    assert compiled == written.getvalue(), "run packaging/translations.py compile"


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ('tr(TITLES["models"])', []),
        ('language.tr("One " "text", name=command("key", marked("Title")))', ["One text", "Title"]),
        ('tr_count("{count} file", "{count} files", len("x"))', [("{count} file", "{count} files")]),
        ('command("file.wrap", "Wrap lines", "file")', ["Wrap lines"]),
        ('option("Label", "Help.", 1, also="words")', ["Label", "Help.", "words"]),
    ],
)
def test_texts_of_a_module_are_found(translations, code, texts):
    assert list(translations.texts_of(code)) == texts


@pytest.mark.parametrize("language", FOREIGN)
def test_translations_have_fields_and_markup_of_source(translations, language):
    catalogue = translations.read(translations.CATALOGUES / f"{language}.po")
    wrong = [translated for message in catalogue if message.id for translated in wrong_fields(message)]
    assert wrong == []
    for message in catalogue:
        for translated in forms(message.string) if message.id else ():
            meant = forms(message.id)[-1]
            assert sorted(_MARKUP.findall(translated)) == sorted(_MARKUP.findall(meant)), translated
            assert translated.strip(" \n") == translated or meant.strip(" \n") != meant, translated
            assert translated.endswith("…") == meant.endswith("…"), translated


def test_catalogue_update_drops_unused_and_retains_rest(translations):
    old = translations.Catalog(locale="de")
    old.add("Search", "Suchen")
    old.add("Gone", "Weg")
    code = translations.Catalog()
    code.add("Search", locations=[("gui/a.py", 0)])
    code.add(("{count} note", "{count} notes"), locations=[("gui/b.py", 0)])
    new = translations.updated(old, code)
    assert [(message.id, message.string) for message in new if message.id] == [
        ("Search", "Suchen"),
        (("{count} note", "{count} notes"), ("", "")),
    ]
    assert translations.untranslated(new) == ["{count} note"]


def test_texts_with_a_count_are_literals():
    """Others are not found in the code, and their plural would stay English."""
    wrong = []
    for path in (*(PROJECT / "engine").rglob("*.py"), *(PROJECT / "gui").rglob("*.py")):
        for call in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(call, ast.Call) and ast.unparse(call.func) == "tr_count":
                wrong += [f"{path}:{text.lineno}" for text in call.args[:2] if not isinstance(text, ast.Constant)]
    assert wrong == []
