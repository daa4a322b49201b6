"""Titles and sentences of the sessions view where it lists nothing, and the counts above what it lists."""

from engine import MemoryProviderStatus
from gui.sessions.catalogue import Catalogue
from gui.sessions.content_search import ContentHits
from gui.sessions.criteria import Criteria
from gui.sessions.rows import Listing
from gui.sessions.wording import hits_text
from gui.viewer.notice import NothingToRead
from gui.widgets.wording import counted, grouped

READING = "Reading the list of sessions…"
SEARCHING = "Searching what was said…"
CHOOSE = "Choose sessions…"
PLACES = (
    ("Claude Code", "~/.claude/projects"),
    ("Codex", "~/.codex/sessions"),
    ("OpenClaw", "~/.openclaw/agents"),
    ("ChatGPT, Claude", "the folder with the export that you downloaded"),
)
_LONGEST_TEXT = 80
_KEPT_ELSEWHERE = "kept-elsewhere"
"""The rule by which the engine leaves them out."""


CHOOSE_SESSION = NothingToRead(
    "Choose a session with Up and Down, and press Enter to read it here.",
    "J and K go from message to message, N through the found words, Esc goes back to the list.",
)
NOTHING_FITS = NothingToRead(
    "No session matches, so there is none to read here.",
    "In the box Esc clears the text, and once more all that was chosen beside it.",
)


def is_off(status: MemoryProviderStatus) -> bool:
    """No session folder was chosen so far."""
    return "sessions" not in status.sources


def without_sessions(status: MemoryProviderStatus) -> tuple[str, str]:
    """Title and sentence where there is not one session."""
    if is_off(status):
        return (
            "Where are your sessions?",
            "Choose the agents whose sessions are to be listed here, searched and read. Nothing in their folders is "
            "changed.",
        )
    if kept := elsewhere(status):
        return "These sessions are kept in other workspaces", kept
    if status.syncing is not None:
        return "No session is indexed yet", "They are listed here as soon as they have been read."
    return "No session is indexed yet", "None was found in the folders that you chose."


def nothing_matches(criteria: Criteria, *, searching: bool) -> tuple[str, str]:
    """Title and sentence where filters leave nothing."""
    text = criteria.text if len(criteria.text) <= _LONGEST_TEXT else f"{criteria.text[:_LONGEST_TEXT]}…"
    title = f"No session matches “{text}”" if text else "No session matches"
    if searching:
        return title, SEARCHING
    chosen = criteria.agent or criteria.project or criteria.period.narrows
    if chosen:
        return title, "Only sessions that fit the chosen agent, project and time were looked at."
    return title, "These words stand in no title and no project, and nothing that was said comes close to them."


def header_counts(catalogue: Catalogue, criteria: Criteria, listing: Listing) -> tuple[str, str]:
    """The line above the list, at length and short."""
    if not criteria.narrows:
        short = counted(catalogue.sessions, "session")
        return f"{short} · {counted(len(catalogue.agents), 'agent')}", short
    short = f"{grouped(listing.sessions)} of {counted(catalogue.sessions, 'session')}"
    return (f"{short} · {hits_text(listing.hits)}" if listing.hits else short), short


def box_state(listing: Listing) -> str:
    """In the box, once it was searched what was said."""
    return hits_text(listing.hits) if listing.hits else "No hits"


def notice(hits: ContentHits) -> str:
    """What limits the found places."""
    hidden = f"Only the best {grouped(len(hits.results))} hits are counted." if hits.hidden else ""
    return " ".join(part for part in (hidden, hits.notice) if part)


_SEARCH_ALL = "Search all workspaces to find them from here."


def elsewhere(status: MemoryProviderStatus) -> str:
    """Which sessions of the chosen folders are indexed in other workspaces, and so are found there."""
    kept = [f"{issue.path}: {issue.detail}" for issue in status.skipped_files if issue.rule == _KEPT_ELSEWHERE]
    return f"{' '.join(kept)} {_SEARCH_ALL}" if kept else ""


def alike(title: str, found: int) -> str:
    return f"{counted(found, 'session')} like “{title}”" if found else f"No session is like “{title}”."


NOTHING_ALIKE = "No other session means something like it, as far as their meaning has been embedded."
