"""One tool of an agent, for whatever protocol offers it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from engine.agent.arguments import refusal
from engine.agent.error_messages import said
from engine.base.cancellation import CancelToken
from engine.records import FactAnswer, MemoryGetAnswer, MemorySearchAnswer, Record, RememberedSession, to_builtins

Answer = MemorySearchAnswer | MemoryGetAnswer | FactAnswer | RememberedSession


@dataclass(frozen=True)
class AgentTool:
    name: str
    title: str
    """For people."""
    description: str
    """For models: what it is good for and when to call it."""
    parameters: Mapping[str, Any]
    """JSON schema of the arguments; `answer` validates with it, as far as `arguments.refusal` knows its keywords."""
    answers: type[Answer]
    """The record that `call` returns. Made with `error` alone, it reports a failure."""
    call: Callable[[Mapping[str, Any], CancelToken], Record]
    """Gets arguments that the schema allows."""
    changes: bool = False
    """Whether it changes stored data."""
    deletes: bool = False
    """Whether it can take something away."""

    def answer(self, arguments: Mapping[str, Any], cancel: CancelToken) -> dict[str, Any]:
        """Return the payload as JSON values with camelCase keys; errors are in `error`. Never raises."""
        try:
            refused = refusal(self.name, self.parameters, arguments)
            answer: Record = self.answers(error=refused) if refused else self.call(arguments, cancel)
        except Exception as error:
            answer = self.answers(error=said(error))
        payload: dict[str, Any] = to_builtins(answer)
        return payload

    def payload_schema(self) -> dict[str, Any]:
        """JSON schema of every payload that `answer` returns."""
        _, parts = msgspec.json.schema_components((self.answers,), ref_template="#/$defs/{name}")
        root: dict[str, Any] = parts.pop(self.answers.__name__)
        for rules in root["properties"].values():
            rules.pop("default", None)
        fields = msgspec.structs.fields(self.answers)
        # Unset fields are left out; all others are always present, default or not.
        root["required"] = [field.encode_name for field in fields if field.default is not msgspec.UNSET]
        return root | ({"$defs": parts} if parts else {})


def schema(*, required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
