"""Tokens and cost, as the transcripts of each agent record them."""

import json
from pathlib import Path
from typing import Any

import msgspec
import pytest

from engine.corpus.transcripts.formats import DatabaseFormat, LineFormat
from engine.corpus.transcripts.messages import SessionMetadata
from engine.corpus.transcripts.parsers.aider import AiderHistory
from engine.corpus.transcripts.parsers.claude_code import ClaudeCodeFormat
from engine.corpus.transcripts.parsers.cline import ClineTask
from engine.corpus.transcripts.parsers.cline_session import ClineSession
from engine.corpus.transcripts.parsers.codex import CodexFormat
from engine.corpus.transcripts.parsers.copilot_chat import CopilotChatDocument
from engine.corpus.transcripts.parsers.copilot_cli import CopilotFormat
from engine.corpus.transcripts.parsers.crush import CRUSH_DATABASE
from engine.corpus.transcripts.parsers.droid import DroidFormat
from engine.corpus.transcripts.parsers.gemini import GeminiLines
from engine.corpus.transcripts.parsers.goose import GOOSE_DATABASE
from engine.corpus.transcripts.parsers.gptme import GptmeFormat
from engine.corpus.transcripts.parsers.hermes import HERMES_DATABASE
from engine.corpus.transcripts.parsers.kimi import KimiWire
from engine.corpus.transcripts.parsers.openclaw import OpenClawFormat
from engine.corpus.transcripts.parsers.opencode import OpencodeReader
from engine.corpus.transcripts.parsers.openhands import OpenHandsConversation
from engine.corpus.transcripts.parsers.qwen import QwenFormat
from engine.corpus.transcripts.parsers.vibe import VibeFormat
from engine.corpus.transcripts.token_usage import Usage, counted
from engine.corpus.transcripts.transcript_reader import conversations
from tests.helpers import session_rows
from tests.helpers.session_rows import read_rows, write_rows
from tests.helpers.transcripts import feed


def usage_of(format: LineFormat, *values: dict[str, Any]) -> dict[str, Usage]:
    parser = format.parser("s.jsonl")
    feed(parser, enumerate(values, 1))
    return parser.metadata.usage


def recorded(format: DatabaseFormat, path: Path, key: str = "s") -> dict[str, Usage]:
    """Return the usage of one session of a database."""
    found = read_rows(format, path, key)
    assert found is not None
    return found.metadata.usage


def answered(id: str, output: int, *, model: str = "claude-opus-4-5", **usage: Any) -> dict[str, Any]:
    """Return a line of Claude Code with one block of an answer."""
    counts = {"input_tokens": 3, "output_tokens": output, "cache_read_input_tokens": 1000, **usage}
    message = {"id": id, "model": model, "content": [{"type": "text", "text": "Yes."}], "usage": counts}
    return {"type": "assistant", "uuid": f"{id}-{output}", "sessionId": "s", "message": message}


def test_claude_code_repeated_message_counts_once() -> None:
    lines = (answered("m1", 1), answered("m1", 40), answered("m2", 5), answered("m1", 40), answered("m2", 60))
    assert usage_of(ClaudeCodeFormat(), *lines) == {"claude-opus-4-5": Usage(6, 100, 2000)}


def test_claude_code_models_are_counted_apart() -> None:
    written = {"cache_creation_input_tokens": 50, "cache_creation": {"ephemeral_1h_input_tokens": 20}}
    lines = (answered("m1", 10), answered("m2", 20, model="claude-haiku-4-5", **written))
    assert usage_of(ClaudeCodeFormat(), *lines) == {
        "claude-opus-4-5": Usage(3, 10, 1000),
        "claude-haiku-4-5": Usage(3, 20, 1000, 50, 20),
    }


def result(**totals: Any) -> dict[str, Any]:
    """Return the last line of a turn in the SDK's stream."""
    return {"type": "result", "subtype": "success", "session_id": "s", "duration_ms": 5100, **totals}


def model_total(sent: int, received: int, cost: float) -> dict[str, Any]:
    counts = {"inputTokens": sent, "outputTokens": received, "cacheReadInputTokens": 1000}
    return {**counts, "cacheCreationInputTokens": 50, "webSearchRequests": 0, "costUSD": cost}


def test_totals_of_the_stream_replace_the_sum_of_its_messages() -> None:
    first = result(total_cost_usd=0.2, modelUsage={"claude-opus-4-5": model_total(9, 90, 0.2)})
    models = {"claude-opus-4-5": model_total(12, 150, 0.3), "claude-haiku-4-5": model_total(4, 40, 0.01)}
    last = result(total_cost_usd=0.31, modelUsage=models, usage={"input_tokens": 1, "output_tokens": 2})
    assert usage_of(ClaudeCodeFormat(), answered("m1", 1), first, answered("m2", 5), last) == {
        "claude-opus-4-5": Usage(12, 150, 1000, 50, cost=0.3),
        "claude-haiku-4-5": Usage(4, 40, 1000, 50, cost=0.01),
    }
    assert usage_of(ClaudeCodeFormat(), answered("m1", 1), first, answered("m2", 5)) == {
        "claude-opus-4-5": Usage(12, 95, 2000, 50, cost=0.2)
    }, "the turn has no result yet"


def test_stream_of_first_versions_has_one_total() -> None:
    total = result(total_cost_usd=0.2, usage={"input_tokens": 7, "output_tokens": 70})
    assert usage_of(ClaudeCodeFormat(), answered("m1", 1), total) == {"claude-opus-4-5": Usage(7, 70, cost=0.2)}
    both = answered("m1", 1), answered("m2", 1, model="claude-haiku-4-5")
    assert usage_of(ClaudeCodeFormat(), *both, total) == {"": Usage(7, 70, cost=0.2)}


@pytest.mark.parametrize("odd", [{}, {"usage": 3, "modelUsage": ["x"]}, {"modelUsage": {"m": None}, "usage": {}}])
def test_result_without_totals_changes_nothing(odd: dict[str, Any]) -> None:
    assert usage_of(ClaudeCodeFormat(), answered("m1", 1), result(**odd)) == {"claude-opus-4-5": Usage(3, 1, 1000)}


def test_made_up_answers_have_no_usage() -> None:
    nothing = answered("m1", 0, model="<synthetic>", input_tokens=0, cache_read_input_tokens=0)
    assert usage_of(ClaudeCodeFormat(), nothing) == {}


def tokens_counted(sent: int, cached: int, received: int) -> dict[str, Any]:
    total = {"input_tokens": sent, "cached_input_tokens": cached, "output_tokens": received}
    return {"type": "event_msg", "payload": {"type": "token_count", "info": {"total_token_usage": total}}}


def test_codex_running_totals_are_not_added_up() -> None:
    model = {"type": "turn_context", "payload": {"model": "gpt-5.2-codex"}}
    other = {"type": "turn_context", "payload": {"model": "gpt-5.2"}}
    lines = (model, tokens_counted(100, 60, 9), tokens_counted(100, 60, 9), other, tokens_counted(300, 200, 20))
    assert usage_of(CodexFormat(), *lines) == {"gpt-5.2-codex": Usage(40, 9, 60), "gpt-5.2": Usage(60, 11, 140)}


def test_codex_prompt_includes_written_cache() -> None:
    line = tokens_counted(100, 60, 9)
    line["payload"]["info"]["total_token_usage"]["cache_write_input_tokens"] = 15
    assert usage_of(CodexFormat(), line) == {"": Usage(25, 9, 60, 15)}


def test_codex_limits_without_totals_have_no_usage() -> None:
    limits = {"type": "event_msg", "payload": {"type": "token_count", "info": None, "rate_limits": {}}}
    assert usage_of(CodexFormat(), limits) == {}


def test_gemini_message_that_is_written_again_counts_once() -> None:
    counts = {"input": 100, "output": 7, "cached": 80, "thoughts": 3, "tool": 5, "total": 115}
    line = {"id": "a", "type": "gemini", "content": "Yes.", "model": "gemini-2.5-pro", "tokens": counts}
    assert usage_of(GeminiLines(), line, line) == {"gemini-2.5-pro": Usage(25, 10, 80)}


def test_qwen_prompt_includes_the_cache() -> None:
    counts = {"promptTokenCount": 100, "cachedContentTokenCount": 90, "candidatesTokenCount": 4}
    line = {
        "type": "assistant",
        "uuid": "u",
        "sessionId": "s",
        "model": "qwen3-coder-plus",
        "message": {"role": "model", "parts": [{"text": "Yes."}]},
        "usageMetadata": counts,
    }
    assert usage_of(QwenFormat(), line) == {"qwen3-coder-plus": Usage(10, 4, 90)}
    thought = {**line, "usageMetadata": {**counts, "thoughtsTokenCount": 3, "totalTokenCount": 107}}
    assert usage_of(QwenFormat(), thought) == {"qwen3-coder-plus": Usage(10, 7, 90)}
    within = {**line, "usageMetadata": {**counts, "thoughtsTokenCount": 3, "totalTokenCount": 104}}
    assert usage_of(QwenFormat(), within) == {"qwen3-coder-plus": Usage(10, 4, 90)}, "thoughts are candidates, too"


def test_opencode_free_answers_have_unknown_cost() -> None:
    reader = OpencodeReader(metadata=SessionMetadata(agent="opencode"))
    tokens = {"input": 10, "output": 4, "reasoning": 2, "cache": {"read": 7, "write": 0}}
    answer = {"role": "assistant", "modelID": "glm-5", "tokens": tokens, "cost": 0}
    reader.message("m1", answer, [{"type": "text", "text": "Yes."}])
    assert reader.metadata.usage == {"glm-5": Usage(10, 6, 7, 0)}
    reader.message("m2", {**answer, "cost": 0.25}, [])
    assert reader.metadata.usage == {"glm-5": Usage(20, 12, 14, 0, cost=0.25)}


def test_copilot_cli_counts_at_the_end_of_each_run() -> None:
    counts = {"inputTokens": 98_534, "outputTokens": 1426, "cacheReadTokens": 56_564, "cacheWriteTokens": 1000}
    end = {"type": "session.shutdown", "data": {"modelMetrics": {"claude-sonnet-4.5": {"usage": counts}}}}
    assert usage_of(CopilotFormat(), end) == {"claude-sonnet-4.5": Usage(40_970, 1426, 56_564, 1000)}


def test_pi_and_openclaw_record_tokens_and_cost() -> None:
    counts = {"input": 5, "output": 6, "cacheRead": 7, "cacheWrite": 8, "cost": {"total": 0.5}}
    message = {"role": "assistant", "model": "gpt-5.2", "content": "Yes.", "usage": counts}
    line = {"type": "message", "id": "a", "message": message}
    assert usage_of(OpenClawFormat(), line, line) == {"gpt-5.2": Usage(10, 12, 14, 16, cost=1.0)}


def test_kimi_has_tokens_without_a_model() -> None:
    counts = {"input_other": 1, "output": 2, "input_cache_read": 3, "input_cache_creation": 4}
    line = {"message": {"type": "StatusUpdate", "payload": {"token_usage": counts}}}
    assert usage_of(KimiWire(), line, line) == {"": Usage(2, 4, 6, 8)}


def test_cline_requests_are_added_up(tmp_path: Path) -> None:
    counts = {"request": "…", "tokensIn": 10, "tokensOut": 2, "cacheReads": 100, "cacheWrites": 5, "cost": 0.02}
    request = {"ts": 2, "type": "say", "say": "api_req_started", "text": json.dumps(counts)}
    task = {"ts": 1, "type": "say", "say": "task", "text": "Fix the sail."}
    unfinished = {"ts": 3, "type": "say", "say": "api_req_started", "text": '{"request": "…"}'}
    model = {"modelInfo": {"modelId": "claude-sonnet-4-5"}}
    path = tmp_path / "ui_messages.json"
    path.write_text(json.dumps([task, request, {**request, **model}, unfinished]))
    (found,) = ClineTask("cline").conversations(str(path))
    one = Usage(10, 2, 100, 5, cost=0.02)
    assert found.metadata.usage == {"": one, "claude-sonnet-4-5": one}


def test_goose_has_totals_of_the_session(tmp_path: Path) -> None:
    schema = f"""{session_rows.GOOSE} ALTER TABLE sessions ADD COLUMN model_config_json TEXT;
        ALTER TABLE sessions ADD COLUMN accumulated_input_tokens INTEGER;
        ALTER TABLE sessions ADD COLUMN accumulated_output_tokens INTEGER;"""
    cached = "".join(
        f"ALTER TABLE sessions ADD COLUMN {name} INTEGER;"
        for name in ("accumulated_cache_read_tokens", "accumulated_cache_write_tokens")
    )
    totals = {"accumulated_input_tokens": 900, "accumulated_output_tokens": 20}
    row = {"id": "s", "working_dir": "/w", "model_config_json": '{"model_name": "gpt-5"}', **totals}
    write_rows(tmp_path / "sessions.db", schema, [("sessions", row), ("sessions", {"id": "t", "working_dir": "/w"})])
    assert recorded(GOOSE_DATABASE, tmp_path / "sessions.db") == {"gpt-5": Usage(900, 20)}
    assert recorded(GOOSE_DATABASE, tmp_path / "sessions.db", "t") == {}
    more = {"accumulated_cache_read_tokens": 700, "accumulated_cache_write_tokens": 50}
    write_rows(tmp_path / "newer.db", schema + cached, [("sessions", {**row, **more})])
    assert recorded(GOOSE_DATABASE, tmp_path / "newer.db") == {"gpt-5": Usage(150, 20, 700, 50)}


def test_crush_sessions_record_only_their_own_cost(tmp_path: Path) -> None:
    schema = f"{session_rows.CRUSH} ALTER TABLE sessions ADD COLUMN cost REAL NOT NULL DEFAULT 0.0;"
    row = {"id": "s", "title": "Sail", "updated_at": 2, "created_at": 1, "cost": 0.75}
    others = [{**row, "id": f"t{number}", "parent_session_id": "s", "cost": 0.1} for number in range(3)]
    alone = {**row, "id": "u", "cost": 0.1, "parent_session_id": "t1"}
    write_rows(tmp_path / "crush.db", schema, [("sessions", row) for row in (row, *others, alone)])
    read = {key: recorded(CRUSH_DATABASE, tmp_path / "crush.db", key) for key in ("s", "t0", "t1", "u")}
    assert read == {"s": {"": Usage(cost=0.45)}, "t0": {"": Usage(cost=0.1)}, "t1": {}, "u": {"": Usage(cost=0.1)}}


def test_hermes_usage_is_by_model_or_of_the_session(tmp_path: Path) -> None:
    names = ("input_tokens", "output_tokens", "reasoning_tokens", "cache_read_tokens", "estimated_cost_usd")
    schema = session_rows.HERMES + "".join(f"ALTER TABLE sessions ADD COLUMN {name} REAL;" for name in names)
    row = {
        "id": "s",
        "source": "cli",
        "model": "m",
        "started_at": 1.0,
        **dict(zip(names, (9, 8, 1, 5, 0.1), strict=True)),
    }
    write_rows(tmp_path / "state.db", schema, [("sessions", row)])
    assert recorded(HERMES_DATABASE, tmp_path / "state.db") == {"m": Usage(9, 8, 5, cost=0.1)}
    table = "CREATE TABLE session_model_usage (session_id TEXT, model TEXT, task TEXT, {} REAL);"
    used = {"session_id": "s", "model": "m", "input_tokens": 6, "output_tokens": 5}
    rows = [used, {**used, "model": "small", "task": "compression"}, {**used, "task": "title"}]
    by_model = [("session_model_usage", values) for values in rows]
    sessions = [("sessions", row), ("sessions", {**row, "id": "t"})]
    write_rows(tmp_path / "newer.db", schema + table.format(" REAL, ".join(names)), sessions + by_model)
    read = {key: recorded(HERMES_DATABASE, tmp_path / "newer.db", key) for key in ("s", "t")}
    assert read == {"s": {"m": Usage(12, 10), "small": Usage(6, 5)}, "t": {"m": Usage(9, 8, 5, cost=0.1)}}


@pytest.mark.parametrize("value", [None, "12", True, -1, float("nan"), 1e300, {}, []])
def test_invalid_token_counts_are_unknown(value: object) -> None:
    line = answered("m1", 7, input_tokens=value)
    assert usage_of(ClaudeCodeFormat(), line) == {"claude-opus-4-5": Usage(None, 7, 1000)}


def test_models_beyond_the_limit_are_counted_together() -> None:
    lines = [answered(f"m{number}", 1, model=f"model-{number}") for number in range(100)]
    usage = usage_of(ClaudeCodeFormat(), *lines)
    assert len(usage) < 40
    assert sum(one.output or 0 for one in usage.values()) == 100


def test_usage_survives_a_stored_state() -> None:
    parser = ClaudeCodeFormat().parser("s.jsonl")
    feed(parser, [(1, answered("m1", 1))])
    resumed = ClaudeCodeFormat().resume(msgspec.json.encode(parser))
    feed(resumed, [(2, answered("m1", 40)), (3, answered("m2", 2))])
    assert resumed.metadata.usage == {"claude-opus-4-5": Usage(6, 42, 2000)}


def test_cline_session_has_the_usage_of_each_answer(tmp_path: Path) -> None:
    counts = {"inputTokens": 1000, "outputTokens": 20, "cacheReadTokens": 700, "cacheWriteTokens": 100, "cost": 0.5}
    answer = {"role": "assistant", "content": "Yes.", "modelInfo": {"id": "claude-sonnet-4-5"}, "metrics": counts}
    question = {"role": "user", "content": "Is it dry?"}
    document = {
        "sessionId": "s",
        "origin": "cli",
        "agent": "lead",
        "messages": [question, answer, answer, {**question, "metrics": {}}],
    }
    path = tmp_path / "s.messages.json"
    path.write_text(json.dumps(document))
    (found,) = ClineSession().conversations(str(path))
    assert found.metadata.usage == {"claude-sonnet-4-5": Usage(400, 40, 1400, 200, cost=1.0)}


def test_gptme_metadata_has_the_usage_of_an_answer() -> None:
    answer = {"role": "assistant", "content": "Yes.", "timestamp": "2026-05-01T10:00:00"}
    counts = {"input_tokens": 100, "output_tokens": 5, "cache_read_tokens": 80, "cache_creation_tokens": 10}
    lines = (
        {**answer, "metadata": {"model": "m", "cost": 0.5, "usage": counts}},
        {**answer, "metadata": {"model": "m", "cost": 0.25, **counts}},
        {**answer, "metadata": {"model": "m"}},
        answer,
    )
    assert usage_of(GptmeFormat(), *lines) == {"m": Usage(200, 10, 160, 20, cost=0.75)}


def test_openhands_state_has_the_sums_of_each_model(tmp_path: Path) -> None:
    counts = {"prompt_tokens": 900, "completion_tokens": 30, "cache_read_tokens": 600, "cache_write_tokens": 100}
    other = {"prompt_tokens": 50, "completion_tokens": 5, "cache_read_tokens": 600, "cache_write_tokens": 0}
    metrics = {
        "agent": {"model_name": "m", "accumulated_cost": 0.5, "accumulated_token_usage": counts},
        "helper": {"model_name": "n", "accumulated_cost": 0.0, "accumulated_token_usage": other},
        "idle": {"model_name": "o", "accumulated_cost": 0.0, "accumulated_token_usage": None},
    }
    (tmp_path / "events").mkdir()
    (tmp_path / "base_state.json").write_text(json.dumps({"id": "s", "stats": {"usage_to_metrics": metrics}}))
    (found,) = OpenHandsConversation().conversations(str(tmp_path / "base_state.json"))
    assert found.metadata.usage == {"m": Usage(200, 30, 600, 100, cost=0.5), "n": Usage(50, 5, 600, 0)}


def test_openhands_events_have_sums_so_far(tmp_path: Path) -> None:
    (tmp_path / "events").mkdir()
    for number, (sent, cost) in enumerate([(10, 0.1), (30, 0.3), (0, 0.0)]):
        sums = {"accumulated_cost": cost, "accumulated_token_usage": {"prompt_tokens": sent, "completion_tokens": 1}}
        event = {
            "id": number,
            "source": "agent",
            "action": "think",
            "args": {},
            **({"llm_metrics": sums} if sent else {}),
        }
        (tmp_path / f"events/{number}.json").write_text(json.dumps(event))
    (found,) = OpenHandsConversation().conversations(str(tmp_path / "events/0.json"))
    assert found.metadata.usage == {"": Usage(30, 1, cost=0.3)}


def test_copilot_chat_has_the_usage_of_each_answer(tmp_path: Path) -> None:
    counts = {"promptTokens": 900, "outputTokens": 30, "resolvedModel": "claude-opus-4-8"}
    requests = [
        {"message": {"text": "Why?"}, "response": [], "modelId": "copilot/x", "result": {"metadata": counts}},
        {
            "message": {"text": "Why?"},
            "response": [],
            "modelId": "copilot/x",
            "result": {"metadata": {"outputTokens": 2}},
        },
        {"message": {"text": "Why?"}, "response": [], "modelId": "copilot/x", "result": {}},
    ]
    path = tmp_path / "s.json"
    path.write_text(json.dumps({"sessionId": "s", "creationDate": 1, "requests": requests}))
    (found,) = CopilotChatDocument().conversations(str(path))
    assert found.metadata.usage == {"claude-opus-4-8": Usage(900, 30), "x": Usage(None, 2)}


def test_vibe_and_droid_have_sums_next_to_the_transcript(tmp_path: Path) -> None:
    stats = {"session_prompt_tokens": 900, "session_completion_tokens": 30, "session_cached_tokens": 600}
    meta = {"config": {"active_model": "devstral-2"}, "stats": stats}
    (tmp_path / "meta.json").write_text(json.dumps(meta))
    assert VibeFormat().parser(str(tmp_path / "messages.jsonl")).metadata.usage == {"devstral-2": Usage(300, 30, 600)}
    (tmp_path / "meta.json").write_text(json.dumps({**meta, "stats": {**stats, "session_cached_tokens": None}}))
    assert VibeFormat().parser(str(tmp_path / "messages.jsonl")).metadata.usage == {"devstral-2": Usage(900, 30)}
    counts = {"inputTokens": 9, "outputTokens": 8, "thinkingTokens": 2, "cacheReadTokens": 70, "cacheCreationTokens": 6}
    settings = {"model": "custom:Claude-Opus-4.5-Thinking-[Anthropic]-0", "tokenUsage": counts}
    (tmp_path / "s.settings.json").write_text(json.dumps(settings))
    assert DroidFormat().parser(str(tmp_path / "s.jsonl")).metadata.usage == {
        "claude-opus-4.5-thinking": Usage(9, 10, 70, 6)
    }
    assert DroidFormat().parser(str(tmp_path / "other.jsonl")).metadata.usage == {}


def test_aider_reports_tokens_after_an_answer(tmp_path: Path) -> None:
    path = tmp_path / ".aider.chat.history.md"
    path.write_text(
        "# aider chat started at 2026-05-01 10:00:00\n\n> Main model: gpt-5 with diff edit format  \n"
        "#### Is it dry?  \n\nYes.\n\n> Tokens: 12k sent, 950 received. Cost: $0.02 message, $0.02 session.  \n\n"
        "#### And now?  \n\nNo. Tokens: 99k sent, 9 received.\n\n"
        "> Tokens: 3.4k sent, 1.0k cache write, 2.0k cache hit, 50 received.\n"
        "> Cost: $0.0034 message, $0.03 session.  \n\n"
        "# aider chat started at 2026-05-02 10:00:00\n\n#### Dry?\n\nYes.\n\n> Tokens: 2 sent, 1 received.\n"
        "> Tokens: 1.2.3k sent, 1 received.\n> Tokens: . sent, . received.\n> Tokens: 9k sent\n"
    )
    first, second = AiderHistory().conversations(str(path))
    assert first.metadata.usage == {"gpt-5": Usage(12_400, 1000, 2000, 1000, cost=pytest.approx(0.0234))}
    assert second.metadata.usage == {"": Usage(2, 2)}


FIXTURES = Path(__file__).parent / "fixtures"
ONLY_NAMED = {
    "chatgpt/conversations.json": "gpt-5",
    "codebuddy/0c1d2e3f-0000-4000-8000-00000000000b.jsonl": "hy-3",
    "codex/rollout-2026-03-09T11-00-00-019b1f00-1111-7222-8333-444455556666.jsonl": "gpt-5",
    "deepseek/conversations.json": "deepseek-chat",
    "grok/chat_history.jsonl": "grok-4.5",
    "grok_web/prod-grok-backend.json": "grok-4",
    "zencoder/0c1d2e3f-0000-4000-8000-00000000000c.jsonl": "opus",
}


@pytest.mark.parametrize(("name", "model"), ONLY_NAMED.items())
def test_model_without_tokens_is_recorded_by_its_name(name: str, model: str) -> None:
    first = next(conversations(FIXTURES / name))
    assert first.metadata.usage == {model: Usage()}


@pytest.mark.parametrize("model", ["", "auto", "default", "<synthetic>", None, 7])
def test_choices_and_other_values_are_no_models(model: object) -> None:
    parser = ClaudeCodeFormat().parser("s.jsonl")
    parser.use_model(model)
    parser.use(model, Usage(0, 0))
    assert parser.metadata.usage == {}


def test_zero_tokens_are_unknown_and_later_ones_count() -> None:
    zero = answered("m1", 0, input_tokens=0, cache_read_input_tokens=0)
    assert usage_of(ClaudeCodeFormat(), zero) == {"claude-opus-4-5": Usage()}
    assert usage_of(ClaudeCodeFormat(), zero, answered("m1", 4)) == {"claude-opus-4-5": Usage(3, 4, 1000)}


def test_crush_cost_belongs_to_the_only_model(tmp_path: Path) -> None:
    schema = session_rows.CRUSH + "ALTER TABLE sessions ADD COLUMN cost REAL NOT NULL DEFAULT 0.0;"
    parts = json.dumps([{"type": "text", "data": {"text": "Yes."}}])
    message = {"session_id": "s", "role": "assistant", "parts": parts, "created_at": 1, "updated_at": 1}
    times = {"updated_at": 1, "created_at": 1}
    rows = (
        ("sessions", {"id": "s", "title": "T", "cost": 0.5, **times}),
        ("sessions", {"id": "t", "title": "T", "cost": 0.5, **times}),
        ("messages", {"id": "a", "model": "m", **message}),
        ("messages", {"id": "b", "model": "m", **message, "session_id": "t"}),
        ("messages", {"id": "c", "model": "n", **message, "session_id": "t"}),
    )
    write_rows(tmp_path / "crush.db", schema, rows)
    assert recorded(CRUSH_DATABASE, tmp_path / "crush.db") == {"m": Usage(cost=0.5)}
    assert recorded(CRUSH_DATABASE, tmp_path / "crush.db", "t") == {"m": Usage(), "n": Usage(), "": Usage(cost=0.5)}


def test_counted_members_may_be_nested_sums_or_missing() -> None:
    names = "sent received+thought cached.read"
    assert counted({"sent": 9, "received": 2, "thought": 3, "cached": {"read": 4}}, names) == Usage(9, 5, 4)
    assert counted({"sent": 9, "received": 2, "cached": {"read": 4}}, names, with_cached=True) == Usage(5, 2, 4)
    assert counted({"sent": True, "thought": 3, "cached": 1, "cost": 0.5}, names, cost="cost") == Usage(cost=0.5)
    assert counted([9], names) == counted({}, names) == Usage()
