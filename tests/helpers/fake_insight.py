"""Insight into a `FakeMemory`'s index: one chunk for each section, and given duplicates."""

import hashlib
from collections.abc import Callable
from typing import Any

import msgspec

from engine import (
    CancelToken,
    ChangedNote,
    ChunkDetail,
    ChunkRow,
    ChunkVector,
    DuplicateGroup,
    DuplicateMember,
    DuplicateReport,
    FileChunks,
    FileUse,
    HealthFinding,
    IndexMap,
    IndexOverview,
    LinkedText,
    MnemoscopeError,
    NoteLinks,
)
from engine.insight.note_links import NoteImages
from engine.settings import Settings
from tests.helpers.fake_map import make_map
from tests.helpers.fake_memory import FakeMemory
from tests.helpers.fake_notes import sections
from tests.helpers.fake_overview import make_overview
from tests.helpers.fake_records import MODIFIED


def make_group(*paths: str, **changes: Any) -> DuplicateGroup:
    """Return a group of files that share their lines 1 to 3."""
    members = tuple(
        DuplicateMember(
            path=path,
            title=path.rpartition("/")[2].removesuffix(".md").capitalize(),
            start_line=1,
            end_line=3,
            size=640,
            modified=MODIFIED - number * 86_400,
            share=0.9,
        )
        for number, path in enumerate(paths)
    )
    group = DuplicateGroup(
        kind="similar",
        similarity=0.9,
        words=50,
        members=members,
        files=len(members),
        excerpt="# Greenhouse",
        key="-".join(paths),
    )
    return msgspec.structs.replace(group, **changes)


class FakeInsight:
    """Attributes may be set at any time.

    Attributes:
        vectors: line at which a chunk begins -> its vector state; others are ready.
        changed: whether files differ from the indexed ones.
        groups: the duplicates, found in so many `seconds`; hidden: keys of some; problem: raised in place of an answer.
        found: the overview.
        uses: files of tool calls, newest first. notes: those that changed last. renamed: old names -> new names.
        requests: all requests, in order. `during` is called while duplicates are looked for.
    """

    def __init__(self, memory: FakeMemory) -> None:
        self._memory = memory
        self.vectors: dict[int, Any] = {}
        self.changed = False
        self.found = make_overview()
        self.groups: tuple[DuplicateGroup, ...] = ()
        self.problem: MnemoscopeError | None = None
        self.hidden: set[str] = set()
        self.seconds = 0.1
        self.uses: tuple[FileUse, ...] = ()
        self.notes: tuple[ChangedNote, ...] = ()
        self.renamed: dict[str, str] = {}
        self.requests: list[tuple[Any, ...]] = []
        self.during: Callable[[CancelToken], None] = lambda _token: None

    def note_links(self, path: str, cancel: CancelToken | None = None) -> NoteLinks:
        return NoteLinks(backlinks=(), links=())

    def linked_text(self, target: str, anchor: str, note: str, cancel: CancelToken | None = None) -> LinkedText | None:
        return None

    def images_of(self, note: str) -> NoteImages:
        return NoteImages(note, self._memory.folder, Settings())

    def session_files(self, session: str, cancel: CancelToken | None = None) -> tuple[FileUse, ...]:
        self.requests.append(("session_files", session))
        return tuple(use for use in self.uses if use.session == session)

    def recent_edits(self, limit: int, cancel: CancelToken | None = None) -> tuple[FileUse, ...]:
        self.requests.append(("recent_edits", limit))
        if self.problem is not None:
            raise self.problem
        return tuple(use for use in self.uses if use.kind != "read")[:limit]

    def renamed_note(self, path: str, mtime_ns: int, size: int, cancel: CancelToken | None = None) -> str:
        return self.renamed.get(path, "")

    def changed_notes(self, limit: int, cancel: CancelToken | None = None) -> tuple[ChangedNote, ...]:
        return self.notes[:limit]

    def overview(self, cancel: CancelToken | None = None) -> IndexOverview:
        self.requests.append(("overview",))
        if self.problem is not None:
            raise self.problem
        return self.found

    def last_map(self, cancel: CancelToken | None = None) -> None:
        """Return None, as if no map was made before."""

    def make_map(self, **_: Any) -> IndexMap:
        return make_map()

    def chunks_of(self, path: str, cancel: CancelToken | None = None) -> FileChunks | None:
        self.requests.append(("chunks_of", path))
        if self.problem is not None:
            raise self.problem
        text = self._memory.files.get(path)
        if text is None:
            return None
        return FileChunks(
            path=path,
            source="memory",
            title="Title",
            language="english",
            hash=hashlib.sha256(text.encode()).hexdigest(),
            size=len(text.encode()),
            modified=MODIFIED,
            changed=self.changed,
            tags=("garden",),
            refusal="A passage is found by words only: too long." if "refused" in self.vectors.values() else "",
            chunks=tuple(
                ChunkRow(
                    id=1000 * (1 + sorted(self._memory.files).index(path)) + section.start_line,
                    start_line=section.start_line,
                    end_line=section.start_line + len(section.lines) - 1,
                    heading=section.heading,
                    characters=len("\n".join(section.lines)),
                    tokens=1 + len("\n".join(section.lines)) // 4,
                    vector=self.vectors.get(section.start_line, "ready"),
                )
                for section in sections(text)
            ),
        )

    def chunk(self, path: str, id_: int, cancel: CancelToken | None = None) -> ChunkDetail | None:
        self.requests.append(("chunk", id_))
        file = self.chunks_of(path)
        for number, row in enumerate(file.chunks if file is not None else (), 1):
            if row.id == id_:
                lines = self._memory.files[path].split("\n")[row.start_line - 1 : row.end_line]
                text = "\n".join(lines)
                vector = ChunkVector(provider="embedded", model="use-multilingual-v3", dims=512, active=True)
                return ChunkDetail(
                    id=id_,
                    number=number,
                    path=path,
                    row=row,
                    hash=hashlib.sha256(text.encode()).hexdigest(),
                    text=text,
                    vectors=(vector,) if row.vector == "ready" else (),
                    words=text.lower(),
                    stems=text.lower().replace("ing", ""),
                    heading_words=" ".join(row.heading).lower(),
                    identical=0,
                )
        return None

    def quick_check(self, cancel: CancelToken | None = None) -> tuple[HealthFinding, ...]:
        return ()

    def duplicates(
        self, cancel: CancelToken | None = None, progress: Callable[[float], None] | None = None
    ) -> DuplicateReport:
        self.requests.append(("duplicates",))
        if progress is not None:
            progress(0.5)
        self.during(cancel or CancelToken())
        if self.problem is not None:
            raise self.problem
        return DuplicateReport(
            groups=self.groups, found=len(self.groups), files=len(self._memory.files), seconds=self.seconds
        )

    def hidden_duplicates(self) -> frozenset[str]:
        return frozenset(self.hidden)

    def hide_duplicates(self, key: str, *, hidden: bool) -> None:
        if self.problem is not None:
            raise self.problem
        (self.hidden.add if hidden else self.hidden.discard)(key)
