"""The sentences of the preview: what would be indexed, what not, and why."""

from collections import Counter
from pathlib import Path

from engine import WorkspacePreview, tr, tr_count
from gui.widgets.formatting import size_text
from gui.widgets.skip_rules import rule_words

_RULES_NAMED = 3


def what_is_indexed(preview: WorkspacePreview) -> str:
    if not preview.files:
        return tr("No file in this folder would be indexed.")
    size = size_text(preview.bytes)
    if preview.layout == "openclaw":
        return tr_count(
            "{count:,} file, {size}: MEMORY.md and the folder memory, as an assistant's workspace keeps them.",
            "{count:,} files, {size}: MEMORY.md and the folder memory, as an assistant's workspace keeps them.",
            preview.files,
            size=size,
        )
    return tr_count(
        "{count:,} file, {size} in this folder and the folders inside it.",
        "{count:,} files, {size} in this folder and the folders inside it.",
        preview.files,
        size=size,
    )


def what_sessions_are_indexed(preview: WorkspacePreview) -> str:
    """Empty where there are none."""
    if not preview.session_files:
        return ""
    return tr_count(
        "With it {count:,} session file of AI agents, {size}.",
        "With it {count:,} session files of AI agents, {size}.",
        preview.session_files,
        size=size_text(preview.session_bytes),
    )


def what_is_passed_over(preview: WorkspacePreview) -> str:
    """Which rules, most frequent first; the table names every file."""
    rules = Counter(issue.rule for issue in preview.skipped).most_common()
    if not rules:
        return tr("Nothing is passed over.")
    named = ", ".join(rule_words(rule) for rule, _ in rules[:_RULES_NAMED])
    rest = len(rules) - _RULES_NAMED
    if rest <= 0:
        return tr("Passed over by: {rules}.", rules=named)
    return tr_count(
        "Passed over by: {rules} and {count:,} other rule.",
        "Passed over by: {rules} and {count:,} other rules.",
        rest,
        rules=named,
    )


def what_is_written(index_folder: Path) -> str:
    return tr("Nothing will be written to your folder. The index is kept in {folder}.", folder=index_folder)
