"""Typing the title or the file name of a note finds that note first."""

from pathlib import Path

import pytest

NOTES = {
    "camille.md": "# Camille\n\nBirthday in May, allergic to nuts.\n",
    "hats.md": "# Le chapeau\n\nCamille, Camille and once more Camille: the hat of Camille is Camille's.\n",
    "start-here.md": "# Start here\n\nWhat lies where.\n",
    "trace.md": "# Trace 8841\n\nStart the service here, start the trace here, start again.\n",
    "daily/2026-02-08.md": "# Sunday 8 February\n\nTomatoes limp.\n",
    "log.md": "# Log\n\n2026-02-08 valve, 2026-02-08 pump, 2026-02-08 filter.\n",
    "ueber.md": "# Über uns\n\nWer wir sind.\n",
    "andere.md": "# Andere\n\nUns, über uns und noch einmal über uns: alles über uns.\n",
    "mizu.md": "# 水やり\n\nトマトの鉢。\n",
    "niwa.md": "# 庭\n\n水やり、水やり、朝の水やり。\n",
    "cluster.md": "---\nid: 81b1\naliases:\n  - Kube\n  - Grand Fleet\n---\n\n# Cluster\n\n## Parts\n\nThe nodes.\n",
    "fleet.md": "# Ships\n\nKube, Kube and Kube: a grand fleet, the grand fleet, Kube again.\n",
    "os.replace.md": "# os.replace\n\nAtomic on one file system.\n",
    "files.md": "# Files\n\nos.replace, then os.replace again; os.replace is os.replace.\n",
}


@pytest.fixture
def memory(open_memory, workspace: Path):
    for name, text in NOTES.items():
        (workspace / name).parent.mkdir(exist_ok=True)
        (workspace / name).write_text(text, "utf-8")
    opened = open_memory()
    opened.sync()
    return opened


@pytest.mark.parametrize("mode", ["auto", "keyword"])
@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("Camille", "camille.md"),
        ("start here", "start-here.md"),
        ("Start-here", "start-here.md"),
        ("sunday 8 february", "daily/2026-02-08.md"),
        ("2026-02-08", "daily/2026-02-08.md"),
        ("UBER UNS", "ueber.md"),
        ("水やり", "mizu.md"),
        ("kube", "cluster.md"),
        ("grand fleet", "cluster.md"),
        ("os.replace", "os.replace.md"),
        ("os.replace.md", "os.replace.md"),
    ],
)
def test_note_with_query_as_title_is_first(memory, query: str, path: str, mode: str) -> None:
    outcome = memory.search(query, mode=mode, explain=True)
    assert outcome.results[0].path == path
    assert outcome.results[0].score == 1.0
    reason = outcome.explanation.results[0]
    assert reason.named
    assert reason.fresh_score == 1.0
    assert not any(other.named for other in outcome.explanation.results[1:])
    assert "Passages first because" in next(stage.note for stage in outcome.explanation.stages if stage.name == "title")


@pytest.mark.parametrize("mode", ["keyword", "auto"])
@pytest.mark.parametrize(
    "name", ["Zebra crossing.md", "zebra-crossing.txt", "Zebra crossing.org", "zebra_crossing.rst"]
)
@pytest.mark.parametrize("text", ["", "  \n\t\n", "---\n---\n"])
def test_empty_note_is_found_by_its_name(open_memory, workspace: Path, name: str, text: str, mode) -> None:
    (workspace / name).write_text(text, "utf-8")
    (workspace / "other.md").write_text("The zebra came to the crossing of the river.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    outcome = memory.search("zebra crossing", mode=mode)
    assert [result.path for result in outcome.results][:1] == [name]


@pytest.mark.parametrize(
    ("name", "query"),
    [
        ("invoice2024", "invoice 2024"),
        ("invoice2024", "2024"),
        ("Chapter7", "chapter 7"),
        ("libharfbuzz0b", "libharfbuzz"),
        ("20240512meeting", "meeting 20240512"),
        ("python3.11", "python 3.11"),
        ("python3.11", "python"),
        ("kubernetes-setup", "kuberne"),
        ("projects/harbourwall/a", "harbourw"),
    ],
)
def test_parts_and_beginning_of_a_file_name_find_it(open_memory, workspace: Path, name: str, query: str) -> None:
    for number in range(20):
        (workspace / f"note-{number}.md").write_text("# Log\n\nThe first steps of a day, and how it ended.\n", "utf-8")
    path = workspace / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("# Log\n\nSteps of one more day.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    for mode in ("auto", "keyword"):
        outcome = memory.search(query, mode=mode)
        assert [result.path for result in outcome.results][:1] == [f"{name}.md"]
        assert outcome.corrected is None


@pytest.mark.parametrize(
    ("name", "query", "corrected"),
    [
        ("harbourwall", "harbour wall", ""),
        ("garden-shed", "gardenshed", ""),
        ("getUserName", "username", ""),
        ("Krankenversicherung", "Versicherung", ""),
        ("email", "e-mail", ""),
        ("Müller", "Mueller", ""),
        ("node.js", "nodejs", "node.js"),
        ("数据库设计", "數據庫", ""),
        ("회의록정리", "회의록", ""),
        ("2024/harbour-report", "harbuor report", "harbour report"),
    ],
)
def test_another_form_of_a_file_name_finds_it(
    open_memory, workspace: Path, name: str, query: str, corrected: str
) -> None:
    for number in range(20):
        (workspace / f"note-{number}.md").write_text("# Log\n\nThe first steps of a day, and how it ended.\n", "utf-8")
    path = workspace / f"{name}.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text("# Log\n\nDie Schritte eines weiteren Tages, und wie er endete.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    outcome = memory.search(query, mode="keyword")
    assert [result.path for result in outcome.results][:1] == [f"{name}.md"]
    assert (outcome.corrected.query if outcome.corrected else "") == corrected


def test_decimal_as_typed_comes_first(open_memory, workspace: Path) -> None:
    for name, number in (("a", "5.75"), ("b", "5,75"), ("c", "5.75")):
        (workspace / f"{name}.md").write_text(f"# Log {name}\n\nThe rate is {number} percent.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    for mode in ("keyword", "auto"):
        assert memory.search("5,75", mode=mode).results[0].path == "b.md"
        assert {result.path for result in memory.search("5.75", mode=mode).results[:2]} == {"a.md", "c.md"}


NAMES = {
    "feature-request-ma": "feature-request-management",
    "TODO.De": "TODO.Debian",
    "howtotests.md": "howto-tests",
    "howto-t": "howto-tests",
    "pip_ch": "pip_check",
    "Crème br": "Crème brûlée",
    "cremebrulee": "Crème brûlée",
    "wifi6e": "Wi-Fi 6E",
    "RDIdeas": "R&D Ideas",
    "QA": "Q&A",
    "de20pgresetwal15": "de-20-pg_resetwal-15",
    "GdkPixbuf": "gdk-pixbuf",
    "50-30-20 Budg": "50-30-20 Budget",
}


@pytest.mark.parametrize("mode", ["keyword", "auto"])
def test_begun_or_joined_name_is_completed(open_memory, workspace: Path, mode: str) -> None:
    for number in range(20):
        text = "# Log\n\nA feature request, a budget, ideas, how to test, to do and tests of 50, 30 and 20 GdkRgba.\n"
        (workspace / f"note-{number}.md").write_text(text, "utf-8")
    for name in NAMES.values():
        (workspace / f"{name}.md").write_text("# Log\n\nThe steps of a day, and how it ended.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    found = {query: memory.search(query, mode=mode).results for query in NAMES}
    assert {query: results[0].path for query, results in found.items() if results} == {
        query: f"{name}.md" for query, name in NAMES.items()
    }


HALF_TYPED = {
    "Raster und H": "Raster und Hilfslinien",
    "raster und hilfs": "Raster und Hilfslinien",
    "Delete the layer m": "Delete the layer mask",
    "Crème brûlée à l": "Crème brûlée à l'orange",
    "создать новый с": "Создать новый слой",
    "레이어 마스크 추": "레이어 마스크 추가하기",
}


@pytest.mark.parametrize("mode", ["keyword", "auto"])
def test_several_words_of_a_title_begin_it(open_memory, workspace: Path, mode: str) -> None:
    """Words in an index of terms match the typed ones too, but nowhere in this order."""
    letters = "\n".join(f"- {letter}: raster, layer, delete, und, the, crème, новый, 레이어" for letter in "HMLсà추")
    for number in range(20):
        text = f"# Index {number}\n\n{letters}\n\nHilfs. Mask. Brûlée.\n"
        (workspace / f"index-{number}.md").write_text(text, "utf-8")
    for name in HALF_TYPED.values():
        (workspace / f"{name}.md").write_text("# Log\n\nThe steps of a day, and how it ended.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    found = {query: memory.search(query, mode=mode).results for query in HALF_TYPED}
    assert {query: results[0].path for query, results in found.items() if results} == {
        query: f"{name}.md" for query, name in HALF_TYPED.items()
    }


@pytest.mark.parametrize("mode", ["auto", "keyword"])
def test_title_that_begins_like_a_question_is_first(open_memory, workspace: Path, mode: str) -> None:
    titles = "Notes on cooking", "What is the name of the rose", "Qualcosa su Roma", "Git nasıl kullanılır"
    for title in titles:
        (workspace / f"{title[:3]}.md").write_text(f"# {title}\n\nAn example.\n", "utf-8")
    for number, word in enumerate(("cooking", "rose", "Roma", "git")):
        (workspace / f"subject-{number}.md").write_text(f"# {word} {number}\n\n{word}, {word}.\n", "utf-8")
    (workspace / "rice.md").write_text("# Cooking rice\n\nAn example.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    asked = {query: f"{title[:3]}.md" for title in titles for query in (title, title.lower(), f"{title} ")}
    asked |= {"Notes on cooki": "Not.md", "notes on the cooking of rice": "rice.md"}
    found = {query: memory.search(query, mode=mode).results[0].path for query in asked}
    assert found == asked


def test_words_in_a_text_are_no_beginning_of_a_title(open_memory, workspace: Path) -> None:
    for number, name in enumerate(("Vitamin chart", "Error logging")):
        (workspace / f"{number}.md").write_text(f"# {name}\n\nOne more day.\n", "utf-8")
    (workspace / "text.md").write_text("# Text\n\nThe error log shows too little vitamin C.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    for query in ("vitamin c", "error log"):
        results = memory.search(query, explain=True)
        assert not any(reason.named for reason in results.explanation.results), query
        assert "text.md" in [result.path for result in results.results], query


def test_name_is_offered_once_for_a_file(open_memory, workspace: Path) -> None:
    for name in ("Project plan 2026", "Project plan 2027"):
        (workspace / f"{name}.md").write_text(f"# {name}\n\nOne more day.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    outcome = memory.search("projectplan", correct=False)
    assert [suggestion.query for suggestion in outcome.suggestions] == ["Project plan 2026", "Project plan 2027"]
    outcome = memory.search("projectplan2027md", correct=False)
    assert [suggestion.query for suggestion in outcome.suggestions] == ["Project plan 2027.md"]


def test_query_with_all_its_words_is_not_completed(open_memory, workspace: Path) -> None:
    (workspace / "wi-fi-router.md").write_text("# Log\n\nOne more day.\n", "utf-8")
    (workspace / "other.md").write_text("The new wi-fi route of a cable.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    outcome = memory.search("wi-fi route")
    assert outcome.corrected is None
    assert outcome.suggestions == ()
    assert outcome.results[0].path == "other.md"


def test_private_name_completes_no_query_of_a_group(open_memory, workspace: Path) -> None:
    (workspace / "MEMORY.md").write_text("# Feature request management\n\nPrivate plans.\n", "utf-8")
    (workspace / "memory").mkdir(exist_ok=True)
    (workspace / "memory/other.md").write_text("A feature and a request.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    assert memory.search("feature-request-ma").results[0].path == "MEMORY.md"
    group = memory.search("feature-request-ma", session_key="agent:main:discord:group:1", explain=True)
    assert "management" not in repr(group)


@pytest.mark.parametrize("query", ["Camille hat", "cam", "-hat Camille", "camille OR hat", "'Camille' hat of"])
def test_partial_title_or_operator_not_promoted(memory, query: str) -> None:
    explanation = memory.search(query, explain=True).explanation
    assert not any(reason.named for reason in explanation.results)


def test_filters_apply_to_title_matches(memory) -> None:
    outcome = memory.search("Camille", path_glob="hats.md")
    assert {result.path for result in outcome.results} == {"hats.md"}
    within = memory.search("Camille", path_glob="daily/**")
    assert within.results == ()


def test_excluded_title_match_not_revealed(memory) -> None:
    outcome = memory.search("Camille", path_glob="hats.md", explain=True)
    assert [result.path for result in outcome.results] == ["hats.md"]
    assert "title" not in [stage.name for stage in outcome.explanation.stages]


def test_ageing_keeps_title_match(memory) -> None:
    outcome = memory.search("sunday 8 february", half_life_days=7, explain=True)
    found = next(reason for reason in outcome.explanation.results if reason.named)
    assert found.citation.startswith("daily/2026-02-08.md")
    assert found.score == 0.35


def test_aged_note_of_that_name_stays_first(memory) -> None:
    outcome = memory.search("2026-02-08", half_life_days=7)
    assert [result.path for result in outcome.results][:2] == ["daily/2026-02-08.md", "log.md"]


@pytest.mark.parametrize(
    ("query", "path"),
    [
        ("embed another note", "Note Embeds.md"),
        ("how do advanced queries work", "Advanced Queries.md"),
        ("what is the best way to use advanced queries", "Advanced Queries.md"),
        ("Advanced Queries", "Advanced Queries.md"),
        ("nix", "nix.md"),
        ("what is nix", "nix.md"),
        ("the nix", "nix.md"),
        ("how does nix work", "nix.md"),
        ("best nix tutorial", "nix.md"),
        ("cómo funciona nix", "nix.md"),
        ("explain how advanced queries differ", "Advanced Queries.md"),
        ("tell me how advanced queries behave", "Advanced Queries.md"),
        ("wie funktioniert nix", "nix.md"),
        ("was ist nix", "nix.md"),
        ("comment fonctionne nix", "nix.md"),
        ("什么是水泵", "水泵.md"),
    ],
)
@pytest.mark.parametrize("mode", ["keyword", "auto"])
def test_query_around_a_name_finds_that_note_first(open_memory, workspace: Path, query: str, path: str, mode) -> None:
    """Question words and fillers do not outrank the note with that name."""
    notes = {
        "Note Embeds.md": "Show a picture or a paragraph of one page inside of another page with an exclamation mark.",
        "Advanced Queries.md": "Queries select blocks by their properties. Nest them to filter and sort results.",
        "nix.md": "A package manager.",
        "水泵.md": "A device that moves water.",
    }
    for number in range(40):
        notes[f"diary/day-{number}.md"] = (
            "Took another note about how things work. The best way to use another tool is to note how it works. "
            f"Ran nix again and nix once more, then queries of day {number} on nix, advanced and basic. 水泵，水泵。"
        )
    for name, text in notes.items():
        file = workspace / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(f"{text}\n", "utf-8")
    memory = open_memory()
    memory.sync()
    assert memory.search(query, mode=mode).results[0].path == path


LONG = "The pods wait, the nodes drain and nothing else happens on this page for a while. " * 25
MANUAL = (
    f"# Kubernetes\n\nWhere the cluster runs and who looks after it.\n\n{LONG}\n\n## Notes\n\nkubernetes kubernetes\n"
)
CODE = f"import os\n\n{LONG}\n\ndef kubernetes(config):\n    pass\n"


@pytest.mark.parametrize("mode", ["auto", "keyword"])
@pytest.mark.parametrize(
    ("query", "text", "in_snippet"),
    [
        ("kubernetes", MANUAL, "Where the cluster runs"),
        ("kubernetes", MANUAL.replace("# Kubernetes\n\n", "", 1), "Where the cluster runs"),
        ("what is kubernetes", MANUAL, "kubernetes kubernetes"),
        ("what is kubernetes", MANUAL.replace("# Kubernetes", "# What is Kubernetes?", 1), "Where the cluster runs"),
        ("kubernetes", CODE, "def kubernetes"),
    ],
)
def test_name_alone_shows_definition_or_beginning(open_memory, workspace: Path, query, text, in_snippet, mode) -> None:
    (workspace / "kubernetes.md").write_text(text, "utf-8")
    (workspace / "other.md").write_text("Kubernetes and kubernetes again, all about kubernetes.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    first, second, *_ = memory.search(query, mode=mode).results
    assert first.path == "kubernetes.md"
    assert in_snippet in first.snippet
    assert second.score <= first.score


def test_name_of_two_words_shows_definition(open_memory, workspace: Path) -> None:
    code = f"Extract value\n\n{LONG}\n\ndef extract_value(config):\n    pass\n"
    (workspace / "extract value.md").write_text(code, "utf-8")
    memory = open_memory()
    memory.sync()
    assert "def extract_value" in memory.search("extract value", mode="keyword").results[0].snippet


def test_letters_within_a_name_hardly_count_as_name(memory, workspace: Path) -> None:
    (workspace / "7dqp49bIy20kg7f.md").write_text("Some words about nothing in particular.\n", "utf-8")
    (workspace / "flex.md").write_text("# Flex\n\nThe width is 49, and 49 of 100 is the gap; 49 is odd.\n", "utf-8")
    memory.sync()
    assert memory.search("49").results[0].path == "flex.md"


def test_begun_word_of_a_title_counts_as_name(memory, workspace: Path) -> None:
    (workspace / "rules.md").write_text("# Standard\n\nA page that many follow.\n", "utf-8")
    for number in range(5):
        text = "Standards: we standardize, standardized and will standardize the standards.\n"
        (workspace / f"log{number}.md").write_text(f"# Log\n\n{text}", "utf-8")
    memory.sync()
    assert memory.search("standar").results[0].path == "rules.md"


def test_half_typed_title_of_frequent_words_is_found(open_memory, workspace: Path) -> None:
    for number in range(900):
        fruit = ("berries", "plums")[number % 2]
        name, text = f"shed roof {number:03}.md", f"Garden plan, garden plan: {fruit} for garden {number}.\n"
        (workspace / name).write_text(text, "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    text = "Nothing yet, since we wait for the letter from the office and for a call of the neighbours. " * 8
    for start in ("Garden plan", "Shed roof"):  # few titles have the words of one, many those of the other
        (workspace / f"{start} Berlin.md").write_text(f"{text}\n", "utf-8")
    memory.sync()
    for start in ("Garden plan", "Shed roof"):
        assert memory.search(f"{start.lower()} ber", mode="keyword").results[0].path == f"{start} Berlin.md"
