"""Options of the backends `qmd` (an external command) and `lancedb` (a table that several machines may share).

The defaults of `qmd` are the reference's.
"""

from collections.abc import Mapping
from typing import Annotated, Literal

import msgspec

from engine.base import is_loopback, lazy_pattern, urlsplit
from engine.base.language import marked
from engine.settings.settings_section import Group, Problem, Section, option

QmdSearchMode = Literal["search", "vsearch", "query"]
ScopeAction = Literal["allow", "deny"]

SCOPE_RULE = lazy_pattern(r"(allow|deny)\s+(?:([a-z0-9_.-]+)/)?(direct|group|channel|\*)")
"""Parses a rule for sessions: an action, optionally the session's program, and the kind of chat."""


class QmdSessionSettings(Section, frozen=True):
    GROUP = Group.QMD

    enabled: Annotated[
        bool,
        option(
            "Let qmd search sessions",
            "Let qmd search sessions, too: their text is exported to files for it, with secrets masked.",
        ),
    ] = True
    retention_days: Annotated[
        int,
        option(
            "Maximum session age for qmd",
            "Age in days from which sessions are no longer exported for qmd; 0 for no limit.",
            0,
        ),
    ] = 0


class QmdLimitSettings(Section, frozen=True):
    GROUP = Group.QMD
    APPLIES = "answering"

    max_results: Annotated[int, option("Maximum qmd results", "Number of qmd results to show at first.", 1)] = 6
    max_snippet_chars: Annotated[
        int, option("Maximum qmd passage length", "Longest passage of a result, in characters.", 40)
    ] = 700
    max_injected_chars: Annotated[
        int,
        option(
            "Maximum qmd answer length",
            "Maximum number of characters of all passages together that an agent gets from qmd.",
            1,
        ),
    ] = 4000
    timeout_ms: Annotated[
        int, option("qmd search timeout", "Timeout of one search with qmd, in milliseconds.", 100)
    ] = 4000


class QmdScopeSettings(Section, frozen=True):
    GROUP = Group.QMD

    default: Annotated[
        ScopeAction, option("Sessions without a qmd access rule", "Default for agents' sessions that no rule matches.")
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
            "Embedding model of qmd: a file, or a name such as hf:owner/repository/file.gguf. If empty, qmd's own is "
            "used.",
        ),
    ] = ""
    generate: Annotated[
        str,
        option("qmd query expansion model", "Model with which qmd rewords queries. If empty, qmd's own is used."),
    ] = ""
    rerank: Annotated[
        str, option("qmd reranking model", "Model with which qmd re-ranks results. If empty, qmd's own is used.")
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
            'More collections for qmd, by name: a folder, or a folder with a file pattern, such as "~/specs/**/*.md".',
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
            "qmd embedding interval",
            "Minimum number of minutes between two runs that embed the passages in qmd's index.",
            0,
        ),
    ] = 60
    command_timeout_seconds: Annotated[
        float, option("qmd command timeout", "Seconds to wait for a short command of qmd.", 0.1)
    ] = 30
    update_timeout_seconds: Annotated[
        float, option("qmd update timeout", "Seconds to wait for an update of qmd's index.", 0.1)
    ] = 120
    embed_timeout_seconds: Annotated[
        float, option("qmd embedding timeout", "Timeout of one embedding run, in seconds.", 0.1)
    ] = 120
    models: QmdModelSettings = QmdModelSettings()
    sessions: QmdSessionSettings = QmdSessionSettings()
    limits: QmdLimitSettings = QmdLimitSettings()
    scope: QmdScopeSettings = QmdScopeSettings()


REMOTE_SCHEMES = frozenset({"s3", "s3+ddb", "gs", "gcs", "az", "abfss", "db"})
TABLE_NAME = lazy_pattern(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,127}")
MACHINE_NAME = lazy_pattern(r"[^\W_][\w.-]{0,63}")


class LanceDbSettings(Section, frozen=True):
    GROUP = Group.ENGINE

    uri: Annotated[
        str,
        option(
            "Location of the LanceDB table",
            "Location of the table: a folder, s3://bucket/path or db://database. If empty, it is in your data folder. "
            "If you set an address on another machine, the text of your notes is stored there, with secrets masked.",
        ),
    ] = ""
    table: Annotated[
        str,
        option(
            "Name of the LanceDB table",
            "Name of the table; machines with the same one share it. If empty, it is named after the workspace folder.",
        ),
    ] = ""
    machine: Annotated[
        str,
        option(
            "Machine name", "Name of this machine for others who see its notes. If empty, it is the machine's own name."
        ),
    ] = ""
    allow_http: Annotated[
        bool,
        option(
            "Allow unencrypted LanceDB tables",
            "Allow http without encryption, also to other machines.",
            group=Group.SERVICES,
        ),
    ] = False
    storage_options: Annotated[
        dict[str, str],
        option(
            "LanceDB storage options",
            "Other options of the storage, such as region or endpoint; keys and tokens do not belong here.",
            group=Group.SERVICES,
        ),
    ] = msgspec.field(default_factory=dict)
    timeout_seconds: Annotated[
        float,
        option(
            "Timeout of the LanceDB table",
            "Seconds to wait for an answer of the table.",
            1,
            600,
            group=Group.LANCEDB,
        ),
    ] = 20


def scheme_of(uri: str) -> str:
    """Return the scheme, such as `s3` or `db`; empty for a folder."""
    scheme, separator, _ = uri.strip().partition("://")
    return scheme.lower() if separator else ""


def uri_problem(uri: str) -> Problem | None:
    """Return the problem of an address; None if there is none. Secrets are checked elsewhere."""
    scheme = scheme_of(uri)
    if not scheme:
        return None
    if scheme not in REMOTE_SCHEMES:
        return Problem(marked("{it} must be a folder, or an address such as s3://bucket/path or db://database."))
    parts = urlsplit(uri.strip())
    if parts.query or parts.fragment:
        return Problem(
            marked("{it} must end before the ? or #. Other options of the storage belong in lancedb.storage_options.")
        )
    if not parts.netloc:
        return Problem(marked("{it} must name a bucket or database, such as s3://bucket/path."))
    return None


def is_unencrypted(options: Mapping[str, str]) -> bool:
    """Return whether these options connect to another machine without encryption."""
    for name, value in options.items():
        if "endpoint" not in name.lower() or not value.strip().lower().startswith("http:"):
            continue
        host = urlsplit(value.strip()).hostname or ""
        if not is_loopback(host):
            return True
    return False
