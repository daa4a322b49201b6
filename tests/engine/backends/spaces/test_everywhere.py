"""One query to all workspaces: merged results that name their workspace, and no delay by a slow one."""

import shutil
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import ClassVar

import msgspec
import pytest
from msgspec.structs import replace

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, PathRefused, ProviderError, StoreError, Unsupported
from engine.memory.memory_interface import MemorySearchManager
from engine.records import KnownWorkspace, SearchOutcome
from engine.records.workspaces import name_in, split_name
from engine.settings import Settings
from engine.settings.search_settings import QuerySettings
from engine.workspaces.known_workspaces import current_and_others, known_workspaces
from engine.workspaces.memory_pool import MemoryPool
from engine.workspaces.multi_search import AllWorkspaces, Part, merged
from engine.workspaces.multi_workspace_memory import MultiWorkspaceMemory
from tests.helpers.fake_provider import FakeProvider
from tests.helpers.fake_records import with_text

Open = Callable[..., MemorySearchManager]


@pytest.fixture
def in_force(folders: dict[str, Path], settings: Settings) -> dict[str, Settings]:
    """The current settings of each workspace, by its folder."""
    return dict.fromkeys(map(str, folders.values()), settings)


@pytest.fixture
def everywhere(
    folders: dict[str, Path], tmp_path: Path, open_: Open, in_force: dict[str, Settings]
) -> Iterator[MultiWorkspaceMemory]:
    """Open the garden as the current workspace."""
    memory = MultiWorkspaceMemory(
        open_(str(folders["garden"])),
        folders["garden"],
        lambda: known_workspaces(store_path=str(tmp_path / "data")),
        MemoryPool(open_, in_force.__getitem__),
        most=6,
    )
    yield memory
    memory.close()


def test_first_keyword_answer_covers_all_workspaces(everywhere: MultiWorkspaceMemory) -> None:
    first: list[SearchOutcome] = []
    whole = everywhere.search_everywhere("carrots", on_keywords=first.append, explain="if empty")
    assert [{one.path for one in outcome.results} for outcome in first] == [{"note.md", "///work/note.md"}]
    assert {one.path for one in whole.results} == {"note.md", "///work/note.md"}
    assert (first[0].explanation, whole.explanation) == (None, None)
    nothing = everywhere.search_everywhere("carrots path:nowhere", on_keywords=first.append, explain="if empty")
    assert nothing.results == first[1].results == ()
    assert nothing.explanation is not None


def test_first_answer_of_another_workspace_names_it(everywhere: MultiWorkspaceMemory) -> None:
    first: list[SearchOutcome] = []
    whole = everywhere.search("carrots", path_glob="///work/**", on_keywords=first.append)
    assert {one.path for outcome in (*first, whole) for one in outcome.results} == {"///work/note.md"}
    assert len(first) == 1


def test_search_everywhere_names_workspace_of_each_result(
    everywhere: MultiWorkspaceMemory, folders: dict[str, Path]
) -> None:
    outcome = everywhere.search_everywhere("carrots")
    assert {(one.path, one.workspace) for one in outcome.results} == {
        ("note.md", str(folders["garden"])),
        ("///work/note.md", str(folders["work"])),
    }
    assert [one.score for one in outcome.results] == sorted((one.score for one in outcome.results), reverse=True)
    assert outcome.notice == ""
    assert everywhere.search("varnish").results == ()
    assert [one.citation for one in everywhere.search_everywhere("varnish").results] == ["///boat/note.md#L1-L3"]


def test_similar_results_next_to_exact_ones_need_no_notice(
    tmp_path: Path, folders: dict[str, Path], open_: Open
) -> None:
    garden, work, *_ = known_workspaces(store_path=str(tmp_path / "data"))
    exact = open_(str(folders["garden"])).search("carrots")
    for similar in (True, False):
        weak = msgspec.structs.replace(exact, similar_only=similar, closest_only=True, notice="Only close.")
        mixed = merged([Part(garden, exact), Part(work, weak)], 6, (), 1.0)
        assert (mixed.notice, mixed.similar_only, mixed.closest_only) == ("", False, False)
        both = merged([Part(garden, weak), Part(work, weak)], 6, (), 1.0)
        assert (both.notice, both.similar_only, both.closest_only) == ("Only close.", similar, True)
    none = merged([Part(garden, replace(exact, results=()))], 6, (), 1.0)
    assert (none.similar_only, none.closest_only) == (False, False)


def test_only_words_unknown_everywhere_are_reported(tmp_path: Path, folders: dict[str, Path], open_: Open) -> None:
    garden, work, *_ = known_workspaces(store_path=str(tmp_path / "data"))
    outcome = open_(str(folders["garden"])).search("carrots")
    known, unknown = (replace(outcome, unknown_words=words) for words in (("quagga",), ("quagga", "pump")))
    for first, second in ((known, unknown), (unknown, known)):
        both = merged([Part(garden, first), Part(work, second)], 6, (), 1.0)
        assert both.full_notice == "Not found in the index: “quagga”."


def test_scores_equal_those_of_each_workspace_alone(
    everywhere: MultiWorkspaceMemory, folders: dict[str, Path], open_: Open
) -> None:
    alone = {name: open_(str(folders[name])).search("carrots").results for name in ("garden", "work")}
    together = everywhere.search_everywhere("carrots").results
    assert {one.score for one in together} == {one.score for found in alone.values() for one in found}


@pytest.fixture
def merge(folders: dict[str, Path], open_: Open) -> Callable[..., list[str]]:
    """Merge results with the given scores, each workspace in its own order; returns their names."""
    outcome = open_(str(folders["garden"])).search("carrots")
    result = outcome.results[0]

    def merge_(*scores: Sequence[float]) -> list[str]:
        parts = []
        for name, of_workspace in zip("abc", scores, strict=False):
            names = [f"{name}{number}" for number in range(len(of_workspace))]
            results = tuple(
                replace(with_text(result, snippet=name), path=name, score=score)
                for name, score in zip(names, of_workspace, strict=True)
            )
            parts.append(Part(KnownWorkspace(name, name, True, 1), replace(outcome, results=results)))
        return [result.path for result in merged(parts, 20, (), 1.0).results]

    return merge_


def test_merged_results_keep_the_order_of_their_workspace(merge: Callable[..., list[str]]) -> None:
    assert merge((0.9, 0.5), (0.4, 0.8, 0.6)) == ["a0", "b0", "b1", "b2", "a1"]
    assert merge((0.2, 0.7), ()) == ["a0", "a1"]


def test_results_with_equal_scores_alternate_between_workspaces(merge: Callable[..., list[str]]) -> None:
    assert merge((1.0, 1.0, 0.5), (1.0, 1.0), (0.6,)) == ["a0", "b0", "a1", "b1", "c0", "a2"]


def test_words_of_one_workspace_rank_above_meaning_of_another(folders: dict[str, Path], open_: Open) -> None:
    outcome = open_(str(folders["garden"])).search("carrots", explain=True)

    def part(name: str, score: float, text_share: float, weight: float | None) -> Part:
        result = replace(with_text(outcome.results[0], snippet=name), path=name, score=score, text_share=text_share)
        return Part(KnownWorkspace(name, name, True, 1), replace(outcome, results=(result,), vector_weight=weight))

    def shares(*parts: Part) -> dict[str, float]:
        found = merged(parts, 6, (), 1.0)
        assert found.explanation is not None
        assert [reason.rank for reason in found.explanation.results] == [1, 2]
        assert [reason.score_rank for reason in found.explanation.results] == [1, 2]
        paths = [result.path for result in found.results]
        return dict(zip(paths, (reason.vector_share for reason in found.explanation.results), strict=True))

    similar, words = part("similar", 0.75, 0.0, 0.8), part("words", 0.6, 1.0, 0.2)
    assert list(shares(similar, words).items()) == [("words", 1.0), ("similar", 0.25)]
    assert list(shares(similar, part("as few words", 0.6, 1.0, 0.8))) == ["similar", "as few words"]
    assert list(shares(part("foreign", 0.75, 0.0, None), words)) == ["foreign", "words"]


def test_shared_passage_found_once(everywhere: MultiWorkspaceMemory, folders: dict[str, Path], open_: Open) -> None:
    shutil.copy(folders["garden"] / "note.md", folders["boat"] / "copy.md")
    open_(str(folders["boat"])).sync()
    outcome = everywhere.search_everywhere("last frost in April")
    assert [one.path for one in outcome.results] == ["note.md"]
    assert outcome.total == 1


def test_search_everywhere_respects_max_results(everywhere: MultiWorkspaceMemory) -> None:
    outcome = everywhere.search_everywhere("carrots", max_results=1)
    assert (len(outcome.results), outcome.total) == (1, 2)


def test_rows_that_are_cut_count_as_more_in_their_file(
    everywhere: MultiWorkspaceMemory, folders: dict[str, Path], open_: Open
) -> None:
    days = "\n\n".join(f"## Day {day}\n\nThe landlord called. {'It rained all day. ' * 90}" for day in range(8))
    for name in ("garden", "work"):
        (folders[name] / "log.md").write_text(f"# Log of {name}\n\n{days}\n")
        (folders[name] / "house.md").write_text(f"# House\n\nThe landlord wants the key of {name} back.\n")
        open_(str(folders[name])).sync()
    for most in range(1, 9):
        outcome = everywhere.search_everywhere("landlord", max_results=most, min_score=0.01)
        more_in_file = {(one.workspace, one.path): one.more_in_file for one in outcome.results}
        logs = [more for (_, path), more in more_in_file.items() if path == "log.md"]
        listed = sum(one.path == "log.md" for one in outcome.results)
        assert sum(logs) + listed == 8 * len(logs)


def test_files_of_other_workspaces_can_be_read(everywhere: MultiWorkspaceMemory, folders: dict[str, Path]) -> None:
    name = "///boat/note.md"
    assert "varnish" in everywhere.read_file(name).text
    assert everywhere.read_file(name).path == name
    assert everywhere.open_file(name).line(1) == "# Mast"
    assert everywhere.locate(name) == folders["boat"] / "note.md"
    assert everywhere.folder_of(name) == str(folders["boat"])
    assert everywhere.read_file("note.md").text.startswith("# Beds")
    for wrong in ("///boat/../garden/note.md", "///nowhere/note.md", "///boat"):
        with pytest.raises(PathRefused):
            everywhere.read_file(wrong)


def test_other_workspace_index_is_inspected_in_its_folder(
    everywhere: MultiWorkspaceMemory, open_: Open, folders: dict[str, Path]
) -> None:
    insight = everywhere.insight
    assert insight is not None
    found = insight.chunks_of("///boat/note.md")
    assert found is not None
    assert found.path == "///boat/note.md"
    (row,) = found.chunks
    detail = insight.chunk("///boat/note.md", row.id)
    assert detail is not None
    assert (detail.path, "varnish" in detail.text) == ("///boat/note.md", True)
    assert insight.chunks_of("///boat/none.md") is None
    mine = insight.chunks_of("note.md")
    assert mine is not None
    (row,) = mine.chunks
    detail = insight.chunk("note.md", row.id)
    assert detail is not None
    assert "carrots" in detail.text
    assert insight.word_counts(("carrots",))[0] == 1  # methods without a path refer to the open workspace
    with pytest.raises(PathRefused):
        insight.chunks_of("///nowhere/note.md")


def test_changed_settings_apply_to_next_query_everywhere(
    everywhere: MultiWorkspaceMemory, folders: dict[str, Path], in_force: dict[str, Settings]
) -> None:
    def found() -> list[str]:
        return sorted(result.path for result in everywhere.search_everywhere("carrots frost canteen").results)

    garden, work = str(folders["garden"]), str(folders["work"])
    assert found() == ["///work/note.md", "note.md"]
    strict = Settings(query=QuerySettings(min_score=1))
    for folder, expected in ((work, ["note.md"]), (garden, [])):
        in_force[folder] = strict
        everywhere.apply_query_settings(in_force[garden])
        assert found() == expected
    usual = Settings()
    in_force.update({garden: usual, work: usual})
    everywhere.apply_query_settings(usual)
    assert found() == ["///work/note.md", "note.md"]


def test_index_that_cannot_be_inspected_has_a_reason(folders: dict[str, Path], tmp_path: Path, open_: Open) -> None:
    class Closed:
        insight = None
        unsupported: ClassVar = {"insight": "This index is on another machine."}

        def close(self) -> None:
            pass

    memory = MultiWorkspaceMemory(
        open_(str(folders["garden"])),
        folders["garden"],
        lambda: known_workspaces(store_path=str(tmp_path / "data")),
        MemoryPool(lambda *_: Closed(), lambda _: Settings()),  # type: ignore[arg-type,return-value]
        most=6,
    )
    assert memory.insight is not None
    with pytest.raises(Unsupported, match="on another machine"):
        memory.insight.chunks_of("///boat/note.md")
    memory.close()


def test_explanation_names_workspace(everywhere: MultiWorkspaceMemory) -> None:
    outcome = everywhere.search_everywhere("carrots", explain=True)
    explanation = outcome.explanation
    assert explanation is not None
    assert [one.citation for one in explanation.results] == [one.citation for one in outcome.results]
    assert [one.rank for one in explanation.results] == [1, 2]
    counts = {stage.name: (stage.before, stage.after) for stage in explanation.stages if "workspace" in stage.name}
    assert counts == {"workspace boat": (0, 0), "workspace work": (1, 1)}


def test_missing_workspace_is_left_out_with_a_notice(
    everywhere: MultiWorkspaceMemory, folders: dict[str, Path]
) -> None:
    shutil.rmtree(folders["boat"])
    outcome = everywhere.search_everywhere("carrots")
    assert len(outcome.results) == 2
    assert outcome.notice == "The folder of boat is missing, so it was not searched."


def test_other_models_reported(
    everywhere: MultiWorkspaceMemory, folders: dict[str, Path], open_: Open, models: dict[str, FakeProvider]
) -> None:
    everywhere.search("carrots")  # the garden has chosen its model
    models["use"] = FakeProvider(model="another")
    memory = open_(str(folders["work"]))
    memory.sync()
    memory.close()
    assert everywhere.search_everywhere("carrots").notice == (
        "Meaning is compared by different models (bag-of-words in garden; another in work), so these scores can be "
        "compared only roughly. boat: Searched by words only: nothing has been embedded yet."
    )


class Stub:
    """A fake memory with the given search function."""

    def __init__(self, search: Callable[[CancelToken], SearchOutcome]) -> None:
        self._search = search
        self.closed = False

    def search(self, query: str, *, cancel: CancelToken, **options: object) -> SearchOutcome:
        return self._search(cancel)

    def close(self) -> None:
        self.closed = True


def ask(
    folders: dict[str, Path], tmp_path: Path, open_: Open, other: Open, cancel: CancelToken | None = None
) -> SearchOutcome:
    known = known_workspaces(store_path=str(tmp_path / "data"))
    here, others = current_and_others(known, folders["garden"])
    pool = MemoryPool(lambda folder, _: (other if folder.endswith("boat") else open_)(folder), lambda _: Settings())
    try:
        every = AllWorkspaces(open_(here.folder), pool, deadline_seconds=2)
        return every.search(here, others, "carrots", {}, 6, cancel)
    finally:
        pool.close()


def test_failing_workspace_is_named_in_the_notice(folders: dict[str, Path], tmp_path: Path, open_: Open) -> None:
    def fail(folder: str) -> MemorySearchManager:
        raise StoreError("Its disk is broken.")

    outcome = ask(folders, tmp_path, open_, fail)
    assert (len(outcome.results), outcome.notice) == (2, "The results of boat are missing: Its disk is broken.")


def test_hanging_workspace_does_not_delay_the_answer(folders: dict[str, Path], tmp_path: Path, open_: Open) -> None:
    release, tokens = threading.Event(), []

    def hang(cancel: CancelToken) -> SearchOutcome:
        tokens.append(cancel)
        release.wait(60)
        cancel.checkpoint()
        raise AssertionError

    outcome = ask(folders, tmp_path, open_, lambda _: Stub(hang))  # type: ignore[arg-type,return-value]
    release.set()
    assert len(outcome.results) == 2
    assert outcome.notice == "boat did not answer within 2 s, so its results are missing."
    assert tokens[0].cancelled


def test_cancel_ends_search_immediately(folders: dict[str, Path], tmp_path: Path, open_: Open) -> None:
    token, release = CancelToken(), threading.Event()

    def hang(cancel: CancelToken) -> SearchOutcome:
        token.cancel()
        release.wait(60)
        raise ProviderError("too late")

    with pytest.raises(Cancelled):
        ask(folders, tmp_path, open_, lambda _: Stub(hang), token)  # type: ignore[arg-type,return-value]
    release.set()


def test_pool_closes_surplus_and_idle_memories() -> None:
    made: dict[str, Stub] = {}

    def open_stub(folder: str, _: Settings) -> MemorySearchManager:
        made[folder] = Stub(lambda cancel: pytest.fail("the memory was searched"))
        return made[folder]  # type: ignore[return-value]

    pool = MemoryPool(open_stub, lambda _: Settings(), idle_seconds=0.05, most_open=2)
    with pool.using("a"), pool.using("b"), pool.using("c"):
        assert [stub.closed for stub in made.values()] == [False, False, False]
    assert made["c"].closed  # the first to be released while more than `most_open` are open
    finished = threading.Event()
    for _ in range(200):
        if all(stub.closed for stub in made.values()):
            break
        finished.wait(0.05)
    assert [stub.closed for stub in made.values()] == [True, True, True]
    pool.close()


@pytest.mark.parametrize("path", ["note.md", "sessions/claude/x.jsonl", "a//b.md", "//machine/note.md"])
def test_names_round_trip(path: str) -> None:
    assert split_name(path) == ("", path)
    assert split_name(name_in("notes (a › x)", path)) == ("notes (a › x)", path)
