"""Going from hit to hit in a text that has been searched only in part."""

from hypothesis import given
from hypothesis import strategies as st

from gui.viewer.match_list import BLOCK, Hit, MatchMap, Step, UnsearchedBlock, block_of

LINES = 5 * BLOCK - 7
POSITIONS = st.tuples(st.integers(1, LINES), st.integers(-1, 9))
HITS = st.sets(st.tuples(st.integers(1, LINES), st.integers(0, 8)), max_size=12).map(
    lambda positions: [Hit(line, start, start + 1) for line, start in sorted(positions)]
)


def full_map(hits: list[Hit]) -> MatchMap:
    hit_map = MatchMap(LINES)
    for block in range(hit_map.block_count):
        hit_map.add(block, [hit for hit in hits if block_of(hit.line) == block])
    return hit_map


@given(HITS, POSITIONS)
def test_step_forward_returns_next_hit_or_wraps(hits: list[Hit], position: tuple[int, int]) -> None:
    later = [hit for hit in hits if hit.position > position]
    wanted = Step(later[0], False) if later else Step(hits[0], True) if hits else None
    assert full_map(hits).step(position, forward=True) == wanted


@given(HITS, POSITIONS)
def test_step_backward_returns_previous_hit_or_wraps(hits: list[Hit], position: tuple[int, int]) -> None:
    earlier = [hit for hit in hits if hit.position < position]
    wanted = Step(earlier[-1], False) if earlier else Step(hits[-1], True) if hits else None
    assert full_map(hits).step(position, forward=False) == wanted


@given(HITS)
def test_rank_is_position_in_whole_text(hits: list[Hit]) -> None:
    hit_map = full_map(hits)
    assert [hit_map.rank(hit) for hit in hits] == list(range(len(hits)))
    assert hit_map.count == len(hits)
    assert hit_map.complete
    assert sorted(hit_map.lines()) == sorted({hit.line for hit in hits})


def test_step_asks_for_unscanned_block_first() -> None:
    hit_map = MatchMap(LINES)
    hit_map.add(0, [])
    hit_map.add(2, [Hit(2 * BLOCK + 1, 0, 1)])
    assert hit_map.step((1, 0), forward=True) == UnsearchedBlock(1)
    assert hit_map.step((1, 0), forward=False) == UnsearchedBlock(4)


def test_empty_text_has_no_hits() -> None:
    assert MatchMap(0).step((1, -1), forward=True) is None
