"""Options of the notes that sum sessions up, with the reference's defaults."""

from typing import Annotated

from engine.settings.section import Section, option


class SlugSettings(Section, frozen=True):
    model: Annotated[
        str,
        option(
            "Chat model that names notes of sessions; naming one agrees to sending it the beginning of the note, with "
            "secrets masked. Empty takes the session's own words."
        ),
    ] = ""
    base_url: Annotated[
        str, option("Address of that model's server, as OpenAI and servers like it have it; empty takes OpenAI's.")
    ] = ""
    api_key_env: Annotated[
        str, option("Environment variable that holds the API key of that server; empty takes its usual one.")
    ] = ""
    timeout_seconds: Annotated[
        float, option("Seconds after which the session's own words are taken instead.", 1, 120)
    ] = 15


class RememberSettings(Section, frozen=True):
    messages: Annotated[int, option("Last messages of a session that go into its note.", 1, 1000)] = 15
    longest_message: Annotated[
        int, option("Characters of a message that go into the note; the rest is left out with a mark.", 100)
    ] = 4000
    tool: Annotated[
        bool, option("Let agents write notes of sessions themselves: the tool remember_session of the MCP server.")
    ] = False
    slug: SlugSettings = SlugSettings()
