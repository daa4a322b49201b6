"""Every tool: arguments are validated against its schema, and answers satisfy its published schema."""

import json
import math
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from engine.agent.tool_definitions import agent_tools
from engine.agent.tool_interface import AgentTool, schema_errors
from engine.base.cancellation import CancelToken
from engine.base.errors import StoreError
from engine.records import LONGEST_QUERY
from engine.settings.agent_settings import FactsSettings, RememberSettings
from engine.text.operators import OPERATORS
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_sessions import SESSIONS, VALVE

NAMES = ("memory_search", "memory_get", "memory_recall", "memory_store", "memory_forget", "remember_session")

Tools = dict[str, AgentTool]


@pytest.fixture
def tools(access: Callable[..., Any], memory: FakeMemory) -> Tools:
    memory.session_texts = dict(SESSIONS)
    return {tool.name: tool for tool in agent_tools(access(remember=RememberSettings(tool=True)))}


def ask(tool: AgentTool, **arguments: Any) -> dict[str, Any]:
    """Return the payload of a call after validating it against the published schema."""
    payload: dict[str, Any] = json.loads(json.dumps(tool.answer(arguments, CancelToken())))
    published = tool.payload_schema()
    Draft202012Validator.check_schema(published)
    Draft202012Validator(published).validate(payload)
    assert payload.keys() <= published["properties"].keys()
    return payload


SENTENCES = [
    (
        "memory_search",
        {"query": "timer", "limit": 5},
        'memory_search has no argument "limit"; it takes query, maxResults and minScore.',
    ),
    ("memory_search", {}, 'memory_search needs the argument "query".'),
    ("memory_search", {"query": 5}, 'The argument "query" of memory_search must be text of at most 10,000 characters'),
    ("memory_search", {"query": "a", "maxResults": 500}, "must be a whole number from 1 to 100, not 500."),
    ("memory_search", {"query": "a", "maxResults": "5"}, "must be a whole number from 1 to 100, not text."),
    ("memory_search", {"query": "a", "maxResults": True}, "must be a whole number from 1 to 100, not true."),
    ("memory_search", {"query": "a", "maxResults": 2.5}, "must be a whole number from 1 to 100, not 2.5."),
    ("memory_search", {"query": "a", "maxResults": 10**5000}, "from 1 to 100, not a larger number."),
    ("memory_search", {"query": "a", "minScore": math.nan}, "must be a number from 0 to 1, not NaN."),
    ("memory_search", {"query": "a", "minScore": -math.inf}, "must be a number from 0 to 1, not a smaller number."),
    ("memory_search", {"query": "a", "minScore": None}, "must be a number from 0 to 1, not null."),
    ("memory_search", {"query": "x" * 200_000}, "must be text of at most 10,000 characters, not of 200,000."),
    ("memory_get", {"path": "a.md", "from": 0}, "must be a whole number of at least 1, not 0."),
    ("memory_get", {"path": ["a.md"]}, 'The argument "path" of memory_get must be text, not a list.'),
    ("memory_get", {"path": {}}, "must be text, not an object."),
    ("memory_recall", {"query": "x" * 200_000}, "must be text of at most 10,000 characters, not of 200,000."),
    ("memory_store", {"text": "Tea.", "category": "drink"}, 'fact or other, not "drink".'),
    ("remember_session", {"session": False}, "must be text, not false."),
]


@pytest.mark.parametrize(("name", "arguments", "sentence"), SENTENCES)
def test_error_names_invalid_argument(tools: Tools, name: str, arguments: dict[str, Any], sentence: str) -> None:
    error = ask(tools[name], **arguments)["error"]
    assert sentence in error
    assert error.count(". ") == 0  # one sentence per fault


def test_search_describes_every_operator(tools: Tools) -> None:
    described = tools["memory_search"].parameters["properties"]["query"]["description"]
    assert all(f"{name}:" in described for name in OPERATORS)
    assert "OR" in described


def test_many_faults_give_a_short_message(tools: Tools) -> None:
    wrong = {f"{number}" * 1000: 1 for number in range(500)}
    assert len(ask(tools["memory_search"], **wrong)["error"]) < 1000


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-2, 120)
    | st.floats(allow_nan=False)
    | st.sampled_from([0.0, 1.0, 2.0, 100.0, 1e300, "preference", "x" * LONGEST_QUERY, "x" * (LONGEST_QUERY + 1)])
    | st.text(max_size=20)
    | st.lists(st.integers(), max_size=2)
    | st.dictionaries(st.text(max_size=3), st.integers(), max_size=2)
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_argument_checks_agree_with_jsonschema(tools: Tools, data: st.DataObject, name: str) -> None:
    schema = tools[name].parameters
    keys = st.sampled_from([*schema["properties"], "other", ""])
    arguments = data.draw(st.dictionaries(keys, VALUES, max_size=4))
    assert (not schema_errors(name, schema, arguments)) == Draft202012Validator(schema).is_valid(arguments)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), name=st.sampled_from(NAMES))
def test_any_arguments_give_a_valid_payload(tools: Tools, data: st.DataObject, name: str) -> None:
    keys = st.sampled_from([*tools[name].parameters["properties"], "other"])
    ask(tools[name], **data.draw(st.dictionaries(keys, VALUES | st.floats(), max_size=4)))


def test_answers_satisfy_their_schema(tools: Tools, memory: FakeMemory) -> None:
    assert ask(tools["memory_search"], query="irrigation timer", maxResults=2.0)["results"]
    assert ask(tools["memory_search"], query="zebra")["results"] == []
    assert ask(tools["memory_search"], query="  ")["error"]
    assert ask(tools["memory_get"], path="daily/2026-02-08.md")["lines"]
    assert ask(tools["memory_get"], path="daily/2026-02-08.md", **{"from": 900})["totalLines"]
    assert ask(tools["memory_get"], path="nowhere.md")["disabled"]
    created = ask(tools["memory_store"], text="I prefer green tea.")
    assert ask(tools["memory_store"], text="I prefer green tea.")["action"] == "duplicate"
    assert ask(tools["memory_recall"], query="green tea", limit=1.0)["count"] == 1
    assert ask(tools["memory_recall"], query="zebra")["memories"] == []
    assert ask(tools["memory_forget"], query="zebra")["found"] == 0
    assert ask(tools["memory_forget"], query="tea")["action"] == "candidates"
    assert ask(tools["memory_forget"])["error"] == "missing_param"
    assert ask(tools["memory_forget"], memoryId=created["id"])["action"] == "deleted"
    assert ask(tools["remember_session"], session=VALVE)["written"] is True
    assert ask(tools["remember_session"], session="none")["error"]


def test_failures_satisfy_their_schema(tools: Tools, memory: FakeMemory, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise StoreError("No room left on the disk.")

    for method in ("search", "read_file", "sessions", "sync"):
        monkeypatch.setattr(memory, method, fail)
    monkeypatch.setattr(memory.facts, "find", fail)
    monkeypatch.setattr(memory.facts, "add", fail)
    given = {"memory_get": {"path": "daily/2026-02-08.md"}, "memory_store": {"text": "Tea."}, "remember_session": {}}
    for name, tool in tools.items():
        assert ask(tool, **given.get(name, {"query": "tea"}))["error"] == "No room left on the disk."


def test_tools_switched_off_satisfy_their_schema(
    tools: Tools, access: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("memory_store", "memory_forget"):
        way = access(facts=FactsSettings(agent_writes="on"))
        tool = next(tool for tool in agent_tools(way) if tool.name == name)
        way._settings = access(facts=FactsSettings(agent_writes="off")).settings
        payload = ask(tool, **({"text": "Tea."} if name == "memory_store" else {"query": "tea"}))
        assert payload["disabled"] is True
