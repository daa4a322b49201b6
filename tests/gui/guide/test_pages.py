"""What the guide names must exist: commands, keys, settings, pages, headings and operators."""

import re

import pytest

import engine
from gui.guide.pages import CODE, KEY, NAMES, NO_KEY, page_source, read_pages
from gui.keys.keymap import keymap
from gui.settings.places import GUIDE

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
OPTIONS = {option.key: option for option in engine.all_options()}
LITERAL_KEY = re.compile(r"\b(?:Ctrl|Alt)\+\w|\bF\d{1,2}\b")
SETTING = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
FENCE = re.compile(r"^    .*$", re.MULTILINE)


def _commands(window) -> set[str]:
    return {action.objectName() for action in window.actions()}


@pytest.mark.parametrize("name", NAMES)
def test_every_key_belongs_to_a_command(window, name):
    for command in KEY.findall(page_source(name)):
        assert command in keymap().commands, command
        assert keymap().shown(command), command


@pytest.mark.parametrize("name", NAMES)
def test_no_key_is_written_that_the_person_could_change(name):
    assert not LITERAL_KEY.findall(page_source(name))


@pytest.mark.parametrize("name", NAMES)
def test_every_link_leads_somewhere(window, name):
    commands = _commands(window)
    for target in LINK.findall(page_source(name)):
        scheme, colon, rest = target.partition(":")
        if colon:
            assert scheme == "command", target
            assert rest in commands, target
            continue
        page, _, heading = target.partition("#")
        assert page.removesuffix(".md") in NAMES, target
        headings = re.findall(r"^#+ (.*)$", page_source(page.removesuffix(".md")), re.MULTILINE)
        assert not heading or heading in headings, target


@pytest.mark.parametrize("name", NAMES)
def test_every_setting_exists(name):
    for code in CODE.findall(FENCE.sub("", page_source(name))):
        if SETTING.fullmatch(code) and not code.endswith(".md"):
            assert code in OPTIONS, code


def test_the_values_that_are_named_are_allowed():
    assert {"embedded", "gguf", "openai", "gemini", "voyage", "none"} <= set(OPTIONS["provider"].choices)
    assert {"qmd", "lancedb"} <= set(OPTIONS["backend"].choices)
    assert {"on", "review", "off"} == set(OPTIONS["facts.agent_writes"].choices)
    assert "sqlite-vec" in OPTIONS["store.vector.engine"].choices


def test_every_operator_of_the_guide_is_understood():
    rows = re.findall(r"^\| `(.+?)` \|", page_source("query-language"), re.MULTILINE)
    assert len(rows) >= 15
    for typed in rows:
        parsed = engine.parse_query(typed)
        assert not parsed.remarks, (typed, parsed.remarks)


def test_every_operator_that_there_is_stands_in_the_guide():
    source = page_source("query-language")
    for name in {example.partition(":")[0] for example, _ in engine.QUERY_HELP if ":" in example}:
        assert f"`{name}:" in source, name


def test_pages_have_the_keys_of_the_moment_and_links_to_settings():
    pages = {page.name: page for page in read_pages({"index.sync": "F12"}, OPTIONS)}
    assert "(F12)" in pages["index-view"].text
    assert NO_KEY in pages["searching"].text
    assert "{key:" not in "".join(page.text for page in pages.values())
    assert "[`query.min_score`](setting:query.min_score)" in pages["searching"].text
    assert "](setting:provider)" in pages["engines"].text


def test_pages_are_short_and_have_one_title():
    for page in read_pages({}, OPTIONS):
        assert page.title
        assert page.text.count("\n# ") == 0
        assert len(page.text) < 8000
        assert all(section.text.strip() for section in page.sections)


def test_every_page_of_the_settings_has_one_of_the_guide():
    assert set(GUIDE.values()) <= set(NAMES)
