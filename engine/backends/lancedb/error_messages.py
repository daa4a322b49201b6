"""Turns LanceDB's errors into messages that a user can act on.

Lance describes the cause only in its message, through several layers, and it may contain addresses with signatures: the
message is searched for known causes and never shown or logged.
"""

import re

from engine.base.errors import BackendError, DiskFull, MnemoscopeError
from engine.base.language import marked, tr


class TableUnavailable(BackendError):
    """The table can't be used now; the message says why."""


class TableMissing(BackendError):
    """The table does not exist yet."""

    def __init__(self) -> None:
        super().__init__(tr("The LanceDB table does not exist yet: the next update creates it."))


class TableReplaced(BackendError):
    """The opened table no longer exists: another machine deleted, recreated or cleaned it up."""

    def __init__(self) -> None:
        super().__init__(tr("Another machine has replaced the LanceDB table: try again."))


class NotIndexed(BackendError):
    """The table has no full-text index yet; the machine that made the table will create it."""

    def __init__(self) -> None:
        super().__init__(tr("The LanceDB table has no keyword index yet: the next update creates it."))


class TableExists(BackendError):
    """The table already exists: another machine has just made it."""

    def __init__(self) -> None:
        super().__init__(tr("The LanceDB table already exists."))


class TableTooNew(BackendError):
    """The table was made by a newer version of the program, or by another program; it is not changed."""


class Conflict(BackendError):
    """Another machine committed at the same moment; a retry may succeed."""

    def __init__(self) -> None:
        super().__init__(tr("Other machines kept changing the LanceDB table: the next update tries again."))


_CAUSES: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), sentence)
    for pattern, sentence in (
        (
            r"bareredirect|permanentredirect|authorizationheadermalformed|region.{0,40}is wrong",
            marked("The storage is in another region: set region in lancedb.storage_options."),
        ),
        (r"nosuchbucket|bucket.{0,40}not (?:exist|found)", marked("The bucket does not exist: check lancedb.uri.")),
        (
            r"accessdenied|access denied|invalidaccesskeyid|signaturedoesnotmatch|expiredtoken|unauthori[sz]ed"
            r"|forbidden|\b40[13]\b|credential|invalid api key|permission ?denied",
            marked(
                "The storage refuses the credentials of this machine: check the environment variables or the keychain."
            ),
        ),
        (
            r"timed? ?out|deadline|connect|dns|error sending request|network|broken pipe|reset by peer|unreachable"
            r"|hyper|\b50[0234]\b",
            marked("The storage does not answer: check the network and lancedb.uri."),
        ),
        (
            r"badscheme|https_only|http is not",
            marked("The endpoint uses http, which is not encrypted: to allow this, set lancedb.allow_http = true."),
        ),
        (
            r"corrupt|checksum|invalid footer|magic|unexpected eof",
            marked("The files of the table are damaged: choose another name for lancedb.table."),
        ),
    )
)
_CONFLICT = re.compile(r"conflict|too many concurrent|concurrent (?:transaction|modification|commit)", re.IGNORECASE)
_MISSING = re.compile(r"was not found|table.{0,80}does not exist|dataset.{0,200}not found", re.IGNORECASE)
_REPLACED = re.compile(r"not ?found: \S*\.lance\b", re.IGNORECASE)
_FULL = re.compile(r"no space left|disk full|quota exceeded|enospc", re.IGNORECASE)


def described(error: BaseException, table: str) -> MnemoscopeError:
    """Convert an error of LanceDB to one of the engine; `table`: the table's name in messages."""
    if isinstance(error, MnemoscopeError):
        return error
    text = str(error)
    if isinstance(error, TimeoutError):
        late = tr("The storage did not answer in time: check the network.")
        return TableUnavailable(tr("The table {table} cannot be used. {reason}", table=table, reason=late))
    if _FULL.search(text):
        return DiskFull(tr("The disk of the table {table} is full: earlier changes are saved.", table=table))
    if "inverted index" in text.lower():
        return NotIndexed()
    if "already exists" in text:
        return TableExists()
    if _CONFLICT.search(text):
        return Conflict()
    if _REPLACED.search(text):
        return TableReplaced()
    if _MISSING.search(text) and "bucket" not in text.lower():
        return TableMissing()
    cause = next((tr(sentence) for pattern, sentence in _CAUSES if pattern.search(text)), "")
    reason = cause or tr("LanceDB failed ({error}).", error=type(error).__name__)
    return TableUnavailable(tr("The table {table} cannot be used. {reason}", table=table, reason=reason))
