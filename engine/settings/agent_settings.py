"""Options for agents: facts, and notes of sessions."""

from typing import Annotated, Literal

from engine.settings.settings_section import Group, Section, option

AgentWrites = Literal["on", "review", "off"]
_MAX_TRIGGERS = 50


class SlugSettings(Section, frozen=True):
    GROUP = Group.NOTE_NAMES

    model: Annotated[
        str,
        option(
            "Chat model",
            "Chat model that suggests names for session notes. If you set one, it receives the beginning of "
            "the note, with secrets masked. If empty, names come from the session's words.",
        ),
    ] = ""
    base_url: Annotated[
        str,
        option(
            "Address of the chat model",
            "Address of the chat model's server, which must be OpenAI-compatible. If empty, OpenAI's is used.",
        ),
    ] = ""
    api_key_env: Annotated[
        str,
        option(
            "Chat model key variable",
            "Environment variable with the API key of the chat model's server. If empty, the server's usual one is "
            "used.",
        ),
    ] = ""
    timeout_seconds: Annotated[
        float,
        option(
            "Chat model timeout",
            "Seconds to wait for the chat model's suggestion; after that, the session's own words are used.",
            1,
            120,
        ),
    ] = 15


class RememberSettings(Section, frozen=True):
    GROUP = Group.SESSION_NOTES
    APPLIES = "immediately"

    messages: Annotated[
        int,
        option(
            "Messages in a session note", "Number of messages at the end of a session that its note contains.", 1, 1000
        ),
    ] = 15
    max_message_chars: Annotated[
        int,
        option(
            "Maximum message length in a session note",
            "Maximum number of characters per message in the note; longer messages are cut.",
            100,
        ),
    ] = 4000
    tool: Annotated[
        bool,
        option(
            "Agents may write session notes",
            "Let agents write notes of sessions themselves: the tool remember_session of the MCP server.",
        ),
    ] = False
    slug: SlugSettings = SlugSettings()


class FactsSettings(Section, frozen=True):
    GROUP = Group.FACTS
    APPLIES = "immediately"

    agent_writes: Annotated[
        AgentWrites,
        option(
            "Agents may save facts",
            "Whether agents may save and forget facts: yes (on), after your approval (review), or not at all (off).",
        ),
    ] = "on"
    auto_recall: Annotated[
        bool,
        option("Send matching facts to agents", "Give agents the facts that match a message before they answer it."),
    ] = True
    recall_results: Annotated[
        int, option("Facts that an agent gets", "Maximum number of facts that an agent gets before it answers.", 1, 20)
    ] = 3
    recall_max_chars: Annotated[
        int,
        option(
            "Maximum length of sent facts",
            "Maximum number of characters of a message that are used to find facts, and of all facts that are sent.",
            100,
            10_000,
        ),
    ] = 1000
    auto_capture: Annotated[
        bool,
        option(
            "Capture facts from messages",
            "Save statements worth remembering from messages to agents, for you to approve.",
        ),
    ] = False
    capture_max_chars: Annotated[
        int, option("Maximum captured fact length", "Longest message that is saved as a fact.", 100, 10_000)
    ] = 500
    capture_triggers: Annotated[
        tuple[str, ...],
        option("Words that mark a fact", "More words or phrases that mark a message as worth saving; at most 50."),
    ] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        self._put("capture_triggers", self.capture_triggers[:_MAX_TRIGGERS])
