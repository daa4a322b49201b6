"""The schema of the table: a row for every file, and one for every passage of it.

**Identity.** A file is identified by its source, its path and the hash of its content: two machines with the same
synced notes share rows, and two unrelated notes of one name (every agent has its MEMORY.md) stay separate. The row of a
file names its *holders*, the machines that have it. A machine with a file whose rows exist only adds itself; one that
has changed a file which it held replaces the old rows, whichever other machine held those, since they are an earlier
version of the note; one that has deleted a file removes itself, and the rows are deleted with the last holder. So data
that only another machine has is never removed, and each sync repairs the traces of a killed sync, or of concurrent
ones.

`id` is the table's primary key: of two machines that insert the same rows concurrently, one must retry. All rows of a
file are added and removed in one commit, so that readers see a file wholly old or wholly new.

**Words.** `terms` has the token streams of title, headings, name and body as in the program's own keyword index, one
line each. LanceDB's index only splits them at spaces, so it finds words in all scripts, stems and identifiers. Every
token is prefixed with the letter of its column, so that each column is counted separately. A line of word prefixes
follows, for a query that is being typed, then the aliases; rows of earlier versions end before the aliases.
"""

import hashlib
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import msgspec

from engine.backends.lancedb.error_messages import TableUnavailable
from engine.base.bounded_json import decode_json
from engine.base.language import tr
from engine.records import Source
from engine.store.snapshot import HEADING_SEPARATOR
from engine.store.stored_models import ModelName
from engine.store.writer import NewChunk, NewFile, NewSession

if TYPE_CHECKING:
    import pyarrow as pa

SCHEMA_VERSION = 1
VERSION_KEY = b"mnemoscope"
MODEL_KEY = b"mnemoscope.model"
NUMBER_KEY = b"mnemoscope.table"
"""Metadata key of a number that differs for each table: a recreated one has the same name, and versions from 1."""
PRIMARY_KEY = b"lance-schema:unenforced-primary-key:position"

FILE_ROW = -1
"""`ordinal` of the row of a file; its passages count from 0."""
NAME, WORD, STEM, BEGINNING = "n", "w", "s", "p"
"""Prefixes of the columns: title, headings, file name and aliases share one."""
BEGINNING_LENGTHS = (3, 5)
_PAIR = 2
Value = TypeVar("Value")

CATALOG_COLUMNS = (
    "file", "source", "path", "mtime_ns", "hash", "size", "title", "language", "facts", "passages", "words", "holders",
    "writer", "rules",
)  # fmt: skip
PASSAGE_COLUMNS = ("id", "file", "ordinal", "start_line", "end_line", "heading", "text", "places", "text_hash", "terms")


class FileMetadata(msgspec.Struct, frozen=True, omit_defaults=True):
    """Metadata of a file in the table: tags, session, aliases and dates."""

    tags: tuple[str, ...] = ()
    session: NewSession | None = None
    aliases: tuple[str, ...] = ()
    dated: float | None = None
    """The latest date of the front matter."""
    evergreen: bool = False
    earlier: tuple[float, ...] = ()
    """The other dates, ascending; rows of earlier versions have none."""


def _metadata_of(file: NewFile) -> FileMetadata:
    *earlier, dated = file.dates or (None,)
    return FileMetadata(file.tags, file.session, file.aliases, dated, file.evergreen, tuple(earlier))


class SharedFile(NamedTuple):
    """The row of one file in the shared table, without its passages."""

    key: str
    source: Source
    path: str
    """Path on the machines that have it."""
    mtime_ns: int
    hash: str
    size: int
    title: str
    language: str
    facts: bytes
    passages: int
    words: int
    """Tokens of all its passages."""
    holders: tuple[tuple[str, str], ...]
    """(id, label) of the machines that have it."""
    writer: str
    """Id of the machine that put these rows here."""
    rules: str
    """Version of chunker and analyser."""


class Row(NamedTuple):
    """One passage of a search result."""

    file: str
    ordinal: int
    chunk: NewChunk
    title_tokens: str
    name_tokens: str
    alias_tokens: str
    vector: bytes | None
    """Little-endian float16 of unit length; None if it isn't embedded yet."""


def file_key(source: str, path: str, content_hash: str) -> str:
    """Return the key of a state of a file: 32 hexadecimal digits, the same on every machine."""
    return hashlib.sha256("\0".join((source, path, content_hash)).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def schema(dims: int | None = None, model: ModelName | None = None) -> "pa.Schema":
    """Return the schema, with a column of vectors if their model is known."""
    import pyarrow as pa

    text, whole = pa.string(), pa.int64()
    fields = [
        # The table's primary key from the start: of two machines that insert a row concurrently, one must retry.
        pa.field("id", text, nullable=False, metadata={PRIMARY_KEY: b"1"}),
        pa.field("file", text),
        pa.field("ordinal", pa.int32()),
        pa.field("source", text),
        pa.field("path", text),
        pa.field("mtime_ns", whole),
        # columns of a file's own row
        pa.field("hash", text),
        pa.field("size", whole),
        pa.field("title", text),
        pa.field("language", text),
        pa.field("facts", pa.binary()),
        pa.field("passages", pa.int32()),
        pa.field("words", whole),
        pa.field("holders", text),
        pa.field("writer", text),
        pa.field("rules", text),
        # columns of a passage's row
        pa.field("start_line", pa.int32()),
        pa.field("end_line", pa.int32()),
        pa.field("heading", text),
        pa.field("text", text),
        pa.field("places", pa.binary()),
        pa.field("text_hash", text),
        pa.field("terms", text),
    ]
    if dims is not None and model is not None:
        fields.append(vector_field(dims, model))
    own = {VERSION_KEY: str(SCHEMA_VERSION).encode(), NUMBER_KEY: uuid.uuid4().hex.encode()}
    return pa.schema(fields, metadata=own)


def number_of(schema: "pa.Schema") -> str:
    """Return the number that distinguishes the table from others of the same name."""
    number: bytes = (schema.metadata or {}).get(NUMBER_KEY, b"")
    return number.decode("ascii", "replace")


def vector_field(dims: int, model: ModelName) -> "pa.Field[Any]":
    """Return the field of the column `vector`: float16 (dims,), with the name of the model in its metadata."""
    import pyarrow as pa

    return pa.field("vector", pa.list_(pa.float16(), dims), metadata={MODEL_KEY: msgspec.json.encode(model)})


def terms_of(title: str, heading: str, name: str, words: str, stems: str, aliases: str) -> str:
    """Return the token streams of one passage, joined to one text."""
    parts = ((NAME, title), (NAME, heading), (NAME, name), (WORD, words), (STEM, stems))
    lines = [_marked(letter, stream) for letter, stream in parts]
    starts = sorted(set(beginnings(f"{title} {name} {words} {aliases}".split())))
    return "\n".join([*lines, _marked(BEGINNING, " ".join(starts)), _marked(NAME, aliases)])


def streams_of(terms: str) -> tuple[str, str, str, str, str, str]:
    """Split the token streams into title, heading, name, words, stems and aliases."""
    lines = [*terms.split("\n"), ""]
    chosen = (*lines[:5], lines[6])
    title, heading, name, words, stems, aliases = (line[1:].replace(f" {line[:1]}", " ") for line in chosen)
    return title, heading, name, words, stems, aliases


def beginnings(words: Iterable[str]) -> Iterator[str]:
    """Prefixes of these words that a query may contain while being typed; of a pair in an unspaced script its first
    character."""
    for word in words:
        if len(word) == _PAIR and not word.isascii():
            yield word[0]
        for length in BEGINNING_LENGTHS:
            if len(word) >= length:
                yield word[:length]


def beginning_of(start: str) -> str | None:
    """Return the longest beginning of a typed text that the table stores as a token; None if the text is too short."""
    if len(start) == 1 and not start.isascii():
        return start
    lengths = [length for length in BEGINNING_LENGTHS if length <= len(start)]
    return start[: lengths[-1]] if lengths else None


def _marked(letter: str, stream: str) -> str:
    return letter + stream.replace(" ", f" {letter}") if stream else ""


def spelt_holders(holders: Iterable[tuple[str, str]]) -> str:
    """Return the machines that have a file as one text, each between commas, so that SQL can add or remove one."""
    return "," + "".join(f"{id_}:{label}," for id_, label in holders)


def read_holders(text: str) -> tuple[tuple[str, str], ...]:
    """Return the id and the label of each machine that has a file, from the text of its cell."""
    pairs = (part.partition(":") for part in text.split(",") if part)
    return tuple((id_, label) for id_, _, label in pairs)


def rows_of_file(file: NewFile, key: str, holders: str, writer: str, rules: str) -> Iterator[dict[str, Any]]:
    """Yield all rows of a file, without vectors: the file's own row last, which has the totals."""
    common = {"file": key, "source": file.source, "path": file.path, "mtime_ns": file.mtime_ns}
    count = words = 0
    for ordinal, chunk in enumerate(file.chunks):
        count += 1
        words += len(chunk.words.split(" ")) if chunk.words else 0
        yield {
            **common,
            "id": f"{key}-{ordinal}",
            "ordinal": ordinal,
            "start_line": chunk.start_line,
            "end_line": chunk.end_line,
            "heading": HEADING_SEPARATOR.join(chunk.heading),
            "text": chunk.text,
            "places": chunk.message_offsets,
            "text_hash": chunk.hash.hex(),
            "terms": terms_of(
                file.title_tokens,
                chunk.heading_tokens,
                file.name_tokens,
                chunk.words,
                chunk.stems,
                file.alias_tokens,
            ),
        }
    yield {
        **common,
        "id": key,
        "ordinal": FILE_ROW,
        "hash": file.hash,
        "size": file.size,
        "title": file.title,
        "language": file.language,
        "facts": msgspec.json.encode(_metadata_of(file)),
        "passages": count,
        "words": words,
        "holders": holders,
        "writer": writer,
        "rules": rules,
    }


def read_files(table: "pa.Table") -> Iterator[SharedFile]:
    columns = [table.column(name).to_pylist() for name in CATALOG_COLUMNS]
    for values in zip(*columns, strict=True):
        file = SharedFile(*values)
        yield file._replace(holders=read_holders(file.holders or ""))  # type: ignore[arg-type]


def read_rows(table: "pa.Table") -> Iterator[Row]:
    """Parse the passages of an answer, with vectors if it has them."""
    columns = [table.column(name).to_pylist() for name in PASSAGE_COLUMNS[1:]]
    vectors = read_vectors(table)
    for row, (file, ordinal, start, end, heading, text, offsets, text_hash, terms) in enumerate(
        zip(*columns, strict=True)
    ):
        title_tokens, heading_tokens, name_tokens, words, stems, alias_tokens = streams_of(terms)
        yield Row(
            file,
            ordinal,
            NewChunk(
                start_line=start,
                end_line=end,
                hash=bytes.fromhex(text_hash),
                heading=tuple(heading.split(HEADING_SEPARATOR)) if heading else (),
                text=text,
                heading_tokens=heading_tokens,
                words=words,
                stems=stems,
                message_offsets=offsets,
            ),
            title_tokens,
            name_tokens,
            alias_tokens,
            vectors[row],
        )


def model_of(field: "pa.Field[Any]") -> ModelName | None:
    """The model of a vector column; None if it isn't recorded."""
    named = (field.metadata or {}).get(MODEL_KEY)
    return None if named is None else read_value(named, ModelName)


def read_value(encoded: bytes | str, kind: type[Value]) -> Value:
    """Parse a value stored as JSON. Raises `TableUnavailable` for a damaged one."""
    try:
        return decode_json(encoded, kind)
    except ValueError:
        raise TableUnavailable(
            tr("The LanceDB table holds entries that cannot be read: choose another name for lancedb.table.")
        ) from None


def as_table(rows: Sequence[dict[str, Any]], vectors: Mapping[str, bytes], schema: "pa.Schema") -> "pa.Table":
    """Convert rows to an Arrow table; `vectors` by the hash of the text."""
    import pyarrow as pa

    fields = [field for field in schema if field.name != "vector"]
    table = pa.Table.from_pylist(list(rows), schema=pa.schema(fields))
    if len(fields) == len(schema):
        return table
    kind = schema.field("vector")
    column = vector_column([vectors.get(row.get("text_hash", "")) for row in rows], kind.type.list_size)
    return table.append_column(kind, column)


def vector_column(vectors: Sequence[bytes | None], dims: int) -> "pa.FixedSizeListArray":
    """Little-endian float16 as a column; None where a row has none."""
    import numpy as np
    import pyarrow as pa

    nothing = bytes(2 * dims)
    values = np.frombuffer(b"".join(vector or nothing for vector in vectors), dtype="<f2").astype("=f2", copy=False)
    missing = pa.array([vector is None for vector in vectors])
    return pa.FixedSizeListArray.from_arrays(pa.array(values), dims, mask=missing)


def read_vectors(table: "pa.Table") -> list[bytes | None]:
    """Little-endian float16 of each row; None where a row has none."""
    if "vector" not in table.column_names:
        return [None] * len(table)
    vectors: list[bytes | None] = []
    for chunk in table.column("vector").chunks:
        length = chunk.type.list_size
        values = chunk.values.to_numpy(zero_copy_only=False).astype("<f2", copy=False)
        first = chunk.offset
        for row, valid in enumerate(chunk.is_valid().to_pylist()):
            begin = (first + row) * length
            vectors.append(values[begin : begin + length].tobytes() if valid else None)
    return vectors


# --- Conditions in SQL. LanceDB has no parameters, so every value is quoted. -----------------------------------------


def sql_text(value: str) -> str:
    """Return a string literal. Characters that UTF-8 can't encode become question marks, as in the table."""
    clean = value.encode("utf-8", "replace").decode().replace("\0", "")
    return "'" + clean.replace("'", "''") + "'"


def sql_one_of(column: str, values: Iterable[str]) -> str:
    """Return the condition that a column has one of these values; `false` if there are none."""
    listed = ", ".join(sorted(map(sql_text, values)))
    return f"{column} IN ({listed})" if listed else "false"


def sql_all_of(conditions: Iterable[str]) -> str:
    """Return the conditions joined with AND."""
    return " AND ".join(f"({condition})" for condition in conditions)
