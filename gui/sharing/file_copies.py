"""Sessions as files that others may have: readable Markdown with the secrets masked, in a private folder.

A transcript itself never leaves the program: it holds the secrets that are masked everywhere else.
"""

import tempfile
from pathlib import Path

from engine import CancelToken, MemorySearchManager, temporary_prefix, to_slug
from gui.conversation.entries import prepare
from gui.conversation.markdown_export import conversation_markdown


class SessionCopies:
    """Created on demand; all are deleted by `close`, or at exit. Any thread."""

    def __init__(self) -> None:
        self._folder: tempfile.TemporaryDirectory[str] | None = None

    def make(self, manager: MemorySearchManager, path: str, token: CancelToken) -> Path:
        """A file with this session in its current state. Raises as `read_session`."""
        session = manager.read_session(path, reveal=False, cancel=token)
        text = conversation_markdown(prepare(session, token), "short", token)
        token.checkpoint()
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix=temporary_prefix("shared"), ignore_cleanup_errors=True)
        # A folder for each: two sessions may have one title, and the file name is visible to the target.
        folder = Path(tempfile.mkdtemp(dir=self._folder.name))
        made = folder / f"{to_slug(session.summary.title) or 'session'}.md"
        made.write_text(text, encoding="utf-8", errors="replace", newline="\n")
        made.chmod(0o600)
        return made

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
