"""Commands, keys, settings, pages, headings and operators that the guide names must exist."""

import re
from importlib.resources import files

import pytest

import engine
from engine import set_language, tr
from engine.corpus.transcripts.registry import AGENTS
from gui.commands.keymap import keymap
from gui.core.key_listing import groups
from gui.help.pages import CODE, KEY, LANGUAGES, NO_KEY, page_names, page_source, read_pages
from gui.quick_search import SHOW_ALL
from gui.settings.option_pages import GUIDE
from tests.helpers.sources import ROOT

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
OPTIONS = {option.key: option for option in engine.all_options()}
MANUAL = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "packaging" / "manual").glob("*.md"))]
WRITTEN_KEY = re.compile(r"\b(?:(?:Ctrl|Alt|Shift)\+)+(?:\w+|[-+,])|\bF\d{1,2}\b")
LITERAL_KEY = re.compile(r"\b(?:Ctrl|Strg|Alt)\+\w|\bF\d{1,2}\b")
SETTING = re.compile(r"[a-z_]+(?:\.[a-z_]+)+")
FENCE = re.compile(r"^    .*$", re.MULTILINE)
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
WRITTEN = [(name, language) for name in page_names() for language in LANGUAGES]
MARKS = re.compile(r"^(#+) ", re.MULTILINE)
ITEM = re.compile(r"^- ", re.MULTILINE)
ROW = re.compile(r"^\|", re.MULTILINE)
BOLD = re.compile(r"\*\*.+?\*\*")
TEXT_LINK = re.compile(r"\[([^\]]*)\]\(command:([^)\s]+)\)")


_COMMANDS: set[str] = set()


@pytest.fixture
def commands(request, qapp) -> set[str]:
    """Return the names of the window's commands, which are the same in every window."""
    if not _COMMANDS:
        _COMMANDS.update(action.objectName() for action in request.getfixturevalue("window").actions())
    return _COMMANDS


@pytest.mark.parametrize(("name", "language"), WRITTEN)
def test_guide_keys_belong_to_commands(commands, name, language):
    known = {*keymap().commands, SHOW_ALL.name}
    for command in KEY.findall(page_source(name, language)):
        assert command in known, command
        assert keymap().first_key(command), command


@pytest.mark.parametrize(("name", "language"), WRITTEN)
def test_guide_has_no_literal_keys(name, language):
    assert not LITERAL_KEY.findall(page_source(name, language))


@pytest.mark.parametrize(("name", "language"), WRITTEN)
def test_guide_links_have_valid_targets(commands, name, language):
    for target in LINK.findall(page_source(name, language)):
        scheme, colon, rest = target.partition(":")
        if colon:
            assert scheme == "command", target
            assert rest in commands, target
            continue
        page, _, heading = target.partition("#")
        assert page.removesuffix(".md") in page_names(), target
        headings = HEADING.findall(page_source(page.removesuffix(".md"), language))
        assert not heading or heading in headings, target


@pytest.mark.parametrize("page", MANUAL, ids=lambda page: page.name)
def test_manual_keys_and_settings_exist(commands, page):
    known = {key for group in groups(keymap()) for row in group.rows for key in row.each}
    source = page.read_text("utf-8")
    assert set(WRITTEN_KEY.findall(FENCE.sub("", source))) - known == set()
    sections = {key.partition(".")[0] for key in OPTIONS}
    for code in CODE.findall(FENCE.sub("", source)):
        if SETTING.fullmatch(code) and code.partition(".")[0] in sections and not code.endswith(".db"):
            assert code in OPTIONS, code


@pytest.mark.parametrize(("name", "language"), WRITTEN)
def test_guide_settings_exist(name, language):
    for code in CODE.findall(FENCE.sub("", page_source(name, language))):
        if SETTING.fullmatch(code) and not code.endswith(".md"):
            assert code in OPTIONS, code


def test_setting_values_named_in_guide_are_allowed():
    assert {"embedded", "gguf", "openai", "gemini", "voyage", "none"} <= set(OPTIONS["provider"].choices)
    assert {"qmd", "lancedb"} <= set(OPTIONS["backend"].choices)
    assert {"on", "review", "off"} == set(OPTIONS["facts.agent_writes"].choices)
    assert "sqlite-vec" in OPTIONS["store.vector.engine"].choices


@pytest.mark.parametrize("language", LANGUAGES)
def test_guide_operators_are_parsed(language):
    rows = re.findall(r"^\| `(.+?)` \|", page_source("query-language", language), re.MULTILINE)
    assert len(rows) >= 15
    for typed in rows:
        parsed = engine.parse_query(typed)
        assert not parsed.remarks, (typed, parsed.remarks)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_operator_is_in_guide(language):
    source = page_source("query-language", language)
    for name in {example.partition(":")[0] for example, _ in engine.QUERY_HELP if ":" in example}:
        assert f"`{name}:" in source, name


def test_pages_show_current_keys_and_setting_links():
    pages = {page.name: page for page in read_pages({"index.sync": "F12"}, OPTIONS)}
    assert "(F12)" in pages["index-view"].text
    assert NO_KEY in pages["searching"].text
    assert "{key:" not in "".join(page.text for page in pages.values())
    assert "[`query.min_score`](setting:query.min_score)" in pages["searching"].text
    assert "](setting:provider)" in pages["engines"].text


@pytest.mark.parametrize("language", LANGUAGES)
def test_pages_are_short_and_have_one_title(language):
    for page in read_pages({}, OPTIONS, language):
        assert page.title
        assert page.text.count("\n# ") == 0
        assert len(page.text) < 8000
        assert all(section.text.strip() for section in page.sections)


@pytest.mark.parametrize(("name", "language"), [(name, language) for name, language in WRITTEN if language != "en"])
def test_translated_page_matches_english_structure(name, language):
    english, other = page_source(name), page_source(name, language)
    assert other != english, "there is no such page"
    assert [len(marks) for marks in MARKS.findall(other)] == [len(marks) for marks in MARKS.findall(english)]
    assert _without_headings(LINK.findall(other)) == _without_headings(LINK.findall(english))
    assert KEY.findall(other) == KEY.findall(english)
    assert FENCE.findall(other) == FENCE.findall(english)
    settings = [[code for code in CODE.findall(source) if code in OPTIONS] for source in (english, other)]
    assert sorted(settings[1]) == sorted(settings[0])
    for pattern in (ITEM, ROW, BOLD):
        assert len(pattern.findall(other)) == len(pattern.findall(english))


@pytest.mark.parametrize(("name", "language"), [(name, language) for name, language in WRITTEN if language != "en"])
def test_translated_page_uses_command_names_of_window(name, language):
    """A link whose English text is a command's name has the command's translated name as its text."""
    links = {}
    for language_of_words in ("en", language):
        pairs = TEXT_LINK.findall(page_source(name, language_of_words))
        # Lines may break within words that link; the space before "…" is one that never breaks, and stays.
        links[language_of_words] = {target: " ".join(text.split("\n")) for text, target in pairs}
    set_language(language)
    try:
        for target, text in links["en"].items():
            if tr(text) != text:
                assert links[language][target] == tr(text)
    finally:
        set_language("en")


def test_guide_folder_has_no_extra_pages():
    for language in LANGUAGES:
        folder = files("resources").joinpath("guide", *([] if language == "en" else [language]))
        names = {path.name.removesuffix(".md") for path in folder.iterdir() if path.name.endswith(".md")}
        assert names == set(page_names())


def test_missing_translation_falls_back_to_english():
    assert page_source("privacy", "fr") == page_source("privacy")


def _without_headings(targets: list[str]) -> list[str]:
    return [target.partition("#")[0] for target in targets]


def test_every_settings_page_has_guide_page():
    assert set(GUIDE.values()) <= set(page_names())


@pytest.mark.parametrize("language", LANGUAGES)
def test_guide_names_every_agent(language):
    page = " ".join(page_source("sessions", language).split())
    written = {"Gemini Apps": "Google Takeout"}
    missing = [agent.label for agent in AGENTS if written.get(agent.label, agent.label) not in page]
    assert not missing
