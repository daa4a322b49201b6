"""The sample notes hang together, hold nothing that should not be there, and index without a complaint."""

import re
import tomllib
import unicodedata
from collections import Counter
from datetime import datetime
from pathlib import Path

import msgspec
import pytest

import engine
from engine import Settings, detect_language

SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample"
NOTES = {path.relative_to(SAMPLE).as_posix(): path.read_bytes().decode() for path in sorted(SAMPLE.rglob("*.md"))}
DATES = tomllib.loads((SAMPLE / "dates.toml").read_text("utf-8"))

_SECRETS = re.compile(
    r"-----BEGIN"
    r"|\b(?:sk|pk|rk)[-_][A-Za-z0-9_-]{16,}"
    r"|\bgh[pousr]_[A-Za-z0-9]{20,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{12,}"
    r"|\beyJ[A-Za-z0-9_-]{10,}\."
    r"|\b(?:password|passwd|secret|token|api[_-]?key)\s*[:=]"
    r"|\b[\w.+-]+@[\w-]+\.[a-z]{2,}"
    r"|\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){4,}"
    r"|https?://"
    r"|\+\d[\d ()/-]{7,}",
    re.IGNORECASE,
)
_DAYS = {
    "english": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "german": "Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split(),
}
_MONTHS = {
    "english": "January February March April May June July August September October November December".split(),
    "german": "Januar Februar März April Mai Juni Juli August September Oktober November Dezember".split(),
}
_LINK = re.compile(r"\[\[([^\]|#]+)")


def test_sample_has_enough_notes_and_nothing_else():
    assert 40 <= len(NOTES) <= 80
    others = {path.name for path in SAMPLE.rglob("*") if path.is_file() and path.suffix != ".md"}
    assert others == {"dates.toml"}


@pytest.mark.parametrize("name", NOTES)
def test_note_is_clean_text(name):
    text = NOTES[name]
    assert unicodedata.is_normalized("NFC", text)
    assert text.endswith("\n")
    assert not text.endswith("\n\n")
    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\ufeff\ufffd]|[ \t]\n", text)
    assert text.count("```") % 2 == 0


@pytest.mark.parametrize("name", NOTES)
def test_note_contains_no_secret_or_address(name):
    assert not _SECRETS.findall(NOTES[name])


def test_every_link_resolves_to_one_note():
    stems = Counter(name.rpartition("/")[2].removesuffix(".md") for name in NOTES)
    wanted = {link for text in NOTES.values() for link in _LINK.findall(text)}
    assert {link for link in wanted if stems[link] != 1} == set()


def test_notes_are_linked_from_other_notes():
    linked = {link for text in NOTES.values() for link in _LINK.findall(text)}
    stems = {name.rpartition("/")[2].removesuffix(".md") for name in NOTES if not name.startswith("daily/")}
    assert stems - linked - {"index"} == set()


def test_each_note_has_date_within_the_year():
    assert DATES.keys() == NOTES.keys()
    assert {moment.utcoffset() is None for moment in DATES.values()} == {False}
    assert datetime(2025, 11, 1) < min(DATES.values()).replace(tzinfo=None)
    assert max(DATES.values()).replace(tzinfo=None) < datetime(2026, 12, 1)


def test_daily_notes_have_heading_of_their_day():
    daily = {name: text for name, text in NOTES.items() if name.startswith("daily/")}
    assert len(daily) >= 10
    for name, text in daily.items():
        day = datetime.fromisoformat(name[len("daily/") : -len(".md")])
        language = detect_language(text)
        weekday, month = _DAYS[language][day.weekday()], _MONTHS[language][day.month - 1]
        assert re.sub(r"\W+", " ", text.partition("\n")[0]) == f" {weekday} {day.day} {month}"
        assert DATES[name].date() == day.date()


def test_sample_has_several_languages_and_scripts():
    languages = Counter(detect_language(text) for text in NOTES.values())
    assert languages["english"] > len(NOTES) // 2
    for language in ("german", "french", "spanish", "russian"):
        assert languages[language], language
    letters = "".join(NOTES.values())
    for script in ("CYRILLIC", "HIRAGANA", "HANGUL", "CJK UNIFIED"):
        found = sum(unicodedata.name(letter, "").startswith(script) for letter in letters)
        assert found > 50, script


def test_some_notes_and_lines_are_very_long():
    assert max(text.count("\n") for text in NOTES.values()) >= 600
    assert max(len(line) for text in NOTES.values() for line in text.split("\n")) > 10_000
    for fence in ("python", "sql", "sh", "yaml", "c", "json", "ini"):
        assert any(f"```{fence}\n" in text for text in NOTES.values()), fence


def test_sample_is_indexed_and_found_by_keywords(tmp_path):
    settings = Settings(provider="none")
    store = msgspec.structs.replace(settings.store, path=str(tmp_path / "index"))
    memory = engine.open_memory(SAMPLE, msgspec.structs.replace(settings, store=store))
    try:
        report = memory.sync()
        assert report.files_indexed == len(NOTES)
        assert report.failed == ()
        assert {issue.rule for issue in report.skipped} == {"extension"}  # dates.toml
        found = [result.path for result in memory.search("irrigation timer").results]
        assert found[0] == "projects/greenhouse.md"
        assert {"conversations/2026-02-11-valve-controller.md", "topics/shopping.md"} < set(found)
        for query, path in (
            ("Balkonkraftwerk Ertrag", "projects/balkonkraftwerk.md"),
            ("chapeau emporté par le vent", "cards/le-chapeau.md"),
            ("рассол для огурцов", "recipes/ogurtsy.md"),
            ("苔寺", "travel/kyoto-2026.md"),
            ("饺子", "recipes/jiaozi.md"),
            ("배추", "recipes/kimchi.md"),
            ("vinagre de Jerez", "recipes/gazpacho.md"),
            ("SETTLE_MS", "projects/valve-controller.md"),
        ):
            assert memory.search(query).results[0].path == path, query
    finally:
        memory.close()
