"""Declares Muse Code, Meta's command line: where its sessions are, in which format, and how to resume one."""

from engine.corpus.transcripts.agents import Agent, paths

AGENT = Agent(
    name="muse",
    parser_version=3,
    label="Muse Code",
    resume="muse resume {id}",
    stores=((r"/muse/sessions\Z", "muse"),),
    folders=paths("($XDG_DATA_HOME|~/.local/share)/muse/sessions"),  # on Windows and macOS, too
    parts=(("", "approval-review"), ("", "tool-outputs")),
    formats=(".muse:MuseFormat",),
)
