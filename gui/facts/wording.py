"""Texts of the facts view. Pure functions."""

from engine import FORGOTTEN_DAYS, Fact, FactCategory, FactOrigin, in_quotes, marked, number, shortened, tr, tr_count
from gui.text.formatting import ago, date_of, exact

CATEGORIES: dict[FactCategory, str] = {
    "preference": marked("Preference"),
    "decision": marked("Decision"),
    "entity": marked("About a person or thing"),
    "fact": marked("Fact"),
    "other": marked("Other"),
}
_BY: dict[FactOrigin, str] = {
    "user": marked("by you"),
    "agent": marked("by an agent"),
    "capture": marked("captured"),
}
_HOW: dict[FactOrigin, str] = {
    "user": marked("Written by you, {when}"),
    "agent": marked("Saved by an agent, {when}"),
    "capture": marked("Captured from a message to an agent, {when}"),
}
_DAY = 86_400
_LONGEST_MENTION = 40

NOTHING = marked("No facts yet")
NOTHING_MORE = marked(
    "Facts are single sentences that agents get when they are relevant: your preferences, decisions, people. "
    "You write them here, or agents save them for you; here you see, change and forget each of them. They "
    "stay on this machine, separate from your notes."
)
NONE_WAITS = marked("Nothing waits for your approval")
NONE_WAITS_MORE = marked(
    "Facts captured from your messages, or saved by agents that need approval, are listed here first. Agents "
    "see none of them before you approve it. The options facts.auto_capture and facts.agent_writes in the "
    "settings file decide which ones come here."
)
NONE_FORGOTTEN = marked("No facts were forgotten recently")
NONE_FORGOTTEN_MORE = marked(
    "Forgotten facts stay here for {days} days, and you can restore them. Then they are deleted from every file."
)
NO_MATCH = marked("No matching facts")
NO_MATCH_MORE = marked("Search for other words or choose another kind of fact.")
NEW = marked("New fact")
ERASE_QUESTION = marked("Delete this fact permanently? You can't undo this.")


def count_text(shown: int, everything: int) -> str:
    """Return the number of facts: "3 of 12 facts", "12 facts"."""
    if shown == everything:
        return tr_count("{count:,} fact", "{count:,} facts", shown)
    return tr_count("{shown:,} of {count:,} fact", "{shown:,} of {count:,} facts", everything, shown=shown)


def percent(share: float) -> str:
    """Return a share as a percentage: 0.7 -> "70%"."""
    return number(share, ".0%")


def meta_text(fact: Fact) -> str:
    """Return the second line of a fact in the list."""
    matters = tr("importance {share}", share=percent(fact.importance))
    parts = [tr(CATEGORIES.get(fact.category, fact.category)), matters, tr(_BY.get(fact.origin, fact.origin))]
    if fact.forgotten is not None:
        parts.append(tr("forgotten by an agent") if fact.forgotten_by == "agent" else tr("forgotten by you"))
    elif fact.pending:
        parts.insert(0, tr("To approve"))
    return " · ".join(parts)


def age_text(fact: Fact) -> str:
    """Return how long ago the fact was changed last."""
    return ago(fact.changed if fact.forgotten is None else fact.forgotten)


def origin_lines(fact: Fact) -> tuple[tuple[str, str], ...]:
    """Return lines about the fact's origin and history, each with a longer text for its tooltip."""
    lines = [(tr(_HOW.get(fact.origin, "{when}"), when=ago(fact.created)), exact(fact.created))]
    if fact.session_key:
        lines.append((tr("From the session {name}", name=fact.session_key), ""))
    if fact.changed != fact.created:
        lines.append((tr("Last changed {when}", when=ago(fact.changed)), exact(fact.changed)))
    if fact.forgotten is not None:
        lines.append((_forgotten(fact, fact.forgotten), exact(fact.forgotten)))
    elif fact.pending:
        lines.append((tr("Agents don't see this fact until you approve it."), ""))
    return tuple(lines)


def _forgotten(fact: Fact, when: float) -> str:
    template = (
        marked("Forgotten by an agent, {when}. It will be deleted on {gone}.")
        if fact.forgotten_by == "agent"
        else marked("Forgotten by you, {when}. It will be deleted on {gone}.")
    )
    return tr(template, when=ago(when), gone=date_of(when + FORGOTTEN_DAYS * _DAY))


def short(text: str) -> str:
    """Return the beginning of a fact, for a message about it."""
    return in_quotes(shortened(" ".join(text.split()), _LONGEST_MENTION))
