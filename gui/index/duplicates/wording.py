"""Texts about groups of duplicates and their files. Pure functions."""

from collections import Counter
from collections.abc import Sequence

from engine import DuplicateGroup, DuplicateKind, DuplicateMember, marked, share_text, tr, tr_count
from gui.index.attention_items import Attention
from gui.widgets.formatting import ago, duration, size_text
from gui.widgets.right_to_left import runs_left

_DAY = 86_400

NOTHING = marked("No two notes share text")
NOTHING_MORE = marked(
    "Notes that are the same, nearly the same, or share a passage of some lines would be listed here."
)
NO_NOTES = marked("No note is indexed yet")
NO_NOTES_MORE = marked("Notes that share text will be listed here as soon as there are some.")

_BETWEEN = {
    ("", ""): marked("Same age and length"),
    ("left", ""): marked("The note on the left is newer by {time}"),
    ("right", ""): marked("The note on the right is newer by {time}"),
    ("", "left"): marked("The note on the left is longer by {size}"),
    ("", "right"): marked("The note on the right is longer by {size}"),
    ("left", "left"): marked("The note on the left is newer by {time} and longer by {size}"),
    ("right", "right"): marked("The note on the right is newer by {time} and longer by {size}"),
    ("left", "right"): marked("The note on the left is newer by {time}; the one on the right is longer by {size}"),
    ("right", "left"): marked("The note on the right is newer by {time}; the one on the left is longer by {size}"),
}
"""Texts by which of two notes is newer, and which is longer."""


def names_text(group: DuplicateGroup) -> str:
    """Return the first names of the notes in a group, and how many more there are."""
    names = [member.path.rpartition("/")[2] for member in group.members]
    if len(set(names)) < len(names):
        names = [member.path for member in group.members]
    shown = names[:3]
    more = group.files - len(shown)
    listed = ", ".join(shown)
    return tr("{names} and {count:,} more", names=listed, count=more) if more > 0 else listed


def measure_text(group: DuplicateGroup) -> str:
    notes = tr_count("{count:,} note", "{count:,} notes", group.files)
    words = tr_count("{count:,} word in common", "{count:,} words in common", group.words)
    return f"{notes} · {words}"


def recurring_text(count: int) -> str:
    """Return the title of the row for text that recurs in many notes."""
    return tr_count("{count:,} text recurs in many notes", "{count:,} texts recur in many notes", count)


def member_text(member: DuplicateMember) -> str:
    """Return the label of a note in the menu of notes to compare: path and lines."""
    first, last = member.start_line, member.end_line
    return f"{member.path} · " + (f"{first}\N{EN DASH}{last}" if last > first else str(first))


def facts_text(member: DuplicateMember) -> str:
    """Return a note's age, size and shared part as text, shown below the menu."""
    shared = tr("{share} of this note also occurs in other notes", share=share_text(member.share))
    return f"{ago(member.modified)} · {size_text(member.size)} · {shared}"


def between_text(left: DuplicateMember, right: DuplicateMember) -> str:
    """Return which of two notes is newer, and which is longer."""
    age_difference = abs(left.modified - right.modified)
    if runs_left():
        left, right = right, left  # a mirrored window shows them in this order
    newer = "" if age_difference < 1 else "left" if left.modified > right.modified else "right"
    longer = "" if left.size == right.size else "left" if left.size > right.size else "right"
    return tr(_BETWEEN[newer, longer], time=_time_text(age_difference), size=size_text(abs(left.size - right.size)))


def _time_text(seconds: float) -> str:
    if seconds < 2 * _DAY:
        return duration(seconds)
    return tr_count("{count} day", "{count} days", round(seconds / _DAY))


def attention_of(groups: Sequence[DuplicateGroup]) -> tuple[Attention, ...]:
    """Return the attention row for duplicates, which are not an error."""
    copies = [group for group in groups if group.kind != "recurring"]
    if not copies:
        return ()
    kinds: Counter[DuplicateKind] = Counter(group.kind for group in copies)
    named = [_kind_text(kind, kinds[kind]) for kind in ("identical", "alike", "contained", "passage") if kinds[kind]]
    if kinds["identical"]:
        title = tr_count("{count:,} duplicate", "{count:,} duplicates", len(copies))
    else:
        title = tr_count("{count:,} near-duplicate", "{count:,} near-duplicates", len(copies))
    return (Attention("duplicates", "off", title, ", ".join(named), (tr("Compare"), "duplicates")),)


def _kind_text(kind: DuplicateKind, count: int) -> str:
    match kind:
        case "identical":
            return tr_count("{count:,} note exists twice", "{count:,} notes exist twice or more", count)
        case "alike":
            return tr_count("{count:,} near-copy", "{count:,} near-copies", count)
        case "contained":
            return tr_count("{count:,} note contained in another one", "{count:,} notes contained in others", count)
        case "passage" | "recurring":
            return tr_count("{count:,} copied passage", "{count:,} copied passages", count)


def summary_text(shown: int, found: int, files: int, hidden: int) -> str:
    """Return the summary above the list."""
    groups = tr_count("{count:,} group", "{count:,} groups", found)
    parts = [tr_count("{groups} among {count:,} note", "{groups} among {count:,} notes", files, groups=groups)]
    if shown < found - hidden:
        parts.append(tr("the first {count:,} groups are listed", count=shown))
    if hidden:
        parts.append(tr("{count:,} hidden", count=hidden))
    return " · ".join(parts)
