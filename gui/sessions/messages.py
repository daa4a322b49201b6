"""Titles and sentences of the sessions view where it lists nothing, and the counts above what it lists."""

from engine import MemoryProviderStatus, marked, tr, tr_count, tr_reason
from gui.core.session_criteria import Criteria
from gui.sessions.catalog import SessionCatalog
from gui.sessions.content_search import ContentHits
from gui.sessions.rows import Listing
from gui.sessions.wording import hits_text, session_count
from gui.viewer.notice_page import NothingToRead

READING = marked("Reading the list of sessions…")
SEARCHING = marked("Searching messages…")
CHOOSE = marked("Choose sessions…")
DOWNLOADED = marked("the folder with the export that you downloaded")
_LONGEST_TEXT = 80
_KEPT_ELSEWHERE = "kept-elsewhere"
"""The rule by which the engine leaves them out."""
CHOOSE_SESSION = NothingToRead(
    marked("Choose a session with Up and Down, and press Enter to read it here."),
    marked("J and K go from message to message, N through the found words, Esc goes back to the list."),
)
NONE_TO_READ = NothingToRead(marked("There is no session to read here yet."))
NOTHING_FITS = NothingToRead(
    marked("No session matches, so there is none to read here."),
    marked("In the box Esc clears the text, and once more all that was chosen beside it."),
)


def is_off(status: MemoryProviderStatus) -> bool:
    """No session folder was chosen so far."""
    return "sessions" not in status.sources


def without_sessions(status: MemoryProviderStatus) -> tuple[str, str]:
    """Title and sentence if there are no sessions."""
    if is_off(status):
        return (
            tr("Where are your sessions?"),
            tr(
                "Choose the agents whose sessions are to be listed here, searched and read. Nothing in their folders "
                "is changed."
            ),
        )
    if kept := elsewhere(status):
        return tr("These sessions belong to other workspaces"), kept
    if status.syncing is not None:
        return tr("No session is indexed yet"), tr("They are listed here as soon as they have been read.")
    return tr("No session is indexed yet"), tr("None was found in the folders that you chose.")


def nothing_matches(criteria: Criteria, *, searching: bool) -> tuple[str, str]:
    """Title and sentence where filters leave nothing."""
    text = criteria.text if len(criteria.text) <= _LONGEST_TEXT else f"{criteria.text[:_LONGEST_TEXT]}…"
    title = tr("No session matches “{text}”", text=text) if text else tr("No session matches")
    if searching:
        return title, tr(SEARCHING)
    chosen = criteria.agent or criteria.project or criteria.period.narrows
    if chosen:
        return title, tr("Only sessions that fit the chosen agent, project and time were looked at.")
    return title, tr("No title, project or message matches.")


def header_counts(catalogue: SessionCatalog, criteria: Criteria, listing: Listing) -> tuple[str, str]:
    """The line above the list, at length and short."""
    if not criteria.narrows:
        short = session_count(catalogue.sessions)
        agents = tr_count("{count:,} agent", "{count:,} agents", len(catalogue.agents))
        # Named, since the index counts them among its sessions.
        parts = [tr_count("{count:,} sub-agent", "{count:,} sub-agents", catalogue.parts)] if catalogue.parts else []
        return " · ".join((short, *parts, agents)), short
    short = tr_count(
        "{listed:,} of {count:,} session",
        "{listed:,} of {count:,} sessions",
        catalogue.sessions,
        listed=listing.sessions,
    )
    return (f"{short} · {hits_text(listing.hits)}" if listing.hits else short), short


def box_state(listing: Listing) -> str:
    """In the box, after a search in messages."""
    return hits_text(listing.hits) if listing.hits else tr("No hits")


def notice(hits: ContentHits) -> str:
    """What limits the found places."""
    best = len(hits.results)
    hidden = tr_count("Only the best hit is counted.", "Only the best {count:,} hits are counted.", best)
    return " ".join(part for part in (hidden if hits.hidden else "", hits.notice) if part)


_SEARCH_ALL = marked("Search all workspaces to find them here.")


def elsewhere(status: MemoryProviderStatus) -> str:
    """Which sessions of the chosen folders are indexed in other workspaces, and so are found there."""
    kept = [
        f"{issue.path}: {tr_reason(issue.detail)}" for issue in status.skipped_files if issue.rule == _KEPT_ELSEWHERE
    ]
    return f"{' '.join(kept)} {tr(_SEARCH_ALL)}" if kept else ""


def alike(title: str, found: int) -> str:
    if not found:
        return tr("No session is like “{title}”.", title=title)
    return tr_count("{count:,} session like “{title}”", "{count:,} sessions like “{title}”", found, title=title)


NOTHING_ALIKE = marked("No other session means something like it, as far as their meaning has been embedded.")
