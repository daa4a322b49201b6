"""Keeps the account of what discovery passed over short: 50,000 photos must not become 50,000 issues."""

import os
from collections import Counter

from engine.base import skip_reasons
from engine.base.language import marked
from engine.corpus.ignore import shown
from engine.records import FileIssue

_LISTED_PER_RULE = 1_000
_LISTED_ENDINGS = 30


class SkipSummary:
    """Files and folders passed over: listed by name up to a limit a rule, files of foreign kinds only counted."""

    def __init__(self, extensions: tuple[str, ...]) -> None:
        self._wanted = ", ".join(extensions)
        self._issues: list[FileIssue] = []
        self._per_rule: Counter[str] = Counter()
        self._endings: Counter[str] = Counter()

    def add(self, name: str, rule: str, detail: str) -> None:
        self._per_rule[rule] += 1
        if self._per_rule[rule] <= _LISTED_PER_RULE:
            self._issues.append(FileIssue(path=shown(name), rule=rule, detail=detail))

    def count_ending(self, base: str) -> None:
        """Count a file that is passed over for its extension."""
        self._endings[os.path.splitext(base)[1].lower()] += 1

    def issues(self) -> list[FileIssue]:
        """Everything passed over, in the order found, then the counts, the largest first."""
        found = list(self._issues)
        for rule, number in self._per_rule.items():
            if number > _LISTED_PER_RULE:
                more = skip_reasons.MORE_OF_A_RULE.said(number=number - _LISTED_PER_RULE)
                found.append(FileIssue(path="…", rule=rule, detail=more))
        common = self._endings.most_common()
        for ending, number in common[:_LISTED_ENDINGS]:
            name = shown(f"*{ending}") if ending else marked("(no extension)")
            found.append(self._counted(name, number))
        if rest := sum(number for _, number in common[_LISTED_ENDINGS:]):
            found.append(self._counted(marked("(other extensions)"), rest))
        return found

    def _counted(self, name: str, number: int) -> FileIssue:
        detail = skip_reasons.OTHER_EXTENSIONS.said(count=number, extensions=self._wanted)
        return FileIssue(path=name, rule="extension", detail=detail)
