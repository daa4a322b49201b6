"""Messages packed into chunks: all text included, every part located, and the same chunks after resuming."""

from hypothesis import given
from hypothesis import strategies as st

from engine.corpus.chunk_boundaries import weigh
from engine.corpus.transcripts.chunk_packing import ChunkPacker, IndexedMessage, SessionChunk

words = st.text(st.sampled_from("ab \n#`日"), min_size=1, max_size=400).filter(str.strip)
lengths = st.sampled_from((1, 1, 1, 4, 30))


@st.composite
def conversations(draw: st.DrawFn) -> list[IndexedMessage]:
    messages, line = [], 0
    for ordinal in range(1, draw(st.integers(1, 12)) + 1):
        line += draw(st.integers(0, 3)) if messages else 1
        text = draw(words) * draw(lengths)
        role = draw(st.sampled_from(("user", "assistant")))
        messages.append(IndexedMessage(role, text, line, ordinal, f"m{ordinal}"))
    return messages


def packed(messages: list[IndexedMessage], tokens: int = 40, overlap: int = 8) -> list[SessionChunk]:
    packer = ChunkPacker(tokens, overlap)
    for one in messages:
        packer.add(one)
    return packer.finish()


def test_question_and_answer_share_a_chunk() -> None:
    messages = [
        IndexedMessage("user", "How tall is the mast?", 3, 1, "a"),
        IndexedMessage("assistant", "Twelve metres.", 7, 2, "b"),
    ]
    (chunk,) = packed(messages)
    assert chunk.text == "User: How tall is the mast?\n\nAssistant: Twelve metres."
    assert (chunk.start_line, chunk.end_line) == (3, 7)
    assert [(offset.offset, offset.line, offset.ordinal, offset.id) for offset in chunk.message_offsets] == [
        (0, 3, 1, "a"),
        (chunk.text.index("Assistant"), 7, 2, "b"),
    ]


def test_new_question_opens_chunk_when_full_enough() -> None:
    messages = [
        IndexedMessage("user", "First question?", 1, 1, ""),
        IndexedMessage("assistant", "word " * 20, 2, 2, ""),
        IndexedMessage("user", "Second question?", 3, 3, ""),
    ]
    assert [chunk.start_line for chunk in packed(messages)] == [1, 3]


def test_a_long_answer_keeps_its_question_and_its_headings() -> None:
    answer = "\n\n".join(f"## Part {number}\n\n{'word ' * 25}" for number in range(4))
    chunks = packed([IndexedMessage("user", "Plan?", 1, 1, ""), IndexedMessage("assistant", answer, 2, 2, "")])
    assert len(chunks) > 2
    assert chunks[0].text.startswith("User: Plan?")
    assert {(chunk.start_line, chunk.end_line) for chunk in chunks[1:]} == {(2, 2)}
    assert chunks[-1].heading == ("Part 3",)


@given(conversations())
def test_chunks_contain_every_part_with_its_offset(messages: list[IndexedMessage]) -> None:
    chunks = packed(messages)
    for one in messages:
        mine = [c for c in chunks if any(offset.ordinal == one.ordinal for offset in c.message_offsets)]
        assert mine
        assert all(c.start_line <= one.line <= c.end_line for c in mine)
        # Chunks of one message may overlap, and blank text between them is omitted.
        left = set("".join(one.text.split()))
        assert left <= set("".join("".join(c.text for c in mine).split()))
    for chunk in chunks:
        assert chunk.message_offsets[0].offset == 0
        assert all(0 <= offset.offset < len(chunk.text) for offset in chunk.message_offsets)
        assert weigh(chunk.text) <= 160


@given(conversations(), st.integers(0, 12))
def test_resumed_packing_gives_the_same_chunks(messages: list[IndexedMessage], at: int) -> None:
    first = ChunkPacker(40, 8)
    for one in messages[:at]:
        first.add(one)
    later = ChunkPacker(40, 8, first.open)
    for one in messages[at:]:
        later.add(one)
    assert first.take_full() + later.finish() == packed(messages)


def test_properties_of_logseq_in_a_message_stay() -> None:
    messages = [IndexedMessage("user", "- read this\n  id:: 65f0\n" + "more words\n" * 60, 1, 1, "a")]
    assert "id:: 65f0" in packed(messages)[0].text
