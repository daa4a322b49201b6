"""Every transcript format that is known: add a module, then its format here."""

from engine.corpus.transcripts.formats import DocumentFormat, LineFormat
from engine.corpus.transcripts.openclaw import OpenClawFormat

LINE_FORMATS: tuple[LineFormat, ...] = (OpenClawFormat(),)
"""In the order in which they are tried: those with the surest marks first."""
DOCUMENT_FORMATS: tuple[DocumentFormat, ...] = ()
