"""Texts about folders of notes or sessions, as functions without widgets."""

from collections.abc import Sequence

from engine import FileIssue, FoundPlace, tr, tr_count, tr_reason
from gui.sessions.wording import agent_name, folder_name
from gui.widgets.formatting import ago, size_text


def place_title(place: FoundPlace) -> str:
    """ "Obsidian vault Garden", "OpenClaw: coder", "Claude Code"; the file's name where no agent is known."""
    if place.kind == "obsidian-vault":
        return tr("Obsidian vault {name}", name=place.name)
    if not place.agent:
        return folder_name(place.path)
    agent = agent_name(place.agent)
    if place.kind == "openclaw-workspace":
        agent = tr("{agent} workspace", agent=agent)
    return f"{agent}: {place.name}" if place.name else agent


def place_amount(place: FoundPlace) -> str:
    """ "412 files, 118 MB, changed 3 h ago"."""
    if not place.files:
        return tr("no files") if place.whole else tr("more files than were counted")
    size = size_text(place.bytes)
    if place.whole:
        amount = tr_count("{count:,} file, {size}", "{count:,} files, {size}", place.files, size=size)
    else:
        amount = tr_count(
            "more than {count:,} file, {size}", "more than {count:,} files, {size}", place.files, size=size
        )
    if place.newest is None:
        return amount
    return tr("{amount}, changed {when}", amount=amount, when=ago(place.newest))


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
