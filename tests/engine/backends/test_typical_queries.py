"""Typical queries, in many scripts and forms, find the intended note by keywords alone."""

from collections.abc import Sequence
from pathlib import Path
from unicodedata import normalize

import numpy as np
import pytest
from numpy.typing import NDArray

from engine.base.cancellation import CancelToken
from engine.search.result_reasons import reasons_of
from tests.helpers.fake_provider import FakeProvider

NOTES = {
    "memory/deploy-notes.md": "Restart the service after the migration.\n",
    "memory/tokyo.md": "# 旅行\n\n東京の温室で灌漑タイマーを見た。\n",
    "memory/beijing.md": "# 笔记\n\n昨天讨论了向量数据库的设计方案。\n",
    "memory/seoul.md": "# 기록\n\n서울에서 온실을 구경했다.\n",
    "memory/garten.md": "# Garten\n\nDie Bewässerung der Gewächshäuser ist wieder ausgefallen.\n",
    "memory/moscow.md": "# Заметки\n\nВчера мы обсуждали новую теплицу и насосы.\n",
    "memory/thai.md": "# บันทึก\n\nเมื่อวานเราไปดูเรือนกระจกที่เชียงใหม่\n",
    "memory/code.md": "# Errors\n\nError E0432 comes from os.replace in foo_bar-baz, see TypeError and v1.4.2.\n",
    "memory/cafe.md": "# Cafe\n\nLe café de l'école était fermé, naïve façade.\n",
    "memory/plain.md": "zxcvb qwerty\n",
}


@pytest.fixture
def memory(open_memory, tmp_path: Path):
    folder = tmp_path / "notes"
    for name, text in NOTES.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    return memory


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("deploy-notes", "deploy-notes"),
        ("deploy notes", "deploy-notes"),
        ("restarting services", "deploy-notes"),
        ("温室", "tokyo"),
        ("灌漑タイマー", "tokyo"),
        ("タイマー", "tokyo"),
        ("向量数据库", "beijing"),
        ("设计", "beijing"),
        ("온실", "seoul"),
        ("서울", "seoul"),
        ("gewachshaus", "garten"),
        ("Gewächshäuser", "garten"),
        ("bewasserung", "garten"),
        ("теплица", "moscow"),
        ("насосами", "moscow"),
        ("เรือนกระจก", "thai"),
        ("E0432", "code"),
        ("os.replace", "code"),
        ("replace", "code"),
        ("foo_bar", "code"),
        ("type error", "code"),
        ("1.4.2", "code"),
        ("cafe", "cafe"),
        ("ECOLE", "cafe"),
        ("facade", "cafe"),
        ("migrat", "deploy-notes"),
        ("zxcvb", "plain"),
        ("zxcvb and", "plain"),
    ],
)
def test_typical_query_finds_its_note_first(memory, query: str, name: str) -> None:
    outcome = memory.search(query)
    assert outcome.results, query
    assert outcome.results[0].path == f"memory/{name}.md"


@pytest.mark.parametrize("query", ["Gewächshäuser", "온실 구경했", "ガラス", "3 décembre 2031", "path:cafe façad"])
def test_query_in_separate_signs_has_the_same_answer(memory, tmp_path: Path, query: str) -> None:
    (tmp_path / "notes/memory/december.md").write_text("# Noël\n\nLe 3 décembre, on pose le toit ガラス.\n", "utf-8")
    memory.sync()
    composed, separate = (memory.search(normalize(form, query)) for form in ("NFC", "NFD"))
    assert normalize("NFD", query) != query
    assert composed.results
    assert separate.results == composed.results
    assert (separate.corrected, separate.notice) == (composed.corrected, composed.notice)


def test_single_character_of_an_unspaced_script_finds_notes(memory) -> None:
    assert "memory/tokyo.md" in [result.path for result in memory.search("京", min_score=0).results]


class OtherSubject(FakeProvider):
    """Says that no passage is about the query."""

    def vectors_of(self, texts: Sequence[str]) -> NDArray[np.float32]:
        rows = np.zeros((len(texts), self.dims), np.float32)
        rows[:, 1] = 1
        return rows

    def embed_query(self, text: str, *, cancel: CancelToken | None = None) -> NDArray[np.float32]:
        rows = np.zeros(self.dims, np.float32)
        rows[0] = 1
        return rows


@pytest.mark.parametrize("last", ["commit", "span"])
def test_words_in_two_chunks_of_a_line_are_found(open_memory, workspace: Path, last: str) -> None:
    spans = ",".join(f'{{"span":"{number:08x}","took":{number}}}' for number in range(300))
    (workspace / "trace.md").write_text(f'[{{"level":"error"}},{spans},{{"op":"{last}"}}]\n')
    for number in range(12):
        (workspace / f"commit-{number}.md").write_text(f"The commit of day {number} went through.\n")
    memory = open_memory(use=OtherSubject())
    memory.sync()
    rows = [
        row for row in memory.search("error commit", max_results=50, correct=False).results if row.path == "trace.md"
    ]
    assert bool(rows) == (last == "commit")
    assert all(row.end_line == 1 and row.score >= 0.35 for row in rows)


def test_passage_with_the_word_leads_its_titled_file(open_memory, workspace: Path) -> None:
    long = "The rope is old and the deck is wet. " * 40
    sections = [f"# Rope\n\n{long}\n", f"# Deck\n\n{long}Sand the mast.\n", f"# Sail\n\n{long[:300]}\n"]
    (workspace / "our mast.md").write_text("\n".join(sections), "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    first, *others = memory.search("mast").results
    assert "Sand the mast" in first.snippet
    assert {other.path for other in others} == {"our mast.md"}


@pytest.mark.parametrize(
    "query",
    [
        "git rebase -i",
        "rm -rf build",
        "find . -name '*.log' -delete",
        "tar -xzf backup.tgz -C restored",
        "Grep -RN todo src",
    ],
)
def test_pasted_command_finds_the_note_that_has_it(open_memory, workspace: Path, query: str) -> None:
    commands = "Then `git rebase -i HEAD~3`, and rm -rf build.\n\n    find . -name '*.log' -delete\n"
    commands += "    tar -xzf backup.tgz -C restored\n    grep -rn todo src\n"
    (workspace / "commands.md").write_text(commands, "utf-8")
    for number in range(20):
        (workspace / f"log-{number}.md").write_text("I read a log of the name, and wrote to C. at home.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    assert memory.search(query, mode="keyword").results[0].path == "commands.md"


def test_exclusion_is_read_as_word_if_a_note_has_it(open_memory, workspace: Path) -> None:
    (workspace / "pie.md").write_text("An apple pie, and apple -cake with a hyphen.\n", "utf-8")
    (workspace / "tart.md").write_text("An apple tart.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    assert [result.path for result in memory.search("apple -pie", mode="keyword").results] == ["tart.md"]
    assert [result.path for result in memory.search("-pie apple", mode="keyword").results] == ["tart.md"]
    read_as_word = memory.search("apple -cake", mode="keyword")
    assert read_as_word.results[0].path == "pie.md"
    assert "“-cake” was read as a word" in read_as_word.notice
    assert [result.path for result in memory.search('apple -"cake"', mode="keyword").results] == ["tart.md"]


def test_unknown_option_of_one_letter_lowers_no_score(open_memory, workspace: Path) -> None:
    for number in range(10):
        (workspace / f"log-{number}.md").write_text(f"The pattern of day {number} is common here.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    assert len(memory.search("common -n", mode="keyword", max_results=20).results) == 10
    assert len(memory.search("pattern -x day", mode="keyword", max_results=20).results) == 10


def test_tag_as_typed_in_notes_finds_its_notes(open_memory, workspace: Path) -> None:
    (workspace / "shed.md").write_text("---\ntags: [garden/tools, winter]\n---\n\nThe spade needs oil.\n", "utf-8")
    (workspace / "beds.md").write_text("Cover the beds. #garden #winter\n", "utf-8")
    (workspace / "garden.md").write_text("# Garden\n\nThe garden has winter beds, issue #12.\n", "utf-8")
    memory = open_memory()
    memory.sync()

    def found(query: str) -> set[str]:
        return {result.path for result in memory.search(query, mode="keyword").results}

    assert found("#garden") == found("#Garden,") == {"shed.md", "beds.md"}
    assert found("#garden #winter") == {"shed.md", "beds.md"}
    assert found("#garden/tools title:shed") == {"shed.md"}
    assert "garden.md" in found("winter beds #garden")  # with other words, a tag is not required
    assert found("beds -#garden") == {"garden.md"}
    assert found("#garden OR #winter") == {"shed.md", "beds.md"}
    assert "garden.md" in found("#beds")  # no note has this tag
    assert "garden.md" in found("issue #12")
    assert found('"#garden"') == {"beds.md"}  # exactly these characters


@pytest.mark.parametrize("limit", [{"path_glob": "memory/**"}, {"session_key": "agent:main:discord:group:1"}])
def test_files_left_out_do_not_change_the_query(open_memory, workspace: Path, limit: dict[str, str]) -> None:
    (workspace / "MEMORY.md").write_text("---\ntags: [garden]\n---\n\nAn apple -cake.\n", "utf-8")
    (workspace / "memory").mkdir()
    (workspace / "memory/plan.md").write_text("The garden has an apple tree.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    for query in ("#garden", "apple -cake"):
        everywhere = memory.search(query, mode="keyword")
        outcome = memory.search(query, mode="keyword", **limit)
        assert everywhere.results[0].path == "MEMORY.md"
        assert [result.path for result in outcome.results] == ["memory/plan.md"]
        assert not outcome.notice


def _paths(memory, query: str) -> list[str]:
    return [result.path for result in memory.search(query).results]


def test_quoted_part_of_an_identifier_is_found(open_memory, workspace: Path) -> None:
    text = (
        "See /etc/systemd/system/foo.service, v1.2.3-rc4 and getUserName in doc/Übersicht/100_neu/index.md.\n"
        "A module in TypeScript/JavaScript, über Größe/Länge, stands in src/engine/search.py too.\n"
    )
    (workspace / "unit.md").write_text(text, "utf-8")
    (workspace / "words.md").write_text("The etc systemd system, 1 2 3, user name.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    queries = (
        '"etc/systemd"',
        '"etc/systemd/"',
        '"systemd/system/foo"',
        '"2.3-rc4"',
        '"UserName"',
        '"Übersicht/100_neu"',
        '"übersicht/100"',
        '"module in typescript"',
        '"JavaScript, über Größe"',
        '"stands in src/engine"',
        '"stands in src/"',
        '"too"',
    )
    wrong = {query: paths for query in queries if (paths := _paths(memory, query)) != ["unit.md"]}
    assert not wrong
    (result,) = memory.search('"ETC/systemd"').results
    assert [result.snippet[start:end] for start, end in result.match_ranges] == ["etc/systemd"]
    (result,) = memory.search('"Module in TypeScript"').results
    assert [result.snippet[start:end] for start, end in result.match_ranges] == ["module in TypeScript"]
    unfinished = ('"etc/sys"', '"module in Type"', '"stands in sr"', '"in src/eng"')
    assert not [query for query in unfinished if memory.search(query).results]
    (workspace / "port.md").write_text("Çay/İz/Kale.\n", "utf-8")
    memory.sync()
    assert _paths(memory, '"Çay/İz"') == ["port.md"]


def test_first_part_of_a_name_with_digits_is_found(open_memory, workspace: Path) -> None:
    for number in range(12):
        text = "Installed tables with a collation, torches and modules: all marked, none of them first.\n"
        (workspace / f"room{'x' * number}.md").write_text(text, "utf-8")
    (workspace / "waves.md").write_text("We use NRSur7dq2 here, it was installed last week.\n", "utf-8")
    (workspace / "table.md").write_text("The table uses utf8mb4 with a collation.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    queries = {
        "NRSur installed": "waves.md",
        "NRSur7 installed": "waves.md",
        "utf8 collation": "table.md",
        "utf8mb collation": "table.md",
    }
    found = {query: memory.search(query).results[0] for query in queries}
    assert {query: result.path for query, result in found.items()} == queries
    marked = found["NRSur installed"]
    assert "NRSur7dq2" in [marked.snippet[start:end] for start, end in marked.match_ranges]
    assert not _paths(memory, "tabl7 mark9")  # no part of a word


def test_version_in_a_path_or_name_is_found_first(open_memory, workspace: Path) -> None:
    for name, text in {
        "link": "See https://docs.example.org/en/v2.2.1/ for more.",
        "branch": "The branch release/v3.4.5 is out.",
        "archive": "Unpack app-v6.7.8.tar.gz first.",
        "a": "(2,2) = 1 and 3,4,5 and 6,7,8",
    }.items():
        (workspace / f"{name}.md").write_text(f"{text}\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    queries = {"2.2.1": "link.md", "v3.4.5": "branch.md", "3.4.5": "branch.md", "6.7.8": "archive.md"}
    assert {query: _paths(memory, query)[0] for query in queries} == queries


def test_sign_of_a_number_decides_among_many(open_memory, workspace: Path) -> None:
    for number in range(60):
        (workspace / f"room{'x' * number}.md").write_text("# Room\n\n20 chairs, 20 tables and 20 lamps.\n", "utf-8")
    (workspace / "members.md").write_text("# Club\n\nMembers pay less than all others, by 20 % in winter.\n", "utf-8")
    (workspace / "ticket.md").write_text("# Fair\n\nThe ticket for the fair and the train is $20 until May.\n", "utf-8")
    for name, text in {
        "rebate": "The shop by the road gives a rebate of 30 percent to all who come in May.",
        "loan": "The loan from the bank by the road has 40% to pay back until May.",
        "pounds": "The rope by the road is 50 pounds in any shop, more or less.",
        "sizes": "Of 20 by 20 by 20 it has 120%, 20.5%, % 205, percent20 and 20percentage of 20.",
        "seats": "There are 30 seats, 30 tables, 40 lamps, 40 hooks, 50 cups and 50 mugs.",
    }.items():
        (workspace / f"{name}.md").write_text(f"# Note\n\n{text}\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    wrong = {}
    for query, name in {
        "20%": "members.md",
        "20 percent": "members.md",
        "$20": "ticket.md",
        "20 USD": "ticket.md",
        "30%": "rebate.md",
        "30 percent": "rebate.md",
        "40 percent": "loan.md",
        "£50": "pounds.md",
    }.items():
        if (first := memory.search(query).results[0].path) != name:
            wrong[query] = first
    assert not wrong
    reason = memory.search("20%", explain=True).explanation.results[0]
    assert "words of the query with their signs: 0." in "".join(map(str, reasons_of(reason)))


def test_signs_of_a_name_decide_among_notes_with_the_word(open_memory, workspace: Path) -> None:
    texts = {
        "--force": "Deleting needs `rm --force` there.",
        "$HOME": "The variable $HOME names it.",
        "name=name": "Call it as `make(name=name)` then.",
        "filter()": "The call `filter(rows)` returns pairs.",
        "start->next": "Follow `start->next` to the end.",
    }
    for at, text in enumerate(texts.values()):
        (workspace / f"signs-{at}.md").write_text(f"# Note\n\n{text} {'It goes on for a while. ' * 9}\n", "utf-8")
    for word in ("force", "home", "name", "filter", "start next"):
        for at in range(9):
            text = f"{word.capitalize()} is a word: the {word}, and another {word} {at}.\n"
            (workspace / f"other-{word[:2]}-{at}.md").write_text(text, "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    found = {query: memory.search(query).results[0].path for query in texts}
    assert found == {query: f"signs-{at}.md" for at, query in enumerate(texts)}
    longer = memory.search("deleting needs rm --force there it goes on", explain=True).explanation.results[0]
    assert "signs" not in {increase.kind for increase in longer.increases}


def test_name_of_a_file_with_its_folder_comes_first(open_memory, workspace: Path) -> None:
    for folder in ("worker", "client"):
        (workspace / folder).mkdir()
        (workspace / folder / "components.md").write_text("Parts that start and stop.\n", "utf-8")
    for at in range(9):
        text = f"We moved {'worker/components.md and ' * 3}client/components.md {at}.\n"
        (workspace / f"log-{at}.md").write_text(text, "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    names = ["worker/components.md", "client/components.md", "worker/components"]
    found = {query: memory.search(query).results[0].path for query in names}
    assert found == {query: f"{query.removesuffix('.md')}.md" for query in names}


@pytest.mark.parametrize("number", ["0012", "04.14"])
def test_number_of_a_name_finds_its_file_first(open_memory, workspace: Path, number: str) -> None:
    for name in (f"{number}-use-valves", "0414-use-pumps"):
        (workspace / f"{name}.md").write_text("# Use valves\n\nEach pump gets one.\n", "utf-8")
    for at in range(9):
        text = f"See {number}: valve {number}, pump {at}, {number}.\n"
        (workspace / f"log-{at}.md").write_text(text, "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    first, second = [result.path for result in memory.search(number).results][:2]
    assert first == f"{number}-use-valves.md"
    assert second.startswith("log-")
    assert memory.search(number.replace(".", " ")).results[0].path == first


def test_year_of_a_name_is_no_number_of_it(open_memory, workspace: Path) -> None:
    (workspace / "2024-use-valves.md").write_text("# Use valves\n\nEach pump gets one.\n", "utf-8")
    for at in range(9):
        (workspace / f"log-{at}.md").write_text(f"See valve {at} of 2024 in 2024: 2024.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    assert memory.search("2024").results[0].path.startswith("log-")


def test_acronym_that_occurs_nowhere_finds_the_title(open_memory, workspace: Path) -> None:
    (workspace / "method.md").write_text("# Getting Things Done\n\nA list for each place.\n", "utf-8")
    for at, title in enumerate(("Getting tired", "Great deeds", "Things done", "Get the new doors")):
        (workspace / f"other-{at}.md").write_text(f"# {title}\n\nSomething else {at}.\n", "utf-8")
    memory = open_memory(use=None)
    memory.sync()
    outcome = memory.search("GTD")
    assert outcome.corrected is not None
    assert outcome.corrected.query == "Getting Things Done"
    assert outcome.results[0].path == "method.md"
    (workspace / "own.md").write_text("We use GTD for all of it.\n", "utf-8")
    memory.sync()
    assert [result.path for result in memory.search("GTD").results] == ["own.md"]
