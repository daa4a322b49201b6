"""One tool of an agent, for whatever protocol offers it."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from engine.agent.failing import said
from engine.control import CancelToken
from engine.records import Record, to_builtins


@dataclass(frozen=True)
class AgentTool:
    name: str
    title: str
    """For people."""
    description: str
    """For models: what it is good for and when to call it."""
    parameters: Mapping[str, Any]
    """JSON schema of the object that `call` takes."""
    call: Callable[[Mapping[str, Any], CancelToken], Record]
    """Answers whatever it is given; an argument may be missing or of another type than the schema says."""
    changes: bool = False
    """Whether it changes what is stored."""
    deletes: bool = False
    """Whether it can take something away."""

    def answer(self, arguments: Mapping[str, Any], cancel: CancelToken) -> dict[str, Any]:
        """The payload as JSON values with camelCase keys. Never raises."""
        try:
            payload: dict[str, Any] = to_builtins(self.call(arguments, cancel))
            return payload
        except Exception as error:
            return {"error": said(error)}


def schema(*, required: tuple[str, ...], **properties: Mapping[str, Any]) -> dict[str, Any]:
    """Of an object with these properties and no others."""
    return {"type": "object", "properties": properties, "required": list(required), "additionalProperties": False}
