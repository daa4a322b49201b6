"""Reads an agent's working folder from the beginning of a transcript, before the rest of it is read."""

from itertools import islice

from engine.base.errors import PathRefused
from engine.corpus.transcripts.jsonl import raw_lines
from engine.corpus.transcripts.modified_time import transcript_of
from engine.corpus.transcripts.transcript_reader import database_format, document_format, fed, line_format, opened

_LINES = 200
"""Agents name their folder in the first lines, or in each."""


def project_of(path: str) -> str:
    """The folder as the transcript names it.

    Empty where it names none or cannot be read, and for an export or a database, which hold sessions of many projects.
    """
    try:
        with opened(path) as (source, _):
            if database_format(source, path) is not None:
                return ""
            document = document_format(source, path)
            if document is not None:
                first = next(iter(document.conversations(path, None)), None)
                return first.facts.project if first is not None and not first.key else ""
            known = line_format(source)
            if known is None:
                return ""
            parser = known.parser(transcript_of(path))
            for raw in islice(raw_lines(source), _LINES):
                fed(parser, raw)
                if parser.facts.project:
                    break
            return parser.facts.project
    except (OSError, ValueError, PathRefused):
        return ""
