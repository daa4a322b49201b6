"""The past sessions of a fake memory: listed, read and compared."""

from collections.abc import Mapping, Sequence

from engine import CancelToken, PathRefused, SessionSummary, SessionText
from tests.helpers.fake_opening import Closable, wait
from tests.helpers.fake_sessions import masked, raw_line, words_of


class FakeSessionReading(Closable):
    """Attributes:
    session_texts: path -> session, as its transcript has it; empty unless given (see fake_sessions.SESSIONS).
    session_error: raised in place of listing, reading or comparing sessions.
    session_delay: seconds that reading or comparing sessions takes.
    session_reads: the sessions read, in order: (path, reveal).
    vectors: whether sessions can be compared.
    """

    vectors: bool

    def __init__(self, sessions: Mapping[str, SessionText] | None) -> None:
        self.session_texts = dict(sessions or {})
        self.session_error: Exception | None = None
        self.session_delay = 0.0
        self.session_reads: list[tuple[str, bool]] = []

    def sessions(self) -> tuple[SessionSummary, ...]:
        self._check_open()
        if self.session_error is not None:
            raise self.session_error
        found = [session.summary for session in self.session_texts.values()]
        return tuple(sorted(found, key=lambda summary: -(summary.started or 0.0)))

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        self.session_reads.append((path, reveal))
        return masked(self._session(path, cancel), reveal=reveal)

    def raw_lines(
        self, path: str, lines: Sequence[int], *, reveal: bool = False, cancel: CancelToken | None = None
    ) -> tuple[str, ...]:
        found = {message.line: raw_line(message, reveal=reveal) for message in self._session(path, cancel).messages}
        if not found.keys() >= set(lines):
            raise FileNotFoundError(2, "There is no such line", path)
        return tuple(found[line] for line in lines)

    def session_image(
        self, path: str, message: int, number: int, *, cancel: CancelToken | None = None
    ) -> tuple[bytes, str] | None:
        """Return no image: the invented sessions have none."""
        self._session(path, cancel)
        return None

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        """Return sessions that share words with this one, if vectors are on."""
        mine = self._words(self._session(path))
        if not self.vectors:
            return ()
        found = []
        for name, session in self.session_texts.items():
            words = self._words(session)
            if name != path and words & mine:
                found.append((session.summary, len(words & mine) / (len(words) * len(mine)) ** 0.5))
        return tuple(sorted(found, key=lambda pair: -pair[1])[:max_results])

    def _session(self, path: str, cancel: CancelToken | None = None) -> SessionText:
        wait(self.session_delay, cancel)
        self._check_open()
        if self.session_error is not None:
            raise self.session_error
        if path not in self.session_texts:
            raise PathRefused
        return self.session_texts[path]

    @staticmethod
    def _words(session: SessionText) -> set[str]:
        return words_of(" ".join(message.text for message in session.messages if message.kind == "text"))
