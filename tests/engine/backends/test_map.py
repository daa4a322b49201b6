"""The map of an open memory's index."""

import threading

import msgspec
import numpy as np
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed
from engine.insight import map_layout
from engine.records import MapProgress
from tests.helpers.fake_provider import FakeProvider


def _ids(found) -> list[int]:
    return np.frombuffer(found.ids, np.int64).tolist()


def _points(found) -> dict[int, tuple[float, float]]:
    return dict(zip(_ids(found), map(tuple, np.frombuffer(found.points, np.float32).reshape(-1, 2)), strict=True))


def test_every_chunk_with_a_vector_is_a_point_of_its_file(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    found = memory.insight.make_map()
    assert (len(_ids(found)), found.chunks, found.gap, found.layout) == (4, 4, "", "directions")
    places = memory.insight.map_details(_ids(found))
    files = [found.files[place].path for place in np.frombuffer(found.file_of, np.int32)]
    assert [place.path for place in places] == files
    first = next(place for place in places if place.path == "greenhouse.md")
    assert (first.title, first.heading, first.citation) == (
        "Greenhouse",
        ("Greenhouse", "Watering"),
        "greenhouse.md#L1-L5",
    )
    assert "drip irrigation" in first.text


def test_map_made_once_and_restored_after_restart(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    assert memory.insight.last_map() is None
    steps = []
    found = memory.insight.make_map(progress=steps.append)
    assert steps[-1].stage == "directions"
    steps.clear()
    assert memory.insight.make_map(progress=steps.append) == found
    assert [step.stage for step in steps] == ["reading"]
    memory.close()
    again = open_memory()
    assert again.insight.last_map() == found
    assert again.insight.make_map() == found


def test_change_makes_new_map_without_deleted(open_memory, workspace) -> None:
    memory = open_memory()
    memory.sync()
    old = memory.insight.make_map()
    (workspace / "shopping.md").unlink()
    (workspace / "new.md").write_text("# New\n\nA pump for the well.\n", "utf-8")
    memory.sync()
    last = memory.insight.last_map()
    assert last is not None
    assert len(_ids(last)) == 3
    assert last.stamp == old.stamp
    new = memory.insight.make_map()
    assert new.stamp > old.stamp
    assert len(_ids(new)) == 4
    assert set(_ids(last)) < set(_ids(new))


def test_excluded_files_not_on_map(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    everything = _ids(memory.insight.make_map())
    memory.close()
    stricter = open_memory(exclude=("people/**",))
    insight = stricter.insight
    assert len(_ids(insight.last_map())) == len(_ids(insight.make_map())) == 3
    assert {place.path for place in insight.map_details(everything)} == {
        "greenhouse.md",
        "shopping.md",
        "daily/2026-02-08.md",
    }


@pytest.mark.parametrize(("use", "synced", "gap"), [(None, True, "no-model"), (FakeProvider(), False, "no-chunks")])
def test_a_map_without_points_says_why(open_memory, use, synced: bool, gap: str) -> None:
    memory = open_memory(use=use)
    if synced:
        memory.sync()
    found = memory.insight.make_map()
    assert (found.gap, found.ids) == (gap, b"")
    assert memory.insight.last_map() is None
    assert memory.insight.map_answer("irrigation", ()).point is None


def test_chunks_without_vectors_counted(open_memory, provider) -> None:
    def refuse(texts) -> None:
        raise Cancelled

    provider.before = refuse
    memory = open_memory()
    memory.sync()
    found = memory.insight.make_map()
    assert (found.gap, found.chunks) == ("no-vectors", 4)


def test_query_located_on_map_without_request(open_memory, provider) -> None:
    memory = open_memory()
    memory.sync()
    points = _points(memory.insight.make_map())
    outcome = memory.search("drip irrigation timer", min_score=0.0)
    answer = memory.insight.map_answer("drip irrigation timer", outcome.results)
    assert len(answer.chunks) == len(outcome.results)
    assert set(answer.chunks) <= set(points)
    best = memory.insight.map_details([answer.chunks[0]])[0]
    assert (best.path, best.start_line) == (outcome.results[0].path, outcome.results[0].start_line)
    assert answer.point is not None
    gaps = {chunk: np.hypot(*np.subtract(point, answer.point)) for chunk, point in points.items()}
    assert min(gaps, key=gaps.__getitem__) in answer.chunks[:2]
    assert memory.insight.map_answer("never asked", ()).point is None
    assert provider.questions == ["drip irrigation timer"]


def test_a_result_that_has_left_the_index_has_no_chunk(open_memory, workspace) -> None:
    memory = open_memory()
    memory.sync()
    memory.insight.make_map()
    results = memory.search("gauge", min_score=0.0).results
    ours = next(result for result in results if result.path == "people/ines.md")
    (workspace / "people/ines.md").unlink()
    memory.sync()
    assert memory.insight.map_answer("gauge", (ours,)).chunks == (None,)


def test_waiting_for_map_can_be_cancelled(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    token, refused = CancelToken(), []

    def ask_beside(_) -> None:
        def ask() -> None:
            try:
                memory.insight.make_map(cancel=token)
            except Cancelled as error:
                refused.append(error)

        waiting = threading.Thread(target=ask)
        waiting.start()
        token.cancel()
        waiting.join(60)

    assert memory.insight.make_map(progress=ask_beside).ids
    assert refused


def test_many_chunks_by_neighbours_after_directions(open_memory, workspace, monkeypatch) -> None:
    monkeypatch.setattr(map_layout, "SLOW", 40)
    words = ["pump", "seed", "frost", "train", "ticket", "hotel"]
    for number in range(48):
        word = words[number % 6]
        (workspace / f"n{number}.md").write_text(f"# {word} {number}\n\n{word} {word} {number} again.\n", "utf-8")
    memory = open_memory()
    memory.sync()
    seen = []
    found = memory.insight.make_map(first=seen.append)
    assert [one.layout for one in seen] == ["directions"]
    assert found.layout == "neighbours"
    assert _ids(seen[0]) == _ids(found)
    outcome = memory.search("frost", max_results=5)
    answer = memory.insight.map_answer("frost", outcome.results)
    points = _points(found)
    assert answer.point is not None
    nearest = min(points, key=lambda chunk: float(np.hypot(*np.subtract(points[chunk], answer.point))))
    assert "frost" in memory.insight.map_details([nearest])[0].text


def test_cancelled_map_keeps_the_previous_one(open_memory, workspace) -> None:
    memory = open_memory()
    memory.sync()
    old = memory.insight.make_map()
    (workspace / "new.md").write_text("# New\n", "utf-8")
    memory.sync()
    token = CancelToken()
    with pytest.raises(Cancelled):
        memory.insight.make_map(progress=lambda _: token.cancel(), cancel=token)
    assert memory.insight.last_map() == msgspec.structs.replace(old, files=memory.insight.last_map().files, chunks=5)


def test_sqlite_vec_has_the_same_map(open_memory) -> None:
    memory = open_memory()
    memory.sync()
    found = _points(memory.insight.make_map())
    memory.close()
    other = open_memory(engine="sqlite-vec")
    other.sync()
    other.store.files.map.unlink()
    again = _points(other.insight.make_map())
    assert set(again) == set(found)
    for chunk, point in found.items():
        assert again[chunk] == pytest.approx(point, abs=1e-3)


def test_closed_index_not_written(open_memory) -> None:
    memory = open_memory()
    memory.sync()

    def close(progress: MapProgress) -> None:
        if progress.stage == "directions":
            memory.close()

    with pytest.raises(Closed):
        memory.insight.make_map(progress=close)
    assert not memory.store.files.map.exists()
