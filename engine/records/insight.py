"""Inspection of the index: counts of its content, and results of health checks and repairs."""

from typing import Literal

from engine.base.language import marked, tr
from engine.records.base import Record, Source
from engine.records.sync import StoredSync

DiskPartName = Literal["text", "words", "vectors", "matrix", "log", "user", "other", "free"]


class ChangedNote(Record, frozen=True):
    """An indexed note and the time of its last change."""

    path: str
    title: str
    modified: float


class FolderCount(Record, frozen=True):
    """Counts of one folder, its subfolders included."""

    source: Source
    name: str
    """Prefix of its stable names, without the final slash; empty for the whole source."""
    depth: int
    """0 for the whole source, 1 for a folder at the top, or a store of sessions."""
    files: int
    chunks: int
    pending: int
    """Number of chunks without a vector of the current model; all without a model."""
    failed: int
    """Number of files that could not be indexed, or only in part."""
    skipped: int


class ChunkSizes(Record, frozen=True):
    """Histogram of chunk lengths in characters."""

    median: int
    longest: int
    width: int
    """Width of each bar, in characters."""
    counts: tuple[int, ...]
    """Chunks from 1 to `width` characters, then up to twice as many, and so on."""


class MonthCount(Record, frozen=True):
    """Notes that last changed in a month, and sessions that began in it."""

    year: int
    month: int
    notes: int
    sessions: int


class DiskPart(Record, frozen=True):
    """Disk space by use.

    In the index file: `text` with all facts of files, `words` (the keyword index), `vectors`, `free` (pages that are
    returned later) and `other`; next to it: `matrix` (vectors in the format used for searching), `log` (changes that
    SQLite has not merged into the index file yet) and `user` (the user's own data).
    """

    name: DiskPartName
    bytes: int


class IndexOverview(Record, frozen=True):
    """Counts of the index's content at one moment."""

    generation: int
    folders: tuple[FolderCount, ...]
    """Each source before its folders, these by number of chunks, each before its contents; of very many, the
    largest."""
    sizes: ChunkSizes
    months: tuple[MonthCount, ...]
    """Months with files, in order; files with an impossible date are left out."""
    disk: tuple[DiskPart, ...]
    """Parts with a size above 0, in the order above."""
    syncs: tuple[StoredSync, ...]
    """All recorded syncs, newest last."""


# --- Duplicate texts -------------------------------------------------------------------------------------------------

DuplicateKind = Literal["identical", "alike", "contained", "passage", "recurring"]
"""Files with the same text; files with nearly the same; a file contained in another one; a passage shared by otherwise
different files; one shared by so many files that it is a template, a licence or the like."""


class DuplicateMember(Record, frozen=True):
    """One file of a group, with the lines that it shares."""

    path: str
    title: str
    start_line: int
    end_line: int
    size: int
    """Bytes of the file when it was indexed; likewise its time below."""
    modified: float
    share: float
    """Share of the file's words that the group shares, 0 to 1."""


class DuplicateGroup(Record, frozen=True):
    kind: DuplicateKind
    similarity: float
    """Share of common words of two files, 0 to 1; the lowest of the pairs that form the group."""
    words: int
    """Number of words in the longest passage that two of them share."""
    members: tuple[DuplicateMember, ...]
    """Files of the group, newest first; of very many only the newest."""
    files: int
    """Number of files in the group."""
    excerpt: str
    """The beginning of the shared text."""
    key: str
    """Identifies the group as long as its kind and files stay the same."""


_WORDS: dict[DuplicateKind, str] = {
    "identical": marked("The same text"),
    "alike": marked("Nearly the same"),
    "contained": marked("One holds the other"),
    "passage": marked("A passage in common"),
    "recurring": marked("Recurs in many notes"),
}


def duplicate_title(group: DuplicateGroup) -> str:
    """The relation of a group's notes: `Nearly the same · 92 %`."""
    if group.kind in ("identical", "recurring"):
        return tr(_WORDS[group.kind])
    return f"{tr(_WORDS[group.kind])} · {share_text(group.similarity)}"


def share_text(share: float) -> str:
    """`92 %`; never 100 unless all words are the same."""
    return tr("{percent} %", percent=100 if share >= 1 else min(99, round(100 * share)))


class DuplicateReport(Record, frozen=True):
    """All groups, most shared words first; text that recurs in many notes comes last."""

    groups: tuple[DuplicateGroup, ...]
    found: int
    """Number of groups, which may be more than are in `groups`."""
    files: int
    """Number of notes compared."""
    seconds: float


# --- The map of the index: every chunk with a vector as a point ------------------------------------------------------

MapLayout = Literal["directions", "neighbours"]
"""`directions`: the two in which the vectors differ most (PCA). `neighbours`: similar points are close together."""
MapGap = Literal["", "no-model", "no-chunks", "no-vectors"]


class MapFile(Record, frozen=True):
    """Common facts of the points of one file or session."""

    path: str
    title: str
    source: Source
    agent: str
    """Agent of a session, else empty."""
    modified: float


class IndexMap(Record, frozen=True):
    """The `n` points as arrays, in bytes of this machine's byte order."""

    layout: MapLayout
    ids: bytes
    """Chunk ids: int64 (n,)."""
    points: bytes
    """Coordinates: float32 (n, 2), in arbitrary units; y points up."""
    file_of: bytes
    """Indexes in `files`: int32 (n,)."""
    files: tuple[MapFile, ...]
    chunks: int
    """Number of indexed chunks, with or without a vector."""
    shown_variance: float
    """Share of the vectors' variance along their two main directions, 0 to 1."""
    model: str
    stamp: int
    """Stamp of the index when it was read: equal stamps mean equal maps."""
    gap: MapGap = ""
    """Why there are no points; empty if there are any."""


class MapPlace(Record, frozen=True):
    """One point's chunk, for display."""

    chunk: int
    path: str
    source: Source
    title: str
    heading: tuple[str, ...]
    start_line: int
    end_line: int
    citation: str
    text: str
    """First words of the chunk."""
    modified: float
    agent: str


class MapAnswer(Record, frozen=True):
    """The locations of a query and its results."""

    point: tuple[float, float] | None
    """Location of the query; None if its vector is unknown, since only keywords were searched."""
    chunks: tuple[int | None, ...]
    """Chunk ids of the results, in their order; None for one that has left the index."""


class MapProgress(Record, frozen=True):
    """Progress of computing a map."""

    stage: Literal["reading", "directions", "neighbours", "arranging"]
    done: float
    """0 to 1, of all stages together."""


# --- The index's contents of one file: its chunks in order, and everything about one of them -------------------------

VectorState = Literal["ready", "pending", "refused", "none"]
"""State of a chunk's vector for the model in use: `refused` by the provider, `none` without a model."""


class ChunkRow(Record, frozen=True):
    """One chunk without its text."""

    id: int
    start_line: int
    end_line: int
    """Lines from 1, both included, of the version that was indexed; parts of one overlong line share its number."""
    heading: tuple[str, ...]
    characters: int
    tokens: int
    """Number of tokens, as counted by the chunker."""
    vector: VectorState


class FileChunks(Record, frozen=True):
    """One indexed file with its chunks in the order of its text."""

    path: str
    source: Source
    title: str
    language: str
    """Language as named by the text analysis; empty if unknown."""
    hash: str
    size: int
    """Bytes when it was indexed; likewise the time below."""
    modified: float
    changed: bool
    """Whether the file has changed since it was indexed, so that lines may have moved."""
    tags: tuple[str, ...]
    refusal: str
    """Why vectors were refused; empty if none was."""
    chunks: tuple[ChunkRow, ...]


class ChunkVector(Record, frozen=True):
    """A stored vector of a chunk's text."""

    provider: str
    model: str
    dims: int
    active: bool
    """Whether its model is the one that is searched with now."""


class ChunkDetail(Record, frozen=True):
    """Everything that the index stores about one chunk."""

    id: int
    number: int
    """Number among the file's chunks, from 1."""
    path: str
    row: ChunkRow
    hash: str
    """SHA-256 of the text, hexadecimal; chunks with the same hash share their vectors."""
    text: str
    """As it is stored; secrets in sessions are masked."""
    vectors: tuple[ChunkVector, ...]
    """Vectors of all models."""
    words: str
    """The tokens by which the keyword index finds its text, joined by spaces, and their stems."""
    stems: str
    heading_words: str
    """Tokens of its heading path, searched for both words and stems."""
    twins: int
    """Number of other chunks with the same text."""


HealthState = Literal["fine", "degraded", "failed"]
"""`degraded`: searching works, but finds less, or takes more time or disk space, than it should."""


class HealthFinding(Record, frozen=True):
    """Result of one health check."""

    id: str
    """Identifies the check, also for a repair."""
    name: str
    state: HealthState
    detail: str
    """What was checked, and the result."""
    repair: str = ""
    """Label of the repair button; empty if there is nothing to repair, or no repair."""
    advice: str = ""
    """Advice for problems that the program can't repair itself."""
    count: int = 0
    """Number of problems."""


class HealthProgress(Record, frozen=True):
    """Progress of one check or repair."""

    step: str
    """Name of the step, such as "Checking vectors"."""
    done: int
    total: int
    """0 if unknown."""


class HealthRepair(Record, frozen=True):
    """Outcome of a repair."""

    done: tuple[str, ...]
    """What was done, one sentence per step."""
    problem: str = ""
    """Why the rest was not done, one sentence; empty if all was."""


# --- Checks of a provider, its key and its model ---------------------------------------------------------------------


class Probe(Record, frozen=True):
    ok: bool
    error: str


class ProviderProbe(Record, frozen=True):
    """Result of sending one word to a provider."""

    ok: bool
    error: str
    """The error, one sentence that says what to do; empty if it is ok."""
    milliseconds: float
    """Response time; 0 if no request was sent."""
    dims: int | None
    """Length of the received vector."""
    model: str
    """The requested model; empty without a provider."""


class ModelFetchProgress(Record, frozen=True):
    """Progress of downloading a model from the hub."""

    model: str
    """hf:owner/repository/file.gguf"""
    received: int
    total: int
    """Bytes in total, including an earlier partial download."""


class KeyState(Record, frozen=True):
    """Whether a provider has an API key, and where it was found; never the key itself."""

    present: bool
    origin: Literal["environment", "keychain"] | None
    place: str
    """Origin for a sentence: `the environment variable OPENAI_API_KEY`, `the keychain`; empty if there is no key."""
    problem: str
    """Why the key could not be looked up, or can't be used; one sentence, or empty."""


# --- Links between notes ----------------------------------------------------------------------------------------------


class NoteLinkInfo(Record, frozen=True, gc=False):
    """A link between two notes, as seen from one of them."""

    path: str
    """Stable name of the other note; empty if no note has the link's name."""
    title: str
    """Of the other note; of a missing one the name in the link."""
    line: int
    """Where to open the other note: at the link if it is in that note, else at its target."""
    anchor: str
    """The heading, or `^` and the block's id, of the link."""
    context: str
    """The sentence around the link."""
    backlink: bool
    """Whether the link is in the other note."""


class NoteLinks(Record, frozen=True):
    """The links of one note."""

    backlinks: tuple[NoteLinkInfo, ...]
    """Links of other notes to this one, by path."""
    links: tuple[NoteLinkInfo, ...]
    """Its own links, in order."""


class LinkedText(Record, frozen=True):
    """The part of a note that a link names."""

    path: str
    title: str
    line: int
    end: int
    """Last line; the part may be longer than its text."""
    text: str
    """At most 40 lines."""
    anchored: bool
    """Whether its heading or block was found."""
