"""Links to passages survive a round trip; any other text is refused."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.base.errors import LinkRefused
from engine.records import (
    LAST_LINE,
    LONGEST_LINK,
    Citation,
    Link,
    cite,
    is_link,
    parse_citation,
    parse_link,
    write_link,
)

GOOD = "mnemoscope://open?workspace=/home/ada/notes&path=daily/monday.md&line=4&end=9"
_HIDDEN = "".join(
    map(chr, (*range(32), *range(127, 160), 0x200E, 0x200F, *range(0x2028, 0x202F), *range(0x2066, 0x206A)))
)
_LETTERS = st.characters(exclude_categories=("Cs",), exclude_characters=_HIDDEN + "/\\")
_PARTS = st.text(_LETTERS, min_size=1, max_size=12).filter(lambda part: part not in (".", ".."))
_PATHS = st.lists(_PARTS, min_size=1, max_size=5).map("/".join)
_FOLDERS = st.one_of(
    _PATHS.map(lambda path: f"/{path}"),
    st.builds(lambda drive, path: f"{drive}:\\" + path.replace("/", "\\"), st.sampled_from("CDz"), _PATHS),
)
_LINES = st.one_of(
    st.just((None, None)),
    st.integers(1, 10**9 - 1).map(lambda line: (line, None)),
    st.tuples(st.integers(1, 10**8), st.integers(1, 10**6)).map(lambda found: (found[0], found[0] + found[1])),
)


def test_link_is_a_readable_address() -> None:
    link = Link(workspace="/home/ada/my notes", path="daily/größe #1.md", line=4, end=9, message="m-1&2")
    assert write_link(link) == (
        "mnemoscope://open?workspace=/home/ada/my%20notes&path=daily/gr%C3%B6%C3%9Fe%20%231.md"
        "&line=4&end=9&message=m-1%262"
    )


@given(_FOLDERS, _PATHS, _LINES, st.text(_LETTERS, max_size=40))
def test_links_round_trip(folder: str, path: str, lines: tuple[int | None, int | None], message: str) -> None:
    link = Link(workspace=folder, path=path, line=lines[0], end=lines[1], message=message)
    text = write_link(link)
    assert text.isascii()
    assert not set(text) & set(" \"'<>`\n")
    assert parse_link(text) == link


@given(st.text(max_size=200))
def test_any_link_is_read_or_refused_with_a_sentence(text: str) -> None:
    for sent in (text, f"mnemoscope://{text}", f"mnemoscope://open?{text}", f"{GOOD}{text}"):
        with contextlib.suppress(LinkRefused):
            link = parse_link(sent)
            assert parse_link(write_link(link)) == link


def test_browser_encoded_link_equal() -> None:
    wanted = parse_link(GOOD)
    assert wanted == Link(workspace="/home/ada/notes", path="daily/monday.md", line=4, end=9)
    assert parse_link(GOOD.replace("mnemoscope://open", "MNEMOSCOPE://OPEN")) == wanted
    assert parse_link(GOOD.replace("://open?", "://open/?")) == wanted
    assert parse_link(GOOD.replace("/", "%2F").replace("mnemoscope:%2F%2F", "mnemoscope://")) == wanted


def test_link_with_plus_sign_keeps_it_in_the_path() -> None:
    assert parse_link("mnemoscope://open?workspace=/n&path=c++.md").path == "c++.md"


@pytest.mark.parametrize(
    "text",
    [
        "",
        "https://open?workspace=/n&path=a.md",
        "mnemoscope:open?workspace=/n&path=a.md",
        "mnemoscope:///open?workspace=/n&path=a.md",
        "mnemoscope://run?workspace=/n&path=a.md",
        "mnemoscope://open.example.org?workspace=/n&path=a.md",
        "mnemoscope://ada@open?workspace=/n&path=a.md",
        "mnemoscope://open:80?workspace=/n&path=a.md",
        "mnemoscope://open/x?workspace=/n&path=a.md",
        "mnemoscope://open",
        "mnemoscope://open?",
        "mnemoscope://open?path=a.md",
        "mnemoscope://open?workspace=/n",
        f"{GOOD}&query=x",
        f"{GOOD}&line=5",
        f"{GOOD}&message",
        f"{GOOD}&message=",
        f"{GOOD}#fragment",
        f"{GOOD}&",
        "mnemoscope://open?workspace=/n&path=a%2.md",
        "mnemoscope://open?workspace=/n&path=a%FF.md",
        "mnemoscope://open?workspace=/n&path=a%00.md",
        "mnemoscope://open?workspace=/n&path=a%0A.md",
        "mnemoscope://open?workspace=/n&path=%E2%80%AEdm.exe",
        "mnemoscope://open?workspace=/n&path=%D8%9Cdm.exe",
        "mnemoscope://open?workspace=/n&path=a b.md",
        "mnemoscope://open?workspace=/n&path=a.md\n",
        "mnemoscope://open?workspace=/n&path=../a.md",
        "mnemoscope://open?workspace=/n&path=b/%2E%2E/a.md",
        "mnemoscope://open?workspace=/n&path=/etc/passwd",
        "mnemoscope://open?workspace=/n&path=b\\..\\a.md",
        "mnemoscope://open?workspace=/n/../m&path=a.md",
        "mnemoscope://open?workspace=n&path=a.md",
        "mnemoscope://open?workspace=~/n&path=a.md",
        "mnemoscope://open?workspace=//server/share&path=a.md",
        "mnemoscope://open?workspace=%5C%5Cserver%5Cshare&path=a.md",
        "mnemoscope://open?workspace=C:n&path=a.md",
        "mnemoscope://open?workspace=/n&path=a.md&line=0",
        "mnemoscope://open?workspace=/n&path=a.md&line=-1",
        "mnemoscope://open?workspace=/n&path=a.md&line=1e3",
        "mnemoscope://open?workspace=/n&path=a.md&line=1234567890",
        "mnemoscope://open?workspace=/n&path=a.md&line=%D9%A3",
        "mnemoscope://open?workspace=/n&path=a.md&end=3",
        "mnemoscope://open?workspace=/n&path=a.md&line=4&end=3",
        f"mnemoscope://open?workspace=/n&path={'a' * LONGEST_LINK}",
        f"mnemoscope://open?workspace=/n&path=s&message={'a' * 257}",
    ],
)
def test_other_links_are_refused(text: str) -> None:
    with pytest.raises(LinkRefused, match=r"\.$"):
        parse_link(text)


def test_location_without_valid_link_gets_none() -> None:
    for folder, path in (
        ("notes", "a.md"),
        ("/n", "../a.md"),
        ("/n", "a\ud800.md"),
        ("/line\nbreak", "a.md"),
        ("/n", "ä" * LONGEST_LINK),
    ):
        with pytest.raises(LinkRefused, match="cannot be written into a link"):
            write_link(Link(workspace=folder, path=path))


def test_empty_lines_and_messages_are_skipped() -> None:
    assert write_link(Link(workspace="/n", path="a.md", line=3, end=3)).endswith("&line=3")
    assert write_link(Link(workspace="/n", path="a.md", end=3)).endswith("path=a.md")
    assert write_link(Link(workspace="/n", path="s", message="x" * 999)).endswith("path=s")


def test_own_address_is_recognised_by_scheme() -> None:
    assert is_link("mnemoscope:nonsense")
    assert is_link("Mnemoscope://open")
    assert not is_link("search")
    assert not is_link("mnemoscope.md")


def test_a_citation_names_the_lines() -> None:
    assert cite("a/b.md", 5, 9) == "a/b.md#L5-L9"
    assert cite("a/b.md", 5, 5) == cite("a/b.md", 5) == "a/b.md#L5"
    assert cite("a/b.md", 5, 4) == "a/b.md#L5"


def test_a_whole_file_is_cited_by_its_path() -> None:
    assert cite("a/b.md") == cite("a/b.md", 1, LAST_LINE) == "a/b.md"


def test_text_without_lines_is_not_a_citation() -> None:
    for text in ("a/b.md", "", "#L5", "a.md#L", "a.md:5", "a.md#L1234567890"):
        assert parse_citation(text) is None


def test_citation_with_range_of_lines_is_parsed() -> None:
    assert parse_citation("a/b.md:5-9") == Citation("a/b.md", 5, 9)


@given(
    path=st.text(st.characters(exclude_characters="\n"), min_size=1),
    first=st.integers(1, 10**9 - 1),
    more=st.integers(0, 10**6),
)
def test_citations_round_trip(path: str, first: int, more: int) -> None:
    last = min(first + more, 10**9 - 1)
    assert parse_citation(cite(path, first, last)) == Citation(path, first, last)
