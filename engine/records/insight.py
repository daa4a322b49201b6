"""Data on the index for inspection: counts, duplicates, the map, chunks, and results of checks and repairs."""

from typing import Literal

from engine.base.language import marked, number, tr
from engine.records.base import Record, Source
from engine.records.sync import StoredSync

DiskPartName = Literal["text", "words", "vectors", "matrix", "log", "user", "other", "free"]


class ChangedNote(Record, frozen=True):
    """An indexed note or session, and the time of its last change."""

    path: str
    title: str
    modified: float


class FolderCount(Record, frozen=True):
    """Numbers of files and chunks of one folder with its subfolders."""

    source: Source
    name: str
    """The folder as prefix of its files' stable names, without the final slash; empty for the whole source."""
    depth: int
    """0 for the whole source, 1 for a top-level folder or a store of sessions."""
    files: int
    chunks: int
    pending: int
    """Number of chunks without a vector of the current model; all chunks if there is no model."""
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
    """Number of chunks from 1 to `width` characters, then up to twice `width`, and so on."""


class MonthCount(Record, frozen=True):
    """Number of notes that last changed in a month, and of sessions that began in it."""

    year: int
    month: int
    notes: int
    sessions: int


class DiskPart(Record, frozen=True):
    """Disk space taken by one kind of data.

    In the index file: `text` with all metadata of files, `words` (the keyword index), `vectors`, `free` (pages that are
    returned later) and `other`; next to it: `matrix` (vectors in the format used for searching), `log` (changes that
    SQLite has not merged into the index file yet) and `user` (the user's own data).
    """

    name: DiskPartName
    bytes: int


class IndexOverview(Record, frozen=True):
    """Numbers of files and chunks in the index, and its disk space, at one moment."""

    generation: int
    folders: tuple[FolderCount, ...]
    """Each source before its folders; folders by number of chunks, each before its subfolders; of very many only the
    largest.
    """
    sizes: ChunkSizes
    months: tuple[MonthCount, ...]
    """Months with files, in order; files with an impossible date are left out."""
    disk: tuple[DiskPart, ...]
    """Parts with a size above 0, in the order of `DiskPart`."""
    syncs: tuple[StoredSync, ...]
    """All recorded syncs, newest last."""


# --- Duplicate texts -------------------------------------------------------------------------------------------------

DuplicateKind = Literal["identical", "similar", "contained", "passage", "recurring"]
"""How the notes of a group share text. `identical`: the same text. `similar`: nearly the same. `contained`: one
contains the other. `passage`: a passage in otherwise different notes. `recurring`: a passage in so many notes that it
is a template, a licence or the like.
"""


class DuplicateMember(Record, frozen=True):
    """One file of a duplicate group, with the lines that it shares."""

    path: str
    title: str
    start_line: int
    end_line: int
    size: int
    """Size in bytes when the file was indexed; `modified` is its time then."""
    modified: float
    share: float
    """Share of the file's words that the group shares, 0 to 1."""


class DuplicateGroup(Record, frozen=True):
    """Notes that share text."""

    kind: DuplicateKind
    similarity: float
    """Share of words that two files have in common, 0 to 1; the lowest among the pairs that form the group."""
    words: int
    """Number of words in the longest passage that two files share."""
    members: tuple[DuplicateMember, ...]
    """Files of the group, newest first; of very many only the newest."""
    files: int
    """Number of files in the group, which may be more than are in `members`."""
    excerpt: str
    """The beginning of the shared text."""
    key: str
    """Identifies the group as long as its kind and its files stay the same."""


_WORDS: dict[DuplicateKind, str] = {
    "identical": marked("The same text"),
    "similar": marked("Nearly the same"),
    "contained": marked("One contains the other"),
    "passage": marked("Shared passage"),
    "recurring": marked("Recurs in many notes"),
}


def duplicate_title(group: DuplicateGroup) -> str:
    """Return how the notes of a group share text, for display: `Nearly the same · 92%`."""
    if group.kind in ("identical", "recurring"):
        return tr(_WORDS[group.kind])
    return f"{tr(_WORDS[group.kind])} · {share_text(group.similarity)}"


def share_text(share: float) -> str:
    """Format a share of 0 to 1 as `92%`; never as 100% unless it is 1."""
    return number(share if share >= 1 else min(0.99, share), ".0%")


class DuplicateReport(Record, frozen=True):
    """All groups of notes that share text, most shared words first; text that recurs in many notes comes last."""

    groups: tuple[DuplicateGroup, ...]
    found: int
    """Number of groups found, which may be more than are in `groups`."""
    files: int
    """Number of notes compared."""
    seconds: float


# --- The map of the index: every chunk with a vector as a point ------------------------------------------------------

MapLayout = Literal["directions", "neighbours"]
"""How the map is laid out. `directions`: along the two principal components of the vectors (PCA). `neighbours`: similar
points are close together (t-SNE).
"""
MapGap = Literal["", "no-model", "no-chunks", "no-vectors"]


class MapFile(Record, frozen=True):
    """A file or session that points of the map belong to."""

    path: str
    source: Source
    agent: str
    """Agent of a session, else empty."""
    modified: float


class IndexMap(Record, frozen=True):
    """The map: n chunks as points, with arrays as bytes in this machine's byte order."""

    layout: MapLayout
    ids: bytes
    """Chunk ids: int64 (n,)."""
    points: bytes
    """Coordinates: float32 (n, 2), in arbitrary units; y points up."""
    file_of: bytes
    """Position of each point's file in `files`: int32 (n,)."""
    files: tuple[MapFile, ...]
    chunks: int
    """Number of indexed chunks, with or without a vector."""
    shown_variance: float
    """Share of the vectors' variance along their two principal components, 0 to 1."""
    model: str
    stamp: int
    """Stamp of the index when the map was computed: equal stamps mean equal maps."""
    gap: MapGap = ""
    """Why there are no points; empty if there are any."""


class MapPointDetail(Record, frozen=True):
    """The chunk of one point of the map, for display."""

    chunk: int
    path: str
    title: str
    heading: tuple[str, ...]
    start_line: int
    citation: str
    text: str
    """First words of the chunk."""
    modified: float
    agent: str


class MapPositions(Record, frozen=True):
    """Positions of a query and its results on the map."""

    point: tuple[float, float] | None
    """Position of the query; None if its vector is unknown, since only keywords were searched."""
    chunks: tuple[int | None, ...]
    """Chunk ids of the results, in their order; None for one that has left the index."""


class MapProgress(Record, frozen=True):
    """Progress of computing a map."""

    stage: Literal["reading", "directions", "neighbours", "arranging"]
    done: float
    """Completed share of all stages together, 0 to 1."""


# --- The index's contents of one file: its chunks in order, and everything about one of them -------------------------

VectorState = Literal["ready", "pending", "refused", "none"]
"""Status of a chunk's vector for the model in use: `refused` by the provider, `none` without a model."""


class ChunkRow(Record, frozen=True):
    """One chunk for a list: location, size and vector status, without its text."""

    id: int
    start_line: int
    end_line: int
    """Lines count from 1, both included, in the indexed version of the file; parts of one very long line share its
    number.
    """
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
    """Size in bytes when the file was indexed; `modified` is its time then."""
    modified: float
    changed: bool
    """Whether the file has changed since it was indexed, so that lines may have moved."""
    tags: tuple[str, ...]
    refusal: str
    """Why the provider refused to embed some chunks; empty if it refused none."""
    chunks: tuple[ChunkRow, ...]


class ChunkVector(Record, frozen=True):
    """A stored vector of a chunk's text: its model and length."""

    provider: str
    model: str
    dims: int
    active: bool
    """Whether searches use its model at present."""


class ChunkDetail(Record, frozen=True):
    """Everything that the index stores about one chunk."""

    id: int
    number: int
    """Position of the chunk in its file, from 1."""
    path: str
    row: ChunkRow
    hash: str
    """SHA-256 of the text, hexadecimal; chunks with the same hash share their vectors."""
    text: str
    """Text as stored; secrets in sessions are masked."""
    vectors: tuple[ChunkVector, ...]
    """Vectors of all models for this text."""
    words: str
    """Tokens by which the keyword index finds the text, joined by spaces; `stems` likewise."""
    stems: str
    heading_words: str
    """Tokens of the heading path, searched both as words and as stems."""
    identical: int
    """Number of other chunks with the same text."""


HealthState = Literal["fine", "degraded", "failed"]
"""`degraded`: searching works, but finds less, or takes more time or disk space, than it should."""


class HealthFinding(Record, frozen=True):
    """Result of one health check."""

    id: str
    """Identifies the check; passed to the repair."""
    name: str
    state: HealthState
    detail: str
    """Description of the check's subject and result."""
    repair: str = ""
    """Label of the repair button; empty if nothing needs repair or it can't be repaired here."""
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
    """Outcome of repairing what one health check found."""

    done: tuple[str, ...]
    """Actions taken, one sentence each."""
    problem: str = ""
    """Why the remaining problems were not repaired, one sentence; empty if all were."""


# --- Checks of a provider, its key and its model ---------------------------------------------------------------------


class Probe(Record, frozen=True):
    """The result of a test of a provider or of sqlite-vec."""

    ok: bool
    error: str


class ProviderProbe(Record, frozen=True):
    """Result of testing a provider by sending one word."""

    ok: bool
    error: str
    """The error and its remedy, one sentence; empty if `ok`."""
    milliseconds: float
    """Response time; 0 if no request was sent."""
    dims: int | None
    """Length of the received vector."""
    model: str
    """The requested model; empty without a provider."""


class ModelFetchProgress(Record, frozen=True):
    """Progress of downloading a model from Hugging Face."""

    model: str
    """The model as hf:owner/repository/file.gguf."""
    received: int
    total: int
    """Size of the whole download in bytes, including an earlier part."""


class KeyState(Record, frozen=True):
    """Whether a provider has an API key, and where it was found; never the key itself."""

    present: bool
    origin: Literal["environment", "keychain"] | None
    origin_text: str
    """Where the key was found, for use in a sentence: `the environment variable OPENAI_API_KEY`, `the keychain`; empty
    if there is no key.
    """
    problem: str
    """Why the key could not be looked up, or can't be used; one sentence, or empty."""


# --- Links between notes ----------------------------------------------------------------------------------------------


class NoteLinkInfo(Record, frozen=True, gc=False):
    """A link between two notes, as seen from one of them."""

    path: str
    """Stable name of the other note; empty if no note has the link's name."""
    title: str
    """Title of the other note; the name in the link if no note has it."""
    line: int
    """Line at which to open the other note: that of the link if it is in that note, else that of its target."""
    anchor: str
    """Heading, or `^` and a block's id, that the link points to."""
    context: str
    """The sentence around the link."""
    backlink: bool
    """Whether the link is in the other note."""


class NoteLinks(Record, frozen=True):
    """The links to and from one note."""

    backlinks: tuple[NoteLinkInfo, ...]
    """Links in other notes to this one, by path."""
    links: tuple[NoteLinkInfo, ...]
    """Links in this note, in order."""


class LinkedText(Record, frozen=True):
    """The part of a note that a link points to."""

    path: str
    title: str
    line: int
    text: str
    """At most 40 lines; of a whole note, without its front matter."""
    cut: bool = False
    """Whether the part is longer than `text`."""
    anchored: bool = False
    """Whether the link's anchor was found; else the part is the note."""
