"""Sessions of Pi and of programs made from it, distinguished from OpenClaw's by their path."""

import json
from pathlib import Path
from typing import Any

import pytest

from engine.corpus.transcripts.parsers.openclaw import OpenClawFormat
from engine.corpus.transcripts.quick_summary import read_quick_summary
from engine.corpus.transcripts.registry import agent_label, resume_command, session_folders
from engine.corpus.transcripts.token_usage import Usage
from engine.corpus.transcripts.tool_uses import uses_of
from engine.corpus.transcripts.transcript_reader import format_of, opened
from engine.corpus.user_environment import Machine
from tests.helpers.transcripts import feed, read_session

NAME = "2026-05-04T09-00-00-000Z_5e6f7a8b-0000-4000-8000-000000000003.jsonl"
HEAD = {
    "type": "session",
    "version": 3,
    "id": "5e6f7a8b-0000-4000-8000-000000000003",
    "timestamp": "2026-05-04T09:00:00.000Z",
    "cwd": "/home/ada/boats",
}
LINES = [
    HEAD,
    {"type": "model_change", "id": "m0", "parentId": None, "provider": "p", "modelId": "m"},
    {"type": "message", "id": "a1", "message": {"role": "user", "content": "Why does it leak?"}},
    {
        "type": "message",
        "id": "a2",
        "message": {"role": "assistant", "content": [{"type": "text", "text": "No seams."}]},
    },
]


def write(path: Path, *more: dict[str, object], head: dict[str, object] = HEAD) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(line) + "\n" for line in (head, *LINES[1:], *more)))
    return path


@pytest.mark.parametrize(
    ("path", "agent"),
    [
        (f".pi/agent/sessions/--home-ada-boats--/{NAME}", "pi"),
        (f".omp/agent/sessions/--home-ada-boats--/{NAME}", "oh-my-pi"),
        (f".omp/profiles/work/agent/sessions/-boats/{NAME}", "oh-my-pi"),
        (f".local/share/omp/sessions/-boats/{NAME}", "oh-my-pi"),
        (f".gjc/agent/sessions/-boats/{NAME}", "gajae-code"),
        (f".senpi/agent/sessions/--home-ada-boats--/{NAME}", "senpi"),
        (f".omo/sessions/--home-ada-boats--/{NAME}", "senpi"),
        (f".config/kimchi/harness/sessions/--home-ada-boats--/{NAME}", "kimchi"),
        (f"from-the-laptop/{NAME}", "pi"),
        (".openclaw/agents/main/sessions/5e6f7a8b-0000-4000-8000-000000000003.jsonl", "openclaw"),
        ("some-folder/some-name.jsonl", "openclaw"),
    ],
)
def test_path_decides_the_agent(tmp_path: Path, path: str, agent: str) -> None:
    file = write(tmp_path / path)
    session = read_session(file, "")
    assert session is not None
    assert [message.text for message in session.messages] == ["Why does it leak?", "No seams."]
    assert (session.metadata.agent, session.metadata.project) == (agent, "/home/ada/boats")
    with opened(file) as (descriptor, state):
        assert isinstance(descriptor, int)
        seen = read_quick_summary(descriptor, str(file), state.st_size)
    assert seen is not None
    assert seen.metadata == session.metadata


def test_session_without_path_is_openclaws() -> None:
    known = format_of([HEAD])
    assert known is not None
    assert known.agent == "openclaw"


def test_the_first_line_may_have_title_and_forked_session(tmp_path: Path) -> None:
    parent = f"/home/ada/.omp/agent/sessions/--home-ada-boats--/{NAME.replace('03.jsonl', '02.jsonl')}"
    head = {**HEAD, "title": "A leaking hull", "parentSession": parent, "branchedFrom": parent}
    session = read_session(write(tmp_path / NAME, {"type": "ttsr_injection"}, head=head), "")
    assert session is not None
    assert session.metadata.title == "A leaking hull"
    assert (session.metadata.id, session.metadata.parent) == (HEAD["id"], ""), "a fork is a separate session"
    assert session.unknown == {}


def test_states_of_programs_made_from_pi_are_not_unknown(tmp_path: Path) -> None:
    prime = "service_tier_change session_state agent_status git_state"
    oh_my_pi = "archive credential_pin mcp_tool_selection mode_change reset_boundary session_init"
    session = read_session(write(tmp_path / NAME, *({"type": kind} for kind in f"{prime} {oh_my_pi}".split())), "")
    assert session is not None
    assert session.unknown == {}


def test_entries_added_by_oh_my_pi_are_read(tmp_path: Path) -> None:
    """A renamed session, a request outside the session, code that the user ran, and a file named with @."""
    counts = {"input": 10, "output": 5, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.25}}
    said: tuple[dict[str, Any], ...] = (
        {"role": "pythonExecution", "code": "print(seams)", "output": "None"},
        {"role": "fileMention", "files": [{"path": "hull.py", "content": "seams = None"}]},
        {"role": "developer", "content": "Be brief."},
    )
    lines = (
        {"type": "model_usage", "purpose": "title", "model": "tiny", "usage": counts},
        {"type": "title_change", "title": "Seams of the hull", "source": "user"},
        *({"type": "message", "message": message} for message in said),
    )
    session = read_session(write(tmp_path / NAME, *lines, head={**HEAD, "title": "A leak"}), "")
    assert session is not None
    assert [(part.role, part.kind, part.text, part.tool) for part in session.messages[2:]] == [
        ("user", "tool-call", "print(seams)", "python"),
        ("tool", "tool-result", "None", "python"),
        ("system", "tool-call", "hull.py", "read"),
        ("tool", "tool-result", "seams = None", "read"),
        ("system", "text", "Be brief.", ""),
    ]
    assert [use.value for part in session.messages for use in uses_of(part)] == ["hull.py"]
    assert (session.metadata.title, session.unknown) == ("Seams of the hull", {})
    assert session.metadata.usage == {"tiny": Usage(10, 5, 0, 0, cost=0.25)}


def test_session_in_its_starters_folder_is_a_sub_agents(tmp_path: Path) -> None:
    folder = tmp_path / ".omp/agent/sessions/-boats"
    write(folder / NAME)
    scout = write(folder / NAME.removesuffix(".jsonl") / "Scout.jsonl", head={**HEAD, "id": "c1"})
    below = write(scout.parent / "Scout" / "Reader.jsonl", head={**HEAD, "id": "d1"})
    for path, id_, parent in ((scout, "c1", HEAD["id"]), (below, "d1", "c1")):
        session = read_session(path, "")
        assert session is not None
        assert (session.metadata.id, session.metadata.parent) == (id_, parent)
        assert [message.author for message in session.messages] == ["assistant", "assistant"]


def test_usage_of_prime_agents_children_counts_in_their_sessions(tmp_path: Path) -> None:
    own = {"input": 328, "output": 291, "cacheRead": 4352, "cacheWrite": 0, "cost": {"total": 0.5}}
    usage = {"input": 262, "output": 10, "cacheRead": 6656, "cacheWrite": 0, "cost": {"total": 0.25}}
    answer = {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "Yes."}], "usage": own}
    attributed = {"type": "child_usage_attributed", "targetId": "a1", "childUsage": usage}
    session = read_session(write(tmp_path / NAME, {"type": "message", "id": "a1", "message": answer}, attributed), "")
    assert session is not None
    assert session.metadata.usage == {"m": Usage(328, 291, 4352, 0, cost=0.5)}
    assert session.unknown == {}
    started = {
        **HEAD,
        "id": "c1",
        "rlmDepth": 1,
        "parentSession": f"/home/ada/.prime/agent/sessions/{HEAD['id']}.jsonl",
    }
    child = read_session(
        write(tmp_path / "session-artifacts" / str(HEAD["id"]) / "sub-1" / "c1.jsonl", head=started), ""
    )
    assert child is not None
    assert (child.metadata.parent, child.messages[0].author) == (HEAD["id"], "assistant")


def test_summaries_tools_and_own_requests_count_as_in_pis_totals(tmp_path: Path) -> None:
    def counts(sent: int) -> dict[str, Any]:
        return {"input": sent, "output": 1, "cacheRead": 0, "cacheWrite": 0, "cost": {"total": 0.25}}

    answer = {"role": "assistant", "model": "m", "content": [{"type": "text", "text": "Yes."}], "usage": counts(1)}
    result = {"role": "toolResult", "toolName": "ask", "content": [{"type": "text", "text": "12"}], "usage": counts(10)}
    lines = (
        {"type": "message", "id": "a1", "message": answer},
        {"type": "message", "id": "a2", "message": result},
        {"type": "compaction", "id": "a3", "summary": "So far.", "usage": counts(100)},
        {"type": "usage", "id": "a4", "kind": "cache_warm", "provider": "p", "model": "n", "usage": counts(1000)},
        {"type": "branch_summary", "id": "a5", "fromId": "a1", "summary": "A detour.", "usage": counts(10_000)},
        {"type": "message", "id": "a6", "message": {**answer, "model": "alias", "responseModel": "n"}},
    )
    session = read_session(write(tmp_path / NAME, *lines), "")
    assert session is not None
    assert session.metadata.usage == {
        "m": Usage(111, 3, 0, 0, cost=0.75),
        "n": Usage(1001, 2, 0, 0, cost=0.5),
        "": Usage(10_000, 1, 0, 0, cost=0.25),
    }
    assert session.unknown == {}


def test_a_fork_repeats_the_requests_of_its_original(tmp_path: Path) -> None:
    answer = {"role": "assistant", "model": "m", "content": "Yes.", "usage": {"input": 1, "output": 2}}
    line = {"type": "message", "id": "a1", "timestamp": "2026-05-04T09:00:00.000Z", "message": answer}
    requests = []
    for name, more in (("a", {}), ("b", {"id": "a2"})):
        parser = OpenClawFormat("pi").parser(str(tmp_path / name))
        feed(parser, enumerate([line, {**line, **more}], 1))
        requests.append(parser.take_requests())
    assert requests[0][0] == requests[1][0]
    assert requests[0][1] != requests[1][1]


def test_sessions_are_found_and_resumed(tmp_path: Path) -> None:
    variables = {
        "PI_CODING_AGENT_DIR": str(tmp_path / "pi"),
        "OMP_CODING_AGENT_DIR": str(tmp_path / "omp"),
        "SENPI_CODING_AGENT_SESSION_DIR": str(tmp_path / "senpi"),
    }
    found: dict[str, list[str]] = {}
    for agent, _, path in session_folders(Machine(str(tmp_path), variables)):
        found.setdefault(agent, []).append(Path(path).relative_to(tmp_path).as_posix())
    assert found["pi"] == ["pi/sessions", ".pi/agent/sessions"]
    assert found["oh-my-pi"] == [
        *("omp/sessions", ".omp/agent/sessions", ".local/share/omp/sessions"),
        *(".omp/profiles", ".local/share/omp/profiles"),
    ]
    assert found["gajae-code"] == [".gjc/agent/sessions", ".local/share/gjc/sessions"]
    assert found["senpi"] == [".senpi/agent/sessions", "senpi", ".omo/agent/sessions", ".omo/sessions"]
    assert found["kimchi"] == [".config/kimchi/harness/sessions"]
    assert (agent_label("oh-my-pi"), resume_command("oh-my-pi", "x")) == ("Oh My Pi", "omp --resume x")
    assert resume_command("pi", "x") == "pi --session x"
