"""Explains why a path is indexed or not, from the rules for files and the content of the index."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, get_args

import msgspec

from engine.base import skip_reasons
from engine.base.cancellation import CancelToken
from engine.base.formatting import any_of, in_quotes
from engine.base.language import marked, tr, tr_count
from engine.base.skip_reasons import tr_reason
from engine.corpus.documents import NOT_NOTES
from engine.corpus.folder_walk import LATEST_NS
from engine.corpus.ignore_rules import Match, printable_name
from engine.corpus.path_status import Listing, PathFinder, PathStatus
from engine.corpus.transcripts.session_stores import session_name
from engine.corpus.transcripts.transcript_files import last_change
from engine.embedding.provider_interface import EmbeddingProvider
from engine.indexing.cost_estimate import name_of
from engine.indexing.crashing_files import WITHOUT_TEXT
from engine.records import FileIssue, FolderContents, PathRemedy, PathState, PathStateKind, RuleOrigin, Source
from engine.settings import Settings
from engine.settings.loading import origin_of
from engine.store import sessions
from engine.store.index import IndexStore
from engine.store.snapshot import Snapshot, indexed_file, issue_of
from engine.store.vector_encoding import StoredModel
from engine.text.folding import fold
from engine.text.spelling import typos

_KEYS = {
    "exclude": "exclude",
    "not-included": "include",
    "extension": "extensions",
    "too-large": "max_file_bytes",
    "source-off": "sources",
}
"""Settings key of each rule that the user can set; all other rules are built in."""
_NO_NOTES = Match("source-off", skip_reasons.SOURCE_OFF.message())
_BROKEN = "broken"
_BUILT_IN = RuleOrigin(key="", value="", layer="built-in", file="", line=0)
_SHOWN_PASSED = 20
_SHORTEST_TYPED = 4
"""Minimum number of letters and digits of a name that similar ones are looked up for."""
_MAX_TYPOS = 1
_MAX_SIMILAR = 3

MISSING = marked("There is no such file or folder: check its name for typos.")
NOT_SEARCHED = marked(
    "There is no such path, and the folders have too many files to search them for this name: enter the whole path."
)
NEW = marked("The file is new: the next update indexes it.")
CHANGED = marked("The file has changed since it was indexed. Until the next update, searches find its old text.")
FILE_DELETED = marked("The file was deleted. Searches find its text until the next update.")

_NAME_EXTRA_PATHS = frozenset({skip_reasons.HIDDEN_FOLDER.message(), skip_reasons.OUTSIDE_MEMORY.message()})
"""Reasons that already tell the user to add the path to `extra_paths`."""


class PathStates:
    """Explains why paths of one workspace are indexed or not. Thread-safe."""

    def __init__(self, workspace: Path, settings: Settings, store: IndexStore) -> None:
        self._workspace = workspace
        self._settings = settings
        self._store = store

    def explain(
        self, path: str, provider: EmbeddingProvider | None, config: Path | None, cancel: CancelToken | None
    ) -> PathState:
        """Return why a path is indexed or not; see `MemorySearchManager.explain_path`."""
        finder = PathFinder(self._workspace, self._settings)
        state = self._explain(path, finder, finder.find(path), provider, config, cancel)
        if state.state != "missing":
            return state
        named, searched = finder.find_by_name(path, cancel)
        if named is not None:
            return self._explain(path, finder, named, provider, config, cancel)
        return state if searched else msgspec.structs.replace(state, sentence=tr(NOT_SEARCHED))

    def _explain(
        self,
        path: str,
        finder: PathFinder,
        status: PathStatus,
        provider: EmbeddingProvider | None,
        config: Path | None,
        cancel: CancelToken | None,
    ) -> PathState:
        if status.match is None and status.source == "memory" and "memory" not in self._settings.sources:
            status = msgspec.structs.replace(status, match=_NO_NOTES)
        open_folder = status.kind == "folder" and status.source is not None and status.match is None
        listing = finder.list_folder(status, cancel) if open_folder else None
        origin = _origin(status.match, self._settings, self._workspace, config)
        with self._store.read(cancel) as snapshot:
            return _Explanation(path, finder, status, origin, snapshot, provider).make(listing)


def _plain_name(path: str) -> str:
    """Return the letters and digits of a file's name without its suffix."""
    base = path.strip().rstrip("/").rpartition("/")[2]
    return "".join(filter(str.isalnum, fold(base.rpartition(".")[0] or base)))


def _origin(match: Match | None, settings: Settings, workspace: Path, config: Path | None) -> RuleOrigin | None:
    if match is None:
        return None
    key = _KEYS.get(match.rule, "")
    if not key:
        return _BUILT_IN
    value = getattr(settings, key)
    text = ", ".join(value) if isinstance(value, tuple) else str(value)
    at = origin_of(key, workspace, config, match.pattern or None)
    return RuleOrigin(key=key, value=match.pattern or text, layer=at.layer, file=at.file, line=at.line)


class _Explanation:
    """Makes one explanation of a path, from one snapshot of the index."""

    def __init__(
        self,
        path: str,
        finder: PathFinder,
        status: PathStatus,
        origin: RuleOrigin | None,
        snapshot: Snapshot,
        provider: EmbeddingProvider | None,
    ) -> None:
        self._path = path
        self._finder = finder
        self._status = status
        self._origin = origin
        self._snapshot = snapshot
        self._provider = provider

    def make(self, listing: Listing | None) -> PathState:
        """`listing`: the files in the folder; None if the path is not that of an indexed folder."""
        status = self._status
        if status.kind == "missing":
            return self._missing()
        if status.source is None:
            indexable = self._finder.would_index(status)
            return self._state("outside", outside_message(indexable), "add" if indexable else None)
        if status.match is not None:
            return self._excluded(status.match, self._origin or _BUILT_IN)
        if listing is not None:
            contents = self._contents(listing)
            for issue in contents.skipped:
                if issue.rule == "unreadable" and issue.path == status.name:
                    return self._state("failed", tr_reason(issue.detail), "sync", contents=contents)
            waits = contents.pending or contents.deleted
            return self._state("folder", folder_message(contents), "sync" if waits else None, contents=contents)
        return self._transcript() if status.source == "sessions" else self._note()

    # --- missing and excluded paths -------------------------------------------------------------------------------

    def _missing(self) -> PathState:
        for name in dict.fromkeys((self._status.name, self._path.strip())):
            for source in get_args(Source):
                file = indexed_file(self._snapshot, source, printable_name(name)) if name else None
                if file is not None:
                    return self._state("deleted", tr(FILE_DELETED), "sync", path=name, source=source, title=file.title)
        return self._state("missing", self._similar_names() or tr(MISSING), None, path="", source=None)

    def _similar_names(self) -> str:
        """Return a sentence with the indexed files whose names differ by spaces, case or a typo; empty without any."""
        wanted = _plain_name(self._path)
        if len(wanted) < _SHORTEST_TYPED:
            return ""
        rows = self._snapshot.connection.execute(f"SELECT path FROM {self._snapshot.tables.files} ORDER BY path")
        found = [
            (distance, path)
            for (path,) in rows
            if (distance := typos(wanted, _plain_name(path), _MAX_TYPOS)) is not None
        ]
        names = any_of(in_quotes(path) for _, path in sorted(found)[:_MAX_SIMILAR])
        return tr("There is no such file or folder. Did you mean {names}?", names=names) if names else ""

    def _excluded(self, match: Match, origin: RuleOrigin) -> PathState:
        remedy: PathRemedy | None = "settings" if origin.key else None
        if not origin.key and self._status.source == "memory" and self._finder.would_index(self._status):
            remedy = "add"
        state: PathStateKind = "too-large" if match.rule == "too-large" else "excluded"
        sentence = excluded_message(self._status, match.detail, origin, addable=remedy == "add")
        at = self._status.excluded_path or self._status.name
        return self._state(state, sentence, remedy, rule=match.rule, rule_path=printable_name(at), origin=origin)

    # --- included paths -------------------------------------------------------------------------------------------

    def _note(self) -> PathState:
        name = self._status.name
        file = indexed_file(self._snapshot, "memory", name)
        failure = issue_of(self._snapshot, "failed", name)
        if file is None:
            skipped = issue_of(self._snapshot, "skipped", name)
            if skipped is not None and skipped.rule == NOT_NOTES:
                return self._excluded(Match(skipped.rule, skipped.detail), _BUILT_IN)
            return self._unknown(failure)
        state = Path(self._status.path).lstat()
        changed = (min(state.st_mtime_ns, LATEST_NS), state.st_size) != (file.mtime_ns, file.size)
        facts: dict[str, Any] = {"title": file.title, "size": file.size, "modified": file.mtime_ns / 1e9}
        if failure is not None and failure.rule in WITHOUT_TEXT and not changed:
            sentence = tr("Only the name of this file is found. {reason}", reason=tr_reason(failure.detail))
            return self._state("failed", sentence, "open", rule=failure.rule, rule_path=failure.path, **facts)
        return self._indexed([file.id], changed=changed, **facts)

    def _transcript(self) -> PathState:
        name = self._status.name
        stored = sessions.transcripts(self._snapshot).get(name)
        if stored is None:
            return self._unknown(issue_of(self._snapshot, "failed", name))
        named = sessions.sessions_of(self._snapshot, name)
        if stored.rule == _BROKEN and not named:
            return self._unknown(FileIssue(path=name, rule=stored.rule, detail=stored.detail))
        if stored.rule and not named:
            return self._excluded(Match(stored.rule, stored.detail), _BUILT_IN)
        if self._status.key:
            chosen = session_name(name, self._status.key)
            if chosen not in named:
                return self._state("missing", tr(MISSING), None, path="", source=None)
            named = {chosen: named[chosen]}
        rows = [
            row for row in (indexed_file(self._snapshot, "sessions", session) for session in named) if row is not None
        ]
        size, changed_ns = last_change(self._status.path, Path(self._status.path).lstat())
        return self._indexed(
            [row.id for row in rows],
            changed=(min(changed_ns, LATEST_NS), size) != (stored.mtime_ns, stored.size),
            problem=stored.detail,
            title=rows[0].title if len(rows) == 1 else "",
            sessions=len(rows),
            size=stored.size,
            modified=stored.mtime_ns / 1e9,
        )

    def _unknown(self, failure: FileIssue | None) -> PathState:
        """Return the state of a path that no rule excludes but that is not indexed."""
        if failure is None:
            return self._state("pending", tr(NEW), "sync")
        state: PathStateKind = "failed"
        if failure.rule == "binary":
            state = "not-text"
        elif failure.rule == "too-large":
            state = "too-large"
        return self._state(state, tr_reason(failure.detail), "open", rule=failure.rule, rule_path=failure.path)

    def _indexed(self, ids: list[int], *, changed: bool, problem: str = "", **facts: Any) -> PathState:
        provider = self._provider
        model = None if provider is None else self._snapshot.stored_model(*name_of(provider))
        chunks, with_vector = _count_chunks(self._snapshot, ids, model)
        vectors = None if provider is None else with_vector
        refused = issue_of(self._snapshot, "not embedded", self._status.name)
        why = tr_reason(refused.detail if refused else problem)
        message = indexed_message(chunks, vectors, facts.get("sessions", 0), why)
        facts |= {"chunks": chunks, "vectors": vectors, "changed": changed}
        if changed:
            return self._state("pending", tr(CHANGED), "sync", **facts)
        return self._state("indexed", message, "open", **facts)

    def _contents(self, listing: Listing) -> FolderContents:
        excluded: dict[str, FileIssue] = {}
        if self._status.source == "sessions":
            stored = sessions.transcripts(self._snapshot)
            for file in listing.files:
                if (entry := stored.get(file.name)) and entry.rule:
                    excluded[file.name] = FileIssue(path=file.name, rule=entry.rule, detail=entry.detail)
            known = {name: (entry.mtime_ns, entry.size) for name, entry in stored.items()}
        else:
            names = {file.name for file in listing.files}
            skipped = (issue for issue in self._snapshot.issues("skipped") if issue.rule == NOT_NOTES)
            excluded |= {issue.path: issue for issue in skipped if issue.path in names}
            known = {name: (entry.mtime_ns, entry.size) for name, entry in self._snapshot.files("memory").items()}
        passed = (*listing.skipped, *excluded.values())
        failures = {issue.path for issue in self._snapshot.issues("failed")}
        files = [file for file in listing.files if file.name not in excluded]
        current = sum(known.get(file.name) == (file.mtime_ns, file.size) for file in files)
        failed = sum(file.name in failures and file.name not in known for file in files)
        there = {file.name for file in listing.files}
        gone = [name for name in known if name not in there and self._finder.is_in(self._status, name)]
        return FolderContents(
            indexed=current,
            pending=len(files) - current - failed,
            failed=failed,
            deleted=len(gone) if listing.complete else 0,
            skipped=passed[:_SHOWN_PASSED],
            skipped_total=len(passed),
            complete=listing.complete,
        )

    def _state(self, state: PathStateKind, sentence: str, remedy: PathRemedy | None, **facts: Any) -> PathState:
        status = self._status
        name = session_name(status.name, status.key) if status.key else status.name
        values = {"path": name, "source": status.source} | facts
        values["path"] = printable_name(values["path"])
        return PathState(
            requested=printable_name(self._path),
            state=state,
            sentence=printable_name(sentence),
            remedy=remedy,
            file=printable_name(status.path),
            **values,
        )


def indexed_message(chunks: int, vectors: int | None, sessions: int, refused: str) -> str:
    """Return the message for an indexed path.

    `refused`: why some of its chunks have no vector, one sentence; empty if unknown.
    """
    if not chunks:
        return tr("The file is indexed but contains no text to find.")
    contents = tr_count("{count:,} passage", "{count:,} passages", chunks)
    if sessions > 1:
        sessions_text = tr_count("{count:,} session", "{count:,} sessions", sessions)
        contents = tr("{chunks} of {sessions}", chunks=contents, sessions=sessions_text)
    if vectors is None:
        return tr("The file is indexed: {chunks}, found by words.", chunks=contents)
    if vectors == chunks:
        return tr("The file is indexed: {chunks}, found by words and by meaning.", chunks=contents)
    partly = tr(
        "The file is indexed: {chunks}, {count:,} of them found by meaning so far.", chunks=contents, count=vectors
    )
    return f"{partly} {refused}".rstrip()


def excluded_message(status: PathStatus, detail: str, origin: RuleOrigin, *, addable: bool) -> str:
    """Return the message for a path that a rule excludes, with the folder and the setting of the rule.

    `addable`: the path would be indexed as an extra path.
    """
    message = tr_reason(detail)
    if status.excluded_path and status.excluded_path != status.name:
        is_english = message == detail  # an English clause begins in lower case
        clause = message[:1].lower() + message[1:] if is_english else message
        message = tr("The path is in {folder}: {reason}", folder=status.excluded_path, reason=clause)
    if addable and detail not in _NAME_EXTRA_PATHS:
        advice = tr("This rule is built in; add the path to extra_paths in the settings to have it indexed.")
        return f"{message} {advice}"
    return f"{message} {_set_at(origin)}"


def outside_message(indexable: bool) -> str:
    if not indexable:
        return tr("This path is outside everything that can be indexed here.")
    return tr("This path is outside all indexed folders. To index it, add it to extra_paths in the settings.")


def folder_message(contents: FolderContents) -> str:
    """Return a sentence with the numbers of indexed, waiting, failed and deleted files in a folder."""
    known = contents.indexed + contents.pending + contents.failed
    if not known and not contents.deleted:
        message = tr("A folder without files to index")
    else:
        message = tr_count(
            "A folder with {count:,} indexed file",
            "A folder with {count:,} indexed files",
            contents.indexed,
        )
    waiting = tr_count(
        "{count:,} waiting for the next update", "{count:,} waiting for the next update", contents.pending
    )
    failed = tr_count("{count:,} failed", "{count:,} failed", contents.failed)
    gone = tr_count("{count:,} deleted from the disk", "{count:,} deleted from the disk", contents.deleted)
    more = ((waiting, contents.pending), (failed, contents.failed), (gone, contents.deleted))
    sentences = [", ".join((message, *(words for words, count in more if count))) + ".", *_passed(contents)]
    if not contents.complete:
        sentences.append(tr("The folder is too large to check completely."))
    return " ".join(sentences)


def _passed(contents: FolderContents) -> Iterator[str]:
    if not contents.skipped_total:
        return
    first = contents.skipped[0]
    if contents.skipped_total == 1:
        yield tr("Skipped: {names}.", names=first.path)
        if first.detail:
            yield tr_reason(first.detail)
    else:
        names = tr("{name} and {count:,} more", name=first.path, count=contents.skipped_total - 1)
        yield tr("Skipped: {names}.", names=names)


def _set_at(origin: RuleOrigin) -> str:
    if not origin.key:
        return tr("This rule is built in.")
    if origin.layer == "built-in":
        return tr("This rule is the default of {key}. Change it in the settings.", key=origin.key)
    at = {"key": origin.key, "line": origin.line, "file": origin.file}
    if origin.layer == "workspace":
        return tr("This rule is set for this folder: {key} in line {line} of {file}.", **at)
    return tr("This rule is set for all folders: {key} in line {line} of {file}.", **at)


def _count_chunks(snapshot: Snapshot, file_ids: Iterable[int], model: StoredModel | None) -> tuple[int, int]:
    """Return the number of chunks of these files, and how many of them have a vector of the model."""
    chunks = vectors = 0
    for id_ in file_ids:
        rows = snapshot.connection.execute(
            f"""SELECT e.id IS NOT NULL, count(*) FROM {snapshot.tables.chunks} c
                LEFT JOIN embedding_cache e ON e.model_id = ? AND e.hash = c.hash WHERE c.file_id = ? GROUP BY 1""",
            (None if model is None else model.id, id_),
        )
        for embedded, count in rows:
            chunks += count
            vectors += count if embedded else 0
    return chunks, vectors
