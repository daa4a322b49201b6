"""QwenPaw: `~/.qwenpaw/workspaces/<workspace>/sessions/<user>_<session>.json`, perhaps in a folder for the channel.

Written from agentsview's reader (August 2026): `agent.memory.content` is an array of pairs, a message and its marks. A
message has role, blocks and the local time; tool results are in messages of the role `system`. Until 2026 the
program was CoPaw, in `~/.copaw`. Tokens are not recorded.
"""

import os
import re
from collections.abc import Mapping
from typing import Any

from engine.base.cancellation import CancelToken
from engine.corpus.transcripts.export_reader import SessionDocument
from engine.corpus.transcripts.formats import Conversation
from engine.corpus.transcripts.json_values import content, items, local_time, mapping, string
from engine.corpus.transcripts.messages import Message, SessionMetadata
from engine.corpus.transcripts.model_api_messages import ROLES, BlockParser


class _Parser(BlockParser, kw_only=True):
    def feed(self, value: Mapping[str, Any], line: int) -> list[Message]:
        role = self.role(ROLES, string(value, "role"))
        parts = self.blocks(value.get("content"), role)
        return self.next_message(parts, id=string(value, "id"), time=local_time(value.get("timestamp")))

    def result(self, block: Mapping[str, Any]) -> str:
        return content(block, "output")


class QwenPawSession(SessionDocument):
    agent = "qwenpaw"
    opening = re.compile(rb'\A[\s\xef\xbb\xbf]*\{\s*"agent"\s*:\s*\{\s*"memory"\s*:\s*\{')

    def conversation(self, path: str, value: Mapping[str, Any], cancel: CancelToken | None) -> Conversation:
        parser = _Parser(
            metadata=SessionMetadata.of(
                os.path.basename(path).removesuffix(".json"),
                project=os.path.basename(path[: path.rfind(f"{os.sep}sessions{os.sep}")]),
            )
        )
        messages: list[Message] = []
        for pair in items(mapping(value, "agent", "memory"), "content"):
            messages += parser.feed(mapping(items(pair)[0] if items(pair) else pair), 0)
        return parser.conversation("", messages)
