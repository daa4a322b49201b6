"""The entries of the command palette: commands in their current state, settings, saved searches and recent folders."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import groupby
from typing import NamedTuple

from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from engine import marked, tr
from gui.commands.keymap import Command, Keymap
from gui.core.key_listing import by_context, missing, title
from gui.settings.option_pages import placed_options

_WHOLE_BEGINNING, _BEGINNING, _INITIALS, _INSIDE = 100.0, 80.0, 60.0, 50.0
SCATTERED = 20.0
"""Highest score of a match whose letters are neither adjacent nor at the beginnings of words."""


_FADING = 0.9
"""How much each use counts, compared with the one after it."""
_SETTING_WEIGHT = 0.75
"""Weight of a setting's match, so that an equally good command comes first."""
ALSO_CALLED = {
    "session.copy-resume": marked("continue session, terminal"),
    "session.prompts": marked("prompts, questions, outline"),
    "session.remember": marked("save as note, summary"),
    "share.context": marked("hand over, context, prompt"),
    "share.session": marked("save as, HTML, download"),
    "share.export": marked("save as, HTML, CSV, download"),
    "search.save": marked("bookmark, favourite, star, pin"),
    "search.pick": marked("history, bookmarks, favourites"),
    "search.help": marked("operators, filters, tags, wildcards"),
    "search.quick": marked("popup, global search"),
    "folder.choose": marked("vault, workspace, directory, switch"),
    "folder.add-sessions": marked("agents, transcripts, import"),
    "file.ask-why": marked("missing, skipped, excluded"),
    "index.sync": marked("refresh, reload, reindex, scan"),
    "index.rebuild": marked("reindex, repair, reset"),
    "settings.show": marked("preferences, options, configuration"),
    "text.larger": marked("zoom in, bigger, font size"),
    "text.smaller": marked("zoom out, font size"),
    "text.normal": marked("reset zoom, font size"),
    "theme.dark": marked("night mode, colours"),
    "theme.light": marked("day mode, colours"),
    "help.keys": marked("keys, hotkeys, key bindings"),
    "help.guide": marked("manual, documentation, tutorial"),
    "help.about": marked("version"),
    "window.quit": marked("exit, close"),
    "go.back": marked("previous"),
    "go.forward": marked("next"),
    "reading.find": marked("search in page"),
    "reading.next-match": marked("next hit"),
    "reading.previous-match": marked("previous hit"),
    "file.links": marked("backlinks, references"),
    "file.rendered": marked("preview, Markdown, reading view"),
    "file.reveal": marked("show in folder, explorer"),
    "view.facts": marked("memory, remember"),
    "view.edits": marked("changed files, history"),
    "facts.new": marked("remember, memory"),
    "facts.forget": marked("delete, remove"),
    "share.pdf": marked("export"),
    "passage.like": marked("similar, related"),
}
"""Search words of commands, by their names; settings declare theirs."""


class WordMatch(NamedTuple):
    score: float
    """Higher is better; 0 for an empty text, which everything matches."""
    marks: tuple[tuple[int, int], ...]
    """Separate ranges of the found characters in `words`, in order."""


# rapidfuzz 3.14.6 filters 300 entries in 1 ms per key press instead of 5, but ranks worse: for the beginnings,
# initials and parts of 55 commands the mean reciprocal rank is 0.62 (partial_ratio) or 0.52 (WRatio) instead of 0.78.
def match_words(query: str, words: str, extra: str = "") -> WordMatch | None:
    """Match each word of `query` in the label `words`, or else in `extra`; None if a word of the query is missing in
    both.

    Matches are: the beginning of a word, a part of one, the initials of words, or letters in order, the first at the
    beginning of a word.
    """
    score = 0.0
    positions: set[int] = set()
    parts = query.casefold().split()
    for part in parts:
        letters = _find(part, _folded(words))
        if letters is not None:
            score += letters[0]
            positions.update(letters[1])
            continue
        elsewhere = _find(part, _folded(extra))
        if elsewhere is None:
            return None
        score += elsewhere[0] / 2
    return WordMatch(score / max(1, len(parts)), _ranges(positions))


@lru_cache(maxsize=2048)
def _folded(words: str) -> str:
    """Fold the case of each character separately, so that positions stay valid."""
    return "".join(folded if len(folded := letter.casefold()) == 1 else letter for letter in words)


@lru_cache(maxsize=2048)
def _beginnings(words: str) -> list[int]:
    """Return the positions at which words begin."""
    return [
        position
        for position in range(len(words))
        if words[position].isalnum() and not words[position - 1 : position].isalnum()
    ]


def _find(part: str, words: str) -> tuple[float, range | list[int]] | None:
    begins = _beginnings(words)
    for position in begins:
        if words.startswith(part, position):
            best = _WHOLE_BEGINNING if position == 0 else _BEGINNING
            return best - position / 10, range(position, position + len(part))
    initials = _in_order(part, words, begins)
    if initials is not None and len(part) > 1:
        return _INITIALS - initials[-1] / 10, initials
    inside = words.find(part)
    if inside >= 0:
        return _INSIDE / (1 + inside / 50), range(inside, inside + len(part))
    for position in begins:
        if words[position] == part[0]:
            scattered = _in_order(part, words, range(position, len(words)))
            if scattered is not None:
                gaps = scattered[-1] - scattered[0] + 1 - len(part)
                return SCATTERED / (1 + gaps / 10), scattered
    return None


def _in_order(part: str, words: str, positions: "range | list[int]") -> list[int] | None:
    """Find the letters of `part` in order in `words`, each at one of `positions`; returns their positions, or None."""
    indices = []
    rest = iter(positions)
    for letter in part:
        position = next((position for position in rest if words[position] == letter), None)
        if position is None:
            return None
        indices.append(position)
    return indices


def _ranges(letters: set[int]) -> tuple[tuple[int, int], ...]:
    runs = groupby(enumerate(sorted(letters)), lambda pair: pair[1] - pair[0])
    together = [[position for _, position in run] for _, run in runs]
    return tuple((run[0], run[-1] + 1) for run in together)


@dataclass(frozen=True)
class Entry:
    """An entry of the palette. `key` identifies it, also in later runs; `reason`: why it can't be run now, or empty.

    `known_as` are hidden search texts: its English label, its command name and synonyms. `is_setting`: it opens a
    setting, and is listed only for a query.
    """

    key: str
    label: str
    where: str
    keys: str
    reason: str
    run: Callable[[], object]
    known_as: str = ""
    is_setting: bool = False


class Found(NamedTuple):
    entry: Entry
    word_match: WordMatch


def commands(keymap: Keymap, window: QWidget, focus: QWidget | None, leave_out: str) -> list[Entry]:
    """Return entries of all commands except `leave_out`, in the order of their contexts.

    If several panes have the same command, the one with the focus (`focus`) runs it.
    """
    known: defaultdict[str, list[QAction]] = defaultdict(list)
    for action in window.findChildren(QAction):
        if action.objectName() in keymap.commands:
            known[action.objectName()].append(action)
    return [
        _entry(keymap, command, known[command.name], focus)
        for command in by_context(keymap)
        if (command.name in known or missing(command.contexts[0])) and command.name != leave_out
    ]


def _entry(keymap: Keymap, command: Command, actions: Sequence[QAction], focus: QWidget | None) -> Entry:
    """Return the entry of a command; without actions, the panel that has it isn't made yet."""
    if not actions:
        return _make_entry(keymap, command, "", missing(command.contexts[0]), _do_nothing)
    action, reason = _choose(command, actions, focus)
    if not reason and not action.isEnabled():
        reason = action.statusTip() or tr("This command isn't available right now.")
    state = ""
    if action.isCheckable() and not reason:
        off = "" if action.actionGroup() is not None else tr("off")
        state = tr("on") if action.isChecked() else off
    return _make_entry(keymap, command, state, reason, action.trigger)


def _make_entry(keymap: Keymap, command: Command, state: str, reason: str, run: Callable[[], object]) -> Entry:
    where = "" if command.contexts == ("window",) else ", ".join(map(title, command.contexts))
    shown = " · ".join(filter(None, (where, state)))
    synonyms = ALSO_CALLED.get(command.name, "")
    known_as = f"{command.english} {command.name} {tr(synonyms) if synonyms else ''}"
    return Entry(command.name, command.label, shown, keymap.first_key(command.name), reason, run, known_as)


def settings(show: Callable[[str], object], reason: str) -> list[Entry]:
    """Return an entry for each setting; `show` opens the setting with a key, unless there is a `reason` why not."""
    return [
        Entry(
            f"setting:{placed.key}",
            placed.title,
            tr("Setting"),
            "",
            reason,
            partial(show, placed.key),
            f"{tr(placed.option.also) if placed.option.also else ''} {placed.name} {placed.key}",
            is_setting=True,
        )
        for placed in placed_options().values()
    ]


def _do_nothing() -> None:
    """Run a command whose panel isn't made yet."""


def _choose(command: Command, actions: Sequence[QAction], focus: QWidget | None) -> tuple[QAction, str]:
    """Return the action of a command for the current focus, and why it can't be run; empty if it can."""
    owned = [(action, owner) for action in actions if (owner := _owner(action)) is not None and owner.isVisible()]
    for action, owner in owned:
        if focus is not None and (owner is focus or owner.isAncestorOf(focus)):
            return action, ""
    if len(owned) == 1:
        return owned[0][0], ""
    if owned:
        return actions[0], tr("Several panels have this command. Click in the one that you mean first.")
    return actions[0], missing(command.contexts[0])


def _owner(action: QAction) -> QWidget | None:
    """Return the widget in which the action's keys work."""
    widgets = (widget for widget in action.associatedObjects() if isinstance(widget, QWidget))
    return next((widget for widget in widgets if not isinstance(widget, QMenu)), None)


def _match_entry(query: str, entry: Entry) -> WordMatch | None:
    """Match the visible text of an entry, or else its hidden texts, in which scattered letters don't count."""
    if entry.is_setting:
        return _match_setting(query, entry)
    in_all = match_words(query, entry.label, f"{entry.where} {entry.keys}")
    known = match_words(query, entry.known_as)
    if known is None or known.score < SCATTERED or (in_all is not None and in_all.score >= known.score / 2):
        return in_all
    return WordMatch(known.score / 2, ())


def _match_setting(query: str, entry: Entry) -> WordMatch | None:
    """Match a setting like a command, but below it, and never by scattered letters: there are too many settings."""
    if not query.strip():
        return None
    matches = match_words(query, entry.label), match_words(query, entry.known_as)
    scores = [match.score if match is not None and match.score > SCATTERED else 0.0 for match in matches]
    in_words, known = scores[0] * _SETTING_WEIGHT, scores[1] * _SETTING_WEIGHT / 2
    if in_words >= known:
        return WordMatch(in_words, matches[0].marks) if matches[0] is not None and in_words else None
    return WordMatch(known, ())


def choose(entries: Iterable[Entry], query: str, recent: Sequence[str]) -> list[Found]:
    """The matching entries, best first; ties by use, then by whether they can be run now, then by order.

    `recent`: the keys of the last uses, newest first. Each counts less than the one after it, so that frequent
    commands come first, and of equally frequent ones the most recent.
    """
    use: defaultdict[str, float] = defaultdict(float)
    for age, key in enumerate(recent):
        use[key] += _FADING**age
    matches = [Found(entry, fitting) for entry in entries if (fitting := _match_entry(query, entry)) is not None]
    matches.sort(key=lambda match: (-round(match.word_match.score), -use[match.entry.key], bool(match.entry.reason)))
    return matches
