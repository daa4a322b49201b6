"""Sessions of Cline since summer 2026: `~/.cline/data/sessions/<id>/<id>.messages.json`, and `<id>.json` about them.

Written from Cline's public source and test data of April to August 2026
(`sdk/packages/core/src/services/session-data.ts` and `session/models/session-manifest.ts`,
`sdk/packages/shared/src/llms/messages.ts`): one object with `messages` of the user and the agent; contents are a text
or blocks, and tool results come in the user's messages. The user's own text is in `<user_input>`. A sub-agent's
messages are in the folder of the session that started it. The manifest has folder, times and, in `metadata`, the title.
"""

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument
from engine.corpus.transcripts.formats import OBJECT, Conversation, Part
from engine.corpus.transcripts.json_values import items, mapping, member, seconds, string
from engine.corpus.transcripts.messages import Message, Role, SessionMetadata, clean
from engine.corpus.transcripts.model_api_messages import BlockParser, sidecar
from engine.corpus.transcripts.token_usage import Usage, counted

_TYPED = re.compile(r"<(user_input|user_command)\b([^<>]*)>")
_SLASH = re.compile(r'slash="([^"]*)"')
_NAME_END = ".messages.json"


class _Parser(BlockParser, kw_only=True):
    def message(self, value: Mapping[str, Any]) -> list[Message]:
        kind = value.get("role")
        if kind not in ("user", "assistant"):
            self.count_unknown(f"role {kind}" if isinstance(kind, str) else None)
            return []
        self.use(member(value, "modelInfo", "id"), _usage(mapping(value, "metrics")))
        parts = self.blocks(value.get("content"), "assistant" if kind == "assistant" else "user")
        return self.next_message(parts, id=string(value, "id"), time=seconds(value.get("ts")))

    def text(self, text: str, role: Role) -> Iterator[Part]:
        return _typed(text) if role == "user" else super().text(text, role)


def _usage(counts: Mapping[str, Any]) -> Usage:
    """Return the usage of one answer; the recorded input includes the cached tokens."""
    names = "inputTokens outputTokens cacheReadTokens cacheWriteTokens"
    return counted(counts, names, cost="cost", with_cached=True)


def _typed(text: str) -> Iterator[Part]:
    """Yield the text that the user typed, and separately the text that Cline inserted around it."""
    mark = _TYPED.search(text)
    if mark is None:
        yield Part("user", "text", text)
        return
    closing = f"</{mark[1]}>"
    end = text.find(closing, mark.end())
    typed, after = (text[mark.end() : end], text[end + len(closing) :]) if end >= 0 else (text[mark.end() :], "")
    command = _SLASH.search(mark[2])
    yield Part("user", "text", f"/{command[1].lstrip('/')} {typed}" if command else typed)
    yield Part("system", "text", f"{text[: mark.start()].strip()}\n{after.strip()}".strip())


class ClineSession(SessionDocument):
    agent = "cline"
    opening = re.compile(OBJECT.pattern + rb'(?=.*?"agent"\s*:\s*"(?:lead|subagent|teammate)")', re.DOTALL)
    members = "sessionId"

    def matches(self, path: str, head: bytes) -> bool:
        return path.endswith(_NAME_END) and super().matches(path, head)

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        parser = _Parser(metadata=_metadata(path, value))
        messages = [message for entry in items(value, "messages") for message in parser.message(mapping(entry))]
        return parser.conversation("", messages)


def _metadata(path: str, value: Mapping[str, Any]) -> SessionMetadata:
    name = os.path.basename(path).partition(".")[0]
    manifest = _manifest(path)
    above = os.path.basename(os.path.dirname(path)) if value.get("agent") != "lead" else ""
    return SessionMetadata.of(
        string(value, "sessionId") or name,
        title=member(manifest, "metadata", "title"),
        project=string(manifest, "cwd") or string(manifest, "workspace_root"),
        parent=clean(above) if above != name else "",
        started=manifest.get("started_at"),
        ended=manifest.get("ended_at"),
    )


def _manifest(path: str) -> Mapping[str, Any]:
    """Return the session's manifest; for a sub-agent, the manifest of the parent session without its title."""
    own, folder = f"{path.removesuffix(_NAME_END)}.json", os.path.dirname(path)
    for described in dict.fromkeys((own, os.path.join(folder, f"{os.path.basename(folder)}.json"))):
        if manifest := sidecar(described):
            return manifest if described == own else {"cwd": manifest.get("cwd")}
    return {}
