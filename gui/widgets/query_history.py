"""The questions of this window, for going back to one."""

from collections.abc import Sequence

MOST = 100


class QueryHistory:
    """Remembers what was asked, oldest first. What is typed after the newest is a draft, kept for the way back."""

    def __init__(self) -> None:
        self._asked: list[str] = []
        self._draft = ""
        self._at = 0

    def remember(self, query: str) -> None:
        """`query` was meant: it is the newest from now on. Its own beginning, if that was the newest, is forgotten."""
        if not query or self._is_at(query):
            return
        asked = [known for known in self._asked if known != query]
        if asked and query.startswith(asked[-1]):
            asked.pop()
        self._asked = [*asked, query][-MOST:]
        self._at, self._draft = len(self._asked) - 1, query

    def begin(self, queries: Sequence[str]) -> None:
        """Those of earlier windows, oldest first, come before what was asked in this one."""
        here = self._asked
        self._asked = [*(query for query in queries if query not in here), *here][-MOST:]
        self._at = len(self._asked)

    def earlier(self, query: str) -> str | None:
        """The question before `query`, which is what stands in the box; None at the oldest."""
        self._stand_at(query)
        if self._at == 0:
            return None
        self._at -= 1
        return self._asked[self._at]

    def later(self, query: str) -> str | None:
        """The question after `query`, at last the draft; None where that is."""
        self._stand_at(query)
        if self._at == len(self._asked):
            return None
        self._at += 1
        return self._asked[self._at] if self._at < len(self._asked) else self._draft

    def _is_at(self, query: str) -> bool:
        return self._at < len(self._asked) and self._asked[self._at] == query

    def _stand_at(self, query: str) -> None:
        if not self._is_at(query):
            self._at, self._draft = len(self._asked), query
