import pytest

from gui.help.pages import LANGUAGES, read_pages, search_pages


@pytest.fixture(scope="module")
def pages():
    return read_pages({}, frozenset())


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("missing file", "not-found"),
        ("why is a note not found", "not-found"),
        ("phrases", "query-language"),
        ("tag", "query-language"),
        ("duplicate", "index-view"),
        ("MCP", "agents"),
        ("pdf", "sharing"),
        ("export results", "sharing"),
        ("crashed", "trouble"),
        ("telemetry", "privacy"),
        ("larger texts", "keyboard"),
        ("remember a session", "facts"),
        ("ollama", "engines"),
        ("chatgpt export", "first-steps"),
        ("choosing folders", "first-steps"),
        ("switch workspace", "workspaces"),
        ("tray", "quick-search"),
        ("shortcuts", "keyboard"),
        ("dark theme", "keyboard"),
        ("zoom", "keyboard"),
        ("autostart", "quick-search"),
        ("notifications", "quick-search"),
        ("obsidian vault", "first-steps"),
        ("offline", "first-steps"),
        ("backup", "trouble"),
    ],
)
def test_search_ranks_answering_page_in_top_three(pages, query, page):
    assert page in [section.page for section in search_pages(pages, query)][:3]


@pytest.mark.parametrize(
    ("query", "page"),
    [
        ("Datei fehlt", "not-found"),
        ("warum wird eine Notiz nicht gefunden", "not-found"),
        ("Dublette", "index-view"),
        ("abgest\u00fcrzt", "trouble"),
        ("Telemetrie", "privacy"),
        ("gr\u00f6\u00dfere Schriften", "keyboard"),
        ("eine Sitzung merken", "facts"),
        ("Ordnern w\u00e4hlen", "first-steps"),
        ("Arbeitsbereich wechseln", "workspaces"),
        ("Infobereich", "quick-search"),
        ("Schlagworte", "query-language"),
        ("Tastenkürzel", "keyboard"),
        ("dunkles Farbschema", "keyboard"),
        ("Autostart", "quick-search"),
        ("Benachrichtigung", "quick-search"),
        ("Obsidian", "first-steps"),
        ("Sicherung", "trouble"),
        ("Duplikate", "index-view"),
    ],
)
def test_search_ranks_german_page_in_top_three(query, page):
    pages = read_pages({}, frozenset(), "de")
    assert page in [section.page for section in search_pages(pages, query, LANGUAGES["de"])][:3]


def test_search_ignores_case_endings_and_matches_prefixes(pages):
    assert (
        search_pages(pages, "DUPLICATES")[0] == search_pages(pages, "duplicate")[0] == search_pages(pages, "duplic")[0]
    )


def test_search_ranks_heading_above_passing_mention(pages):
    assert search_pages(pages, "map")[0].heading == "Map"


def test_search_ignores_unknown_words_and_empty_query(pages):
    assert search_pages(pages, "duplicates xyzzyq")[0] == search_pages(pages, "duplicates")[0]
    assert search_pages(pages, "xyzzyq") == []
    assert search_pages(pages, "") == []
