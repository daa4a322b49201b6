"""Setup shared by the rows: notes on disk, their indexes, and a memory opened with a given provider."""

import hashlib
import pickle
import random
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import msgspec

from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.settings import Settings
from engine.settings.options import SessionSettings
from engine.settings.search_settings import QuerySettings, ResultCacheSettings
from tests.benchmarks.measuring import ROOT, Cost, measure
from tests.benchmarks.notes import Words, write_notes
from tests.benchmarks.transcripts import stores, write_sessions

LARGE = 4
"""Multiple of the notes for rows about 100,000 chunks: 10,000 notes have some 25,000 chunks."""

UNCACHED = QuerySettings(cache=ResultCacheSettings(enabled=False))
"""Settings for rows that time searches; cached answers would not measure them."""

_KEPT_INDEXES = 2
"""Most indexes of one kind in the cache, so that two versions can be measured alternately."""
_COST = "cost.pickle"

Model = Literal["none", "random-1536", "lifted-1536", "window", "embedded"]
"""`lifted-1536`: real vectors in more dimensions. `window`: the embedded provider, whose model returns the real vectors
one by one, whatever the text. `embedded`: the program's own model.
"""


@dataclass
class Bench:
    """One run. Files in `cache` outlast it, since they take long to make; changed code makes new indexes."""

    notes: int
    cache: Path
    scratch: Path
    built: dict[tuple[int, Model], tuple[Path, Cost]] = field(default_factory=dict)

    def folder(self, count: int) -> Path:
        """Return a folder with this number of notes."""
        folder = self.cache / f"notes-{count}"
        if not folder.exists():
            unfinished = self.scratch / folder.name
            write_notes(unfinished, count)
            unfinished.rename(folder)
        return folder

    def sessions(self, count: int, size: int) -> Path:
        """Return a folder with this number of transcripts, of `size` bytes in total."""
        folder = self.cache / f"sessions-{count}-{size // 1_000_000}"
        if not folder.exists():
            unfinished = self.scratch / folder.name
            write_sessions(unfinished, count, size)
            unfinished.rename(folder)
        return folder

    def index(self, count: int, model: Model) -> tuple[Path, Cost]:
        """Return the store folder of a complete index of this many notes, and the cost of the full sync that made it.

        It is used again until the engine's code changes: large ones take longer to make than to measure.
        """
        key = count, model
        if key not in self.built:
            name = f"index-{count}-{model}-"
            store = self.cache / f"{name}{_code_digest()}"
            if not store.exists():
                unfinished = self.scratch / store.name
                self._build(count, unfinished, model)
                former = sorted(self.cache.glob(f"{name}*"), key=lambda folder: folder.stat().st_mtime)
                for folder in former[: 1 - _KEPT_INDEXES]:
                    shutil.rmtree(folder)
                unfinished.rename(store)
            self.built[key] = store, pickle.loads((store / _COST).read_bytes())
        return self.built[key]

    def built_now(self, count: int, model: Model) -> Cost:
        """Return the cost of a full sync in this run."""
        return self._build(count, self.scratch / f"index-{count}-{model}-new", model)

    def _build(self, count: int, store: Path, model: Model) -> Cost:
        if model not in ("none", "random-1536", "embedded"):
            from tests.benchmarks.real_vectors import real_vectors  # brings numpy with it

            real_vectors(self.cache)  # made once, and no part of the cost
        cost = measure(build_index, self.folder(count), store, model, self.cache)
        (store / _COST).write_bytes(pickle.dumps(cost))
        return cost


def _code_digest() -> str:
    """Return a digest of all code that determines the content of an index."""
    digest = hashlib.sha256()
    for path in sorted([*ROOT.glob("engine/**/*.py"), *ROOT.glob("tests/benchmarks/*.py")]):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:16]


def copy_of(folder: Path, target: Path) -> Path:
    """Return a copy that may be changed."""
    shutil.copytree(folder, target)
    return target


def questions(count: int, *, natural: bool = False, seed: int = 7) -> list[str]:
    """Return queries of five words from the notes: distinctive ones, or of typical frequency."""
    rng = random.Random(1)
    words = Words(rng)
    rng.seed(seed)
    return [" ".join(words.draw(5)) if natural else words.question() for _ in range(count)]


def warming(*, natural: bool = False) -> list[str]:
    """Return other queries of the same kind, to search before those that are timed."""
    return questions(20, natural=natural, seed=8)


def build_index(notes: Path, store: Path, model: Model, cache: Path, sessions: Path | None = None) -> dict[str, int]:
    """Run a full sync in a child process, and return its report and the bytes of the files."""
    memory = open_index(notes, store, model, cache, sessions=sessions)
    report = memory.sync()
    memory.close()  # the last checkpoint belongs to it
    assert not report.error, report.error
    return {"chunks": report.chunks_indexed, "embedded": report.vectors_embedded, **sizes_of(store)}


def sizes_of(store: Path) -> dict[str, int]:
    """Return the bytes of each file of the only index in this store folder."""
    return {path.name: path.stat().st_size for path in store.glob("indexes/*/*")}


def open_index(
    notes: Path,
    store: Path,
    model: Model,
    cache: Path,
    *,
    background: bool = False,
    sessions: Path | None = None,
    query: QuerySettings | None = None,
) -> BuiltinMemory:
    """Return a memory with its index in `store`, which includes the transcripts below `sessions`."""
    use_model(model, cache)
    folders = () if sessions is None else tuple(map(str, stores(sessions)))
    settings = Settings(sessions=SessionSettings(folders=folders), query=query or QuerySettings())
    settings = msgspec.structs.replace(settings, store=msgspec.structs.replace(settings.store, path=str(store)))
    return BuiltinMemory(notes, settings, executor=None, background=background)


def settings_file(folder: Path, store: Path) -> Path:
    """Write a settings file for a program whose index is in `store`, and return its path.

    Cached answers are off: rows that type the same queries twice would measure them.
    """
    path = folder / f"{store.name}.toml"
    path.write_text(f'[defaults]\nstore.path = "{store.as_posix()}"\nquery.cache.enabled = false\n', "utf-8")
    return path


def use_model(model: Model, cache: Path) -> None:
    """Make every memory that this process opens embed with this model."""
    from engine.embedding import embedded_model
    from engine.embedding.provider_selection import Selection
    from tests.benchmarks import provider

    if model == "embedded":
        return
    if model == "window":
        embedded_model._load_model = lambda: provider.NextVector(cache)
        return
    chosen = {
        "none": lambda: None,
        "random-1536": lambda: provider.RandomProvider(1536),
        "lifted-1536": lambda: provider.LiftedProvider(cache),
    }[model]()
    builtin.select_provider = lambda *_, **__: Selection(chosen, "none" if chosen is None else chosen.id)
