"""The options of the facts that agents keep and are told of."""

from typing import Annotated, Literal

from engine.settings.section import Section, option

AgentWrites = Literal["on", "review", "off"]
_MOST_TRIGGERS = 50


class FactsSettings(Section, frozen=True):
    agent_writes: Annotated[
        AgentWrites,
        option(
            "Whether agents may keep and forget facts: yes (on), only what you approve then (review), or not at all "
            "(off)."
        ),
    ] = "on"
    auto_recall: Annotated[bool, option("Tell agents, before they answer, of facts that fit the message.")] = True
    recall_results: Annotated[int, option("Most facts that an agent is told of before it answers.", 1, 20)] = 3
    recall_max_chars: Annotated[
        int, option("Characters of a message by which facts are looked for, and of all facts told.", 100, 10_000)
    ] = 1000
    auto_capture: Annotated[
        bool, option("Keep what sounds worth remembering in messages to agents, for you to approve.")
    ] = False
    capture_max_chars: Annotated[int, option("Longest message that is kept as a fact.", 100, 10_000)] = 500
    capture_triggers: Annotated[
        tuple[str, ...], option("More words or phrases by which a message sounds worth keeping; at most 50.")
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("capture_triggers", self.capture_triggers[:_MOST_TRIGGERS])
