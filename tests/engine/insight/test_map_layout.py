"""The arithmetic of the map: directions against an exact decomposition, neighbours against all distances."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled
from engine.insight.map_data import Rows, load_layout, save_layout
from engine.insight.map_layout import (
    alignment,
    compute_layout,
    nearest,
    neighbour_weights,
    principal_components,
    query_position,
    run_tsne,
    starting_positions,
)
from engine.store.vector_matrix_blocks import quantise

TOPICS = 6


def _vectors(count: int, dims: int = 48, seed: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Return unit vectors (count, dims) about some topics, and the topic of each."""
    rng = np.random.default_rng(seed)
    topics = rng.integers(TOPICS, size=count)
    vectors = rng.standard_normal((TOPICS, dims))[topics] + 0.6 * rng.standard_normal((count, dims))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32), topics


def _rows(vectors: np.ndarray, parts: int = 3) -> Rows:
    pieces = tuple(quantise(piece) for piece in np.array_split(vectors, parts))
    return Rows(np.arange(len(vectors)) * 2 + 5, vectors.shape[1], pieces)


def _exact(vectors: np.ndarray, count: int) -> np.ndarray:
    centred = vectors.astype(np.float64) - vectors.mean(axis=0)
    return np.linalg.svd(centred, full_matrices=False)[2][:count].T


def test_directions_equal_those_of_exact_decomposition() -> None:
    vectors, _ = _vectors(700)
    stored = np.concatenate([piece for _, piece in _rows(vectors).pieces()])
    found = principal_components(_rows(vectors), 5)
    assert np.abs(_exact(stored, 5).T @ found.axes) == pytest.approx(np.eye(5), abs=1e-3)
    singular = np.linalg.svd(stored - stored.mean(axis=0), compute_uv=False) ** 2
    assert found.shares == pytest.approx(singular[:5] / singular.sum(), abs=1e-4)


def test_high_dimensional_directions_equal() -> None:
    vectors, _ = _vectors(300, dims=600)
    stored = np.concatenate([piece for _, piece in _rows(vectors).pieces()])
    found = principal_components(_rows(vectors), 2)
    assert np.abs(_exact(stored, 2).T @ found.axes) == pytest.approx(np.eye(2), abs=1e-2)


def test_sampled_directions_suffice() -> None:
    vectors, _ = _vectors(100)
    rows = _rows(vectors)
    together = np.zeros((100, 48), np.float32)
    seen = 0
    for where, piece in rows.pieces(every=4):
        together[where] = piece
        seen += len(piece)
    assert seen == sum(-(-len(codes) // 4) for codes, _ in rows.parts)
    filled = np.flatnonzero(together.any(axis=1))
    assert together[filled] == pytest.approx(vectors[filled], abs=0.01)


def test_the_same_vectors_make_the_same_map() -> None:
    vectors, _ = _vectors(200)
    one, other = (compute_layout(_rows(vectors), 1, None) for _ in range(2))
    assert one.layout == "neighbours"
    assert np.array_equal(one.points, other.points)


def test_the_neighbours_of_few_points_are_the_nearest() -> None:
    vectors, _ = _vectors(500)
    found, distances = nearest(vectors, 7)
    gaps = np.linalg.norm(vectors[:, None] - vectors[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert np.sort(gaps, axis=1)[:, :7] == pytest.approx(distances, abs=1e-3)
    assert all(row not in others for row, others in enumerate(found))


def test_neighbours_of_many_points_are_mostly_the_nearest() -> None:
    vectors, _ = _vectors(6000, dims=16)
    found, distances = nearest(vectors, 5)
    rows = np.arange(0, 6000, 60)
    gaps = np.linalg.norm(vectors[rows, None] - vectors[None], axis=2)
    gaps[np.arange(len(rows)), rows] = np.inf
    best = np.argsort(gaps, axis=1)[:, :5]
    assert np.mean([len({*one} & {*other}) / 5 for one, other in zip(best, found[rows], strict=True)]) > 0.9
    assert (np.diff(distances, axis=1) >= 0).all()


def test_ties_are_symmetric_and_add_up_to_one() -> None:
    vectors, _ = _vectors(120)
    ties = neighbour_weights(*nearest(vectors, 9))
    whole = np.zeros((120, 120))
    whole[np.repeat(np.arange(120), ties.counts), ties.columns] = ties.weights
    assert whole == pytest.approx(whole.T)
    assert whole.sum() == pytest.approx(1, abs=1e-5)


def test_equal_passages_get_finite_positions() -> None:
    same = np.tile(_vectors(1)[0], (80, 1))
    drawn = compute_layout(_rows(same), 1, None)
    assert np.isfinite(drawn.points).all()
    assert drawn.shown_variance == pytest.approx(0, abs=1e-6)


@pytest.mark.parametrize("count", [1, 2, 3, 29, 30, 31])
def test_few_passages_are_mapped(count: int) -> None:
    drawn = compute_layout(_rows(_vectors(count)[0], parts=1), 1, None)
    assert drawn.points.shape == (count, 2)
    assert np.isfinite(drawn.points).all()


def test_same_topic_lies_together() -> None:
    vectors, topics = _vectors(600)
    points = compute_layout(_rows(vectors), 1, None).points
    gaps = np.linalg.norm(points[:, None] - points[None], axis=2)
    np.fill_diagonal(gaps, np.inf)
    assert (topics[gaps.argmin(axis=1)] == topics).mean() > 0.95


def test_changed_index_keeps_point_positions() -> None:
    vectors, _ = _vectors(400)
    rows = _rows(vectors)
    old = compute_layout(rows, 1, None)
    kept = np.delete(np.arange(400), np.arange(0, 400, 20))
    more = np.concatenate([vectors[kept], _vectors(30, seed=9)[0]])
    ids = np.concatenate([rows.ids[kept], np.arange(5000, 5030)])
    new = compute_layout(Rows(ids, 48, (quantise(more),)), 2, old)
    moved = np.linalg.norm(new.points[: len(kept)] - old.points[kept], axis=1)
    assert np.median(moved) < 0.1 * np.ptp(old.points, axis=0).max()
    assert np.isfinite(new.points).all()


def test_directions_keep_their_signs_without_some_vectors() -> None:
    vectors, _ = _vectors(25)
    rows = _rows(vectors, parts=1)
    old = compute_layout(rows, 1, None)
    assert old.layout == "directions"
    mirrored = type(old)(old.layout, 1, old.ids, -old.points, old.mean, -old.axes, old.shown_variance)
    new = compute_layout(Rows(rows.ids[2:], 48, (quantise(vectors[2:]),)), 2, mirrored)
    assert np.abs(new.points - mirrored.points[2:]).max() < 0.3
    assert (vectors[2:] - new.mean) @ new.axes == pytest.approx(new.points, abs=0.02)


def test_older_map_of_other_passages_is_not_reused() -> None:
    vectors, _ = _vectors(100)
    rows = _rows(vectors)
    old = compute_layout(rows, 1, None)
    others = Rows(np.arange(9000, 9100), 48, rows.parts)
    assert np.array_equal(compute_layout(others, 2, old).points, old.points)


def test_map_of_few_vectors_does_not_turn_that_of_all() -> None:
    vectors, _ = _vectors(100)
    rows = _rows(vectors)
    few = compute_layout(Rows(rows.ids[:10], 48, (quantise(vectors[:10]),)), 1, None)
    mirrored = type(few)(few.layout, 1, few.ids, -few.points, few.mean, -few.axes, few.shown_variance)
    for old in (few, mirrored):
        assert np.array_equal(compute_layout(rows, 2, old).points, compute_layout(rows, 2, None).points)


def test_a_cancel_ends_the_work() -> None:
    vectors, _ = _vectors(300)
    token = CancelToken()
    received: list[float] = []

    def stop(step) -> None:
        received.append(step.done)
        if step.stage == "arranging":
            token.cancel()

    with pytest.raises(Cancelled):
        compute_layout(_rows(vectors), 1, None, progress=stop, cancel=token)
    assert received == sorted(received)
    assert received[-1] < 0.5


def test_layout_rounds_report_progress() -> None:
    ties = neighbour_weights(*nearest(_vectors(60)[0], 9))
    received: list[float] = []
    run_tsne(ties, np.random.default_rng(1).standard_normal((60, 2)), progress=received.append)
    assert received[-1] == 1
    assert received == sorted(received)


def test_query_lies_among_nearest_ignoring_outlier() -> None:
    points = np.array([[0, 0], [1, 0], [0, 1], [1, 1], [90, 90]], np.float32)
    across, up = query_position(points, np.array([0.8, 0.8, 0.8, 0.8, 0.7], np.float32))
    assert 0 <= across <= 2
    assert 0 <= up <= 2
    assert query_position(points[:1], np.array([0.5], np.float32)) == (0.0, 0.0)


@given(st.floats(0, 6.28), st.booleans())
def test_new_layout_is_rotated_to_match_the_old_one(angle: float, mirrored: bool) -> None:
    points = np.random.default_rng(2).standard_normal((40, 2)).astype(np.float32)
    cos, sin = np.cos(angle), np.sin(angle)
    turned = points @ np.array([[cos, sin], [-sin, cos]], np.float32)
    if mirrored:
        turned[:, 0] *= -1
    ids = np.arange(40)
    assert turned @ alignment(ids, turned, ids, points) == pytest.approx(points, abs=1e-3)


def test_saved_map_is_loaded_only_under_its_name(tmp_path) -> None:
    drawn = compute_layout(_rows(_vectors(50)[0]), 7, None)
    path = tmp_path / "chunks.map"
    save_layout(path, drawn, "mine")
    found = load_layout(path, "mine")
    assert found is not None
    assert (found.layout, found.stamp, found.shown_variance) == (drawn.layout, 7, pytest.approx(drawn.shown_variance))
    for name in ("ids", "points", "mean", "axes"):
        assert np.array_equal(getattr(found, name), getattr(drawn, name)), name
    assert load_layout(path, "another's") is None
    assert load_layout(tmp_path / "none", "mine") is None


FEW = compute_layout(_rows(_vectors(20)[0], parts=1), 7, None)


@given(at=st.integers(0, 10_000), value=st.integers(1, 255), cut=st.integers(0, 300))
def test_damaged_file_is_rejected(at: int, value: int, cut: int, tmp_path_factory) -> None:
    path = tmp_path_factory.mktemp("map") / "chunks.map"
    save_layout(path, FEW, "mine")
    whole = bytearray(path.read_bytes())
    damaged = whole[:-cut] if cut else bytearray(whole)
    if not cut:
        damaged[at % len(damaged)] ^= value
    path.write_bytes(damaged)
    found = load_layout(path, "mine")
    # The checksum doesn't cover the header: a flipped bit there may only give another stamp or layout.
    assert found is None or (not cut and at % len(whole) < 72)


def test_new_point_starts_at_nearest_placed_neighbour() -> None:
    old_ids, places = np.array([7, 3, 9]), np.array([[0, 0], [10, 0], [0, 10]], np.float32)
    found = np.array([[1, 3], [0, 2], [0, 1], [2, 0]])  # of 3, 7, 9 and 12, which is new: 9 is nearest, then 3
    began = starting_positions(np.array([3, 7, 9, 12]), found, old_ids, places)
    assert began is not None
    assert began[:3].tolist() == [[10, 0], [0, 0], [0, 10]]
    assert began[3] == pytest.approx([0, 10], abs=0.6)
    assert starting_positions(np.array([3, 20, 21, 22]), found, old_ids, places) is None
