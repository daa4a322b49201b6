"""An open memory that also searches the other workspaces, and reads their files."""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, Unpack, cast

import msgspec

from engine.base.cancellation import CancelToken
from engine.base.errors import PathRefused
from engine.corpus.globs import literal_glob
from engine.memory.memory_interface import MemorySearchManager, insight_of
from engine.records import (
    ChunkDetail,
    FileChunks,
    FileText,
    FileUse,
    KnownWorkspace,
    LinkedText,
    MemorySearchResult,
    NoteLinkInfo,
    NoteLinks,
    Passage,
    SearchExplanation,
    SearchOutcome,
    SessionSummary,
    SessionText,
)
from engine.records.workspaces import name_in, split_name
from engine.settings import Settings
from engine.workspaces.known_workspaces import current_and_others
from engine.workspaces.memory_pool import MemoryPool
from engine.workspaces.multi_search import AllWorkspaces

if TYPE_CHECKING:
    from engine.corpus.line_reader import NumberedText
    from engine.insight.note_links import NoteImages
    from engine.memory.index_inspection import IndexInsight
    from engine.memory.search_requests import SearchOptions

_Answer = TypeVar("_Answer")
_REREAD_SECONDS = 5.0


class MultiWorkspaceInsight:
    """The `IndexInsight` of the open memory; the methods here also inspect other workspaces. Thread-safe.

    Raises the errors of `MultiWorkspaceMemory.memory_of`, and `Unsupported` if the index of that workspace can't be
    inspected.
    """

    def __init__(self, current: "IndexInsight", everywhere: "MultiWorkspaceMemory") -> None:
        self._current = current
        self._everywhere = everywhere

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current, name)

    def chunks_of(self, path: str, cancel: CancelToken | None = None) -> FileChunks | None:
        chunks = self._everywhere.at(path, lambda memory, own_path: insight_of(memory).chunks_of(own_path, cancel))
        return None if chunks is None else _replace(chunks, path=path)

    def chunk(self, path: str, id_: int, cancel: CancelToken | None = None) -> ChunkDetail | None:
        chunk = self._everywhere.at(path, lambda memory, own_path: insight_of(memory).chunk(own_path, id_, cancel))
        return None if chunk is None else _replace(chunk, path=path)

    def note_links(self, path: str, cancel: CancelToken | None = None) -> NoteLinks:
        links = self._everywhere.at(path, lambda memory, own_path: insight_of(memory).note_links(own_path, cancel))
        return NoteLinks(backlinks=_named_as(path, links.backlinks), links=_named_as(path, links.links))

    def linked_text(self, target: str, anchor: str, note: str, cancel: CancelToken | None = None) -> LinkedText | None:
        text = self._everywhere.at(
            note, lambda memory, own_path: insight_of(memory).linked_text(target, anchor, own_path, cancel)
        )
        return None if text is None else _replace(text, path=_name_in_workspace(note, text.path))

    def images_of(self, note: str) -> "NoteImages":
        return self._everywhere.at(note, lambda memory, own_path: insight_of(memory).images_of(own_path))

    def session_files(self, session: str, cancel: CancelToken | None = None) -> tuple[FileUse, ...]:
        files = self._everywhere.at(
            session, lambda memory, own_path: insight_of(memory).session_files(own_path, cancel)
        )
        return tuple(_replace(use, session=session) for use in files)


def _name_in_workspace(note: str, path: str) -> str:
    """Return the name of a file in the workspace of `note`."""
    workspace = split_name(note)[0]
    return name_in(workspace, path) if workspace else path


def _named_as(note: str, links: Sequence[NoteLinkInfo]) -> tuple[NoteLinkInfo, ...]:
    return tuple(_replace(link, path=_name_in_workspace(note, link.path)) if link.path else link for link in links)


_replace = msgspec.structs.replace


class MultiWorkspaceMemory:
    """A `MemorySearchManager`: the memory of one workspace in everything but the methods here. Thread-safe.

    Results of other workspaces have names as in `file_names.py`, by which they can be read, located and compared like
    any file; their memories are opened for that without a watcher, and nothing is synced there.
    """

    def __init__(
        self,
        current: MemorySearchManager,
        folder: Path,
        known: Callable[[], Sequence[KnownWorkspace]],
        pool: MemoryPool,
        *,
        most: int,
        executor: Executor | None = None,
    ) -> None:
        """`current`: the memory of the open workspace, which is closed together with this object. `folder`: its folder.

        `known`: returns all workspaces; the open one may be missing. `pool`: opens the others. `most`: number of
        results of a search that doesn't specify one. `executor`: as for `AllWorkspaces`.
        """
        self._current = current
        self._folder = str(folder.resolve())
        self._list = known
        self._most = most
        self._pool = pool
        self._all = AllWorkspaces(current, self._pool, executor=executor)
        self._lock = threading.Lock()
        self._looked = -_REREAD_SECONDS
        self._known: tuple[KnownWorkspace, ...] = ()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._current, name)

    # --- queries --------------------------------------------------------------------------------------------------

    def search_everywhere(
        self, query: str, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        """Search all known workspaces; see `AllWorkspaces.search`."""
        current, others = self._workspaces()
        most = options.get("max_results") or self._most
        names = {other.folder: other.name for other in others}
        on_keywords, explain = options.pop("on_keywords", None), options.pop("explain", False)

        def search_all(**more: "Unpack[SearchOptions]") -> SearchOutcome:
            merged_options: SearchOptions = {**options, **more}
            return _renamed(self._all.search(current, others, query, merged_options, most, cancel), names)

        if on_keywords is not None:
            # The workspaces are searched in parallel, so no single one waits while a first answer is shown.
            on_keywords(search_all(mode="keyword"))
        outcome = search_all(explain=explain is True)
        # Only an answer that is empty everywhere is explained.
        return outcome if outcome.results or isinstance(explain, bool) else search_all(explain=True)

    def search(
        self, query: str, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        """Search the open workspace; with a `path_glob` of one file in another workspace, search that file."""
        glob = options.get("path_glob") or ""
        other = (
            next((workspace for workspace in self._workspaces()[1] if glob.startswith(_glob_of(workspace))), None)
            if glob
            else None
        )
        if other is None:
            return self._current.search(query, cancel=cancel, **options)
        options["path_glob"] = glob.removeprefix(_glob_of(other))
        _name_first(other, options)
        with self._pool.using(other.folder) as memory:
            return _all_in(other, memory.search(query, cancel=cancel, **options))

    def search_like(
        self, passage: Passage, *, cancel: CancelToken | None = None, **options: "Unpack[SearchOptions]"
    ) -> SearchOutcome:
        """Search in the workspace of the passage."""
        name, path = split_name(passage.path)
        if not name:
            return self._current.search_like(passage, cancel=cancel, **options)
        other, own_passage = self._named(name), _replace(passage, path=path)
        _name_first(other, options)
        with self._pool.using(other.folder) as memory:
            return _all_in(other, memory.search_like(own_passage, cancel=cancel, **options))

    def apply_query_settings(self, settings: Settings) -> None:
        """Use these settings for the open workspace, and the settings file for the others."""
        self._current.apply_query_settings(settings)
        self._pool.settings_changed()

    # --- reading --------------------------------------------------------------------------------------------------

    def read_file(self, path: str, *, start: int | None = None, lines: int | None = None) -> FileText:
        text = self.at(path, lambda memory, own_path: memory.read_file(own_path, start=start, lines=lines))
        return _replace(text, path=path)

    def open_file(self, path: str, *, cancel: CancelToken | None = None) -> "NumberedText":
        return self.at(path, lambda memory, own_path: memory.open_file(own_path, cancel=cancel))

    def locate(self, path: str) -> Path:
        return self.at(path, lambda memory, own_path: memory.locate(own_path))

    def read_session(self, path: str, *, reveal: bool = False, cancel: CancelToken | None = None) -> SessionText:
        text = self.at(path, lambda memory, own_path: memory.read_session(own_path, reveal=reveal, cancel=cancel))
        return _replace(text, summary=_replace(text.summary, path=path))

    def raw_lines(
        self, path: str, lines: Sequence[int], *, reveal: bool = False, cancel: CancelToken | None = None
    ) -> tuple[str, ...]:
        return self.at(path, lambda memory, own_path: memory.raw_lines(own_path, lines, reveal=reveal, cancel=cancel))

    def session_image(
        self, path: str, message: int, number: int, *, cancel: CancelToken | None = None
    ) -> tuple[bytes, str] | None:
        return self.at(path, lambda memory, own_path: memory.session_image(own_path, message, number, cancel=cancel))

    def similar_sessions(self, path: str, *, max_results: int = 10) -> tuple[tuple[SessionSummary, float], ...]:
        name, _ = split_name(path)
        sessions = self.at(path, lambda memory, own_path: memory.similar_sessions(own_path, max_results=max_results))
        return tuple(
            (_replace(session, path=name_in(name, session.path)) if name else session, cosine)
            for session, cosine in sessions
        )

    @property
    def insight(self) -> "IndexInsight | None":
        insight = self._current.insight
        return None if insight is None else cast("IndexInsight", MultiWorkspaceInsight(insight, self))

    @contextmanager
    def memory_of(self, path: str) -> "Iterator[tuple[MemorySearchManager, Path, str]]":
        """Open the workspace that a file is in; yield its memory, its folder, and the file's stable name there.

        The memory stays open at least as long as the block. Raises `PathRefused` for an unknown or missing workspace,
        and the errors of opening it.
        """
        name, own_path = split_name(path)
        if not name:
            yield self._current, Path(self._folder), path
            return
        folder = self._named(name).folder
        with self._pool.using(folder) as memory:
            yield memory, Path(folder), own_path

    def at(self, path: str, read: "Callable[[MemorySearchManager, str], _Answer]") -> _Answer:
        """Return the result of `read`, called with the file's memory and stable name. Raises as `memory_of` does."""
        with self.memory_of(path) as (memory, _, own_path):
            return read(memory, own_path)

    def close(self) -> None:
        self._pool.close()
        self._current.close()

    # --- internals ------------------------------------------------------------------------------------------------

    def folder_of(self, path: str) -> str:
        """The workspace folder of a file with this name, at the time of the last search; empty if there is none."""
        name, _ = split_name(path)
        with self._lock:
            folders = (workspace.folder for workspace in self._known if workspace.name == name)
            return next(folders, "") if name else self._folder

    def _named(self, name: str) -> KnownWorkspace:
        for workspace in self._workspaces()[1]:
            if workspace.name == name and workspace.present:
                return workspace
        raise PathRefused

    def _workspaces(self) -> tuple[KnownWorkspace, tuple[KnownWorkspace, ...]]:
        """Return the open workspace and all others; cached for some seconds."""
        with self._lock:
            if time.monotonic() - self._looked >= _REREAD_SECONDS:
                self._known = tuple(self._list())
                self._looked = time.monotonic()
            known = self._known
        return current_and_others(known, Path(self._folder))


def _glob_of(other: KnownWorkspace) -> str:
    """Return the start of patterns that match only files of this workspace."""
    return literal_glob(name_in(other.name, ""))


def _all_in(other: KnownWorkspace, outcome: SearchOutcome) -> SearchOutcome:
    """Return results of another workspace, with names that include it."""
    results = tuple(_replace(result, workspace=other.folder) for result in outcome.results)
    return _renamed(_replace(outcome, results=results), {other.folder: other.name})


def _name_first(other: KnownWorkspace, options: "SearchOptions") -> None:
    """Wrap a callback for keyword answers so that file names include the workspace."""
    on_keywords = options.get("on_keywords")
    if on_keywords is not None:
        options["on_keywords"] = lambda outcome: on_keywords(_all_in(other, outcome))


def _renamed(outcome: SearchOutcome, names: dict[str, str]) -> SearchOutcome:
    """Return results with file names that include the workspace."""
    explanation = outcome.explanation
    if explanation is not None and len(explanation.results) == len(outcome.results):
        pairs = zip(explanation.results, outcome.results, strict=True)
        reasons = tuple(
            _replace(link, citation=_with_workspace_name(link.citation, result, names)) for link, result in pairs
        )
        explanation = SearchExplanation(
            stages=explanation.stages,
            results=reasons,
            emptied_by=explanation.emptied_by,
            remedies=explanation.remedies,
        )
    results = tuple(
        _replace(
            result,
            path=_with_workspace_name(result.path, result, names),
            citation=_with_workspace_name(result.citation, result, names),
            copies=tuple(
                _replace(
                    copy,
                    path=_with_workspace_name(copy.path, result, names),
                    citation=_with_workspace_name(copy.citation, result, names),
                )
                for copy in result.copies
            ),
        )
        for result in outcome.results
    )
    return _replace(outcome, results=results, explanation=explanation)


def _with_workspace_name(path: str, result: MemorySearchResult, names: dict[str, str]) -> str:
    name = names.get(result.workspace)
    return path if name is None else name_in(name, path)
