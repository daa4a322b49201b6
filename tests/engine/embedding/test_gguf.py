"""A real model: all-MiniLM-L6-v2 through llama.cpp, in a separate process."""

import multiprocessing
import os
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from multiprocessing.context import SpawnProcess
from multiprocessing.process import BaseProcess
from pathlib import Path

import numpy as np
import pytest

from engine.base.cancellation import CancelToken
from engine.base.errors import Cancelled, Closed, ProviderError
from engine.embedding import gguf
from engine.embedding.gguf import GgufProvider, make
from engine.embedding.gguf_file import read_gguf
from engine.embedding.model_catalog import Traits
from engine.settings import Settings
from engine.settings.options import LocalSettings
from tests.helpers.background import LONGEST_WAIT
from tests.helpers.command_line import python
from tests.helpers.gguf_files import write_gguf

PASSAGE = "The meeting was moved to the small room because the projector is broken. " * 22
posix = pytest.mark.skipif(sys.platform == "win32", reason="needs POSIX signals")


def settings(path: Path | str, **changes: object) -> Settings:
    return Settings(provider="gguf", local=LocalSettings(model_path=str(path)), **changes)


@pytest.fixture(scope="module")
def provider(minilm: Path) -> Iterator[GgufProvider]:
    made = make(settings(minilm), None)
    yield made
    made.close()


@pytest.fixture
def fresh(minilm: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[GgufProvider]:
    # Not in pytest's folder: the path of a socket is limited to about a hundred characters.
    with tempfile.TemporaryDirectory() as short:
        monkeypatch.setattr(tempfile, "tempdir", short)
        made = make(settings(minilm), None)
        yield made
        made.close()


@pytest.fixture
def worker() -> Callable[[], int]:
    """Return a function for the process id of the model that the test has loaded, or of the one that tests share."""

    def models() -> set[BaseProcess]:
        return {child for child in multiprocessing.active_children() if child.name == "mnemoscope-gguf"}

    others = models()

    def pid() -> int:
        [process] = models() - others or others
        assert process.pid is not None
        return process.pid

    return pid


def until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + LONGEST_WAIT
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_known_embedding_reproduced(provider: GgufProvider) -> None:
    # Cosines as computed by sentence-transformers from the same weights: .689, and about 0 for unrelated texts.
    meal, again, shares = provider.embed_documents(
        ["A man is eating food.", "Someone is having a meal.", "The stock market crashed yesterday."]
    )
    assert meal.dtype == np.float32
    assert float(meal @ again) == pytest.approx(0.689, abs=0.003)
    assert abs(float(meal @ shares)) < 0.06
    assert provider.embed_query("A man is eating food.") == pytest.approx(meal, abs=1e-4)


def test_provider_has_name_dimensions_and_limits_of_model(provider: GgufProvider) -> None:
    assert (provider.id, provider.model, provider.dims) == ("gguf", "all-MiniLM-L6-v2-F16", 384)
    assert provider.limits.input_tokens == 512
    assert (provider.remote, provider.price, provider.tokens_used) == (False, 0.0, 0)


@pytest.mark.parametrize("text", ["", " \n", "\ud800 lone", "\0", "[CLS] [SEP] [MASK]", "🙂" * 300])
def test_odd_texts_have_a_vector(provider: GgufProvider, text: str) -> None:
    assert np.linalg.norm(provider.embed_query(text)) == pytest.approx(1, rel=1e-5)


def test_a_zero_does_not_end_a_text(provider: GgufProvider) -> None:
    with_end, without = provider.embed_documents(["We bought\0 apples at the market", "We bought"])
    assert with_end @ without < 0.9


def test_embedding_no_texts_returns_empty_array(provider: GgufProvider) -> None:
    assert provider.embed_documents([]).shape == (0, 384)


def test_long_text_is_embedded_completely(provider: GgufProvider) -> None:
    start = PASSAGE * 3  # 1,000 tokens, twice the model's limit
    vectors = provider.embed_documents([start, start + "Unicorns eat strawberry jam. " * 60, PASSAGE])
    assert vectors.shape == (3, 384)
    assert float(vectors[0] @ vectors[2]) > 0.95
    unicorns = provider.embed_query("Unicorns eat strawberry jam.")
    assert float(unicorns @ vectors[1]) > float(unicorns @ vectors[0]) + 0.2


def test_text_at_limit_sent_whole(provider: GgufProvider, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[int] = []
    real = gguf.ModelProcess.vectors
    monkeypatch.setattr(
        gguf.ModelProcess, "vectors", lambda *arguments: sizes.append(len(arguments[1])) or real(*arguments)
    )
    provider.embed_query("dog " * 510)  # plus two special tokens
    provider.embed_query("dog " * 511)
    assert sizes == [1, 2]


def test_prompts_stand_before_the_texts(minilm: Path, provider: GgufProvider) -> None:
    prompted = GgufProvider(read_gguf(str(minilm)), Traits("question: ", "fact: "), 384)
    try:
        assert prompted.embed_query("apples") == pytest.approx(provider.embed_query("question: apples"), abs=1e-5)
        assert prompted.embed_documents(["pears"])[0] == pytest.approx(provider.embed_query("fact: pears"), abs=1e-5)
        # Each part of a long text gets the prompt, and no part exceeds the limit.
        assert prompted.embed_documents(["word " * 1000]).shape == (1, 384)
        assert prompted.key != provider.key
    finally:
        prompted.close()


def test_vectors_are_shortened_if_model_allows(minilm: Path, provider: GgufProvider) -> None:
    short = GgufProvider(read_gguf(str(minilm)), Traits(least_dims=32), 64)
    try:
        vector = short.embed_query("apples")
    finally:
        short.close()
    whole = provider.embed_query("apples")[:64]
    assert vector == pytest.approx(whole / np.linalg.norm(whole), abs=1e-5)
    assert short.key != provider.key


def test_threads_share_one_process(provider: GgufProvider) -> None:
    texts = [f"note number {n} about {word}" for n in range(6) for word in ("rain", "trains", "jam")]
    alone = provider.embed_documents(texts)
    with ThreadPoolExecutor(3) as pool:
        for together in pool.map(provider.embed_documents, [texts] * 3):
            assert together == pytest.approx(alone, abs=1e-5)
    assert len([child for child in multiprocessing.active_children() if child.name == "mnemoscope-gguf"]) == 1


def test_query_is_embedded_before_remaining_passages(provider: GgufProvider) -> None:
    provider.embed_query("loaded")
    with ThreadPoolExecutor(1) as pool:
        token = CancelToken()
        passages = pool.submit(provider.embed_documents, [PASSAGE] * 100, cancel=token)
        provider.embed_query("apples")
        assert not passages.done()
        token.cancel()
        with pytest.raises(Cancelled):
            passages.result(60)


@posix
def test_cancelled_call_answer_not_misassigned(fresh: GgufProvider, worker: Callable[[], int]) -> None:
    apples = fresh.embed_query("apples")
    os.kill(worker(), signal.SIGSTOP)
    token = CancelToken()
    with ThreadPoolExecutor(2) as pool:
        pears = pool.submit(fresh.embed_query, "pears", cancel=token)
        waiting = pool.submit(fresh.embed_documents, ["plums"], cancel=token)
        token.cancel()
        for call in (pears, waiting):
            with pytest.raises(Cancelled):
                call.result(60)
    os.kill(worker(), signal.SIGCONT)
    assert fresh.embed_query("apples") == pytest.approx(apples, abs=1e-6)


@posix
def test_close_ends_the_process_and_the_calls(fresh: GgufProvider, worker: Callable[[], int]) -> None:
    fresh.embed_query("apples")
    pid = worker()
    os.kill(pid, signal.SIGSTOP)
    with ThreadPoolExecutor(1) as pool:
        call = pool.submit(fresh.embed_documents, ["pears"])
        fresh.close()
        fresh.close()
        with pytest.raises(Closed):
            call.result(60)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(Closed):
        fresh.embed_query("apples")


@posix
def test_aborting_model_fails_one_request(fresh: GgufProvider, worker: Callable[[], int]) -> None:
    apples = fresh.embed_query("apples")
    os.kill(worker(), signal.SIGABRT)
    with pytest.raises(ProviderError, match=r"all-MiniLM-L6-v2-F16.gguf crashed \(code -6\)"):
        fresh.embed_query("apples")
    assert fresh.embed_query("apples") == pytest.approx(apples, abs=1e-6)
    os.kill(worker(), signal.SIGKILL)
    with pytest.raises(ProviderError, match="perhaps because memory ran out"):
        fresh.embed_query("apples")


@posix
def test_ctrl_c_is_handled_by_the_program(provider: GgufProvider, worker: Callable[[], int]) -> None:
    provider.embed_query("apples")
    pid = worker()
    os.kill(pid, signal.SIGINT)
    provider.embed_query("pears")
    assert worker() == pid


@posix
def test_terminated_model_leaves_nothing(fresh: GgufProvider, worker: Callable[[], int]) -> None:
    fresh.embed_query("apples")
    (folder,) = Path(tempfile.gettempdir()).glob("mnemoscope-*")
    os.kill(worker(), signal.SIGTERM)
    until(lambda: not folder.exists())


@posix
def test_hanging_model_is_abandoned(
    fresh: GgufProvider, worker: Callable[[], int], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gguf, "_QUERY_SECONDS", 0.2)
    apples = fresh.embed_documents(["apples"])[0]
    os.kill(worker(), signal.SIGSTOP)
    with pytest.raises(ProviderError, match="took longer than 0 s"):
        fresh.embed_query("apples")
    assert fresh.embed_documents(["apples"])[0] == pytest.approx(apples, abs=1e-6)


def test_unloadable_model_reports_and_stops_retrying(
    minilm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "short.gguf"
    path.write_bytes(minilm.read_bytes()[:5_000_000])
    broken = make(settings(path), None)
    started: list[SpawnProcess] = []
    start = SpawnProcess.start
    monkeypatch.setattr(SpawnProcess, "start", lambda process: (started.append(process), start(process)))
    try:
        for _ in range(5):
            with pytest.raises(ProviderError, match=r"short.gguf cannot be loaded: .* corrupted or incomplete\."):
                broken.embed_query("apples")
    finally:
        broken.close()
    assert len(started) == 3


def test_vectors_with_unexpected_dimensions_are_refused(minilm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gguf.ModelProcess, "vectors", lambda *_: bytes(128 * 4))
    provider = make(settings(minilm), None)
    with pytest.raises(ProviderError, match="makes vectors of 128 dimensions, but its file says 384"):
        provider.embed_documents(["apples"])
    provider.close()


def test_an_unknown_kind_of_model_is_a_sentence(tmp_path: Path) -> None:
    values = {"general.architecture": "new", "new.embedding_length": 8, "new.context_length": 16}
    strange = make(settings(write_gguf(tmp_path / "new.gguf", values)), None)
    try:
        with pytest.raises(ProviderError, match=r"new.gguf cannot be loaded: unknown model architecture: 'new'\."):
            strange.embed_query("apples")
    finally:
        strange.close()


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="reads Linux's list of sockets")
def test_model_not_reachable_over_network(provider: GgufProvider, worker: Callable[[], int]) -> None:
    provider.embed_query("apples")
    links = [str(link.readlink()) for link in Path(f"/proc/{worker()}/fd").iterdir() if link.is_symlink()]
    sockets = {link.removeprefix("socket:[").rstrip("]") for link in links if link.startswith("socket:")}
    lists = [Path("/proc/net", name).read_text().splitlines()[1:] for name in ("tcp", "tcp6")]
    listed = [line.split()[9] for lines in lists for line in lines]
    assert sockets
    assert sockets.isdisjoint(listed)


@posix
def test_worker_ends_with_killed_program(minilm: Path) -> None:
    code = """
import multiprocessing, os, signal, sys
from engine.embedding.gguf import make
from engine.settings import Settings
from engine.settings.options import LocalSettings
provider = make(Settings(local=LocalSettings(model_path=sys.argv[1])), None)
provider.embed_query("apples")
print(multiprocessing.active_children()[0].pid, provider._process._worker._folder, flush=True)
os.kill(os.getpid(), signal.SIGKILL)
"""
    pid, folder = python(code, str(minilm)).stdout.split()

    def gone() -> bool:
        try:
            os.kill(int(pid), 0)
        except ProcessLookupError:
            return True
        return Path(f"/proc/{pid}/stat").exists() and " Z " in Path(f"/proc/{pid}/stat").read_text()

    until(gone)
    until(lambda: not Path(folder).exists())


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"model": "minilm"}, 'set it to "minilm" and remove model'),
        ({"dimensions": 128}, "384 dimensions only: remove dimensions = 128"),
    ],
)
def test_unsuitable_settings_are_refused(minilm: Path, changes: dict, message: str) -> None:
    with pytest.raises(ProviderError, match=message):
        make(settings(minilm, **changes), None)


def test_missing_package_names_install(minilm: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ProviderError, match=r'pipx install --force "\.\[gguf\]"'):
        make(settings(minilm), None)


def test_make_loads_no_heavy_modules(minilm: Path) -> None:
    code = """
import sys
from engine.embedding.gguf import make
from engine.settings import Settings
from engine.settings.options import LocalSettings
make(Settings(local=LocalSettings(model_path=sys.argv[1])), None)
sys.exit(any(name in sys.modules for name in ("numpy", "xllamacpp")))
"""
    assert python(code, str(minilm)).returncode == 0
