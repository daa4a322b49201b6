import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gui.text.excerpt import ELLIPSIS, make_excerpt

TEXT = st.text(alphabet=st.sampled_from(list("ab é日😀.-#*_~>|`\n\t 1…·[x](<!)\\\x00\u2028")), max_size=300)


def _excerpt(snippet: str, pattern: str, heading: str = ""):
    return make_excerpt(snippet, [found.span() for found in re.finditer(pattern, snippet)], heading)


def _marked(excerpt) -> list[str]:
    return [excerpt.text[start:end] for start, end in excerpt.marks]


def test_excerpt_joins_lines_and_marks_stay_on_words():
    excerpt = _excerpt("The timer on\n   the drip\tirrigation\r\nskipped.", "timer|irrigation")
    assert excerpt.text == "The timer on the drip irrigation skipped."
    assert _marked(excerpt) == ["timer", "irrigation"]


def test_excerpt_replaces_markdown_marks_with_separators():
    excerpt = _excerpt("# Plan\n\nBuy a pump.\n- [x] hose\n* valve\n2. timer\n> quoted\n> twice\n# ", "timer")
    assert excerpt.text == "Plan · Buy a pump. · hose · valve · timer quoted twice"


def test_excerpt_drops_marks_within_text_without_spaces():
    assert _excerpt("函数**指针**的值~~是~~这个==地址==吗", "地址").text == "函数指针的值是这个地址吗"
    assert _excerpt("水泵は**重要**です。펌프는 **중요**합니다", "水泵").text == "水泵は重要です。펌프는 중요합니다"
    for text in ("x**2 + y**2", "长*宽*高", "a == b == c"):
        assert _excerpt(text, "a").text == text


def test_excerpt_drops_marks_of_org():
    text = "** Second level\n#+caption: The pump\n#+begin_src sh\npump --on\n#+end_src\nIt *runs*."
    for spelled in (text, text.replace("begin", "BEGIN").replace("end", "END")):
        assert _excerpt(spelled, "level").text == "Second level · The pump · pump --on · It runs."
    link = "The [[https://pump.org/pumps?id=4][pump of the shop]] and [[id:8][a hose]][fn:1] run."
    assert _excerpt(link, "pump|hose").text == "The pump of the shop and a hose run."
    assert _excerpt("- [-] see [[file:pump.org][it]]", "pump").text == "see [[file:pump.org][it]]"


def test_excerpt_drops_settings_states_and_tags_of_org():
    text = "#+TITLE: Plan\n#+FILETAGS: :house:\n* TODO [#A] Cut hedge :winter:\n** DONE Mow :lawn:@ada:\nAt 10:30: mow."
    assert _excerpt(text, "Mow").text == "Plan · Cut hedge · Mow At 10:30: mow."
    assert _excerpt(text, "house").text == "Plan · :house: Cut hedge · Mow At 10:30: mow."
    snippet = text.replace("#+TITLE: ", "").replace("#+FILETAGS: ", "")  # as the index has them
    assert _excerpt(snippet, "Mow").text == "Plan · Cut hedge · Mow At 10:30: mow."
    assert _excerpt(text, "lawn").text.endswith("Mow :lawn:@ada: At 10:30: mow.")
    for kept in ("TODO is a word", "a * b * c :d:", "It works :tada:"):
        assert _excerpt(kept, "a").text == kept


def test_excerpt_drops_marks_of_asciidoc_and_restructuredtext():
    adoc = (
        "== Plan\n(((pump, old)))\nSee <<hose,the hose>>, <<valve>>.\n\n[source,sh]\n----\npump --on\n----\n|===\n| a"
    )
    assert _excerpt(adoc, "hose").text == "Plan · See the hose, valve. · pump --on · a"
    assert _excerpt("Text.\n\n== Pump\n\nmore", "more").text == "Text. · Pump · more"
    assert _excerpt("3 pumps at 4\n= 12 litres", "pumps").text == "3 pumps at 4 = 12 litres"
    assert _excerpt("(((pump, old))) the pump", "old").text == "(((pump, old))) the pump"
    for text in ("cat <<EOF >> pump.txt", "cout << pump >> 1;", "The pump [source: Ada]"):
        assert _excerpt(text.replace(" [", "\n["), "pump").text == text
    rst = "Plan\n====\n.. note:: See :ref:`hose`, ``valve`` and `tap`_.\n\n===  ===\na    b\n===  ===\n.. _x:\n\nEnd"
    assert _excerpt(rst, "tap").text == "Plan · See hose, valve and tap. · a b · End"
    link = "the `pump <https://pump.org/hose>`_ and"
    assert _excerpt(link, "pump").text == "the pump and"
    assert _excerpt(link, "hose").text == "the pump <https://pump.org/hose> and"
    assert _excerpt("* Plan\n:PROPERTIES:\n:ID: 4-e\n:END:\nOf hoses.", "hoses").text == "Plan · Of hoses."


def test_excerpt_drops_end_of_link_that_begins_before_snippet():
    assert _excerpt("…the pump](https://pump.org/a_(b)) and the hose.", "hose").text == "…the pump and the hose."
    assert _excerpt("…[x] the pump](https://pump.org/hose)", "pump|hose").text.startswith("…[x] the pump](")
    assert _excerpt("…long name|the pump]] and the hose.", "hose").text == "…the pump and the hose."
    assert _excerpt("…the pump]] and the hose.", "pump").text == "…the pump and the hose."
    assert _excerpt("…file:pump.org][the pump]] and the hose.", "hose").text == "…the pump and the hose."


def test_mark_ending_in_gap_ends_with_its_word():
    excerpt = make_excerpt("the pump  \n- timer", ((3, 13), (9, 11)))
    assert _marked(excerpt) == [" pump"]


def test_excerpt_drops_fence_lines():
    assert _excerpt("```py\nx = 1\n```\nend", "nothing").text == "x = 1 · end"


def test_excerpt_drops_table_frame():
    table = "| what | g |\n|------|:--|\n| rye  | 100 |\n| water | 360 |\n\nEvening"
    assert _excerpt(table, "water").text == "what | g · rye | 100 · water | 360 Evening"


def test_excerpt_repeats_title_of_front_matter_only_where_found():
    note = "House\n\ntimer, old\n\n## Plan\n\nThe pump of the House."
    assert make_excerpt(note, [(8, 13)], "Plan", "House").text == "timer, old · Plan · The pump of the House."
    found = make_excerpt(note, [(0, 5)], "Plan", "House")
    assert found.text.startswith("House timer")
    assert _marked(found) == ["House"]
    assert make_excerpt("House", (), "", "House").text == "House"


def test_excerpt_shows_comment_of_code_that_equals_title():
    text = "```sh\n# Backup\nrsync -a /home /disk\n```\n\n# Backup\n\nRun it each night."
    assert make_excerpt(text, (), "", "Backup").text == "Backup rsync -a /home /disk · Run it each night."
    assert make_excerpt("```sh\n# Backup\nrsync", (), "", "Backup").text == "Backup rsync"


def test_excerpt_omits_title_heading_if_other_words_are_found():
    note = "garden\n# Old backup\n\nThe backup ran.\nOld backup"
    excerpt = make_excerpt(note, [(13, 19), (25, 31)], "", "Old backup")
    assert excerpt.text == "The backup ran. Old backup"
    assert _marked(excerpt) == ["backup"]
    assert make_excerpt(note, [(13, 19)], "", "Old backup").text.startswith("Old backup · The backup")


@pytest.mark.parametrize("note", ["Shelter\nbarn\ngarden, water\n\n{}", "barn\ngarden, water\n\n# Shelter\n\n{}"])
def test_excerpt_shows_aliases_and_tags_only_where_found(note):
    text = note.format("The water is at 2.40 m.")
    tag, word = text.index("water"), text.rindex("water")
    both = make_excerpt(text, [(tag, tag + 5), (word, word + 5)], "", "Shelter")
    assert (both.text, _marked(both)) == ("The water is at 2.40 m.", ["water"])
    alias = make_excerpt(text, [(text.index("barn"), text.index("barn") + 4), (word, word + 5)], "", "Shelter")
    assert _marked(alias) == ["barn", "water"]


@pytest.mark.parametrize(
    ("marks", "text"),
    [
        ((), "2.40 m, board."),
        ([(25, 32), (42, 47)], "2.40 m, board."),
        ([(0, 7), (25, 32)], "Shelter · 2.40 m, board."),
        ([(8, 14), (25, 32)], "garden, water · 2.40 m, board."),
    ],
)
def test_excerpt_names_title_of_front_matter_and_heading_once(marks, text):
    note = "Shelter\ngarden, water\n\n# Shelter\n\n2.40 m, board."
    assert make_excerpt(note, marks, "", "Shelter").text == text


def test_excerpt_strips_inline_markup_and_keeps_marks():
    excerpt = _excerpt(
        "**Me:** the `timer` was *on*. See [[valve|the valve]] and [pump](https://pump.org/).", "timer|pump"
    )
    assert excerpt.text == "Me: the timer was on. See the valve and pump."
    assert _marked(excerpt) == ["timer", "pump"]
    assert _excerpt("see [the site](https://pump.org/)", "pump").text == "see [the site](https://pump.org/)"
    assert _excerpt("it is in [[valve-timer|the plan]]", "timer").text == "it is in valve-timer|the plan"
    assert _excerpt("see [[#The timer]] or [[#^a1]]", "timer").text == "see The timer or a1"
    assert _marked(_excerpt("on <!-- the timer --> now", "timer")) == ["timer"]


def test_excerpt_strips_dense_markup():
    for marked, plain in {
        "***both*** and **bold *in* it**, ~~gone~~ ==kept== _so_": "both and bold in it, gone kept so",
        "[[valve-controller]] ![[plan.png]] [a](b (c).md) [d][ref] <https://x.org>": (
            "valve-controller plan.png a d https://x.org"
        ),
        "[![built](b.svg)](c.html) ![](d.png)text<br>more <b>bold</b>": "built textmore bold",
        "> [!note] Mind the step[^1]": "Mind the step",
        r"\*not bold\* 1\. no item": "*not bold* 1. no item",
        "one <!-- two --> three": "one three",
        "It is nine. ^watch-1\nNext ^ one": "It is nine. Next ^ one",
        "- see ((64f0aaaa-1111-4222-8333-444455556666)) ((a))": "see ((a))",
        "added: v1\n-->\n\nPrint it": "added: v1 Print it",
    }.items():
        assert _excerpt(marked, "nothing").text == plain


def test_excerpt_drops_attributes_and_marks_of_logseq():
    snippet = "# Pumps { #top }\n\nThe ^^south^^ valve.\n\n## Use {: .wide #use}\n\nTurn it {#1}, 2^^3."
    assert make_excerpt(snippet, [], title="Pumps").text == "The south valve. · Use · Turn it {#1}, 2^^3."


def test_excerpt_keeps_text_that_resembles_markup():
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


def test_colon_before_list_gets_no_separator():
    assert _excerpt("Two zones:\n\n- north\n- south", "x").text == "Two zones: north · south"


def test_excerpt_drops_horizontal_rules():
    assert _excerpt("above\n\n-----\nbelow -- or --- here", "x").text == "above · below -- or --- here"


def test_excerpt_keeps_hyphens_within_line():
    assert _excerpt("a - b\n-dash, 1.2 bar", "bar").text == "a - b -dash, 1.2 bar"


def test_excerpt_repeats_heading_only_when_marked():
    snippet = "## Watering\n\nThe timer skipped."
    assert _excerpt(snippet, "timer", "Watering").text == "The timer skipped."
    assert _marked(_excerpt(snippet, "timer", "Watering")) == ["timer"]
    assert _excerpt(snippet, "Watering|timer", "Watering").text == "Watering · The timer skipped."


def test_excerpt_starts_at_word_near_distant_match():
    excerpt = _excerpt("lorem ipsum " * 20 + "so a timer tick", "timer")
    assert excerpt.text.startswith(ELLIPSIS)
    assert not excerpt.text.startswith(f"{ELLIPSIS} ")
    assert excerpt.text.index("timer") <= 45
    assert _marked(excerpt) == ["timer"]


def test_excerpt_starts_at_sentence_near_distant_match():
    excerpt = _excerpt("Something quite else, and at length. " * 5 + "The timer skipped.", "timer")
    assert excerpt.text == "The timer skipped."


def test_excerpt_starting_at_list_item_drops_separator():
    excerpt = _excerpt("Something quite else, and at length.\n" * 3 + "- The timer skipped.", "timer")
    assert excerpt.text == "The timer skipped."


def test_excerpt_of_unspaced_text_is_cut_anywhere():
    excerpt = _excerpt("水" * 120 + "ポンプの電池", "ポンプ")
    assert excerpt.text.startswith(f"{ELLIPSIS}水")
    assert _marked(excerpt) == ["ポンプ"]


def test_excerpt_prefers_window_with_most_distinct_words():
    excerpt = _excerpt(
        "timer " + "x " * 100 + "timer timer " + "y " * 100 + "irrigation timer here", "timer|irrigation"
    )
    assert _marked(excerpt) == ["irrigation", "timer"]
    forms = _excerpt("timer timer-keys timers " + "y " * 100 + "irrigation timer here", r"timer[\w-]*|irrigation")
    assert _marked(forms) == ["irrigation", "timer"]


def test_excerpt_without_marks_starts_at_beginning():
    assert make_excerpt("plain text", ()).text == "plain text"
    assert make_excerpt("", ()).text == ""


@given(TEXT, st.data())
def test_marks_of_any_text_are_ordered_and_in_range(snippet: str, data: st.DataObject):
    cuts = sorted(data.draw(st.sets(st.integers(0, len(snippet)), max_size=8)))
    ranges = list(zip(cuts[::2], cuts[1::2], strict=False))
    excerpt = make_excerpt(snippet, ranges, data.draw(st.sampled_from(["", "a", "ab"])))
    assert not re.search(r"[\n\r\t\x00\u2028]|  ", excerpt.text)
    previous = 0
    for start, end in excerpt.marks:
        assert previous <= start < end <= len(excerpt.text)
        previous = end


@given(
    st.lists(st.sampled_from(["pump", "é", "日本", "😀", "a.b", "\n", "\n\n- ", "## ", "[[a#`b`|`c`]]"]), max_size=40)
)
def test_each_mark_covers_its_word(parts: list[str]):
    snippet = " ".join(parts)
    excerpt = _excerpt(snippet, "pump|日本|😀")
    assert set(_marked(excerpt)) <= {"pump", "日本", "😀"}
    assert bool(excerpt.marks) == bool(re.search("pump|日本|😀", snippet))
