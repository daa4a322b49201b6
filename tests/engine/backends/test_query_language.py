"""Queries with operators, through the contract, over notes and sessions in several scripts."""

import json
import os
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import date, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.search.result_reasons import reasons_of
from engine.settings import Settings
from engine.settings.options import SessionSettings, StoreSettings
from engine.text.operators import OPERATORS
from tests.helpers.fake_provider import FakeProvider, selection_of

NOTES = {
    "greenhouse.md": "---\ntags: [Garden, water/drip]\n---\n# Greenhouse\n\nThe left valve of the irrigation leaks.\n",
    "shopping.md": "# Shopping list\n\nIrrigation hose, a valve for the left side. #garden\n",
    "daily/2026-02-08.md": "# Sunday\n\nThe tomatoes are limp, irrigation stopped. `#notag` #42\n",
    "daily/2026-02-09.md": "# Monday\n\nDeployment of the new timer by GitHub Actions: os.replace fails on OpenBSD.\n",
    "japan.md": "# 旅行\n\n東京都庁の展望台は無料です。京都の庭。\n",
    "china.md": "# 北京\n\n我们在北京大学学习中文。大学在北京。\n",
    "korea.md": "# 서울\n\n학교 도서관에서 책을 읽었다.\n",
    "thai.md": "# ไทย\n\nฉันชอบกินข้าวผัดมาก\n",
    "russian.md": "# Лодка\n\nКрасная лодка стоит у старого причала.\n",
}  # fmt: skip
CHANGED = {
    "greenhouse.md": "2026-03-05",
    "shopping.md": "2026-02-20",
    "daily/2026-02-08.md": "2026-02-08",
    "daily/2026-02-09.md": "2026-02-09",
}
BOAT = "sessions/main/boat.jsonl"


def _session(folder: Path) -> None:
    folder.mkdir(parents=True)
    lines = [{"type": "session", "id": "s1", "cwd": "/home/ada/Boat", "timestamp": "2026-01-01T10:00:00.000Z"}]
    for minute, (role, text) in enumerate(
        [("user", "The varnish peels off the mast."), ("assistant", "Sand it, then irrigation of the deck stops rot.")]
    ):
        message = {"role": role, "content": [{"type": "text", "text": text}]}
        stamp = f"2026-01-01T10:{minute:02}:00.000Z"
        lines.append({"type": "message", "id": f"m{minute}", "timestamp": stamp, "message": message})
    (folder / "boat.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))


@contextmanager
def _opened(folder: Path, provider: FakeProvider) -> Iterator[BuiltinMemory]:
    workspace, store = folder / "notes", folder / "agents/main/sessions"
    for name, text in NOTES.items():
        path = workspace / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
        moment = datetime.fromisoformat(CHANGED.get(name, "2025-06-01")).timestamp() + 3600
        os.utime(path, (moment, moment))
    _session(store)
    wanted = Settings(sessions=SessionSettings(folders=(str(store),)), store=StoreSettings(path=str(folder / "data")))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(builtin, "select_provider", lambda *_, **__: selection_of(provider))
        with closing(BuiltinMemory(workspace, wanted, executor=None, background=False)) as memory:
            memory.sync()
            yield memory


@pytest.fixture(scope="module")
def provider() -> FakeProvider:
    return FakeProvider()


@pytest.fixture(scope="module")
def memory(tmp_path_factory: pytest.TempPathFactory, provider: FakeProvider) -> Iterator[BuiltinMemory]:
    """A memory for tests that only read."""
    with _opened(tmp_path_factory.mktemp("read"), provider) as memory:
        yield memory


@pytest.fixture
def changing(tmp_path: Path, provider: FakeProvider) -> Iterator[BuiltinMemory]:
    """A memory of its own for a test that changes notes."""
    with _opened(tmp_path, provider) as memory:
        yield memory


def found(memory: BuiltinMemory, query: str, **options) -> set[str]:
    def ask(*, explain: bool) -> set[str]:
        outcome = memory.search(query, max_results=50, min_score=0, mode="keyword", explain=explain, **options)
        return {result.path for result in outcome.results}

    answer = ask(explain=False)
    assert ask(explain=True) == answer  # an explained search lists all chunks that match the query
    return answer


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ('"left valve"', {"greenhouse.md"}),
        ('"valve for the left"', {"shopping.md"}),
        ('irrigation "left valve"', {"greenhouse.md"}),
        ('"Shopping list"', {"shopping.md"}),
        ('"os replace"', {"daily/2026-02-09.md"}),
        ('"replace os"', set()),
        ('"by github actions"', {"daily/2026-02-09.md"}),
        ('"actions github"', set()),
        ('"hub open"', set()),
        ('"openbsd git"', set()),
        ('"東京都"', {"japan.md"}),
        ('"京"', {"japan.md", "china.md"}),
        ('"都庁の展望台"', {"japan.md"}),
        ('"東京の"', set()),
        ('"北京大学"', {"china.md"}),
        ('"大学北京"', set()),
        ('"학교 도서관"', {"korea.md"}),
        ('"도서관 학교"', set()),
        ('"กินข้าวผัด"', {"thai.md"}),
        ('"красная ЛОДКА"', {"russian.md"}),
        ('"стоит лодка"', set()),
        ('"stop rot"', set()),
        ('"stops rot"', {BOAT}),
    ],
)
def test_phrase_is_required_in_every_script(memory: BuiltinMemory, query: str, paths: set[str]) -> None:
    assert found(memory, query) == paths


def test_phrase_in_question_comes_first_without_filtering(memory: BuiltinMemory) -> None:
    outcome = memory.search('What did we write about the "left valve" of the irrigation?', min_score=0)
    assert outcome.results[0].path == "greenhouse.md"
    assert {"shopping.md", "daily/2026-02-08.md"} < {result.path for result in outcome.results}
    assert "results need not contain “left valve”" in outcome.notice


@pytest.mark.parametrize(
    ("query", "paths"),
    [
        ("irrigation -valve path:.md", {"daily/2026-02-08.md"}),
        ('irrigation -"left valve" source:notes -tomato', {"shopping.md"}),
        ("irrigation -path:daily -source:sessions", {"greenhouse.md", "shopping.md"}),
        ("tomatoes OR deployment", {"daily/2026-02-08.md", "daily/2026-02-09.md"}),
        ('tomatoes OR "left valve" irrigation', {"daily/2026-02-08.md", "greenhouse.md"}),
        ("tag:garden OR path:daily", {"greenhouse.md", "shopping.md", "daily/2026-02-08.md", "daily/2026-02-09.md"}),
        ("tag:garden OR tomatoes", {"greenhouse.md", "shopping.md", "daily/2026-02-08.md"}),
        ("path:daily OR hose after:2026-02-09", {"daily/2026-02-09.md", "shopping.md"}),
        ('-path:*-09.md tag:water OR "irrigation stopped"', {"greenhouse.md", "daily/2026-02-08.md"}),
        ("tag:garden OR tomatoes limp", {"daily/2026-02-08.md"}),
        ("tag:garden", {"greenhouse.md", "shopping.md"}),
        ("tag:#GARDEN irrigation", {"greenhouse.md", "shopping.md"}),
        ("tag:water", {"greenhouse.md"}),
        ("tag:garden tag:water/drip", {"greenhouse.md"}),
        ("tag:notag", set()),
        ("path:daily", {"daily/2026-02-08.md", "daily/2026-02-09.md"}),
        ("path:daily/*-09.md", {"daily/2026-02-09.md"}),
        ("path:green", {"greenhouse.md"}),
        ('title:"shopping list"', {"shopping.md"}),
        ("title:SHOP", {"shopping.md"}),
        ('title:"varnish peels"', {BOAT}),
        ("source:sessions", {BOAT}),
        ("agent:openclaw", {BOAT}),
        ("agent:codex", set()),
        ("project:boat", {BOAT}),
        ("on:2026-02", {"shopping.md", "daily/2026-02-08.md", "daily/2026-02-09.md"}),
        ("on:2026-02-08", {"daily/2026-02-08.md"}),
        ("after:2026-02-20", {"greenhouse.md", "shopping.md"}),
        ("after:2026-02 before:2026-02-20 irrigation", {"daily/2026-02-08.md"}),
        ("role:user varnish", {BOAT}),
        ("role:assistant varnish", set()),
        ("role:assistant irrigation", {BOAT}),
        ("role:tool", set()),
    ],
)  # fmt: skip
def test_operators_limit_the_files_that_are_found(memory: BuiltinMemory, query: str, paths: set[str]) -> None:
    assert found(memory, query) == paths


@pytest.mark.parametrize(
    ("query", "glob", "count"),
    [
        ("(tomatoes OR hose OR deployment) -limp", None, 2),
        ("(tomatoes OR hose OR deployment) -limp", "daily/*", 1),
        ('(tomatoes OR hose OR "left valve") irrigation', None, 3),
        ('(tomatoes OR hose OR "left valve") irrigation', "s*.md", 1),
        ("(limp OR limpid) -tomatoes", None, 0),
        ("irrigation -limp", None, 9),
    ],
)
def test_explanation_counts_the_passages_with_alternatives(
    memory: BuiltinMemory, query: str, glob: str | None, count: int
) -> None:
    explanation = memory.search(query, path_glob=glob, explain=True).explanation
    assert explanation is not None
    assert [stage.after for stage in explanation.stages if stage.name == "operators"] == [count]


def test_prefix_finds_longer_words(memory: BuiltinMemory) -> None:
    [result] = memory.search("deplo* source:notes", min_score=0.3, mode="keyword").results
    assert result.path == "daily/2026-02-09.md"
    assert [result.snippet[a:b] for a, b in result.match_ranges] == ["Deployment"]
    assert found(memory, "source:notes -irrig* path:daily") == {"daily/2026-02-09.md"}


def test_a_phrase_is_marked_whole_and_nothing_else(memory: BuiltinMemory) -> None:
    [result] = memory.search('"the left"', min_score=0, path_glob="shopping.md").results
    assert [result.snippet[a:b] for a, b in result.match_ranges] == ["the left"]


def test_role_operator_shows_message_of_that_role(memory: BuiltinMemory) -> None:
    [result] = memory.search("role:assistant the deck or varnish", min_score=0).results
    assert result.message is not None
    assert result.message.role == "assistant"
    assert {result.snippet[a:b] for a, b in result.match_ranges} == {"deck"}
    [listed] = memory.search("role:assistant").results
    assert listed.message is not None
    assert listed.message.role == "assistant"


@pytest.mark.parametrize(
    ("written", "described"),
    [
        ("on:2016", "on:2016 (2016-01-01 to 2016-12-31)"),
        ("on:2016-02", "on:2016-02 (2016-02-01 to 2016-02-29)"),
        ('on:"31 May 2016"', 'on:"31 May 2016" (2016-05-31)'),
        ("before:2016", "before:2016 (before 2016-01-01)"),
        ("after:2016", "after:2016 (from 2016-01-01)"),
        ("after:2016-02-03", "after:2016-02-03"),
    ],
)
def test_condition_of_time_names_its_first_and_last_day(memory: BuiltinMemory, written: str, described: str) -> None:
    stages = {stage.name: stage for stage in memory.search(f"-zzz {written}", explain=True).explanation.stages}
    assert described in stages["operators"].note


@pytest.mark.parametrize(("query", "found"), [("agent:claw", True), ("agent:OpenClaw", True), ("agent:codex", False)])
def test_part_of_an_agents_name_is_enough(memory: BuiltinMemory, query: str, found: bool):
    assert bool(memory.search(f"{query} varnish").results) is found


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("on:2019-05-04", {"log/2019-05-04 walk.md"}),
        ("on:2019-06-05", {"dated.md"}),
        ("after:2019-05 before:2019-07", {"dated.md", "log/2019-05-04 walk.md"}),
        ("before:2019-06", {"log/2019-05-04 walk.md"}),
        ("after:2020 before:2021", set()),
        ("heron -before:2019-06", {"dated.md"}),
    ],
)
def test_dates_are_also_those_of_the_note(changing: BuiltinMemory, query: str, expected: set[str]):
    workspace = Path(changing.status().workspace_dir)
    (workspace / "log").mkdir()
    (workspace / "log/2019-05-04 walk.md").write_text("# Walk\n\nA heron at the pond.\n")
    (workspace / "dated.md").write_text("---\ncreated: 2019-06-05\n---\n# Pond\n\nThe heron came back.\n")
    changing.sync()
    assert found(changing, query) == expected


@pytest.mark.parametrize(
    ("query", "dates"),
    [
        ("on:2019-06-05", ("2019-06-05",)),
        ("on:2019-07", ("2019-07-01", "2019-07-08")),
        ("after:2019-06 before:2019-07-02", ("2019-06-05", "2019-07-01")),
        ("on:2021", ("2021-01-02",)),
        ("before:2019-06-04", None),
        ("after:2019-06-06 before:2019-07", None),
        ("-on:2019-06-05", None),
        ("heron", ()),
    ],
)
def test_each_date_of_front_matter_is_in_its_period(changing: BuiltinMemory, query: str, dates: tuple[str, ...] | None):
    workspace = Path(changing.status().workspace_dir)
    days = "created: 2019-06-05\ndate: 2019-07-01\nupdated: 2021-01-02"
    (workspace / "2019-07-08 pond.md").write_text(f"---\n{days}\n---\n# Pond\n\nThe heron came back.\n")
    changing.sync()
    results = {result.path: result.dates for result in changing.search(query, min_score=0).results}
    assert results.get("2019-07-08 pond.md") == dates


def test_period_of_a_search_is_also_that_of_the_note(changing: BuiltinMemory):
    workspace = Path(changing.status().workspace_dir)
    (workspace / "2019-05-04.md").write_text("# Walk\n\nA heron at the pond.\n")
    changing.sync()
    first, end = datetime(2019, 5, 4).timestamp(), datetime(2019, 5, 5).timestamp()
    for since, until, count in ((first, end, 1), (first, None, 1), (None, end, 1), (end, end + 1, 0), (None, first, 0)):
        results = changing.search("heron title:walk", since=since, until=until).results
        assert [result.dates for result in results] == [("2019-05-04",)] * count, (since, until)
    assert changing.search("heron", since=-1e30, until=1e30).results


def test_operators_alone_list_the_newest_file_first(memory: BuiltinMemory) -> None:
    outcome = memory.search("source:notes after:2026", max_results=3, explain=True)
    assert [result.path for result in outcome.results] == ["greenhouse.md", "shopping.md", "daily/2026-02-09.md"]
    assert outcome.total == 4
    stages = {stage.name: stage for stage in outcome.explanation.stages}
    assert "the newest files come first" in stages["operators"].note
    assert "matches source:notes and matches after:2026 (from 2026-01-01)" in stages["operators"].note
    assert [result.path for result in memory.search("-irrigation path:daily").results] == ["daily/2026-02-09.md"]


def test_operators_alone_order_notes_by_their_own_dates(changing: BuiltinMemory) -> None:
    workspace = Path(changing.status().workspace_dir)
    (workspace / "2031-01-05 pond.md").write_text("# Pond\n\nThe heron came back. #heron\n")
    (workspace / "reeds.md").write_text("---\ndate: 2030-06-01\n---\n# Reeds\n\nCut them. #heron\n")
    (workspace / "walk.md").write_text("# Walk\n\nAlong the pond. #heron\n")
    for name, day in (("2031-01-05 pond.md", 2), ("reeds.md", 3), ("walk.md", 1)):
        os.utime(workspace / name, (86_400 * day, 86_400 * day))
    for day, name in ((1, "b.md"), (3, "c.md"), (2, "a.md")):
        (workspace / name).write_text("#eel\n")
        os.utime(workspace / name, (86_400 * day, 86_400 * day))
    changing.sync()
    results = changing.search("tag:heron").results
    assert [result.path for result in results] == ["2031-01-05 pond.md", "reeds.md", "walk.md"]
    assert [result.path for result in changing.search("tag:eel", max_results=1).results] == ["c.md"]


@pytest.mark.parametrize("explain", [False, True])
def test_tag_alone_shows_its_line(changing: BuiltinMemory, workspace: Path, explain: bool) -> None:
    before = "\n\n".join(f"# Part {number}\n\n" + "Nothing to do here. " * 40 for number in range(8))
    text = f"{before}\n\nSend it back. #Heron-list\n\nFeed them. #heron/nest\n\n{before}"
    (workspace / "pond.md").write_text(text, "utf-8")
    (workspace / "reeds.md").write_text(f"---\ntags: heron\n---\n# Reeds\n\nCut them.\n\n{before}", "utf-8")
    changing.sync()
    pond, reeds = sorted(changing.search("#heron", explain=explain).results, key=lambda result: result.path)
    assert [pond.snippet[start:end] for start, end in pond.match_ranges] == ["#heron/nest"]
    assert text.split("\n")[pond.start_line - 1 : pond.end_line].count("Feed them. #heron/nest") == 1
    assert (reeds.start_line, reeds.match_ranges) == (2, ())


def test_title_operator_finds_names_and_aliases(changing: BuiltinMemory) -> None:
    workspace = Path(changing.status().workspace_dir)
    (workspace / "pond-care (old).md").write_text("---\naliases: [Carp basin]\n---\n# Fish\n\nFeed them.\n")
    changing.sync()
    for value in ("pond care (old)", "carp basin", "fish", "pond-care (old).md", "CARE (OLD).MD", "pond.md"):
        assert found(changing, f'title:"{value}"') == {"pond-care (old).md"}, value
    for name in ("log___2024%20(old).md", "eel [2.md"):
        (workspace / name).write_text("# Eel\n\nCaught one.\n")
    changing.sync()
    assert found(changing, 'title:"log 2024"') == found(changing, "title:2024%") == {"log___2024%20(old).md"}
    assert found(changing, 'title:"eel [2"') == {"eel [2.md"}
    for value in ("md", "pond.txt", "carp.md.md", "ﷺ" * 4000):
        assert not found(changing, f'title:"{value}"'), value


@pytest.mark.parametrize(("mode", "least"), [("auto", 0.3), ("keyword", 0.3), ("keyword", 0.0)])
def test_condition_or_word_ranks_the_word_first(memory: BuiltinMemory, mode: str, least: float) -> None:
    outcome = memory.search("path:daily OR hose", min_score=least, mode=mode, max_results=2, explain=True)
    assert [result.path for result in outcome.results] == ["shopping.md", "daily/2026-02-09.md"]
    assert outcome.results[0].score > outcome.results[1].score >= least
    assert outcome.total == 3
    [by_word, by_condition] = outcome.explanation.results
    assert not by_word.wordless
    sentences = list(map(str, reasons_of(by_condition)))
    assert sentences[0] == "The passage satisfies the query without its words: “hose”."
    assert sentences[1:] == (["Passages without the query's words get the minimum score, 0.3."] if least else [])


def test_either_of_two_words_is_a_full_answer(memory: BuiltinMemory) -> None:
    one = memory.search("tomatoes", mode="keyword").results[0]
    either = next(r for r in memory.search("tomatoes OR varnish", mode="keyword").results if r.path == one.path)
    both = next(r for r in memory.search("tomatoes varnish", mode="keyword", min_score=0).results if r.path == one.path)
    assert either.text_score == one.text_score > both.text_score


def test_the_model_gets_the_question_without_operators(memory: BuiltinMemory, provider: FakeProvider) -> None:
    memory.search('limp "the tomatoes" -hose path:daily OR tag:x dep*')
    assert provider.questions[-1] == "limp the tomatoes dep"
    count = len(provider.questions)
    memory.search("source:notes -hose")
    assert len(provider.questions) == count


def test_semantic_results_respect_exclusion(memory: BuiltinMemory) -> None:
    outcome = memory.search("limp -tomatoes", min_score=0, explain=True)
    assert outcome.mode == "hybrid"
    assert outcome.results
    assert all("tomatoes" not in result.snippet for result in outcome.results)


def test_filters_of_caller_and_query_both_apply(memory: BuiltinMemory) -> None:
    assert found(memory, "path:daily", sources=["sessions"]) == set()
    outcome = memory.search("irrigation path:daily", sources=["sessions"], explain=True)
    stages = {stage.name: stage for stage in outcome.explanation.stages}
    assert list(stages)[:3] == ["embedding", "filters", "operators"]
    assert "No passage that passes the filters matches path:daily." in stages["operators"].note
    assert stages["operators"].after == 0


def test_invalid_syntax_is_searched_as_words_with_notice(memory: BuiltinMemory) -> None:
    outcome = memory.search("foo:bar irrigation")
    assert outcome.notice.endswith("“foo:bar” was read as words: there is no operator foo.")
    assert outcome.results


def test_explanation_of_plain_words_has_all_stages_in_order(memory: BuiltinMemory) -> None:
    stages = memory.search("the irrigation timer", explain=True).explanation.stages
    assert [stage.name for stage in stages] == [
        *("embedding", "words", "keywords", "vectors", "scores", "threshold", "results")
    ]


_BITS = st.sampled_from(
    [*'"“”„-*():#/', " ", " OR ", "irrigation", "valve", "\ud800", "\0", "東", "dep*", "last week", "2026-05", "9999"]
    + ["notes", "user", "garden", "999999y", "İ", "✅", "\x1f"]
    + [f"{name}:" for name in OPERATORS]
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(st.lists(_BITS, max_size=9).map("".join), st.sampled_from(["auto", "keyword"]))
def test_any_query_is_answered(memory: BuiltinMemory, query: str, mode: str) -> None:
    outcome = memory.search(query, mode=mode, explain=True)
    assert all(0 <= result.score <= 1 for result in outcome.results)
    for operator in ("", "tag", "path"):
        memory.query_values(operator, query)


@pytest.mark.parametrize(
    ("operator", "start", "values"),
    [
        ("", "ta", ("tag:",)),
        ("source", "", ("notes", "sessions")),
        ("role", "A", ("assistant",)),
        ("tag", "#g", ("garden",)),
        ("agent", "open", ("openclaw",)),
        ("project", "oa", ("Boat",)),
        ("path", "dai", ("daily/", "daily/2026-02-08.md", "daily/2026-02-09.md")),
        ("path", "green", ("greenhouse.md",)),
        ("title", "list", ("Shopping list",)),
        ("after", "last w", ("last week",)),
        ("nothing", "", ()),
    ],
)
def test_operator_values_that_begin_as_typed_are_completed(
    memory: BuiltinMemory, operator: str, start: str, values: tuple[str, ...]
) -> None:
    assert memory.query_values(operator, start) == values


def test_every_beginning_of_a_date_is_completed(memory: BuiltinMemory) -> None:
    values = {
        start: memory.query_values("after", start) for start in ("2", "20", "202", "2026-", "2026-0", "2026-01-1")
    }
    assert [start for start, found in values.items() if not found or not found[0].startswith(start)] == []
    assert memory.query_values("on", date.today().isoformat()) == (date.today().isoformat(),)


def test_answer_describes_how_the_query_was_parsed(memory: BuiltinMemory) -> None:
    outcome = memory.search("limp -hose")
    assert outcome.understood == "Searched for limp. Every result excludes hose."
    assert memory.search("limp tag:nowhere -hose").understood == "No passage matches tag:nowhere."
    both = memory.search("limp path:greenhouse -valve").understood
    assert both == "No passage matches path:greenhouse and excludes valve."
    assert memory.search("limp tomatoes").understood == ""


def test_word_that_is_searched_and_excluded_is_named(memory: BuiltinMemory) -> None:
    sentence = "“Valve” is both searched and excluded, so no result contains it."
    assert memory.search("Valve -valve", explain=True).understood == sentence
    assert memory.search("hose OR Valve -valve").notice == sentence
    assert "both searched and excluded" in memory.search('hose OR "left Valve" -valve').notice
    for query in ("Valve -val*", 'Valve -"valve"', "Valve* -valve*"):
        assert "is both searched and excluded" in memory.search(query, explain=True).understood, query
    for query in ("valve -hose", 'valve -"valve hose"', "valve tag:valve -path:valve", "valve* -valve"):
        assert "excluded" not in memory.search(query, explain=True).understood


def test_pasted_lines_find_similar_passages(memory: BuiltinMemory) -> None:
    pasted = memory.search('{\n  "leaks": "irrigation of the valve",\n  "valve": "left"\n}')
    assert pasted.results[0].path == "greenhouse.md"
    assert pasted.notice == "A text of several lines is read as words."
    assert not memory.search('"valve left" irrigation', correct=False).results


def test_exclusion_alone_lists_the_first_passage_without_it(changing: BuiltinMemory, tmp_path: Path) -> None:
    text = "# Report\n\n" + "The hammer is heavy. " * 80 + "\n\n## Ropes\n\n" + "A knot holds. " * 80
    (tmp_path / "notes/report.md").write_text(text, "utf-8")
    changing.sync()
    [result] = changing.search("-hammer path:report").results
    assert (result.heading, "hammer" in result.snippet) == (("Report", "Ropes"), False)


def test_names_are_found_in_other_spellings(changing: BuiltinMemory, tmp_path: Path) -> None:
    for name, title in {"plans/day.md": "Meeting plan", "Straße.md": "Straße 7"}.items():
        (tmp_path / "notes" / name).parent.mkdir(exist_ok=True)
        (tmp_path / "notes" / name).write_text(f"# {title}\n\nText.\n", "utf-8")
    changing.sync()
    for query in ("path:[pq]lans/*", "title:plan.md", 'title:"meeting plan.md"'):
        assert found(changing, query) == {"plans/day.md"}, query
    for query in ("path:strasse", "title:strasse", "path:STRASSE.md"):
        assert found(changing, query) == {"Straße.md"}, query
    assert changing.query_values("title", "strass") == ("Straße 7",)
    assert changing.query_values("path", "strass") == ("Straße.md",)


def test_tags_follow_the_note(changing: BuiltinMemory, tmp_path: Path) -> None:
    note = tmp_path / "notes/shopping.md"
    note.write_text("# Shopping list\n\nNothing. #done\n", "utf-8")
    changing.sync()
    assert found(changing, "tag:garden") == {"greenhouse.md"}
    assert found(changing, "tag:done") == {"shopping.md"}
    note.unlink()
    changing.sync()
    assert found(changing, "tag:done") == set()
