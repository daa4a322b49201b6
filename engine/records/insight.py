"""Inspection of the index: counts of its content, and results of health checks and repairs."""

from typing import Literal

from engine.base.language import marked, tr
from engine.records.base import Record, Source
from engine.records.sync import StoredSync

DiskPartName = Literal["text", "words", "vectors", "matrix", "log", "user", "other", "free"]


class FolderCount(Record, frozen=True):
    """What is indexed below one folder, its sub-folders included."""

    source: Source
    name: str
    """As stable names begin, without the slash at the end; empty for the whole source."""
    depth: int
    """0 for the whole source, 1 for a folder at the top, or a store of sessions."""
    files: int
    chunks: int
    pending: int
    """Chunks without a vector of the model in use; all of them without a model."""
    failed: int
    """Files that could not be indexed, or not wholly."""
    skipped: int


class ChunkSizes(Record, frozen=True):
    """How long the chunks are, in characters."""

    median: int
    longest: int
    width: int
    """Of each bar of the histogram."""
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
    """The inside of the index in figures, of one moment."""

    generation: int
    folders: tuple[FolderCount, ...]
    """Each source before its folders, these by number of chunks, each before its contents; of very many, the
    largest."""
    sizes: ChunkSizes
    months: tuple[MonthCount, ...]
    """Those with files, in order; files with an impossible date are left out."""
    disk: tuple[DiskPart, ...]
    """Each part that takes room, in the order above."""
    syncs: tuple[StoredSync, ...]
    """All recorded ones, newest last."""


# --- Duplicate texts -------------------------------------------------------------------------------------------------

DuplicateKind = Literal["identical", "alike", "contained", "passage", "recurring"]
"""Files with the same text; files with nearly the same; a file contained in another one; a passage shared by otherwise
different files; one shared by so many files that it is a template, a licence or the like."""


class DuplicateMember(Record, frozen=True):
    """One file of a group, with the lines that the others have, too."""

    path: str
    title: str
    start_line: int
    end_line: int
    size: int
    """Bytes of the file, and below its time, as they were when it was indexed."""
    modified: float
    share: float
    """How much of the file's words the group shares, 0 to 1."""


class DuplicateGroup(Record, frozen=True):
    kind: DuplicateKind
    similarity: float
    """How much of the words of two files is in both, 0 to 1; the least of the pairs that make the group."""
    words: int
    """How many words are shared: in the longest passage that two of them have in common."""
    members: tuple[DuplicateMember, ...]
    """Newest first; of very many the newest."""
    files: int
    """How many there are."""
    excerpt: str
    """The beginning of the shared text."""
    key: str
    """Names the group as long as it has the same kind and the same files."""


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
    """All groups, most shared words first."""

    groups: tuple[DuplicateGroup, ...]
    found: int
    """How many groups there are: more than `groups` where they are very many."""
    files: int
    """How many notes were compared."""
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
    """Of a session, else empty."""
    modified: float


class IndexMap(Record, frozen=True):
    """The points as arrays in bytes of this machine's order, all in the same order; `n` points."""

    layout: MapLayout
    ids: bytes
    """Chunk ids: int64 (n,)."""
    points: bytes
    """Coordinates: float32 (n, 2). Their unit means nothing; y grows upwards."""
    file_of: bytes
    """Places in `files`: int32 (n,)."""
    files: tuple[MapFile, ...]
    chunks: int
    """How many chunks are indexed, those without a vector included."""
    shown_variance: float
    """What share of the differences between the vectors their two main directions show, 0 to 1."""
    model: str
    stamp: int
    """Of the index when it was read: the same stamp is the same map."""
    gap: MapGap = ""
    """Why there are no points; empty if there are."""


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
    """Its first words."""
    modified: float
    agent: str


class MapAnswer(Record, frozen=True):
    """The locations of a query and its results."""

    point: tuple[float, float] | None
    """Of the query; None if its vector is unknown: only keywords were searched."""
    chunks: tuple[int | None, ...]
    """Chunk ids of the results, in their order; None for one that has left the index."""


class MapProgress(Record, frozen=True):
    """How far the making of a map is."""

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
    """By the counting that decides how long a chunk may be."""
    vector: VectorState


class FileChunks(Record, frozen=True):
    """One indexed file with its chunks in the order of its text."""

    path: str
    source: Source
    title: str
    language: str
    """The analysis's name of it; empty if unknown."""
    hash: str
    size: int
    """Bytes, and below the time, as they were when it was indexed."""
    modified: float
    changed: bool
    """Whether the file has changed since, so that lines may have moved."""
    tags: tuple[str, ...]
    refusal: str
    """Why vectors were refused; empty where none was."""
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
    """Of the file's chunks, from 1."""
    path: str
    row: ChunkRow
    hash: str
    """sha256 of the text, hexadecimal: chunks with the same one share their vectors."""
    text: str
    """As it is stored; secrets in sessions are masked."""
    vectors: tuple[ChunkVector, ...]
    """Of all models."""
    words: str
    """The tokens by which the keyword index finds its text, joined by spaces, and their stems."""
    stems: str
    heading_words: str
    """The same of its heading path; searched for both words and stems."""
    twins: int
    """How many other chunks have the same text."""


HealthState = Literal["fine", "degraded", "failed"]
"""`degraded`: searching works, but finds less than it could, or takes more time or room than it should."""


class HealthFinding(Record, frozen=True):
    """One thing that was looked at."""

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
    """How many things are not as they should be."""


class HealthProgress(Record, frozen=True):
    """Progress of one check or repair."""

    step: str
    """As "Checking vectors"."""
    done: int
    total: int
    """0 if unknown."""


class HealthRepair(Record, frozen=True):
    """What became of a repair."""

    done: tuple[str, ...]
    """What was done, a sentence each."""
    problem: str = ""
    """Why the rest was not, one sentence; empty when all was."""


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
    """From the request to its answer; 0 where none was sent."""
    dims: int | None
    """Length of the vector that came."""
    model: str
    """The requested model; empty without a provider."""


class ModelFetchProgress(Record, frozen=True):
    """How much of a model has come from the hub."""

    model: str
    """hf:owner/repository/file.gguf"""
    received: int
    total: int
    """Bytes, what an earlier fetch left included."""


class KeyState(Record, frozen=True):
    """Whether a provider has an API key, and where it was found; never the key itself."""

    present: bool
    origin: Literal["environment", "keychain"] | None
    place: str
    """For a sentence: `the environment variable OPENAI_API_KEY`, `the keychain`; empty if there is none."""
    problem: str
    """Why one could not be looked for, or cannot be used; one sentence, or empty."""
