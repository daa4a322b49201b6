"""What is said of a place with notes or sessions, from values alone."""

from collections.abc import Sequence

from engine import FileIssue, FoundPlace, tr_reason
from gui.sessions.wording import agent_name, folder_name
from gui.widgets.wording import ago, counted, size_text


def place_title(place: FoundPlace) -> str:
    """ "Obsidian vault Garden", "OpenClaw: coder", "Claude Code"; the file's name where no agent is known."""
    if place.kind == "obsidian-vault":
        return f"Obsidian vault {place.name}"
    if not place.agent:
        return folder_name(place.path)
    kind = " workspace" if place.kind == "openclaw-workspace" else ""
    return f"{agent_name(place.agent)}{kind}" + (f": {place.name}" if place.name else "")


def place_amount(place: FoundPlace) -> str:
    """ "412 files, 118 MB, changed 3 h ago"."""
    if not place.files:
        return "no files" if place.whole else "more files than were counted"
    more = "" if place.whole else "more than "
    changed = f", changed {ago(place.newest)}" if place.newest is not None else ""
    return f"{more}{counted(place.files, 'file')}, {size_text(place.bytes)}{changed}"


def short_path(path: str, home: str) -> str:
    """With `~` in place of the home folder."""
    start = home.rstrip("/\\")
    rest = path[len(start) :]
    return "~" + rest if start and path.startswith(start) and rest[:1] in ("", "/", "\\") else path


def issue_lines(issues: Sequence[FileIssue], home: str) -> str:
    """A line for each, with the place that it is about."""
    return "\n".join(
        detail if path in detail else f"{short_path(path, home)}: {detail}"
        for path, detail in ((issue.path, tr_reason(issue.detail)) for issue in issues)
    )
