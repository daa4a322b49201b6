"""The names of Codex's sessions, from the list that Codex stores next to them."""

import itertools
import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings

from engine.corpus.transcripts.codex_names import GivenName, given_name
from engine.corpus.transcripts.parsers.codex import CodexFormat
from engine.corpus.transcripts.transcript_files import last_change
from tests.helpers.transcripts import mangled

ONE, TWO = "019b1f00-1111-7222-8333-444455556666", "019b1f00-1111-7222-8333-444455557777"
TIME = 1_773_050_400.0
_TIMES = itertools.count()


def entry(session: str, name: object, time: object = "2026-03-09T10:00:00Z") -> dict[str, object]:
    return {"id": session, "thread_name": name, "updated_at": time}


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / ".codex" / "sessions/2026/03/09").mkdir(parents=True)
    return tmp_path / ".codex"


def rollout(home: Path, session: str = ONE) -> str:
    return str(home / f"sessions/2026/03/09/rollout-2026-03-09T11-00-00-{session}.jsonl")


def keep(home: Path, *entries: object) -> None:
    lines = [value if isinstance(value, str) else json.dumps(value) for value in entries]
    (home / "session_index.jsonl").write_text("".join(f"{line}\n" for line in lines))


def test_the_last_name_counts(home: Path) -> None:
    assert given_name(rollout(home)) == GivenName()
    keep(
        home,
        entry(ONE, "Boat", "2026-03-08T10:00:00Z"),
        entry(TWO, "Tap"),
        "{half",
        entry(ONE, " The\nboat "),
        entry(ONE, ""),
    )
    assert given_name(rollout(home)) == GivenName("The boat", TIME)
    assert given_name(str(home / f"archived_sessions/rollout-2026-03-09T11-00-00-{TWO}.jsonl.zst")).name == "Tap"
    assert given_name(rollout(home, "019b1f00-1111-7222-8333-444455558888")) == GivenName()
    assert given_name(str(home / f"rollout-{ONE}.jsonl")) == GivenName()  # outside the sessions folder
    assert given_name(str(home / "sessions/notes.jsonl")) == GivenName()
    keep(home, entry(ONE, "Ship", "unknown"))
    assert given_name(rollout(home)) == GivenName("Ship", 0.0)


def test_a_secret_in_a_name_is_masked(home: Path) -> None:
    secret = "ghp_" + "a1B2c3D4" * 5
    keep(home, entry(ONE, f"Use {secret}"))
    assert secret not in given_name(rollout(home)).name


def test_a_list_that_is_a_link_is_not_read(home: Path, tmp_path: Path) -> None:
    keep(home, entry(ONE, "Boat"))
    (home / "session_index.jsonl").rename(tmp_path / "elsewhere.jsonl")
    (home / "session_index.jsonl").symlink_to(tmp_path / "elsewhere.jsonl")
    assert given_name(rollout(home)) == GivenName()


def test_a_session_changes_when_it_gets_a_name(home: Path) -> None:
    path = Path(rollout(home))
    path.write_text("{}\n")
    os.utime(path, (1e9, 1e9))
    assert last_change(str(path), path.stat()) == (3, 10**18)
    keep(home, entry(ONE, "Boat"))
    assert last_change(str(path), path.stat()) == (3, int(TIME * 1e9))
    os.utime(path, (2e9, 2e9))
    assert last_change(str(path), path.stat()) == (3, 2 * 10**18)


def test_the_list_has_a_later_name_than_the_rollout(home: Path) -> None:
    line = {"timestamp": "", "type": "event_msg", "payload": {"type": "thread_name_updated", "thread_name": "Boat"}}
    parser = CodexFormat().parser(rollout(home))
    parser.feed(line, 1)
    assert parser.facts.title == "Boat"
    keep(home, entry(ONE, "Ship"))
    parser = CodexFormat().parser(rollout(home))
    parser.feed(line, 1)
    assert (parser.facts.title, parser.facts.id) == ("Ship", ONE)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(mangled([entry(ONE, "Boat")]))
def test_any_json_is_read(home: Path, value: dict[str, object]) -> None:
    keep(home, value, entry(TWO, "Tap"))
    os.utime(home / "session_index.jsonl", ns=(0, next(_TIMES)))  # a different timestamp, even within a clock tick
    assert given_name(rollout(home, TWO)).name == "Tap"
    given_name(rollout(home)).name.encode()
