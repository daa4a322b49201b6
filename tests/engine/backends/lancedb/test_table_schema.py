"""Rows read from the table equal those that were written."""

from typing import TYPE_CHECKING, Any

import msgspec
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from engine.backends.lancedb import table_schema
from engine.backends.lancedb.memory import composed
from engine.backends.lancedb.table_schema import (
    beginning_of,
    beginnings,
    file_key,
    read_holders,
    spelt_holders,
    sql_text,
)
from engine.backends.lancedb.table_sync import LocalFile, make_plan
from engine.corpus.chunking import chunk_text
from engine.store.stored_models import ModelName
from engine.store.writer import NewChunk, NewFile, NewSession
from engine.text import analyse, analyse_both

if TYPE_CHECKING:
    import pyarrow as pa

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=200)
MODEL = ModelName("fake", "bag", "")


def new_file(note: str) -> NewFile:
    def chunk(found) -> NewChunk:
        analysed = analyse(found.text, "english")
        heading = analyse_both("\n".join(found.heading), "english")
        return NewChunk(
            found.start_line, found.end_line, found.text.encode()[:32].ljust(32, b"."), found.heading, found.text,
            heading, analysed.words, analysed.stems, None,
        )  # fmt: skip

    chunks = tuple(map(chunk, chunk_text(note, tokens=40, overlap=8)))
    session = NewSession("t", "agent", "id", "/p", "main", "", 1.0, None, 3, 4)
    return NewFile(
        "memory", "a/b.md", "hash", 12, 34, "Title", "english", analyse_both("Title", "english"), "a/b.md b", chunks,
        session, ("garden/tools",),
    )  # fmt: skip


def through_arrow(rows: list[dict[str, Any]], vectors: dict[str, bytes]) -> "pa.Table":
    return table_schema.as_table(rows, vectors, table_schema.schema(4, MODEL))


@given(TEXTS)
def test_file_rows_round_trip(note: str) -> None:
    file = new_file(f"# Title\n\n{note}\n\n## Part\n\n{note}")
    vectors = {file.chunks[0].hash.hex(): np.ones(4, "<f2").tobytes()}

    rows = list(table_schema.rows_of_file(file, "key", ",a:desk,", "a", "rules"))
    table = through_arrow(rows, vectors)

    marker = table.slice(len(rows) - 1)
    (shared,) = table_schema.read_files(marker)
    assert (shared.key, shared.path, shared.passages, shared.holders) == (
        "key", "a/b.md", len(file.chunks), (("a", "desk"),),
    )  # fmt: skip
    assert shared.words == sum(len(chunk.words.split()) for chunk in file.chunks)
    metadata = msgspec.json.decode(shared.facts, type=table_schema.FileMetadata)
    assert (metadata.tags, metadata.session) == (file.tags, file.session)
    found = list(table_schema.read_rows(table.slice(0, len(rows) - 1)))
    assert [row.chunk for row in found] == list(file.chunks)
    tokens = {(row.title_tokens, row.name_tokens, row.alias_tokens) for row in found}
    assert tokens == {(file.title_tokens, file.name_tokens, file.alias_tokens)}
    same = [chunk.hash.hex() in vectors for chunk in file.chunks]
    assert [row.vector for row in found] == [vectors[file.chunks[0].hash.hex()] if one else None for one in same]


@given(st.lists(TEXTS, min_size=6, max_size=6))
def test_token_streams_round_trip(texts: list[str]) -> None:
    streams = [analyse_both(text, "english") for text in texts]

    assert list(table_schema.streams_of(table_schema.terms_of(*streams))) == streams


def test_streams_of_row_without_aliases_have_empty_aliases() -> None:
    terms = table_schema.terms_of("title", "heading", "name", "words", "stems", "").rstrip("\n")

    assert table_schema.streams_of(terms) == ("title", "heading", "name", "words", "stems", "")


@given(TEXTS)
def test_stored_prefix_of_any_length_begins_its_word(note: str) -> None:
    words = analyse(note, "").words.split()
    kept = set(beginnings(words))

    for word in words:
        for length in range(3, len(word) + 1):
            begun = beginning_of(word[:length])
            assert begun in kept
            assert word.startswith(begun or "?")


HOLDER = st.tuples(st.from_regex("[0-9a-f]{12}", fullmatch=True), st.from_regex("[a-z-]{1,9}", fullmatch=True))


@given(st.lists(HOLDER))
def test_holders_round_trip(holders: list[tuple[str, str]]) -> None:
    assert list(read_holders(spelt_holders(holders))) == holders


def test_model_read_from_vector_column() -> None:
    import pyarrow as pa

    assert table_schema.model_of(table_schema.vector_field(4, MODEL)) == MODEL
    assert table_schema.model_of(pa.field("vector", pa.list_(pa.float16(), 4))) is None


# --- plans ------------------------------------------------------------------------------------------------------------

FILES = st.lists(
    st.tuples(st.sampled_from("abc"), st.sampled_from("xyz")), max_size=3, unique_by=lambda file: file[0]
)  # path and content; paths are unique


HISTORIES = st.dictionaries(st.sampled_from(["desk", "shed", "boat"]), st.lists(FILES, min_size=1, max_size=3))


@given(HISTORIES, st.randoms())
def test_any_order_of_machines_ends_consistent(histories, random) -> None:
    table: dict[str, table_schema.SharedFile] = {}
    turns = [name for name, states in histories.items() for _ in states]
    random.shuffle(turns)
    at = dict.fromkeys(histories, 0)

    def sync(name: str, state: list[tuple[str, str]]) -> None:
        local = [LocalFile(0, "memory", path, content, 1, 1) for path, content in state]
        others = {key for key, file in table.items() if name not in {id_ for id_, _ in file.holders}}
        plan = make_plan(local, table, name, "rules")
        for file, instead_of in plan.put:
            shared = table_schema.SharedFile(
                file.key, "memory", file.path, 1, file.hash, 1, "", "", b"", 1, 1, ((name, name),), name, "rules"
            )
            table[file.key] = shared
            for key in instead_of:
                assert key not in others
                del table[key]
        for key in plan.join:
            table[key] = table[key]._replace(holders=(*table[key].holders, (name, name)))
        for file in plan.leave:
            left = tuple(holder for holder in file.holders if holder[0] != name)
            table[file.key] = table[file.key]._replace(holders=left)
        for key in plan.remove:
            assert key not in others
            del table[key]
        assert make_plan(local, table, name, "rules").empty
        assert {file.key for file in local} <= table.keys()

    for name in turns:
        sync(name, histories[name][at[name]])
        at[name] += 1
    for name, states in [*histories.items(), *histories.items()]:
        sync(name, states[-1])
    assert table.keys() == {
        file_key("memory", path, content) for states in histories.values() for path, content in states[-1]
    }


# --- text of other machines ----------------------------------------------------------------------------------------


@given(st.lists(st.text("ab c#`-", max_size=90), max_size=40))
def test_note_text_composed_of_passages(lines: list[str]) -> None:
    import pyarrow as pa

    note = "\n".join(lines)
    file = new_file(note)
    table = through_arrow(list(table_schema.rows_of_file(file, "key", ",", "a", "rules")), {})
    rows = list(table_schema.read_rows(table.filter(pa.compute.greater_equal(table["ordinal"], 0))))

    whole = composed(rows).split("\n")

    for number, line in enumerate(note.split("\n")):
        assert not line.strip() or (number < len(whole) and whole[number] == line)


# --- SQL --------------------------------------------------------------------------------------------------------------


@given(st.text(max_size=20))
def test_sql_text_is_one_literal(value: str) -> None:
    literal = sql_text(value)

    assert literal.startswith("'")
    assert literal.endswith("'")
    assert "'" not in literal[1:-1].replace("''", "")


def test_lancedb_reads_a_literal_as_the_value(tmp_path) -> None:
    import lancedb

    values = ["plain", "it's", "'; DROP TABLE t; --", '"quoted"', "a\\b", "100%_", "日本", "${x}", "a\nb", "?"]
    table = lancedb.connect(str(tmp_path)).create_table("t", [{"value": value} for value in values])

    for value in values:
        assert table.search().where(f"value = {sql_text(value)}").to_list() == [{"value": value}]
