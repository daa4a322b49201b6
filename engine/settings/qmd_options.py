"""Options of the backend that runs the command `qmd`, with the reference's defaults."""

from typing import Annotated, Literal

import msgspec

from engine.base import lazy_pattern
from engine.settings.section import Group, Section, option

QmdSearchMode = Literal["search", "vsearch", "query"]
ScopeAction = Literal["allow", "deny"]

SCOPE_RULE = lazy_pattern(r"(allow|deny)\s+(?:([a-z0-9_.-]+)/)?(direct|group|channel|\*)")
"""An action, optionally the session's program, and the kind of chat."""


class QmdSessionSettings(Section, frozen=True):
    GROUP = Group.QMD

    enabled: Annotated[
        bool,
        option(
            "Let qmd search sessions",
            "Let qmd search sessions, too: their text is written out for it, with secrets masked.",
        ),
    ] = True
    retention_days: Annotated[
        int,
        option(
            "Maximum session age for qmd",
            "Days after which a session is no longer written out for qmd; 0 for never.",
            0,
        ),
    ] = 0


class QmdLimitSettings(Section, frozen=True):
    GROUP = Group.QMD
    APPLIES = "answering"

    max_results: Annotated[int, option("Maximum qmd results", "Results of qmd to show at first.", 1)] = 6
    max_snippet_chars: Annotated[
        int, option("Maximum qmd passage length", "Longest passage of a result, in characters.", 40)
    ] = 700
    max_injected_chars: Annotated[
        int,
        option("Maximum qmd answer length", "Most characters of all passages together that an agent gets from qmd.", 1),
    ] = 4000
    timeout_ms: Annotated[int, option("qmd search timeout", "Milliseconds that qmd has for one search.", 100)] = 4000


class QmdScopeSettings(Section, frozen=True):
    GROUP = Group.QMD

    default: Annotated[
        ScopeAction, option("Sessions without a rule", "Default for agents' sessions that no rule matches.")
    ] = "deny"
    rules: Annotated[
        tuple[str, ...],
        option(
            "qmd access rules",
            'Which sessions of agents may search with qmd; the first rule that fits: "allow discord/group".',
        ),
    ] = ("allow direct",)


class QmdModelSettings(Section, frozen=True):
    GROUP = Group.QMD

    embed: Annotated[
        str,
        option(
            "qmd embedding model",
            "Model that qmd embeds with, a file or such as hf:owner/repository/file.gguf; empty takes its own.",
        ),
    ] = ""
    generate: Annotated[
        str,
        option("qmd query expansion model", "Model by which qmd puts questions in other words; empty takes its own."),
    ] = ""
    rerank: Annotated[
        str, option("qmd reranking model", "Model by which qmd puts results in order; empty takes its own.")
    ] = ""


class QmdSettings(Section, frozen=True):
    GROUP = Group.QMD

    command: Annotated[str, option("qmd command", "Name or full path of the command qmd.", group=Group.ENGINE)] = "qmd"
    search_mode: Annotated[
        QmdSearchMode,
        option(
            "qmd search mode",
            "How qmd searches: by words (search), by meaning (vsearch), or both with its models (query).",
            group=Group.ENGINE,
        ),
    ] = "search"
    include_default_memory: Annotated[
        bool, option("Let qmd search the notes", "Let qmd search the workspace's own notes.")
    ] = True
    paths: Annotated[
        dict[str, str],
        option(
            "Extra folders for qmd",
            'More to search with qmd, by name: a folder, or one with a pattern of its files, as "~/specs/**/*.md".',
        ),
    ] = msgspec.field(default_factory=dict)
    min_score: Annotated[
        float,
        option(
            "Minimum qmd score",
            "Lowest score of a result of qmd; its scores depend on how much is indexed.",
            0,
            1,
            applies="answering",
        ),
    ] = 0.0
    update_minutes: Annotated[
        int, option("qmd update interval", "Minutes between regular updates of qmd's index; 0 for none.", 0)
    ] = 5
    embed_minutes: Annotated[
        int,
        option(
            "qmd embedding interval", "Minutes that must lie between two runs that give qmd's index its vectors.", 0
        ),
    ] = 60
    command_timeout_seconds: Annotated[
        float, option("qmd command timeout", "Seconds for a short command of qmd.", 0.1)
    ] = 30
    update_timeout_seconds: Annotated[
        float, option("qmd update timeout", "Seconds for an update of qmd's index.", 0.1)
    ] = 120
    embed_timeout_seconds: Annotated[
        float, option("qmd embedding timeout", "Seconds for one run that embeds.", 0.1)
    ] = 120
    models: QmdModelSettings = QmdModelSettings()
    sessions: QmdSessionSettings = QmdSessionSettings()
    limits: QmdLimitSettings = QmdLimitSettings()
    scope: QmdScopeSettings = QmdScopeSettings()
