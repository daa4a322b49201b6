"""sqlite-vec through apsw, and how well its table and the quantised matrix find the nearest vectors."""

import threading
from pathlib import Path

import apsw
import numpy as np
import pytest
import sqlite_vec

from engine.store import sqlite_vec_engine
from engine.store.vector_matrix import QuantisedMatrix

SCALE = 127


@pytest.fixture
def connection():
    opened = apsw.Connection(":memory:")
    yield opened
    opened.close()


@pytest.fixture
def table(connection):
    assert sqlite_vec_engine.load_extension(connection).error is None
    assert sqlite_vec_engine.ensure_table(connection, 64) is True
    return connection


def sentences(rows, dims, seed=0):
    random = np.random.default_rng(seed)
    centres = random.standard_normal((20, dims))
    vectors = centres[random.integers(20, size=rows)] + random.standard_normal((rows, dims))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


# --- loading --------------------------------------------------------------------------------------------------------


def test_the_packages_own_library_is_loaded_by_default(connection):
    state = sqlite_vec_engine.load_extension(connection)
    assert state == sqlite_vec_engine.ExtensionState(available=True, path=sqlite_vec.loadable_path(), error=None)
    assert connection.execute("SELECT vec_version()").get.startswith("v")


def test_extension_path_may_have_any_file_name(connection, tmp_path):
    packaged = next(Path(sqlite_vec.__file__).parent.glob("vec0.*"))
    own = tmp_path / f"my-vectors-2{packaged.suffix}"
    own.write_bytes(packaged.read_bytes())
    state = sqlite_vec_engine.load_extension(connection, str(own))
    assert (state.available, state.path, state.error) == (True, str(own), None)


def test_missing_library_gives_one_sentence(connection, tmp_path):
    path = str(tmp_path / "nothing")
    state = sqlite_vec_engine.load_extension(connection, path)
    assert not state.available
    assert state.error.startswith(f"sqlite-vec could not be loaded from {path}: ")
    assert state.error.endswith(".")
    assert "\n" not in state.error


def test_file_other_than_a_library_is_an_error(connection, tmp_path):
    path = tmp_path / "text.so"
    path.write_text("not a library")
    assert not sqlite_vec_engine.load_extension(connection, str(path)).available


def test_missing_package_is_reported(connection, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "sqlite_vec", None)
    state = sqlite_vec_engine.load_extension(connection)
    assert state == sqlite_vec_engine.ExtensionState(
        available=False, path=None, error="The package sqlite-vec is not installed."
    )


def test_hanging_library_is_abandoned(connection, monkeypatch):
    release = threading.Event()
    monkeypatch.setattr(sqlite_vec_engine, "_load_alone", lambda _: release.wait(60) and None)
    monkeypatch.setattr(sqlite_vec_engine, "LOAD_SECONDS", 0.02)
    try:
        state = sqlite_vec_engine.load_extension(connection, "/net/vec0")
    finally:
        release.set()
    assert not state.available
    assert state.error == "Loading sqlite-vec from /net/vec0 took more than 0 seconds."


def test_sql_cannot_load_libraries_afterwards(connection):
    sqlite_vec_engine.load_extension(connection)
    with pytest.raises(apsw.SQLError, match=r"not authorized|no such function"):
        connection.execute("SELECT load_extension('anything')")
    with pytest.raises(apsw.Error):
        connection.load_extension(sqlite_vec.loadable_path())


# --- the table ------------------------------------------------------------------------------------------------------


def test_table_stays_until_dimensions_change(table):
    sqlite_vec_engine.insert_rows(table, [5], sentences(1, 64), SCALE)
    assert sqlite_vec_engine.ensure_table(table, 64) is False
    assert sqlite_vec_engine.stored_ids(table) == [5]
    assert sqlite_vec_engine.ensure_table(table, 32) is True
    assert sqlite_vec_engine.stored_ids(table) == []
    sqlite_vec_engine.insert_rows(table, [5], sentences(1, 32), SCALE)
    assert sqlite_vec_engine.stored_ids(table) == [5]


def test_rows_are_replaced_and_deleted(table):
    vectors = sentences(3, 64)
    sqlite_vec_engine.insert_rows(table, [1, 2], vectors[:2], SCALE)
    sqlite_vec_engine.insert_rows(table, [2, 3], vectors[[2, 1]], SCALE)
    assert sqlite_vec_engine.nearest(table, vectors[2], 1, SCALE)[0].tolist() == [2]
    sqlite_vec_engine.delete_rows(table, [2, 99])
    assert sqlite_vec_engine.stored_ids(table) == [1, 3]
    assert sqlite_vec_engine.nearest(table, vectors[2], 5, SCALE)[0].tolist() != [2]


def test_half_precision_is_widened_before_it_is_stored(table):
    vectors = sentences(50, 64)
    sqlite_vec_engine.insert_rows(table, range(50), vectors.astype(np.float16), SCALE)
    ids, cosines = sqlite_vec_engine.nearest(table, vectors[7], 50, SCALE)
    assert ids[0] == 7
    np.testing.assert_allclose(cosines, vectors[ids] @ vectors[7], atol=0.02)


def test_neighbours_come_best_first_and_can_be_limited(table):
    vectors = sentences(300, 64)
    sqlite_vec_engine.insert_rows(table, range(300), vectors, SCALE)
    ids, cosines = sqlite_vec_engine.nearest(table, vectors[3], 20, SCALE, allowed=range(100, 200))
    exact = vectors @ vectors[3]
    assert cosines.tolist() == sorted(cosines.tolist(), reverse=True)
    np.testing.assert_allclose(cosines, exact[ids], atol=0.02)
    assert set(ids.tolist()) <= set((100 + np.argsort(-exact[100:200])[:25]).tolist())
    assert sqlite_vec_engine.nearest(table, vectors[3], 20, SCALE, allowed=[])[0].tolist() == []


def test_nearest_accepts_0_and_more_than_vec0_allows(table):
    vectors = sentences(4200, 64)
    sqlite_vec_engine.insert_rows(table, range(4200), vectors, SCALE)
    assert len(sqlite_vec_engine.nearest(table, vectors[0], 10_000, SCALE)[0]) == 4096
    assert len(sqlite_vec_engine.nearest(table, vectors[0], 0, SCALE)[0]) == 0


def test_vectors_of_zeros_are_not_found(table):
    sqlite_vec_engine.insert_rows(
        table, [1, 2], np.vstack([np.zeros((1, 64)), sentences(1, 64)]).astype(np.float32), SCALE
    )
    assert sqlite_vec_engine.nearest(table, sentences(1, 64)[0], 5, SCALE)[0].tolist() == [2]


def test_sparse_table_recreated(table):
    sqlite_vec_engine.insert_rows(table, range(6000), sentences(6000, 64), SCALE)
    sqlite_vec_engine.delete_rows(table, range(0, 6000, 3))
    assert sqlite_vec_engine.ensure_table(table, 64) is False
    sqlite_vec_engine.delete_rows(table, [id_ for id_ in range(6000) if id_ % 10])
    assert sqlite_vec_engine.ensure_table(table, 64) is True
    assert sqlite_vec_engine.stored_ids(table) == []


@pytest.mark.parametrize("engine", ["matrix", "table"])
def test_four_times_the_candidates_contain_the_nearest(table, engine):
    vectors = sentences(10_050, 64)
    corpus, queries = vectors[:-50], vectors[-50:]
    if engine == "table":
        sqlite_vec_engine.insert_rows(table, range(len(corpus)), corpus, SCALE)
    else:
        matrix = QuantisedMatrix(64)
        matrix.add(np.arange(len(corpus)), corpus)
    found = 0
    for query in queries:
        candidates, _ = (
            sqlite_vec_engine.nearest(table, query, 96, SCALE) if engine == "table" else matrix.search(query, 96)
        )
        best = candidates[np.argsort(-(corpus[candidates] @ query))[:24]]
        found += len(np.intersect1d(np.argsort(-(corpus @ query))[:24], best))
    assert found >= 0.99 * 24 * len(queries)


@pytest.mark.parametrize("dims", [16, 64, 512, 3072])
@pytest.mark.parametrize("kind", ["even", "one long component", "mostly zeros"])
def test_codes_keep_near_vectors_of_any_kind_first(connection, dims, kind):
    assert sqlite_vec_engine.load_extension(connection).available
    sqlite_vec_engine.ensure_table(connection, dims)
    vectors = sentences(1000, dims)
    if kind == "one long component":
        vectors[:, 0] = vectors[:, 0] * 0.3 - 0.7
    elif kind == "mostly zeros":
        vectors[np.random.default_rng(1).random(vectors.shape) > 8 / dims] = 0
        vectors[:, 1] += 0.01
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    scale = sqlite_vec_engine.finest_scale(float(np.abs(vectors).max()), dims)
    assert sqlite_vec_engine.fits(float(np.abs(vectors).max()), scale)
    nowhere = np.stack([np.zeros(dims, np.float32), np.full(dims, np.nan, np.float32)])
    sqlite_vec_engine.insert_rows(connection, range(1002), np.vstack([vectors, nowhere]), scale)
    peaked = vectors[0] + 2 * np.eye(dims, dtype=np.float32)[3]
    for query in [*vectors[:20], peaked / np.linalg.norm(peaked)]:
        ids, cosines = sqlite_vec_engine.nearest(connection, query, 1002, scale)
        exact = vectors @ query
        assert sorted(ids.tolist()) == list(range(1000))
        np.testing.assert_allclose(cosines, exact[ids], atol=0.05)
        best = ids[:80][np.argsort(-exact[ids[:80]])[:20]]
        np.testing.assert_allclose(exact[best], np.sort(exact)[::-1][:20], atol=1e-3)
