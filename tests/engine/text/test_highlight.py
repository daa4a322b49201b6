import string
import time

import pytest
import Stemmer
from hypothesis import given
from hypothesis import strategies as st

from engine.text.highlight import _LANGUAGES_WITH_SUFFIXES, _WITH_Y, _Matcher, highlight_ranges
from engine.text.query_analysis import analyse_query
from engine.text.query_parser import parse_query

_LANGUAGES = sorted(_LANGUAGES_WITH_SUFFIXES - {""})
_RUNS = st.sampled_from(
    "pump Pump PUMPS pumped xpump myPump air-pump pump_room skies sky Skiing sKy früh fruh Übung ubung ubungen y yes "
    "ge gegangen gehen geht l'eau l\u02bceau eau d'os "
    "os.replace replaces replacing https://pump.org/sky #pump 'pump' v2 pump2 "
    "die dying Lying tied Aerger Ärger aergern 水泵 水 水pump getポンプ 펌프는 펌프 насос насосы НАСОС п'ять п’ять "
    "ёлка ﬁle file рассказ\u0301 Gartenaerger Wasserpumpe Pumpenwasser wasser πόλη Πόλεις المدينة مدينة — … →".split()
) | st.text(string.ascii_letters, min_size=1, max_size=70)

_CYRILLIC = "".join(map(chr, range(ord("а"), ord("я") + 1)))


def marked(text: str, query: str, *languages: str) -> str:
    for start, end in reversed(highlight_ranges(text, query, languages)):
        text = f"{text[:start]}[{text[start:end]}]{text[end:]}"
    return text


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("skip ", "They [skipped] it, [skipping] lines; no skipper."),
        ("bought ", "We [bought] it, [buying] more; she [buys] nothing."),
        ("replace ", "use os.[replace](a) and re-[replaced] ones"),
        ("os.replace", "[os.replace] or [os_replace], [os] [replaces], not os, then replace"),
        ("github", "[GitHub] and [github], not git"),
        ("hub ", "Git[Hub], [hub]"),
        ("git hub ", "[GitHub] has one [hub] for [git]"),
        ("pla", "[planning] a [plane] in the [place], not a pa"),
        ("the plan ", "the [plan] of the year"),
        ("the ", "[the] year"),
        ("cafe ", "le [Café], LES [CAFE\u0301S]"),
        ("fine strasse ", "[\ufb01ne] [Straße]"),
        ("istanbul ", "[İstanbul], [ISTANBUL]"),
        ("1.4.2 ", "since v[1.4.2], not 1.4.21"),
        ("dog ", "the [dog]'s bowl, [dogs]' bowls"),
        ("eau ", "de l’[eau]"),
        ("brien ", "O'[Brien]"),
        ("o'brien ", "[O’Brien]"),
        ("C++ ", "[C++], C and C#"),
        ("urllib pool ", "[urllib3] and [Urllib12] [pools], not urllibber"),
        ("✅", "todo [✅] done"),
        ("x" * 70, f"[{'x' * 70}] {'x' * 64}"),
    ],
)
def test_latin_words_are_marked_in_their_forms(query: str, expected: str) -> None:
    assert marked(expected.replace("[", "").replace("]", ""), query, "english") == expected


@pytest.mark.parametrize(("language", "marks"), [("english", ["Rechnung"]), ("german", ["Rechnung", "rechnung"])])
def test_compound_is_marked_only_in_compounding_language(language: str, marks: list[str]) -> None:
    text, query = "Rechnung/Stromrechnung", analyse_query("rechnung ", ("english", "german"))
    assert [text[start:end] for start, end in highlight_ranges(text, query, (language,))] == marks


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("東京都", "[東京都]庁と京都と東京"),
        ("東", "関[東]と[東]京"),
        ("島", "広[島]"),
        ("データ", "[データ]と[ﾃﾞｰﾀ]と[テ\u3099ータ]ベース"),
        ("東京に行く", "[東京]へ[行く]、行った"),
        ("机器学习", "[机器学习]和[学习]"),
        ("학교는", "[학교에서] 학생"),
        ("학교는", "[\u1112\u1161\u11a8\u1100\u116d\u110b\u1166\u1109\u1165]"),
        ("베이스", "데이터[베이스]를"),
        ("นี่", "ที่[นี่]"),
        ("книга", "с [книгами] и [кни́гой]"),
        ("किताब ", "कई [किताबें]"),
        ("كتاب ", "هذا [الكِتَاب]"),
        ("άνθρωπος ", "των [ΑΝΘΡΏΠΩΝ]"),
    ],
)
def test_other_scripts_are_highlighted(query: str, expected: str) -> None:
    assert marked(expected.replace("[", "").replace("]", ""), query) == expected


def test_the_language_of_the_text_decides_without_any_given() -> None:
    text = "Wir haben die Häuser verkauft, weil sie nicht mehr dicht waren."
    assert marked(text, "haus ") == text.replace("Häuser", "[Häuser]")


def test_an_analysed_query_brings_its_languages() -> None:
    query = analyse_query("haus ", ["german"])
    assert highlight_ranges("Häuser", query) == [(0, 6)]
    assert highlight_ranges("Häuser", query, ["english"]) == []


@pytest.mark.parametrize("query", ["plumbing done", '"plumbing done"'])
def test_words_after_colours_of_a_terminal_are_marked(query: str) -> None:
    text = "\x1b[1;32mplumbing\x1b[0m done, mplumbing"
    ranges = highlight_ranges(text, query)
    assert (ranges[0][0], ranges[-1][1]) == (text.index("plumbing"), text.index(" done, mplumbing") + len(" done"))


def test_ranges_are_right_beyond_the_first_piece_of_a_long_text() -> None:
    filler = "ipsum " * 30_000
    text = f"{filler}needle {filler}os\nreplace"
    start = len(filler)
    assert highlight_ranges(text, "needle os.replace", ["english"]) == [
        (start, start + 6),
        (len(text) - 10, len(text) - 8),
        (len(text) - 7, len(text)),
    ]


@pytest.mark.parametrize("languages", [(), ("english",), ("german",)])
@pytest.mark.parametrize(
    ("text", "query"),
    [("", "word"), ("\n", "word"), ("\u2014 \u2026", "word"), ("word", ""), ("word", "?!"), ("\ud800\x00", "\ud800")],
)
def test_text_without_match_has_no_ranges(text: str, query: str, languages: tuple[str, ...]) -> None:
    assert highlight_ranges(text, analyse_query(query, languages), languages) == []


@pytest.mark.parametrize("query", ["pump here", "pump 水 here", "pump os.replace here"])
@pytest.mark.parametrize(
    "expected",
    [
        "mypump [pump]-room, pumpa [pump]",
        "a-[pump] [pump]! ([pump])",
        "#[pump] pumpernickel get_[pump] xpumpx [Pumps]",
        "pumppump [pump]",
        "檔[pump]檔 [pump]",
        f"{'é' * 64}[pump]",
    ],
)
def test_words_marked_where_present_only(expected: str, query: str) -> None:
    assert marked(expected.replace("[", "").replace("]", ""), query, "english") == expected


def test_words_with_other_first_letters_are_marked() -> None:
    cases = [
        ("die ", "english", "[dying]"),
        ("Ärger ", "german", "[aergern]"),
        ("rechnung ", "german", "Strom[rechnung]"),
        ("ärgernis ", "german", "[Hofaergernis]"),
        ("استعمل ", "english", "the word [يستعمل]"),
        ("eau ", "french", "l\u02bc[eau]"),
    ]
    found = [marked(expected.replace("[", "").replace("]", ""), query, language) for query, language, expected in cases]
    assert found == [expected for _, _, expected in cases]


@given(
    st.lists(_RUNS, max_size=12),
    st.sampled_from([" ", ". ", ": ", ".", ", ", " (", "\n", "\0", "\xa0", "\u201d "]),
    st.lists(_RUNS, min_size=1, max_size=4),
    st.sampled_from([(language,) for language in (*_LANGUAGES, "", "dutch")] + [("english", "russian"), ()]),
)
def test_filter_by_first_letters_changes_nothing(
    words: list[str], delimiter: str, query: list[str], languages: tuple[str, ...]
) -> None:
    text = delimiter.join([*words, ""])
    matcher = _Matcher(analyse_query(" ".join(query), languages or ("english", "german")), languages)
    filtered = set(matcher.ranges(text))
    matcher._starts = None
    assert filtered == set(matcher.ranges(text))


@given(word=st.text(string.ascii_lowercase, min_size=1, max_size=12) | st.text(_CYRILLIC, min_size=1, max_size=12))
def test_stems_of_these_languages_begin_as_their_words(word: str) -> None:
    others = {}
    for language in _LANGUAGES:
        stem = Stemmer.Stemmer(language).stemWord(word)
        begins = {word[:2]} | ({f"{word[0]}{word[2:3]}"} if language == "german" and word[1:2] == "e" else set())
        if len(stem) > 1 and stem[:2] not in begins and _WITH_Y.get(stem) not in begins:
            others[language] = stem
    assert not others


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("file:app.py", '{"file_path": "/home/ada/src/«app.py»", "old": "myapp.py app.pyc «app.py»:12"}'),
        ("file:src/app.py", '{"file_path": "/home/ada/«src/app.py»", "also": "other/«app.py»"}'),
        ("file:src/app.py", r'{"file_path": "C:\\ada\\«src\\app.py»"}'),
        ("file:src/*.py", "cat «src/app.py» lib.py.txt setup.cfg"),
        ("file:src/", "/home/ada/«src/»app.py"),
        ("file:src/*", "abc «src/app.py» lib/app.py"),
        ("file:*", "abc src/app.py"),
        ("file:a[1].py", "see «a[1].py»"),
        ('command:"make  paint"', "cd boat && «make paint» quickly; remake"),
        ("command:docker*image", "«docker» run \\\n --rm «image» now; image docker"),
        ("command:a*b*c*d", "«a then b» then\n«c or d», a b c"),
        ("command:*", "make paint"),
        ("command:ÄR*k", "«är»mel \n«K»"),
        ("command:pytest file:x.py", "«PyTest» -q tests/«x.py»"),
        ("agent:codex -file:x.py", "codex x.py"),
    ],
)
def test_files_and_commands_of_operators_are_marked(query: str, expected: str) -> None:
    text = expected.replace("«", "").replace("»", "")
    for start, end in reversed(highlight_ranges(text, parse_query(query))):
        text = f"{text[:start]}«{text[start:end]}»{text[end:]}"
    assert text == expected


@pytest.mark.parametrize("value", ["a*b*c", "a*a*a*b", "*" * 40 + "a*" * 30, "a b*" * 9, "?*" * 20])
def test_any_command_is_searched_in_linear_time(value: str) -> None:
    start = time.process_time()
    for text in ("a" * 50_000 + "b" * 50_000, "a " * 50_000, "a" + " " * 100_000):
        highlight_ranges(text, parse_query(f'command:"{value}"'))
    assert time.process_time() - start < 10  # minutes if each part is searched for again after each "a"


@pytest.mark.parametrize(
    "value", ["*" * 40, "a*" * 30, "?*" * 20, "/".join("ab*" for _ in range(300)), "[z-a]x", "\\", "["]
)
def test_any_path_pattern_is_searched_quickly(value: str) -> None:
    highlight_ranges("a/" * 2000 + "-a" * 2000, parse_query(f"file:{value}"))
