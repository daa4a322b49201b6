"""What the page says of groups and of their files. Pure functions."""

from collections import Counter
from collections.abc import Sequence

from engine import DuplicateGroup, DuplicateMember, share_text
from gui.index.attention import Attention
from gui.widgets.wording import ago, counted, duration, grouped, size_text

_DAY = 86_400

NOTHING = "No two notes share text"
NOTHING_MORE = "Notes that are the same, nearly the same, or share a passage of some lines would be listed here."
NO_NOTES = "No note is indexed yet"
NO_NOTES_MORE = "Notes that share text will be listed here as soon as there are some."


def names_text(group: DuplicateGroup) -> str:
    """The first names, and how many more there are."""
    names = [member.path.rpartition("/")[2] for member in group.members]
    if len(set(names)) < len(names):
        names = [member.path for member in group.members]
    shown = names[:3]
    more = group.files - len(shown)
    return ", ".join(shown) + (f" and {grouped(more)} more" if more > 0 else "")


def measure_text(group: DuplicateGroup) -> str:
    return f"{counted(group.files, 'note')} · {counted(group.words, 'word')} in common"


def member_text(member: DuplicateMember) -> str:
    """In the choice of what is compared."""
    return f"{member.path} · {lines_text(member)}"


def lines_text(member: DuplicateMember) -> str:
    if member.start_line == member.end_line:
        return f"line {grouped(member.start_line)}"
    return f"lines {grouped(member.start_line)}–{grouped(member.end_line)}"


def facts_text(member: DuplicateMember) -> str:
    """Below the choice."""
    return f"{ago(member.modified)} · {size_text(member.size)} · {share_text(member.share)} of it shared"


def between_text(left: DuplicateMember, right: DuplicateMember) -> str:
    """Which of the two is newer, and which longer."""
    facts: list[tuple[bool, str]] = []  # of the left one, or of the other
    apart = abs(left.modified - right.modified)
    if apart >= 1:
        days = f"{apart / _DAY:.0f} days" if apart >= 2 * _DAY else duration(apart)
        facts.append((left.modified > right.modified, f"newer by {days}"))
    if left.size != right.size:
        facts.append((left.size > right.size, f"longer by {size_text(abs(left.size - right.size))}"))
    if not facts:
        return "As old and as long as each other"
    (side, text), *others = facts
    for other, words in others:
        text += f" and {words}" if other == side else f"; {_side(other)} is {words}"
    return f"T{_side(side)[1:]} is {text}"


def _side(left: bool) -> str:
    return "the left one" if left else "the right one"


def attention_of(groups: Sequence[DuplicateGroup]) -> tuple[Attention, ...]:
    """The row of what needs attention: nothing is wrong with duplicates, they are only worth a look."""
    copies = [group for group in groups if group.kind != "recurring"]
    if not copies:
        return ()
    kinds: Counter[str] = Counter(group.kind for group in copies)
    named = [
        counted(kinds[kind], one, many)
        for kind, one, many in (
            ("identical", "note is there twice", "notes are there twice or more"),
            ("alike", "near-copy", "near-copies"),
            ("contained", "note inside another one", "notes inside others"),
            ("passage", "copied passage", "copied passages"),
        )
        if kinds[kind]
    ]
    title = counted(len(copies), "duplicate") if kinds["identical"] else counted(len(copies), "near-duplicate")
    return (Attention("duplicates", "off", title, ", ".join(named), ("Compare", "duplicates")),)


def summary_text(shown: int, found: int, files: int, hidden: int) -> str:
    """Above the list."""
    parts = [f"{counted(found, 'group')} among {counted(files, 'note')}"]
    if shown < found - hidden:
        parts.append(f"the first {grouped(shown)} are listed")
    if hidden:
        parts.append(f"{grouped(hidden)} hidden")
    return " · ".join(parts)
