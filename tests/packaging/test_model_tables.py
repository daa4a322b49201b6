"""Test that the recompressed model file has the same tables and is a valid zip file."""

import zipfile

import numpy as np
import pytest

TABLES = {
    "codes": np.random.default_rng(1).binomial(15, 0.5, 40_000).astype(np.uint8),
    "plain": np.tile(np.arange(50, dtype=np.float32), 400),
    "none": np.zeros((0, 3), np.float16),
    "number": np.float32(1e-6),
}


@pytest.fixture
def path(tmp_path):
    path = tmp_path / "weights.npz"
    np.savez_compressed(path, **TABLES)
    return path


def test_tables_are_equal_and_smaller(load, path):
    before = {info.filename: info.compress_size for info in zipfile.ZipFile(path).infolist()}
    size = path.stat().st_size
    load("model_tables").shrink(path)
    after = {info.filename: info.compress_size for info in zipfile.ZipFile(path).infolist()}
    assert list(after) == list(before)
    assert after["codes.npy"] < 0.95 * before["codes.npy"]  # compressed by Huffman coding alone
    assert after["plain.npy"] <= before["plain.npy"]  # with many repeated sequences
    assert path.stat().st_size < size
    with np.load(path, allow_pickle=False) as tables:
        for name, table in TABLES.items():
            assert tables[name].dtype == table.dtype
            np.testing.assert_array_equal(tables[name], table)


def test_shrunk_file_is_valid_and_shrink_is_idempotent(load, path):
    load("model_tables").shrink(path)
    with zipfile.ZipFile(path) as archive:
        assert archive.testzip() is None
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}
    once = path.read_bytes()
    load("model_tables").shrink(path)
    assert path.read_bytes() == once


def test_invalid_file_is_unchanged(load, tmp_path):
    path = tmp_path / "weights.npz"
    path.write_bytes(b"nothing of numpy")
    with pytest.raises(zipfile.BadZipFile):
        load("model_tables").shrink(path)
    assert path.read_bytes() == b"nothing of numpy"
