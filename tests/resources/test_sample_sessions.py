"""The sample sessions are read whole, span programs, languages and a year, and hold only plainly false secrets."""

import re
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

import engine
from engine import MemorySearchManager, SessionText, Settings, detect_language

SAMPLE = Path(__file__).resolve().parents[2] / "resources" / "sample_sessions"
FILES = sorted(path for path in SAMPLE.rglob("*") if path.is_file())
_FALSE = re.compile(r"fake|not-a-real", re.IGNORECASE)
_PRIVATE = re.compile(
    r"-----BEGIN|https?://(?![\w:@-]+\.example\b)|(?<![\\\w])[\w.+-]+@[\w-]+\.(?!example)[a-z]{2,}|\+\d[\d ()/-]{7,}",
    re.IGNORECASE,
)


@pytest.fixture(scope="module")
def memory(tmp_path_factory) -> Iterator[MemorySearchManager]:
    """The index of the sample sessions, words only."""
    root = tmp_path_factory.mktemp("sessions")
    settings = Settings(provider="none")
    replace = msgspec.structs.replace
    folders = tuple(str(folder) for folder in sorted(SAMPLE.iterdir()))
    settings = replace(
        settings,
        store=replace(settings.store, path=str(root / "index")),
        sessions=replace(settings.sessions, folders=folders),
    )
    (root / "notes").mkdir()
    opened = engine.open_memory(root / "notes", settings)
    report = opened.sync()
    assert (report.failed, report.skipped, report.error) == ((), (), "")
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def texts(memory: MemorySearchManager) -> list[SessionText]:
    return [memory.read_session(session.path, reveal=True) for session in memory.sessions()]


def _said(text: SessionText) -> str:
    return "\n".join(message.text for message in text.messages if message.kind == "text")


def test_sample_sessions_are_small_and_fully_parsed(texts):
    assert sum(path.stat().st_size for path in FILES) < 400_000
    assert 14 <= len(texts) <= 20
    assert [text.unknown for text in texts if text.unknown] == []


def test_every_agent_and_several_languages_occur(texts):
    agents = Counter(text.summary.agent for text in texts)
    assert agents.keys() == {"claude-code", "codex", "openclaw", "chatgpt", "gemini"}
    languages = Counter(detect_language(_said(text)) for text in texts)
    for language in ("english", "german", "spanish", "french"):
        assert languages[language], language
    assert any(len(re.findall("[\u3040-\u30ff]", _said(text))) > 200 for text in texts)
    assert any(len(re.findall("[\u0400-\u04ff]", _said(text))) > 200 for text in texts)


def test_sessions_have_titles_and_dates_across_the_year(texts):
    assert all(text.summary.title for text in texts)
    for text in texts:
        times = [message.time for message in text.messages if not message.rewound]
        assert None not in times
        assert times == sorted(times), text.summary.path
    days = [datetime.fromtimestamp(text.summary.started, UTC) for text in texts]
    assert {day.year for day in days} == {2026}
    assert max(days) < datetime(2026, 11, 20, tzinfo=UTC)
    assert len({day.month for day in days}) >= 8


def test_one_session_is_long_and_has_sub_agent(texts):
    longest = max(texts, key=lambda text: len(text.messages))
    assert len(longest.messages) >= 120
    kinds = Counter(message.kind for message in longest.messages)
    assert min(kinds[kind] for kind in ("text", "thinking", "tool-call", "tool-result")) >= 5
    tools = {message.tool for message in longest.messages}
    assert {"Bash", "Read", "Edit", "Write", "Task"} <= tools
    session_text = "\n".join(message.text for message in longest.messages)
    assert "diff --git" in session_text
    assert "== FAILURES ==" in session_text
    assert [text.summary.parent for text in texts if text.summary.parent] == [longest.summary.id]


def test_planted_secrets_are_recognizably_fake_and_masked(memory, texts):
    kinds = set()
    for text in texts:
        masked = memory.read_session(text.summary.path)
        assert masked.masked == text.masked
        for open_, hidden in zip(text.messages, masked.messages, strict=True):
            if open_.text != hidden.text:
                kinds.add(open_.kind)
                assert _FALSE.search(open_.text)
                assert not _FALSE.search(re.sub(r"\S{6}…\S{4}", "", hidden.text))
    assert kinds == {"text", "tool-result"}
    assert [found for text in texts for message in text.messages for found in _PRIVATE.findall(message.text)] == []


@pytest.mark.parametrize(
    ("query", "agent", "title"),
    [
        ("relay settle pulse lost irrigation", "claude-code", "Fix the valve controller"),
        ("rehearsal tariff without end billed twice", "claude-code", "Rehearse the billing run before it bills"),
        ("gummy crumb rye", "openclaw", "Why is my crumb gummy"),
        ("Ameisensäure Verdunster", "openclaw", "Milbenplan für August"),
        ("rowing boat picnic", "openclaw", "Whit Sunday, 24 May: Camille wants to go rowing in the Spreewald again"),
        ("アーモンドのお菓子", "openclaw", "来週、京都でハルカさんのご両親に会います。"),
        ("restic restore photos", "codex", "Restore test of hazel"),
        ("certificado del banco", "codex", "Lucía me dejó dicho que el certificado"),
        ("chapeau à condition que", "chatgpt", "Un chapeau pour Camille"),
        ("printer lease dnsmasq", "gemini", "A fixed address for the printer"),
    ],
)
def test_sessions_are_found_by_keywords(memory, query, agent, title):
    found = memory.search(query).results[0]
    assert found.message is not None
    assert found.path.startswith(f"sessions/{agent}/")
    assert found.title.startswith(title)
