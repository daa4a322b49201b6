"""The sentences of the preview: what would be indexed, what not, and why."""

from collections import Counter
from pathlib import Path

from engine import WorkspacePreview
from gui.widgets.wording import counted, size_text

_RULES_NAMED = 3


def what_is_indexed(preview: WorkspacePreview) -> str:
    if not preview.files:
        return "No file in this folder would be indexed."
    whole = f"{counted(preview.files, 'file')}, {size_text(preview.bytes)}"
    if preview.layout == "openclaw":
        return f"{whole}: MEMORY.md and the folder memory, as an assistant's workspace keeps them."
    return f"{whole} in this folder and the folders inside it."


def what_sessions_are_indexed(preview: WorkspacePreview) -> str:
    """Empty where there are none."""
    if not preview.session_files:
        return ""
    return f"With it {counted(preview.session_files, 'session file')} of AI agents, {size_text(preview.session_bytes)}."


def what_is_passed_over(preview: WorkspacePreview) -> str:
    """Which rules, most frequent first; the table names every file."""
    rules = Counter(issue.rule for issue in preview.skipped).most_common()
    if not rules:
        return "Nothing is passed over."
    named = [rule.replace("-", " ") for rule, _ in rules[:_RULES_NAMED]]
    more = "" if len(rules) <= _RULES_NAMED else f" and {counted(len(rules) - _RULES_NAMED, 'other rule')}"
    return f"Passed over by: {', '.join(named)}{more}."


def what_is_written(index_folder: Path) -> str:
    return f"Nothing will be written to your folder. The index is kept in {index_folder}."
