"""What the view of facts says. Pure functions."""

from engine import FORGOTTEN_DAYS, Fact, FactCategory, FactOrigin
from gui.widgets.wording import ago, counted, date, exact

CATEGORIES: dict[FactCategory, str] = {
    "preference": "Preference",
    "decision": "Decision",
    "entity": "Person or thing",
    "fact": "Fact",
    "other": "Other",
}
_BY: dict[FactOrigin, str] = {"person": "by you", "agent": "by an agent", "capture": "captured"}
_DAY = 86_400

NOTHING = "Nothing is remembered yet"
NOTHING_MORE = (
    "Facts are single sentences that agents are told of when they fit: what you prefer, what was decided, who is "
    "who. You write them here, or agents keep them for you; here you see, change and forget each of them. They stay "
    "on this computer, beside your notes and not in them."
)
NONE_WAITS = "Nothing waits for your approval"
NONE_WAITS_MORE = (
    "What is captured from your messages, or kept by agents that may not do so alone, stands here first. Agents are "
    "told of none of it before you approve it. The options facts.auto_capture and facts.agent_writes in the settings "
    "file decide what comes here."
)
NONE_FORGOTTEN = "Nothing was forgotten lately"
NONE_FORGOTTEN_MORE = (
    f"What you or an agent forget stands here for {FORGOTTEN_DAYS} days, to be put back. Then nothing of it is left in "
    "any file."
)
NO_MATCH = "No fact fits"
NO_MATCH_MORE = "Try other words, or another kind."
NEW = "New fact"
ERASE_QUESTION = "Delete this fact for good? Nothing brings it back."


def count_text(shown: int, everything: int) -> str:
    """ "3 of 12 facts", "12 facts"."""
    return counted(shown, "fact") if shown == everything else f"{shown:,} of {counted(everything, 'fact')}"


def percent(share: float) -> str:
    """0.7 -> "70 %"."""
    return f"{100 * share:.0f} %"


def meta_text(fact: Fact) -> str:
    """What stands below a fact in the list."""
    matters = f"importance {percent(fact.importance)}"
    parts = [CATEGORIES.get(fact.category, fact.category), matters, _BY.get(fact.origin, fact.origin)]
    if fact.forgotten is not None:
        parts.append(f"forgotten {_BY.get(fact.forgotten_by or 'person', '')}")
    elif fact.waiting:
        parts.insert(0, "To approve")
    return " · ".join(parts)


def age_text(fact: Fact) -> str:
    """When what happened last happened."""
    return ago(fact.changed if fact.forgotten is None else fact.forgotten)


def told(fact: Fact) -> str:
    """All of it in one sentence, for a screen reader."""
    return f"{fact.text}. {meta_text(fact)}, {age_text(fact)}"


def origin_lines(fact: Fact) -> tuple[tuple[str, str], ...]:
    """Where it comes from and what became of it: a line each, with the same at length for its tooltip."""
    how = {
        "person": "Written by you",
        "agent": "Kept by an agent",
        "capture": "Captured from a message to an agent",
    }.get(fact.origin, fact.origin)
    lines = [(f"{how}, {ago(fact.created)}", exact(fact.created))]
    if fact.session_key:
        lines.append((f"In session {fact.session_key}", ""))
    if fact.changed != fact.created:
        lines.append((f"Last changed {ago(fact.changed)}", exact(fact.changed)))
    if fact.forgotten is not None:
        by = "an agent" if fact.forgotten_by == "agent" else "you"
        gone = date(fact.forgotten + FORGOTTEN_DAYS * _DAY)
        lines.append(
            (f"Forgotten by {by}, {ago(fact.forgotten)}. On {gone} it is gone for good.", exact(fact.forgotten))
        )
    elif fact.waiting:
        lines.append(("No agent is told of it before you approve it.", ""))
    return tuple(lines)


def short(text: str, longest: int = 40) -> str:
    """The beginning of a fact, for a message about it."""
    text = " ".join(text.split())
    return f"“{text}”" if len(text) <= longest else f"“{text[: longest - 1].rstrip()}…”"
