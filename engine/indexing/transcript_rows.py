"""From one transcript to the rows of its sessions: finds out what it is, and has it read as such."""

from engine.base import skip_reasons
from engine.corpus.folder_walk import FoundFile
from engine.corpus.transcripts.transcript_reader import database_format, document_format, line_format, opened
from engine.indexing.commits import Commits
from engine.indexing.document_rows import DocumentRows
from engine.indexing.line_rows import LineRows
from engine.indexing.sync_parts import StageWork
from engine.indexing.transcript_notes import leaving_out
from engine.records import FileIssue


class TranscriptRows:
    """Reads transcripts for one pass over one generation."""

    def __init__(self, work: StageWork, commits: Commits) -> None:
        self._commits = commits
        self._lines = LineRows(work, commits)
        self._whole = DocumentRows(work, commits)

    def take(self, file: FoundFile) -> FileIssue | None:
        """Bring the sessions of one transcript up to date; an issue where nothing of it can be indexed.

        Raises OSError, `PathRefused`, Cancelled; then nothing of it has changed, but for what stands before the
        place in an export or a long transcript: the next time goes on there.
        """
        with opened(file.path) as (source, _):
            try:
                database = database_format(source, file.path)
            except ValueError as error:
                return self._whole.unreadable(file, error)
            document = None if database else document_format(source, file.path)
            known = None if database or document else line_format(source)
            if known is not None:
                return self._lines.take(file, source, known)
        if database is not None:
            return self._whole.database(file, database)
        if document is not None:
            return self._whole.document(file, document)
        return self.leave_out(file, "unknown-format", skip_reasons.NO_TRANSCRIPT.said())

    def leave_out(self, file: FoundFile, rule: str, detail: str) -> FileIssue:
        """Note that nothing of a transcript is indexed, and why. Raises Cancelled."""
        self._commits.put(leaving_out(file, rule, detail))
        return FileIssue(path=file.name, rule=rule, detail=detail)
