import re

from hypothesis import given
from hypothesis import strategies as st

from gui.search.excerpt import ELLIPSIS, make_excerpt

TEXT = st.text(alphabet=st.sampled_from(list("ab é日😀.-#*_~>|`\n\t 1…·[x](<!)\\\x00\u2028")), max_size=300)


def _excerpt(snippet: str, pattern: str, heading: str = ""):
    return make_excerpt(snippet, [found.span() for found in re.finditer(pattern, snippet)], heading)


def _marked(excerpt) -> list[str]:
    return [excerpt.text[start:end] for start, end in excerpt.marks]


def test_lines_flow_into_one_and_marks_stay_on_their_words():
    excerpt = _excerpt("The timer on\n   the drip\tirrigation\r\nskipped.", "timer|irrigation")
    assert excerpt.text == "The timer on the drip irrigation skipped."
    assert _marked(excerpt) == ["timer", "irrigation"]


def test_markdown_marks_become_separators():
    excerpt = _excerpt("# Plan\n\nBuy a pump.\n- [x] hose\n* valve\n2. timer\n> quoted\n> twice\n# ", "timer")
    assert excerpt.text == "Plan · Buy a pump. · hose · valve · timer quoted twice"


def test_a_mark_that_ends_in_a_gap_ends_with_its_word():
    excerpt = make_excerpt("the pump  \n- timer", ((3, 13), (9, 11)))
    assert _marked(excerpt) == [" pump"]


def test_fence_lines_are_left_out():
    assert _excerpt("```py\nx = 1\n```\nend", "nothing").text == "x = 1 · end"


def test_tables_lose_their_frame():
    table = "| what | g |\n|------|:--|\n| rye  | 100 |\n| water | 360 |\n\nEvening"
    assert _excerpt(table, "water").text == "what | g · rye | 100 · water | 360 Evening"


def test_excerpt_repeats_title_of_front_matter_only_where_found():
    note = "House\n\ntimer, old\n\n## Plan\n\nThe pump of the House."
    assert make_excerpt(note, [(8, 13)], "Plan", "House").text == "timer, old · Plan · The pump of the House."
    found = make_excerpt(note, [(0, 5)], "Plan", "House")
    assert found.text.startswith("House timer")
    assert _marked(found) == ["House"]
    assert make_excerpt("House", (), "", "House").text == "House"


def test_inline_marks_are_taken_out_and_words_stay_marked():
    excerpt = _excerpt(
        "**Me:** the `timer` was *on*. See [[valve|the valve]] and [pump](https://pump.org/).", "timer|pump"
    )
    assert excerpt.text == "Me: the timer was on. See the valve and [pump](https://pump.org/)."
    assert _marked(excerpt) == ["timer", "pump", "pump"]
    assert _excerpt("it is in [[valve-timer|the plan]]", "timer").text == "it is in valve-timer|the plan"
    assert _marked(_excerpt("on <!-- the timer --> now", "timer")) == ["timer"]


def test_a_page_full_of_marks_reads_like_text():
    for marked, plain in {
        "***both*** and **bold *in* it**, ~~gone~~ ==kept== _so_": "both and bold in it, gone kept so",
        "[[valve-controller]] ![[plan.png]] [a](b (c).md) [d][ref] <https://x.org>": (
            "valve-controller plan.png a d https://x.org"
        ),
        "[![built](b.svg)](c.html) ![](d.png)text<br>more <b>bold</b>": "built textmore bold",
        "> [!note] Mind the step[^1]": "Mind the step",
        r"\*not bold\* 1\. no item": "*not bold* 1. no item",
        "one <!-- two --> three": "one three",
        "added: v1\n-->\n\nPrint it": "added: v1 Print it",
    }.items():
        assert _excerpt(marked, "nothing").text == plain


def test_lookalike_marks_stay():
    for text in (
        "*.md and *.txt, 2*3*4, a*b",
        "snake_case_name, __init__, _private",
        "if [[ -f x ]]; then a[i][j]",
        "git clone <repo> --> x == y",
        "C:\\new\\temp",
        "5 * 3 ** 2",
    ):
        assert _excerpt(text, "nothing").text == text
    assert _excerpt("`**kwargs` and `[[x]]`", "nothing").text == "**kwargs and [[x]]"


def test_a_colon_before_a_list_needs_no_separator():
    assert _excerpt("Two zones:\n\n- north\n- south", "x").text == "Two zones: north · south"


def test_rules_are_left_out():
    assert _excerpt("above\n\n-----\nbelow -- or --- here", "x").text == "above · below -- or --- here"


def test_hyphens_inside_a_line_are_text():
    assert _excerpt("a - b\n-dash, 1.2 bar", "bar").text == "a - b -dash, 1.2 bar"


def test_the_heading_is_not_repeated_unless_it_is_marked():
    snippet = "## Watering\n\nThe timer skipped."
    assert _excerpt(snippet, "timer", "Watering").text == "The timer skipped."
    assert _marked(_excerpt(snippet, "timer", "Watering")) == ["timer"]
    assert _excerpt(snippet, "Watering|timer", "Watering").text == "Watering · The timer skipped."


def test_a_far_match_is_brought_near_at_a_word():
    excerpt = _excerpt("lorem ipsum " * 20 + "so a timer tick", "timer")
    assert excerpt.text.startswith(ELLIPSIS)
    assert not excerpt.text.startswith(f"{ELLIPSIS} ")
    assert excerpt.text.index("timer") <= 45
    assert _marked(excerpt) == ["timer"]


def test_distant_match_starts_at_sentence():
    excerpt = _excerpt("Something quite else, and at length. " * 5 + "The timer skipped.", "timer")
    assert excerpt.text == "The timer skipped."


def test_a_cut_at_a_list_item_leaves_its_separator_out():
    excerpt = _excerpt("Something quite else, and at length.\n" * 3 + "- The timer skipped.", "timer")
    assert excerpt.text == "The timer skipped."


def test_unspaced_text_is_cut_anywhere():
    excerpt = _excerpt("水" * 120 + "ポンプの電池", "ポンプ")
    assert excerpt.text.startswith(f"{ELLIPSIS}水")
    assert _marked(excerpt) == ["ポンプ"]


def test_the_window_with_most_different_words_wins():
    excerpt = _excerpt(
        "timer " + "x " * 100 + "timer timer " + "y " * 100 + "irrigation timer here", "timer|irrigation"
    )
    assert _marked(excerpt) == ["irrigation", "timer"]


def test_nothing_marked_starts_at_the_start():
    assert make_excerpt("plain text", ()).text == "plain text"
    assert make_excerpt("", ()).text == ""


@given(TEXT, st.data())
def test_any_text_keeps_its_marks(snippet: str, data: st.DataObject):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(snippet)), max_size=8)))
    ranges = list(zip(cuts[::2], cuts[1::2], strict=False))
    excerpt = make_excerpt(snippet, ranges, data.draw(st.sampled_from(["", "a", "ab"])))
    assert not re.search(r"[\n\r\t\x00\u2028]|  ", excerpt.text)
    previous = 0
    for start, end in excerpt.marks:
        assert previous <= start < end <= len(excerpt.text)
        previous = end


@given(st.lists(st.sampled_from(["pump", "é", "日本", "😀", "a.b", "\n", "\n\n- ", "## "]), max_size=40))
def test_each_mark_covers_the_word_it_covered(parts: list[str]):
    snippet = " ".join(parts)
    excerpt = _excerpt(snippet, "pump|日本|😀")
    assert set(_marked(excerpt)) <= {"pump", "日本", "😀"}
    assert bool(excerpt.marks) == bool(re.search("pump|日本|😀", snippet))
