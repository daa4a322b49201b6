"""Run every complaint's query against a real index in its situation."""

import json
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from unittest.mock import patch

import msgspec

from engine import SearchOutcome
from engine.backends import builtin
from engine.backends.builtin import BuiltinMemory
from engine.base.errors import ProviderError
from engine.embedding.provider_selection import select_provider
from engine.settings import Settings
from engine.settings.options import SessionSettings
from engine.settings.search_settings import QuerySettings, TemporalDecaySettings
from tests.helpers.complaints.cases import CASES, Case, Situation
from tests.helpers.complaints.notes import AGEING, DEAR, FEW, NOTES, SESSIONS
from tests.helpers.fake_provider import FakeProvider, PaidProvider, fallback_to, selection_of

_DAYS = (2, 60, 75, 80, 90, 200)


@dataclass(frozen=True)
class Answered:
    """A case with the engine's answer."""

    case: Case
    outcome: SearchOutcome

    @property
    def paths(self) -> list[str]:
        return [result.path for result in self.outcome.results]


def dated(text: str) -> str:
    """Replace placeholders such as `{60}` by dates."""
    for days in _DAYS:
        text = text.replace(f"{{{days}}}", f"{_ago(days):%Y-%m-%d}")
    return text


def undated(text: str) -> str:
    """Replace dates by placeholders, so that a page does not change from day to day."""
    for days in _DAYS:
        text = text.replace(f"{_ago(days):%Y-%m-%d}", f"{{{days}}}")
    return text


def _ago(days: float) -> datetime:
    return datetime.now(UTC) - timedelta(days=days)


def answer_all(folder: Path) -> list[Answered]:
    """Return answers in the order of the table; `folder` must be empty, and holds the indexes afterwards."""
    answered: dict[int, Answered] = {}
    for situation, opened in _SITUATIONS.items():
        (folder / situation).mkdir()
        cases = [(number, case) for number, case in enumerate(CASES) if case.situation == situation]
        with opened(folder / situation) as memory:
            for number, case in cases:
                answered[number] = Answered(case, _ask(memory, case))
    return [answered[number] for number in range(len(CASES))]


def _ask(memory: BuiltinMemory, case: Case) -> SearchOutcome:
    options = dict(case.asked)
    for bound in ("since", "until"):
        if bound in options:
            options[bound] = _ago(options[bound]).timestamp()
    return memory.search(case.query, **({"max_results": 20} | options), explain=True)


# --- situations ---------------------------------------------------------------------------------------------------


def _write(folder: Path, notes: Mapping[str, str]) -> Path:
    for name, text in notes.items():
        path = folder / "notes" / dated(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(dated(text), "utf-8")
    return folder / "notes"


def _write_sessions(folder: Path) -> Path:
    """Write sessions in an OpenClaw agent's format."""
    store = folder / "agents/main/sessions"
    store.mkdir(parents=True)
    for name, (days, texts) in SESSIONS.items():
        when = f"{_ago(days):%Y-%m-%dT%H:%M:%S.000Z}"
        lines: list[object] = [{"type": "session", "id": name, "cwd": "/home/ada", "timestamp": when}]
        for number, text in enumerate(texts):
            content = [{"type": "text", "text": text}]
            message = {"role": ("user", "assistant")[number % 2], "content": content}
            lines.append({"type": "message", "id": f"m{number}", "timestamp": when, "message": message})
        (store / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
    return store


@contextmanager
def _memory(folder: Path, settings: Settings, use: FakeProvider | str | None) -> Iterator[BuiltinMemory]:
    """Open a memory; `use` is a provider, or the name of one to select by the settings."""
    store = msgspec.structs.replace(settings.store, path=str(folder / "data"))
    settings = msgspec.structs.replace(settings, store=store)
    if isinstance(use, str):
        chosen = msgspec.structs.replace(settings, provider=use)
        select: Callable[..., object] = lambda *_, **options: select_provider(chosen, **options)  # noqa: E731
    else:
        select = lambda *_, **__: selection_of(use)  # noqa: E731
    with (
        patch.object(builtin, "select_provider", select),
        patch.object(builtin, "use_fallback", lambda settings, first, reason, **_: fallback_to(None, first, reason)),
    ):
        memory = BuiltinMemory(folder / "notes", settings, executor=None, background=False)
        try:
            yield memory
        finally:
            memory.close()


def _with_sessions(folder: Path) -> Settings:
    return Settings(sessions=SessionSettings(folders=(str(_write_sessions(folder)),)))


@contextmanager
def _usual(folder: Path) -> Iterator[BuiltinMemory]:
    _write(folder, NOTES)
    with _memory(folder, _with_sessions(folder), "embedded") as memory:
        memory.sync()
        yield memory


@contextmanager
def _words(folder: Path) -> Iterator[BuiltinMemory]:
    _write(folder, NOTES)
    with _memory(folder, _with_sessions(folder), None) as memory:
        memory.sync()
        yield memory


@contextmanager
def _ageing(folder: Path) -> Iterator[BuiltinMemory]:
    _write(folder, AGEING)
    usual = QuerySettings()
    hybrid = msgspec.structs.replace(usual.hybrid, temporal_decay=TemporalDecaySettings(enabled=True))
    query = msgspec.structs.replace(usual, hybrid=hybrid)
    with _memory(folder, msgspec.structs.replace(_with_sessions(folder), query=query), "embedded") as memory:
        memory.sync()
        yield memory


@contextmanager
def _pending(folder: Path) -> Iterator[BuiltinMemory]:
    _write(folder, FEW)
    provider = FakeProvider(batch_size=2)

    def fail_after_the_first(texts: object) -> None:
        if provider.embedded:
            raise ProviderError("The service does not answer.")

    provider.before = fail_after_the_first
    with _memory(folder, Settings(), provider) as memory:
        memory.sync()
        yield memory


@contextmanager
def _failing(folder: Path) -> Iterator[BuiltinMemory]:
    _write(folder, FEW)
    provider = FakeProvider()
    with _memory(folder, Settings(), provider) as memory:
        memory.sync()
        provider.fails_queries = "The service does not answer."
        yield memory


@contextmanager
def _unasked(folder: Path) -> Iterator[BuiltinMemory]:
    _write(folder, FEW | {"long.md": DEAR})
    with _memory(folder, Settings(), PaidProvider()) as memory:
        memory.sync()
        yield memory


@contextmanager
def _unembedded(folder: Path) -> Iterator[BuiltinMemory]:
    _write(folder, FEW)
    with _memory(folder, Settings(), None) as memory:
        memory.sync()
    with _memory(folder, Settings(), FakeProvider()) as memory:
        yield memory


@contextmanager
def _empty(folder: Path) -> Iterator[BuiltinMemory]:
    (folder / "notes").mkdir()
    with _memory(folder, Settings(), FakeProvider()) as memory:
        memory.sync()
        yield memory


@contextmanager
def _upgraded(folder: Path) -> Iterator[BuiltinMemory]:
    """Return a memory with an index from the version before tags."""
    _write(folder, FEW)
    with _memory(folder, Settings(), FakeProvider()) as memory:
        memory.sync()
    (index,) = folder.rglob("index.sqlite")
    with sqlite3.connect(index) as database:
        (fingerprint,) = database.execute("SELECT value FROM meta WHERE key = 'fingerprint'").fetchone()
        database.execute("UPDATE meta SET value = ? WHERE key = 'fingerprint'", (fingerprint.partition("; tags")[0],))
        database.execute("DELETE FROM tags_1")
    database.close()
    with _memory(folder, Settings(), FakeProvider()) as memory:
        yield memory


@contextmanager
def _excluded(folder: Path) -> Iterator[BuiltinMemory]:
    _write(folder, FEW)
    with _memory(folder, Settings(exclude=("drafts/**",)), None) as memory:
        memory.sync()
        yield memory


_SITUATIONS: dict[Situation, Callable[[Path], "contextmanager[BuiltinMemory]"]] = {  # type: ignore[type-arg]
    "usual": _usual,
    "words": _words,
    "ageing": _ageing,
    "pending": _pending,
    "failing": _failing,
    "unasked": _unasked,
    "unembedded": _unembedded,
    "empty": _empty,
    "upgraded": _upgraded,
    "excluded": _excluded,
}
