"""Common base of all sections of options: declarations of options, and numbers limited to their ranges."""

import functools
from collections.abc import Mapping
from enum import Enum
from typing import Any, ClassVar, Literal, TypeVar

import msgspec

from engine.base.language import marked, tr

OptionPage = Literal[
    "general",
    "appearance",
    "keyboard",
    "sources",
    "embedding",
    "stored",
    "engine",
    "search",
    "sync",
    "agents",
    "privacy",
    "advanced",
]
"""A page of the settings, in the order of the list."""
Applies = Literal["reopening", "answering", "immediately"]
"""When a changed option takes effect: after the memory is reopened; in an open memory, for options that only affect
answers; or immediately."""


class Group(Enum):
    """A page of the settings and a group title on it, empty for none; in the order of display."""

    GENERAL = "general", ""
    WINDOW_CLOSED = "general", marked("While the window is closed")
    APPEARANCE = "appearance", ""
    KEYBOARD = "keyboard", ""
    NOTES = "sources", marked("Notes")
    FILES = "sources", marked("Files to index")
    SESSIONS = "sources", marked("Sessions of AI agents")
    EMBEDDING = "embedding", ""
    ENGINE = "engine", ""
    RESULTS = "search", marked("Results")
    WEIGHTS = "search", marked("Words and meaning")
    ORDER = "search", marked("Order of results")
    RESULT_CACHE = "search", marked("Result cache")
    UPDATES = "sync", marked("Time of updates")
    RUNNING_SESSIONS = "sync", marked("Running sessions")
    ANSWERS = "agents", marked("Answers to agents")
    FACTS = "agents", marked("Facts")
    SESSION_NOTES = "agents", marked("Session notes")
    THIS_MACHINE = "privacy", marked("On this machine")
    SERVICES = "privacy", marked("Sent to services")
    NOTE_NAMES = "privacy", marked("Names of session notes")
    INDEX = "advanced", marked("Index")
    VECTORS = "advanced", marked("Vectors")
    BATCH_JOBS = "advanced", marked("Batch jobs")
    QMD = "advanced", "qmd"
    LANCEDB = "advanced", "LanceDB"
    MORE = "advanced", marked("More options")

    def __init__(self, page: OptionPage, title: str) -> None:
        self.page = page
        self.title = title


def option(  # noqa: PLR0913 - the parts of a declaration, most given by name
    label: str,
    text: str,
    low: float | None = None,
    high: float | None = None,
    *,
    group: Group | None = None,
    also: str = "",
    applies: Applies | None = None,
) -> msgspec.Meta:
    """Declare everything about an option except its type and default.

    `label`: its name in the settings. `text`: its help, one sentence. `low` and `high`: ends of its range, inclusive.
    `also`: words by which people search for it, too. `group` and `applies`: where they differ from the section's.
    `packaging/translations.py` finds label, help and words here.
    """
    extra = {"low": low, "high": high, "label": label, "group": group, "also": also, "applies": applies}
    return msgspec.Meta(description=text, extra=extra)


class Section(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of all sections of options; limits their numbers to the ranges."""

    GROUP: ClassVar[Group] = Group.MORE
    """The group of its options, unless they name another one."""
    APPLIES: ClassVar[Applies] = "reopening"
    """When its options take effect, including those of nested sections."""

    def __post_init__(self) -> None:
        for name, (low, high) in _ranges(type(self)).items():
            value = getattr(self, name)
            if value is not None:
                self._put(name, _clamp(value, low, high))

    def _put(self, name: str, value: Any) -> None:
        msgspec.structs.force_setattr(self, name, value)


@functools.cache
def hints_of(section: type[Section]) -> dict[str, Any]:
    """Return the type annotations of a section's options by attribute, including what `option` declares."""
    # `typing.get_type_hints` also resolves quoted types, which settings don't use, and takes longer than a search.
    parts = (getattr(base, "__annotations__", {}) for base in reversed(section.__mro__))
    return {name: hint for part in parts for name, hint in part.items()}


@functools.cache
def _ranges(section: type[Section]) -> dict[str, tuple[float | None, float | None]]:
    ranges: dict[str, tuple[float | None, float | None]] = {}
    for name, hint in hints_of(section).items():
        for meta in getattr(hint, "__metadata__", ()):
            low, high = meta.extra["low"], meta.extra["high"]
            if low is not None or high is not None:
                ranges[name] = low, high
    return ranges


def _clamp(value: float, low: float | None, high: float | None) -> float:
    if low is not None and value < low:
        return low
    if high is not None and value > high:
        return high
    return value


# --- The options that only decide how a query is answered: an open memory applies changes of them at any time ---------

SectionT = TypeVar("SectionT", bound=Section)


def with_query_settings(own: SectionT, new: SectionT) -> SectionT:
    """Return `own` with those options of `new` that apply to queries, without reopening or re-indexing."""
    if own.APPLIES == "answering":
        return new
    values = {}
    for name in _query_fields(type(own)):
        own_value, new_value = getattr(own, name), getattr(new, name)
        values[name] = with_query_settings(own_value, new_value) if isinstance(own_value, Section) else new_value
    return msgspec.structs.replace(own, **values)


@functools.cache
def _query_fields(section: type[Section]) -> tuple[str, ...]:
    """Return the fields that affect how queries are answered but not the index, and the sections with such fields."""
    return tuple(name for name, hint in hints_of(section).items() if _affects_queries(hint))


def _affects_queries(hint: Any) -> bool:
    if isinstance(hint, type) and issubclass(hint, Section):
        return hint.APPLIES == "answering" or bool(_query_fields(hint))
    return any(meta.extra["applies"] == "answering" for meta in getattr(hint, "__metadata__", ()))


# --- Problems of options, as whole sentences -------------------------------------------------------------------------


class Problem(msgspec.Struct, frozen=True):
    """An invalid value; the caller that knows the option's name makes a message of it."""

    sentence: str
    """A `marked` sentence, with the field `{it}` for the option."""
    values: Mapping[str, Any] = msgspec.field(default_factory=dict)
    """Values of its other fields."""

    def about(self, subject: str) -> str:
        return tr(self.sentence, it=subject, **self.values)


SECRET = Problem(
    marked("{it} looks like a secret: put it in an environment variable or the keychain and remove it from the file.")
)
LOGIN = Problem(
    marked(
        "{it} contains a user name or a password: put it in an environment variable or the keychain and remove it "
        "from the file."
    )
)
