"""Boundaries of chunks, and the lines and headings of each."""

import itertools
from collections.abc import Sequence

import pytest

from engine.corpus import chunking, front_matter
from engine.corpus.chunk_boundaries import weigh
from engine.corpus.chunking import Chunk, chunk_text
from engine.corpus.note_metadata import read_metadata

SENTENCE = "The quick brown fox jumps over the lazy dog and runs away. "


def prose(weight: int) -> str:
    """Return a paragraph in lines of 60 characters, of about this weight."""
    return "\n".join([SENTENCE.strip()] * (weight // 59)) + "\n"


def paths(chunks: Sequence[Chunk]) -> list[tuple[str, ...]]:
    return [chunk.heading for chunk in chunks]


def first_lines(chunks: Sequence[Chunk]) -> list[str]:
    return [chunk.text.split("\n")[0] for chunk in chunks]


def test_short_note_is_one_stripped_chunk() -> None:
    assert chunk_text("\n \n# A\n\ntext\n\n\n") == [Chunk(3, 5, "# A\n\ntext", ("A",))]


@pytest.mark.parametrize("text", ["", "\n", " \n\t\n\r\n", "\u3000\n\u00a0"])
def test_invisible_text_gives_no_chunk(text: str) -> None:
    assert chunk_text(text) == []


def test_large_sections_are_cut_at_their_headings() -> None:
    text = "".join(f"# Part {number}\n\n{prose(1100)}\n" for number in range(4))
    chunks = chunk_text(text)
    assert first_lines(chunks) == [f"# Part {number}" for number in range(4)]
    assert paths(chunks) == [(f"Part {number}",) for number in range(4)]


def test_small_siblings_share_chunk_under_parent() -> None:
    days = "".join(f"## Day {number}\n\n{prose(300)}\n" for number in range(8))
    chunks = chunk_text(f"# Diary\n\n{days}# Other\n\n{prose(900)}")
    assert paths(chunks) == [("Diary",), ("Diary",), ("Other",)]
    assert {len(chunk.text) // 100 for chunk in chunks[:2]} == {12}


def test_chunk_never_crosses_chapters() -> None:
    text = f"# One\n\n{prose(1200)}\n## Inner\n\n{prose(700)}\n# Two\n\nshort\n"
    assert paths(chunk_text(text)) == [("One",), ("One", "Inner"), ("Two",)]


def test_higher_headings_are_the_stronger_cuts() -> None:
    text = "".join(
        f"## Chapter {chapter}\n\n" + "".join(f"### Part {part}\n\n{prose(480)}\n" for part in range(2))
        for chapter in range(3)
    )
    assert first_lines(chunk_text(text)) == ["## Chapter 0", "## Chapter 1", "## Chapter 2"]


def test_small_introduction_joins_next_section() -> None:
    text = f"# Title\n\nOne line of introduction.\n\n## Long\n\n{prose(4000)}"
    chunks = chunk_text(text)
    assert "## Long" in chunks[0].text
    assert paths(chunks)[1:] == [("Title", "Long")] * (len(chunks) - 1)


def test_a_heading_is_never_left_at_the_end_of_a_chunk() -> None:
    for size in range(0, 2000, 59):
        text = f"{prose(size)}\n# A\n\n## B\n\n{prose(1500)}\n# C\n\n{prose(200)}\n\n## D\n\n{prose(1700)}"
        for chunk in chunk_text(text):
            assert not chunk.text.rstrip().split("\n")[-1].startswith("#")


def test_an_own_heading_path_skips_parents_without_text() -> None:
    text = "# Book\n\n## Chapter\n\n### Part\n\nwords\n"
    assert paths(chunk_text(text)) == [("Book", "Chapter", "Part")]


def test_long_text_overlaps_in_whole_lines_within_its_section() -> None:
    chunks = chunk_text(f"# A\n\n{prose(5000)}\n# B\n\n{prose(5000)}")
    for before, after in itertools.pairwise(chunks):
        shared = before.end_line - after.start_line + 1
        if before.heading == after.heading:
            repeated = after.text.split("\n")[:shared]
            assert 0 < weigh("\n".join(repeated)) <= 320
            assert before.text.endswith("\n".join(repeated))
        else:
            assert shared <= 0


def test_overlap_of_zero_repeats_no_lines() -> None:
    chunks = chunk_text(prose(9000), overlap=0)
    assert len(chunks) > 1
    assert all(after.start_line == before.end_line + 1 for before, after in itertools.pairwise(chunks))


def test_text_for_two_chunks_is_divided_evenly() -> None:
    sizes = [len(chunk.text) for chunk in chunk_text(prose(1700))]
    assert len(sizes) == 2
    assert min(sizes) > 700


@pytest.mark.parametrize("line", [SENTENCE, "## Day {}\n\n" + SENTENCE * 3])
def test_added_text_leaves_earlier_chunks_unchanged(line: str) -> None:
    before = [chunk_text("\n".join(line.format(n) for n in range(lines))) for lines in range(300, 330)]
    for first, second in itertools.pairwise(before):
        assert first[:-4] == second[: len(first) - 4]


def test_cuts_prefer_paragraphs_to_lines() -> None:
    text = "\n".join(prose(500) for _ in range(8))
    paragraph = prose(500).strip()
    for chunk in chunk_text(text, overlap=0):
        assert chunk.text.replace(paragraph, "").strip() == ""


def code(lines: int) -> str:
    return "```python\n" + "# not a heading\n\nx = 1\n" * lines + "```\n"


@pytest.mark.parametrize("before", range(0, 1600, 118))
def test_code_block_that_fits_stays_in_one_chunk(before: int) -> None:
    for lines in (10, 40, 65):
        text = f"# A\n\n{prose(before)}\n{code(lines)}\n{prose(900)}\n{code(lines)}"
        chunks = chunk_text(text)
        for chunk in chunks:
            assert chunk.text.count("```") % 2 == 0
        assert sum(code(lines).strip() in chunk.text for chunk in chunks) >= 1


def test_code_that_does_not_fit_is_cut_at_a_blank_line() -> None:
    chunks = chunk_text("```\n" + ("x = 1\n" * 20 + "\n") * 40 + "```\n", overlap=0)
    assert len(chunks) > 3
    assert all(chunk.text.count("\n") % 21 in (19, 20, 0) for chunk in chunks)


def test_code_that_is_never_closed_runs_to_the_end() -> None:
    assert paths(chunk_text("# A\n\n````\n# x\n```\n# y\n")) == [("A",)]


@pytest.mark.parametrize(
    ("text", "path"),
    [
        ("Title\n=====\n\nSub\n---\n\ntext", ("Title", "Sub")),
        ("# A\r\n\r\nB\r\n---\r\n\r\ntext\r\n", ("A", "B")),
        ("para\nTitle\n===\n\ntext", ()),
        ("- item\n---\ntext", ()),
        ("| a |\n---\ntext", ()),
        ("---\ntitle: x\n# no heading\n---\ntext", ()),
        ("---\ntitle: x\n---\n\n# A\n\ntext", ("A",)),
        ("# " + "no end " * 100 + "\n\ntext", ()),
        ("    # indented code\ntext", ()),
        ("#tag\ntext", ()),
        ("# \ntext", ()),
        ("## [A](b) `c` ##\n\ntext", ("A c",)),
        ("*****\nChapter\n*****\n\nx", ()),
        ("*******\nChapter\n*******\n\nSection\n=======\n\nSub\n---\n\ntext", ("Chapter", "Section", "Sub")),
        ("Chapter\n=======\n\nPart\n~~~~\n\ntext", ("Chapter", "Part")),
    ],
)
def test_headings_of_all_kinds_are_known(text: str, path: tuple[str, ...]) -> None:
    assert paths(chunk_note(text))[-1] == path


def chunk_note(text: str, **options: int) -> list[Chunk]:
    return chunk_text(text, front=front_matter.read(text), **options)


def test_chunk_front_matter_keeps_only_searched_values() -> None:
    text = "---\nid: 7f3c\ntitle: x\ncreated: 2024-01-01\ntags: [a, b]\nstub: false\n---\n# A\n\nb\n"
    assert chunk_note(text) == [Chunk(3, 10, "x\n\na, b\n\n\n# A\n\nb", ("A",))]


def test_chunk_lines_after_front_matter_are_exact() -> None:
    note = f"---\nsummary: >\n  folded\n  twice\nid: 1\n---\n\n# A\n\n{prose(5000)}\n# B\n\n{prose(900)}"
    lines = note.split("\n")
    chunks = chunk_note(note)
    assert chunks[0].text.startswith("folded\ntwice\n")
    for chunk in chunks[1:]:
        assert chunk.text == "\n".join(lines[chunk.start_line - 1 : chunk.end_line])


def test_an_overlined_title_stays_with_its_overline() -> None:
    chunks = chunk_text(f"{prose(1500)}\n=====\nTitle\n=====\n\n{prose(1500)}")
    assert chunks[1].text.startswith("=====\nTitle\n=====")


def test_an_overlong_line_is_cut_after_sentences() -> None:
    chunks = chunk_text("# A\n\n" + SENTENCE * 100)
    long = [chunk for chunk in chunks if chunk.start_line == 3]
    assert len(chunks) > 4
    assert {(chunk.start_line, chunk.end_line) for chunk in chunks[1:]} == {(3, 3)}
    assert all(chunk.text.startswith("The quick") for chunk in long)
    assert all(chunk.text.rstrip().endswith("away.") for chunk in chunks)


def test_an_overlong_word_is_cut_but_no_character_is() -> None:
    family = "👨‍👩‍👧"
    for chunk in chunk_text(family * 2000):
        assert chunk.text.replace(family, "") == ""
    for chunk in chunk_text("e\u0301" * 3000):
        assert chunk.text.replace("e\u0301", "") == ""


def test_scripts_that_need_more_tokens_get_shorter_chunks() -> None:
    assert [weigh(text) for text in ("abc", "é", "日本", "😀", "𠀀", "한", "a日😀")] == [3, 1, 8, 2, 4, 4, 7]
    chunks = chunk_text("今日は天気がいいですね。" * 400)
    assert max(map(len, (chunk.text for chunk in chunks))) <= 400
    assert all(chunk.text.endswith("。") for chunk in chunks)


def test_list_items_stay_whole_where_they_can() -> None:
    text = "".join(f"- item {number}\n  {SENTENCE}\n  {SENTENCE}\n" for number in range(60))
    lines = first_lines(chunk_text(text, overlap=0))
    assert len(lines) > 1
    assert all(line.startswith("- item") for line in lines)


def front_of(weight: int) -> str:
    return "---\ntitle: Note\ntags:\n" + "  - something\n" * (weight // 15) + "---\n"


@pytest.mark.parametrize("heading", ["", "# A\n\n", "# A\n\n## B\n\n", "A b\n===\n\n"])
@pytest.mark.parametrize("weight", [60, 500, 900, 1300])
@pytest.mark.parametrize("size", [1000, 1500, 4000])
def test_front_matter_is_never_a_chunk_without_text(heading: str, weight: int, size: int) -> None:
    chunks = chunk_note(f"{front_of(weight)}\n{heading}{prose(size)}\n# Z\n\n{prose(900)}")
    assert chunks[0].text.startswith("Note\n\nsomething")
    assert SENTENCE.strip() in chunks[0].text
    assert chunks[0].heading == chunk_text(heading + "x")[0].heading


def test_empty_heading_joins_full_section() -> None:
    chunks = chunk_text(f"# A\n\n## B\n\n{prose(1593)}\n## C\n\n{prose(900)}")
    assert len(chunks) > 1
    assert all(SENTENCE.strip() in chunk.text for chunk in chunks)


def test_note_leaves_out_properties_of_blocks_but_not_in_code() -> None:
    text = "- seed\n  id:: 65f0\n```\nid:: code\n```\n- frost\n  collapsed:: true"
    [chunk] = chunking.chunk_note(text, read_metadata(text, "a.md"), tokens=400, overlap=80)
    assert chunk.text == "- seed\n\n```\nid:: code\n```\n- frost"


@pytest.mark.parametrize("level", [1, 2])
@pytest.mark.parametrize("language", ["json", "compressed-json"])
def test_note_leaves_out_the_data_of_a_drawing(level: int, language: str) -> None:
    front = "---\nexcalidraw-plugin: parsed\n---\n"
    data = f"%%\n{'#' * level} Drawing\n```{language}\n{{ strokeColor }}\n```\n%%"
    text = f"# Drawing\nby hand\n\n# Text Elements\nPump ^a1\n\n{data}"
    about = read_metadata(front + text, "a.excalidraw.md")
    [chunk] = chunking.chunk_note(front + text, about, tokens=400, overlap=80)
    assert (chunk.start_line, chunk.text) == (4, text.partition(data)[0] + "%%")
    assert "strokeColor" in chunking.chunk_note(text, read_metadata(text, "a.md"), tokens=400, overlap=80)[0].text
