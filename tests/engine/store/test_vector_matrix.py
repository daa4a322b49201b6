"""The quantised matrix against exact arithmetic."""

import threading
import weakref
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.store import vector_matrix_blocks
from engine.store.vector_encoding import MAX_DIMS
from engine.store.vector_matrix import QuantisedMatrix
from engine.store.vector_matrix_blocks import BLOCK_ROWS, Block, quantise, write_matrix


def unit(vectors):
    vectors = np.asarray(vectors, np.float32)
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)


def clustered(rows, dims, *, clusters=40, spread=0.7, offset=0.0, seed=0):
    random = np.random.default_rng(seed)
    centres = random.standard_normal((clusters, dims), dtype=np.float32)
    points = centres[random.integers(clusters, size=rows)]
    return unit(points + np.float32(spread) * random.standard_normal((rows, dims), dtype=np.float32) + offset)


def filled(vectors, start=0):
    matrix = QuantisedMatrix(vectors.shape[1])
    matrix.add(np.arange(start, start + len(vectors)), vectors)
    return matrix


def similarity(matrix, query, ids):
    """Return approximate cosines of the query with these ids, in their order; NaN for one that is not found."""
    known: dict[int, float] = {}
    for start in range(0, len(ids), 1000):
        found, cosines = matrix.search(query, 1000, allowed=ids[start : start + 1000])
        known.update(zip(found.tolist(), cosines.tolist(), strict=True))
    return np.array([known.get(id_, np.nan) for id_ in ids.tolist()], np.float32)


def recall(matrix, vectors, queries, keep=24):
    """Return the share of the exact best `keep` among those that remain after re-scoring four times as many."""
    shares = []
    for query in queries:
        exact = vectors @ query
        ids, _ = matrix.search(query, 4 * keep)
        best = ids[np.argsort(-exact[ids])[:keep]]
        shares.append(np.mean(exact[best] >= np.sort(exact)[-keep]))
    return np.mean(shares)


@pytest.mark.parametrize(
    ("dims", "clusters", "spread", "offset"),
    [(128, 300, 0.5, 0.0), (128, 10, 0.3, 0.0), (96, 40, 1.5, 0.0), (128, 40, 0.7, 2.0), (130, 1, 1.0, 0.0)],
    ids=["tight", "clumps", "loose", "far-from-zero", "no-clusters"],
)
def test_best_found_after_rescoring_four_times(dims, clusters, spread, offset):
    vectors = clustered(20_100, dims, clusters=clusters, spread=spread, offset=offset)
    corpus, queries = vectors[:-100], vectors[-100:]
    assert recall(filled(corpus), corpus, queries) >= 0.99


def test_few_rows_are_searched_without_loss():
    vectors = clustered(500, 64)
    assert recall(filled(vectors), vectors, vectors[:20]) == 1.0


def test_scores_are_cosines_and_come_best_first():
    vectors = clustered(9_000, 64)
    ids, cosines = filled(vectors).search(vectors[5], 50)
    assert ids[0] == 5
    assert np.all(np.diff(cosines) <= 0)
    np.testing.assert_allclose(cosines, vectors[ids] @ vectors[5], atol=0.02)
    assert ids.dtype == np.int64
    assert cosines.dtype == np.float32


@pytest.mark.parametrize(("dims", "clusters", "offset", "most"), [(64, 300, 0, 0.25), (256, 4000, 0.5, 0.45)])
def test_only_a_part_of_a_large_matrix_is_scored(monkeypatch, dims, clusters, offset, most):
    vectors = clustered(4 * BLOCK_ROWS + 20, dims, clusters=clusters, offset=offset)
    matrix = filled(vectors[:-20])
    scored = []
    cosines = vector_matrix_blocks.Block.cosines

    def counted(block, query, rows=None):
        scored.append(block.count if rows is None else len(rows))
        return cosines(block, query, rows)

    monkeypatch.setattr(vector_matrix_blocks.Block, "cosines", counted)
    for query in vectors[-20:]:
        matrix.search(query, 96)
    assert sum(scored) / 20 < most * len(vectors)


def test_distances_of_the_longest_vectors_are_exact():
    bits = np.full((-(-MAX_DIMS // 64), 1), ~np.uint64(0))
    block = replace(Block.empty(1), sketch=bits)
    assert block.distances(~bits[:, 0], bits[:, 0]).tolist() == [3 * 64 * len(bits)]


def test_matrix_accepts_float16_vectors():
    vectors = clustered(300, 32)
    matrix = QuantisedMatrix(32)
    matrix.add(np.arange(300), vectors.astype(np.float16))
    assert matrix.search(vectors[7], 1)[0].tolist() == [7]


def test_adding_an_id_again_replaces_its_row():
    vectors = clustered(6_000, 32)
    matrix = filled(vectors)
    moved = -vectors[10]
    matrix.add(np.array([10]), moved[None, :])
    assert matrix.rows == 6_000
    assert similarity(matrix, moved, np.array([10]))[0] == pytest.approx(1, abs=0.02)
    assert 10 not in matrix.search(vectors[10], 20)[0]


def test_remove_deletes_rows_and_ignores_unknown_ids():
    vectors = clustered(6_000, 32)
    matrix = filled(vectors)
    matrix.remove(np.array([3, 4, 5, 999_999]))
    assert matrix.rows == 5_997
    assert not {3, 4, 5} & set(matrix.search(vectors[4], 200)[0].tolist())
    assert np.isnan(similarity(matrix, vectors[4], np.array([4, 6]))).tolist() == [True, False]
    matrix.remove(np.arange(6_000))
    assert matrix.rows == 0
    assert len(matrix.search(vectors[0], 5)[0]) == 0


def test_memory_released_after_removals():
    vectors = clustered(5 * BLOCK_ROWS, 32)
    matrix = filled(vectors)
    full = matrix.nbytes
    for _ in range(4):
        matrix.add(np.arange(len(vectors)), vectors)
    assert matrix.nbytes < 1.5 * full
    matrix.remove(np.flatnonzero(np.arange(len(vectors)) % 10))
    assert matrix.rows == len(vectors) // 10
    assert matrix.nbytes < 0.3 * full
    kept = np.arange(0, len(vectors), 10)
    np.testing.assert_array_equal(matrix.ids(), kept)
    np.testing.assert_allclose(similarity(matrix, vectors[0], kept), vectors[kept] @ vectors[0], atol=0.03)


@pytest.mark.parametrize("share", [0.02, 0.6])
def test_a_search_can_be_limited_to_some_ids(share):
    vectors = clustered(12_000, 64)
    allowed = np.flatnonzero(np.random.default_rng(1).random(12_000) < share)
    ids, _ = filled(vectors).search(vectors[8], 40, allowed=np.append(allowed, 77_777))
    exact = vectors[allowed] @ vectors[8]
    assert set(ids.tolist()) <= set(allowed.tolist())
    best = allowed[np.argsort(-exact)[:10]]
    assert set(best.tolist()) <= set(ids.tolist())


def test_vectors_of_zeros_match_nothing_and_break_nothing():
    matrix = QuantisedMatrix(16)
    matrix.add(np.arange(3), np.zeros((3, 16), np.float32))
    assert matrix.search(unit(np.ones(16)), 3)[1].tolist() == [0, 0, 0]


def test_wrong_shape_and_repeated_ids_are_refused():
    matrix = QuantisedMatrix(8)
    with pytest.raises(ValueError, match="shape"):
        matrix.add(np.arange(2), np.zeros((2, 9), np.float32))
    with pytest.raises(ValueError, match="twice"):
        matrix.add(np.array([1, 1]), np.zeros((2, 8), np.float32))


def test_empty_matrix_or_zero_results_give_nothing():
    matrix = QuantisedMatrix(8)
    query = unit(np.ones(8))
    assert len(matrix.search(query, 5)[0]) == 0
    assert np.isnan(similarity(matrix, query, np.array([1]))).all()
    matrix.add(np.array([1]), query[None, :])
    assert len(matrix.search(query, 0)[0]) == 0


def test_a_cancelled_search_stops():
    token = CancelToken()
    token.cancel()
    vectors = clustered(5_000, 16)
    with pytest.raises(Cancelled):
        filled(vectors).search(vectors[0], 5, cancel=token)


# --- against a plain model ------------------------------------------------------------------------------------------

_ids = st.lists(st.integers(0, 30), min_size=1, max_size=12, unique=True)
_steps = st.lists(st.tuples(st.booleans(), _ids, st.integers(0, 2**16)), max_size=15)


@given(steps=_steps)
def test_random_changes_match_dict(steps):
    with pytest.MonkeyPatch.context() as patch:
        for module in ("vector_matrix_blocks", "vector_matrix"):
            patch.setattr(f"engine.store.{module}.BLOCK_ROWS", 8)
        patch.setattr("engine.store.vector_matrix._MAX_DEAD", 2)
        matrix, model = QuantisedMatrix(8), {}
        for adding, ids, seed in steps:
            if adding:
                vectors = unit(np.random.default_rng(seed).standard_normal((len(ids), 8)))
                matrix.add(np.array(ids), vectors)
                model.update(zip(ids, vectors, strict=True))
            else:
                matrix.remove(np.array(ids))
                for number in ids:
                    model.pop(number, None)
        query = unit(np.arange(1, 9))
        assert matrix.ids().tolist() == sorted(model)
        found, cosines = matrix.search(query, 100)
        assert sorted(found.tolist()) == sorted(model)
        for number, cosine in zip(found.tolist(), cosines.tolist(), strict=True):
            assert cosine == pytest.approx(float(model[number] @ query), abs=0.05)


def test_searches_during_changes_see_complete_rows():
    """Each vector is one of two opposite ones, chosen by its id: a torn row would have the wrong sign."""
    dims, towards = 32, unit(np.ones(32))
    matrix = QuantisedMatrix(dims)
    ids = np.arange(2 * BLOCK_ROWS)
    vectors = np.where(ids[:, None] % 2 == 0, towards, -towards).astype(np.float32)
    matrix.add(ids, vectors)
    wrong, rounds, done = [], [0], threading.Event()

    def search():
        while not done.is_set() or not rounds[0]:
            found, cosines = matrix.search(towards, 300)
            wrong.extend(found[(cosines > 0) != (found % 2 == 0)].tolist())
            rounds[0] += 1

    searchers = [threading.Thread(target=search) for _ in range(2)]
    for thread in searchers:
        thread.start()
    random = np.random.default_rng(0)
    for _ in range(40):
        chosen = random.choice(ids, 400, replace=False)
        matrix.remove(chosen)
        matrix.add(chosen, vectors[chosen])
    done.set()
    for thread in searchers:
        thread.join()
    assert not wrong
    assert matrix.rows == len(ids)


# --- the file -------------------------------------------------------------------------------------------------------

SAVED = {"generation": 3, "model_key": "use:512"}


@pytest.fixture
def saved(tmp_path):
    vectors = clustered(2 * BLOCK_ROWS + 50, 32)
    matrix = filled(vectors, start=1)
    matrix.remove(np.arange(1, 100))
    path = tmp_path / "vectors.matrix"
    matrix.save(path, **SAVED, stamp=99)
    return path, vectors


def test_cancelled_load_stops(saved):
    token = CancelToken()
    token.cancel()
    with pytest.raises(Cancelled):
        QuantisedMatrix.load(saved[0], **SAVED, cancel=token)


def test_saved_matrix_is_mapped_and_can_change(saved):
    path, vectors = saved
    matrix, stamp = QuantisedMatrix.load(path, **SAVED)
    assert stamp == 99
    assert matrix.dims == 32
    assert matrix.rows == len(vectors) - 99
    ids, _ = matrix.search(vectors[500], 10)
    assert ids[0] == 501
    matrix.add(np.array([501, 50_000]), vectors[[0, 1]])
    matrix.remove(np.arange(1000, 9000))
    again = path.with_name("again")
    matrix.save(again, **SAVED, stamp=100)
    reloaded, _ = QuantisedMatrix.load(again, **SAVED)
    np.testing.assert_array_equal(reloaded.ids(), matrix.ids())
    np.testing.assert_allclose(
        similarity(reloaded, vectors[0], reloaded.ids()), similarity(matrix, vectors[0], reloaded.ids()), atol=1e-6
    )
    assert sorted(file.name for file in path.parent.iterdir()) == ["again", "vectors.matrix"]


def anonymous():
    """Return the bytes of memory that belong to this process alone."""
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("RssAnon"))
    return int(line.split()[1]) * 1024


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")
def test_loaded_matrix_is_mapped_from_its_file(tmp_path):
    path = tmp_path / "large"
    filled(clustered(8 * BLOCK_ROWS, 512, clusters=3)).save(path, **SAVED, stamp=1)
    before = anonymous()
    matrix, _ = QuantisedMatrix.load(path, **SAVED)
    matrix.search(unit(np.ones(512)), 96)
    assert anonymous() - before < matrix.nbytes / 2


@pytest.mark.skipif(not Path("/proc/self/smaps_rollup").exists(), reason="needs Linux")
def test_saved_matrix_is_mapped_from_its_file(tmp_path):
    matrix = filled(clustered(8 * BLOCK_ROWS, 512, clusters=3))
    before = anonymous()
    matrix.save(tmp_path / "large", **SAVED, stamp=1)
    matrix.search(unit(np.ones(512)), 96)
    assert anonymous() < before - 7 * BLOCK_ROWS * 512


def test_saving_keeps_one_piece_in_memory_at_a_time(tmp_path):
    held = []

    def pieces():
        for _ in range(5):
            piece = np.zeros((2, 8), np.int8)
            held.append(weakref.ref(piece))
            yield piece
            del piece
            assert sum(made() is not None for made in held) <= 1  # only the writer may hold one, until it gets the next

    write_matrix(
        tmp_path / "matrix",
        ids=np.arange(10),
        scales=np.zeros(10, np.float32),
        codes=pieces(),
        dims=8,
        generation=1,
        model_key="model",
        stamp=1,
    )
    assert len(held) == 5


@pytest.mark.parametrize("dtype", [np.float32, np.float16])
def test_quantise_many_rows_equals_row_by_row(dtype):
    vectors = clustered(1500, 200).astype(dtype)  # more than one block
    vectors[700] = 0
    codes, scales = quantise(vectors)
    alone = [quantise(vectors[row : row + 1]) for row in range(len(vectors))]
    assert np.array_equal(codes, np.concatenate([codes for codes, _ in alone]))
    assert np.array_equal(scales, np.concatenate([scales for _, scales in alone]))
    assert np.abs(codes * scales[:, None] - vectors).max() <= scales.max() / 2 + 1e-6


def test_saved_matrix_answers_same_and_changes(tmp_path):
    vectors = clustered(4 * BLOCK_ROWS + 50, 32)
    matrix, same = filled(vectors), filled(vectors)
    for stamp, gone in enumerate((np.arange(5000, 5100), np.arange(0, 9000, 2), np.arange(9000, 15000))):
        matrix.remove(gone)
        same.remove(gone)
        matrix.save(tmp_path / "file", **SAVED, stamp=stamp)
        for one in (matrix, same):
            one.add(gone[:50] + 100_000, vectors[gone[:50]])
        np.testing.assert_array_equal(matrix.ids(), same.ids())
        np.testing.assert_array_equal(
            similarity(matrix, vectors[7], matrix.ids()), similarity(same, vectors[7], same.ids())
        )


def test_rows_removed_during_save_stay_removed(tmp_path, monkeypatch):
    vectors = clustered(2 * BLOCK_ROWS, 32)
    matrix = filled(vectors)

    def slow_sync(_):
        matrix.remove(np.arange(100))

    monkeypatch.setattr("engine.base.private_files.os.fsync", slow_sync)
    matrix.save(tmp_path / "file", **SAVED, stamp=1)
    assert matrix.rows == len(vectors) - 100
    assert matrix.search(vectors[5], 200)[0].min() >= 100


@pytest.mark.parametrize("change", [{"generation": 4}, {"model_key": "other"}])
def test_file_of_another_state_is_rejected(saved, change):
    assert QuantisedMatrix.load(saved[0], **{**SAVED, **change}) is None


@pytest.mark.parametrize("position", [0, 8, 12, 20, 60, 64, 5000, -1])
def test_damaged_matrix_file_is_refused(saved, position):
    path, _ = saved
    data = bytearray(path.read_bytes())
    if position == 60:  # nothing is stored there
        del data[60]
    else:
        data[position] ^= 0x40
    path.write_bytes(data)
    assert QuantisedMatrix.load(path, **SAVED) is None


@pytest.mark.parametrize("size", [0, 10, 64, 1000])
def test_truncated_or_missing_file_is_rejected(saved, size):
    path, _ = saved
    path.write_bytes(path.read_bytes()[:size])
    assert QuantisedMatrix.load(path, **SAVED) is None
    path.unlink()
    assert QuantisedMatrix.load(path, **SAVED) is None


def test_empty_matrix_is_saved(tmp_path):
    QuantisedMatrix(24).save(tmp_path / "empty", **SAVED, stamp=1)
    matrix, _ = QuantisedMatrix.load(tmp_path / "empty", **SAVED)
    assert (matrix.dims, matrix.rows) == (24, 0)


def test_failed_save_keeps_old_file(saved, monkeypatch):
    path, vectors = saved
    before = path.read_bytes()

    def no_room(_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.base.private_files.os.fsync", no_room)
    with pytest.raises(OSError, match="No space"):
        filled(vectors).save(path, **SAVED, stamp=100)
    assert path.read_bytes() == before
    assert [file.name for file in path.parent.iterdir()] == [path.name]
