"""The language of the window's sentences: fields, numbers, plural forms, and the desktop's choice."""

from collections.abc import Iterator
from pathlib import PurePath

import pytest

from engine.base import language


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    language.set_language("en")


def test_english_equals_source_text() -> None:
    assert (
        language.tr(
            "{count:,} of {share:.1%} {left",
        )
        == "{count:,} of {share:.1%} {left"
    )
    assert language.tr("{count:,} of {share:.1%}", count=12480, share=0.125) == "12,480 of 12.5%"
    assert language.tr_count("{count:,} file", "{count:,} files", 1) == "1 file"
    assert language.tr_count("{count:,} file in {where}", "{count:,} files in {where}", 2000, where="a") == (
        "2,000 files in a"
    )


def test_german_writes_its_own_numbers() -> None:
    language.set_language("de")
    assert language.current_language() == "de"
    text = language.tr(
        "{count:,} {share:.1%} {whole:d} {text} {yes}", count=12480, share=0.125, whole=1000, text="1,5", yes=True
    )
    assert text == "12.480 12,5\u00a0% 1000 1,5 True"


def test_standalone_number_localized() -> None:
    assert [language.number(12_480), language.number(0.125, ".2f"), language.number(0.45, ".0%")] == [
        "12,480",
        "0.12",
        "45%",
    ]
    language.set_language("de")
    assert [language.number(12_480), language.number(0.125, ".2f"), language.number(0.45, ".0%")] == [
        "12.480",
        "0,12",
        "45\u00a0%",
    ]


def test_trial_language_keeps_fields_and_marks() -> None:
    language.set_language("en-XA")
    text = language.tr("Search {count} notes", count=3)
    assert text.startswith("[Šéárçh 3 ñ")
    assert text.endswith("~]")
    assert language.tr_count("{count} file", "{count} files", 2).startswith("[2 fíléš")


def test_embedded_text_keeps_own_direction() -> None:
    language.set_language("ar-XB")
    text = language.tr("Open {path} and {name}: {count}", path=PurePath("/notes/a.md"), name="C#", count=3)
    assert text.startswith("\u200f[")
    assert "\u2068/notes/a.md\u2069" in text.replace("\\", "/")
    assert "\u2068C#\u2069" in text
    assert "3" in text
    assert "\u20683" not in text
    language.set_language("de")
    assert "\u2068" not in language.tr("Open {path}", path="/notes/a.md")


def test_empty_text_is_not_translated() -> None:
    language.set_language("de")
    assert language.tr("") == ""  # gettext would give the catalogue's head


@pytest.mark.parametrize(
    ("wished", "spoken"),
    [
        ({"LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "ja_JP.UTF-8"}, "en"),
        ({"LANGUAGE": "ja:de:en", "LANG": "en_US.UTF-8"}, "de"),
        ({"LC_ALL": "en_GB.UTF-8", "LANG": "de_DE.UTF-8"}, "en"),
        ({}, "en"),
    ],
)
def test_system_language_comes_from_environment(
    monkeypatch: pytest.MonkeyPatch, wished: dict[str, str], spoken: str
) -> None:
    monkeypatch.setattr(language.sys, "platform", "linux")
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in wished.items():
        monkeypatch.setenv(name, value)
    language.set_language("system")
    assert language.current_language() == spoken


def test_error_names_unknown_language() -> None:
    with pytest.raises(ValueError, match="Unknown language xx: choose one of en, de"):
        language.set_language("xx")


def test_a_number_alone_is_written_as_the_language_does() -> None:
    numbers = [language.number(12480), language.number(1.5, ".1f"), language.number(0.45, ".0%")]
    assert numbers == ["12,480", "1.5", "45%"]
    language.set_language("de")
    numbers = [language.number(12480), language.number(1.5, ".1f"), language.number(0.45, ".0%")]
    assert numbers == ["12.480", "1,5", "45\u00a0%"]
