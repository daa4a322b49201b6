import re

import pytest

from engine.text import parse_query
from engine.text.date_parsing import parse_period
from engine.text.parsed_query import QueryTerm
from engine.text.query_analysis import analyse_query, is_written_as_name
from engine.text.time_expressions import read_times


def term(query: str, *languages: str) -> QueryTerm:
    (only,) = analyse_query(query, languages).terms
    return only


def content(query: str, *languages: str) -> list[str]:
    return [found.surface for found in analyse_query(query, languages).terms if not found.stop]


def test_terms_have_their_position_in_the_query() -> None:
    query = "  Where is the “Café”-file os_replace? "
    terms = analyse_query(query).terms
    assert [found.surface for found in terms] == ["Where", "is", "the", "Café", "file", "os_replace"]
    assert all(query[found.start : found.end] == found.surface for found in terms)


@pytest.mark.parametrize(
    ("query", "word", "stems"),
    [
        ("Skipping", "skipping", ("skip",)),
        ("os.replace", "os.replace", ("os replac",)),
        ("GitHub", "github", ("github", "git hub")),
        ("v1.4.2", "v1.4.2", ("1 4 2",)),
        ("O'Brien", "obrien", ("o brien",)),
        ("l'eau", "eau", ("eau",)),
        ("C++", "c++", ("c++",)),
        ("#tag", "#tag", ("tag",)),
        ("東京", "東京", ()),
        ("東京都", ("東京", "京都"), ()),
        ("東", "東", ()),
        ("학교에서", ("학교", "교에", "에서"), ("학교",)),
        ("✅", "✅", ()),
        ("x" * 70, ("x" * 64, "x" * 6), (f"{'x' * 64} {'x' * 6}",)),
    ],
)
def test_term_has_its_word_and_stems(query: str, word: str | tuple[str, ...], stems: tuple[str, ...]) -> None:
    found = term(query)
    assert (found.word, found.stems) == (word, stems)


@pytest.mark.parametrize(
    ("query", "irregular"),
    [
        ("bought ", ("buy",)),
        ("buying ", ("bought",)),
        ("mice ", ("mous",)),
        ("went ", ("go", "gone")),
        ("matrices ", ("matrix",)),
        ("walked ", ()),
        ("ground ", ()),
        ("indices ", ("index",)),
        ("indicated ", ()),
        ("over ", ()),
        ("living ", ()),
        ("colours ", ("color",)),
        ("theater ", ("theatr",)),
        ("organizing ", ("organis",)),
        ("organs ", ()),
        ("promised ", ("promiz",)),
        ("prized ", ()),
    ],
)
def test_terms_have_their_irregular_forms(query: str, irregular: tuple[str, ...]) -> None:
    assert term(query).irregular == irregular


def test_irregular_form_with_an_ambiguous_stem_is_a_word() -> None:
    found = term("index ")
    assert ("indices",) in found.loose
    assert found.irregular == ()


def test_only_english_has_irregular_forms() -> None:
    found = analyse_query("wo ist das Lied, das sie gestern sang", ["german", "english"])
    assert found.languages[0] == "german"
    assert found.terms[-1].surface == "sang"
    assert found.terms[-1].irregular == ("gesternsang",)


def test_word_stemmed_in_query_and_index_languages() -> None:
    found = analyse_query("generously", ["german", "english", ""])
    assert found.languages == ("english", "german", "")
    assert found.terms[0].stems == ("generous", "generously")


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("how do I deploy the app", ["deploy", "app"]),
        ("what's the plan, don't we know?", ["plan", "know"]),
        ("wo ist der Schlüssel für das Haus", ["Schlüssel", "Haus"]),
        ("où est la clé de l'armoire", ["clé", "l'armoire"]),
        ("где лежит ключ от дома", ["лежит", "ключ", "дома"]),
        ("किताब कहाँ है", ["किताब"]),
        ("회의 는 언제 어디서", ["회의", "는"]),
        ("東京に行く予定について", ["東京", "行く", "予定"]),
        ("データベースのバックアップ", ["データベース", "バックアップ"]),
        ("食べました", ["食べ"]),
        ("ありがとう", ["ありがとう"]),
        ("我的项目", ["项目"]),
        ("会议在什么时候", ["会议"]),
        ("机器学习", ["机器", "器学", "学习"]),
        ("图书馆", ["图书馆"]),
        ("กรุงเทพ", ["กรุงเทพ"]),
        ("การประชุม", ["กา", "าร", "รป", "ปร", "ระ", "ะชุ", "ชุม"]),
    ],
)
def test_function_words_and_endings_are_not_searched(query: str, words: list[str]) -> None:
    assert content(query) == words


def test_query_of_function_words_searches_them() -> None:
    assert content("to be or not to be") == ["to", "be", "or", "not"]
    assert content("是什么") == ["是", "什么"]


@pytest.mark.parametrize(
    ("query", "prefixes"),
    [
        ("deploy serv", ["serv"]),
        ("deploy se", []),
        ("deploy ", []),
        ("deploy!", []),
        ("os.repl", ["os.repl"]),
        ("the 東 tower", ["東", "tower"]),
        ("나", ["나"]),
        ("東京", []),
        ("✅", []),
        ("plan a plan", ["plan"]),
    ],
)
def test_terms_that_may_be_prefixes_are_marked(query: str, prefixes: list[str]) -> None:
    assert [found.surface for found in analyse_query(query).terms if found.is_prefix] == prefixes


def test_repeated_words_count_once() -> None:
    assert [found.word for found in analyse_query("Plan plan PLAN b").terms] == ["plan", "b"]


def test_pasted_file_becomes_query_of_64_terms() -> None:
    analysis = analyse_query(" ".join(["the", "of", *(f"word{n}" for n in range(10_000))]))
    assert len(analysis.terms) == 64
    assert not any(found.stop for found in analysis.terms)
    assert [found.start for found in analysis.terms] == sorted(found.start for found in analysis.terms)


@pytest.mark.parametrize("query", ["", "   ", "?!", "\x01\x02", "\ud800", "___", "\u3099", "\u0301"])
def test_a_query_without_words_has_no_terms(query: str) -> None:
    assert analyse_query(query).terms == ()


def test_foreign_function_word_not_dropped() -> None:
    assert content("lost hat", "german", "english") == ["lost", "hat"]
    assert content("wo hat er den Hut verloren", "german", "english") == ["Hut", "verloren"]
    assert content("wie funktioniert nix", "german", "english") == ["funktioniert", "nix"]


def test_unindexed_language_adds_no_function_word() -> None:
    query = "wie kann ich das Passwort ändern"
    stems = {found.surface: found.stems for found in analyse_query(query, ("english",)).terms}
    assert stems["ändern"] == ("andern",)  # not German's "and"
    stems = {found.surface: found.stems for found in analyse_query(query, ("english", "german")).terms}
    assert "and" in stems["ändern"]


def test_foreign_rules_leave_no_stump_of_a_word() -> None:
    assert "sol" not in term("solar", "english", "spanish").stems
    assert term("Gewächshäusern", "english", "german").stems[-1].startswith("gewachshaus")


def test_hyphenated_words_split_identifiers_whole() -> None:
    assert [found.surface for found in analyse_query("boundary-layer flow").terms] == ["boundary", "layer", "flow"]
    wholes = ["foo_bar-baz", "utf-8", "x-ray", "too-large", "read-only"]
    assert [found.surface for found in analyse_query(" ".join(wholes)).terms] == wholes
    assert "tiennent" in content("comment se tiennent-elles", "french")


def test_long_vowel_in_hiragana_does_not_split_a_word() -> None:
    assert content("らーめん屋", "japanese") == ["らーめん", "屋"]


def test_words_with_slashes_split_if_query_has_others() -> None:
    assert content("edit headers/footers of a page") == ["edit", "headers", "footers", "page"]
    for whole in ("/etc/hosts", "TCP/IP", "2024/03"):
        assert whole.removeprefix("/") in content(f"edit {whole} of a page")
    assert content("what are headers/footers") == ["headers", "footers"]
    assert content("copy read-only/writable files") == ["copy", "read-only", "writable", "files"]
    assert content("headers/footers") == ["headers/footers"]


def test_dotted_name_splits_if_query_has_other_words() -> None:
    assert content("timeout of Condition.wait and std::fmt") == ["timeout", "Condition", "wait", "std", "fmt"]
    for whole in ("Condition.wait", "what is Condition.wait", "std::fmt"):
        assert content(whole)[-1] == whole.split()[-1]
    assert content("upgrade v1.4.2 e.g. today") == ["upgrade", "v1.4.2", "e.g", "today"]
    for query in ('timeout "Condition.wait"', "timeout OR Condition.wait", "timeout Condition.wai*"):
        assert [found.surface for found in analyse_query(parse_query(query)).terms][1].startswith("Condition.wai")


def test_abbreviation_splits_from_the_word_it_is_joined_to() -> None:
    query = "DNS-SD-Konfiguration SHA384-Prüfsumme E-Mail COVID-19 Re-index qz91-orbit"
    found = ["DNS-SD", "Konfiguration", "SHA384", "Prüfsumme", "E-Mail", "COVID-19", "Re-index", "qz91-orbit"]
    assert [term.surface for term in analyse_query(query, ("german",)).terms] == found


@pytest.mark.parametrize(
    ("query", "fillers"),
    [
        ("embed another note ", ["another"]),
        ("pump note ", ["note"]),
        ("Pumpen Notiz ", ["Notiz"]),
        ("note ", []),
        ("note pump ", []),
        ('"pump note" ', []),
        ("how do advanced queries work ", ["work"]),
        ("does it work offline ", []),
        ("explain the shrinkwrap command ", ["explain"]),
        ("npm explain command ", []),
        ("the best ", []),
        ('"another note" embed ', []),
        ("wie funktioniert die Sicherung im Keller ", ["funktioniert"]),
        ("wie funktioniert nix ", ["funktioniert"]),
        ("explain how advanced queries differ ", ["explain", "differ"]),
        ("work on how they differ from ours ", ["differ"]),
        ("please compare advanced queries ", ["compare"]),
        ("define nix ", ["define"]),
        ("WHO guidelines", ["WHO"]),
        ("heat pump tips", ["tips"]),
        ("Pumpen Übersicht ", ["Übersicht"]),
        ("tips ", []),
        ("tips pump ", []),
        ("the overview ", []),
        ("펌프 어떻게 동작해? ", ["동작해"]),
        ("Docker 사용법 ", ["사용법"]),
        ("зачем нужен насос ", ["нужен"]),
        ("the IT budget of HR", ["IT"]),
        ("budget AND plan", []),
        ("WHAT IS IT", []),
    ],
)
def test_query_fillers_are_marked_if_other_words_remain(query: str, fillers: list[str]) -> None:
    parsed = parse_query(query)
    assert [term.surface for term in analyse_query(parsed, ("english", "german")).terms if term.filler] == fillers


@pytest.mark.parametrize(
    ("query", "fillers"),
    [
        ("pump note", ["note"]),
        ("note pump", []),
        ("note", []),
        ("pompa notu", ["notu"]),
        ("nota bomba", ["nota"]),
        ("펌프 노트", ["노트"]),
        ("水泵 笔记", ["笔记"]),
        ("ポンプ メモ", ["メモ"]),
        ("note on pumps", []),
    ],
)
def test_word_for_note_next_to_one_other_is_filler(query: str, fillers: list[str]) -> None:
    terms = analyse_query(parse_query(f"{query} "), ("english",)).terms
    assert [term.surface for term in terms if term.filler] == fillers


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("where did I write about the pump?", ["pump"]),
        ("what have we noted on the old pump", ["old", "pump"]),
        ("when did I mention it", ["mention"]),
        ("where did Anna write her book", ["Anna", "write", "book"]),
        ("write to the bank", ["write", "bank"]),
        ("notes on the old pump", ["old", "pump"]),
        ("my note about pumps", ["pumps"]),
        ("pump notes", ["pump", "notes"]),
        ("release notes on pumps", ["release", "notes", "pumps"]),
        ("notes on it", ["notes"]),
        ("Notizen über die Pumpe im Keller", ["Pumpe", "Keller"]),
        ("notes sur la pompe", ["pompe"]),
        ("appunti sulla pompa della casa", ["pompa", "casa"]),
        ("заметки о насосе", ["насосе"]),
        ("wo habe ich über die Pumpe geschrieben?", ["Pumpe"]),
        ("où ai-je écrit sur la pompe", ["pompe"]),
        ("dónde escribí sobre la bomba", ["bomba"]),
        ("dove ho scritto della pompa", ["pompa"]),
        ("onde escrevi sobre a bomba", ["bomba"]),
        ("waar schreef ik over de pomp", ["pomp"]),
        ("где я писал о насосе", ["насосе"]),
        ("var skrev jag om pumpen", ["pumpen"]),
        ("gdzie pisałem o pompie", ["pompie"]),
        ("¿dónde escribí sobre la bomba?", ["bomba"]),
        ("pompa hakkında ne yazdım", ["pompa"]),
        ("where does it say that the pump leaks", ["pump", "leaks"]),
        ("where does Anna say that the pump leaks", ["Anna", "say", "pump", "leaks"]),
        ("what it says about the pump", ["says", "pump"]),
        ("which page explains the old pump?", ["old", "pump"]),
        ("that note which mentions that the pump leaks", ["pump", "leaks"]),
        ("the one about the pump", ["pump"]),
        ("the one on pumps", ["one", "pumps"]),
        ("file contains no data", ["file", "contains", "data"]),
        ("is there anything about the pump", ["pump"]),
        ("what's the name of the old pump", ["old", "pump"]),
        ("what is the name of it", ["name"]),
        ("where did I read that the pump leaks", ["pump", "leaks"]),
        ("in welcher Notiz steht, dass die Pumpe tropft", ["Pumpe", "tropft"]),
        ("der Text über die Pumpe", ["Pumpe"]),
        ("wie hieß die Pumpe", ["Pumpe"]),
        ("quelle note parle de la pompe", ["pompe"]),
        ("en qué nota habla de bomba", ["bomba"]),
        ("qualcosa sulla pompa", ["qualcosa", "pompa"]),
        ("come si chiama la pompa", ["pompa"]),
        ("em qual nota fala de bomba", ["bomba"]),
        ("iets over pompen", ["pompen"]),
        ("något om pumpen", ["pumpen"]),
        ("millä sivulla kerrotaan pumpusta", ["pumpusta"]),
        ("в какой заметке написано про насос", ["насос"]),
        ("как называется насос", ["насос"]),
        ("gdzie czytałem że pompa", ["pompa"]),
        ("pompa nasıl yapılır?", ["pompa"]),
        ("hangi sayfada pompa anlatılıyor", ["pompa"]),
        ("wo steht, dass die Pumpe tropft", ["Pumpe", "tropft"]),
        ("où ça dit que la pompe fuit", ["pompe", "fuit"]),
        ("la pompe ou ce qui est écrit", ["pompe", "écrit"]),
        ("dónde dice que la bomba gotea", ["bomba", "gotea"]),
        ("где написано что насос течёт", ["насос", "течёт"]),
        ("waar staat dat de pomp lekt", ["pomp", "lekt"]),
        ("qu'est-ce que la pompe", ["pompe"]),
        ("关于水泵的笔记", ["水泵"]),
        ("ポンプについてのメモ", ["ポンプ"]),
        ("Pumpe AND Keller verwendet", ["Pumpe", "Keller", "verwendet"]),
        ("насос AND клапан", ["насос", "клапан"]),
        ("مضخة AND صمام", ["مضخة", "صمام"]),
    ],
)
def test_request_words_of_question_are_not_searched(query: str, words: list[str]) -> None:
    analysis = analyse_query(f"{query} ", ("english", "german", "french", "italian"))
    assert [term.surface for term in analysis.terms if not term.stop] == words


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("notes on frost ", "frost"),
        ("notes on frost after:2026-01", "frost"),
        ("path:daily where does it say that frost came -rain", "frost came"),
        ('notes on "first frost"', "first frost"),
        ('"notes on frost" path:daily', "notes on frost"),
        ('"pompa nedir" path:daily', "pompa nedir"),
    ],
)
def test_introduction_is_left_out_unless_quoted(query: str, text: str) -> None:
    parsed = parse_query(query)
    assert parsed.free_text == text
    assert len(parsed.searched_text) == len(query)


def test_introduction_shows_the_language_of_a_query() -> None:
    assert analyse_query(parse_query("Notizen zu Frost tag:x"), ("english", "german")).languages[0] == "german"


@pytest.mark.parametrize(
    ("query", "language"),
    [
        ("wie funktioniert nix", "german"),
        ("wozu dient nix", "german"),
        ("erkläre mir nix", "german"),
        ("comment fonctionne nix", "french"),
        ("explique comment fonctionne nix", "french"),
        ("como funciona nix", "spanish"),
        ("hoe werkt nix", "dutch"),
        ("hur fungerar nix", "swedish"),
        ("jak działa nix", "polish"),
        ("como funcionam os filtros de nix", "portuguese"),
        ("come work with us", "english"),
        ("how does the comment work", "english"),
        ("what was his name", "english"),
        ("leg day", "english"),
        ("compare comments", "english"),
        ("was lost", "english"),
    ],
)
def test_question_in_its_language_in_an_english_index(query: str, language: str) -> None:
    """A question word with a verb, or an order, identifies the language of a short query."""
    analysis = analyse_query(query, ("english",))
    assert analysis.languages[0] == language
    assert ("nix" in query) <= ("nix" in [term.surface for term in analysis.terms if not (term.stop or term.filler)])


@pytest.mark.parametrize(
    ("query", "words"),
    [("软件包管理器", 3), ("更新 apt 软件包", 3), ("the valve of pump_7", 2), ("설정 변경", 2), ("", 0)],
)
def test_word_count_has_one_word_for_two_overlapping_pairs(query: str, words: int) -> None:
    assert analyse_query(query).word_count == words


@pytest.mark.parametrize("others", [("german", "danish"), ("danish", "german")])
def test_looser_forms_follow_order_of_languages(others: tuple[str, str]) -> None:
    """A form is left out if a shorter one before it matches as well: another order in each process changed scores."""
    found = term("Verbindungen", "english", *others).loose_stems
    forms = {"german": "verbind*", "danish": "verbindung*"}
    assert [form for form in found if form in forms.values()] == [forms[language] for language in others]


@pytest.mark.parametrize(
    ("query", "language", "names"),
    [
        ("What did Oswin say about the iPhone?", "english", "Oswin iPhone"),
        ("Bolts of the bridge. Which ones did Oswin's team order?", "english", "Oswin's"),
        ("Annotations of the letters to Ann", "english", "Ann"),
        ("Which Bolts Did Oswin Order", "english", ""),
        ("WHICH BOLTS", "english", ""),
        ("Welche Schrauben hat Oswin bestellt?", "german", ""),
        ("¿Qué tornillos pidió Oswin?", "spanish", "Oswin"),
        ("«Quels boulons» a commandés Oswin", "french", "Oswin"),
        ("какие болты заказал Освин", "russian", "Освин"),
        ("GPIO", "english", ""),
        ("which pin of the GPIO", "english", "GPIO"),
        ("", "english", ""),
    ],
)
def test_names_are_written_with_capital_letters(query: str, language: str, names: str) -> None:
    words = re.finditer(r"[\w']+", query)
    found = [word[0] for word in words if is_written_as_name(word[0], word.start(), query, language)]
    assert found == names.split()


@pytest.mark.parametrize("gap", ["\n", " ", ".", "- ", ") "])
def test_names_after_long_gaps_are_recognised(gap: str) -> None:
    """Pasted text has long indents and blank lines; time must not grow with the square of their length."""
    query = f"old rope{gap * 5000} mended Zephyr"
    assert is_written_as_name("Zephyr", query.index("Zephyr"), query, "english")
    query = f"old rope.{gap * 5000} Zephyr"
    assert not is_written_as_name("Zephyr", query.index("Zephyr"), query, "english")


@pytest.mark.parametrize(
    ("query", "form"),
    [
        ("zwölfter Anlauf", ("12", "anlauf")),
        ("Die dritte Sitzung", ("3", "sitzung")),
        ("Die erſte Sitzung", ("1", "sitzung")),
        ("14. Kapitel", ("vierzehnten", "kapitel")),
        ("die 80er", ("1980er",)),
    ],
)
def test_german_number_is_also_searched_in_its_other_spelling(query: str, form: tuple[str, ...]) -> None:
    assert any(form in term.loose for term in analyse_query(query, ("german",)).terms)


@pytest.mark.parametrize("query", ["쿠버네티스에 대해", "설치에 관한 문서", "데이터를 통해", "보안을 위한"])
def test_korean_postpositions_are_not_searched(query: str) -> None:
    assert sum(term.stop for term in analyse_query(query, ("korean",)).terms) == 1


def test_decimal_comma_joins_its_digits() -> None:
    found = {term.surface: term for term in analyse_query("7,65 Euro, 3,4,5", ("german",)).terms}
    assert found["7,65"].word == ("7", "65")
    assert {"3", "4", "5"} <= found.keys()


@pytest.mark.parametrize(
    "query",
    [
        "Die dritte Sitzung, der sechste Anlauf",
        "the twentieth part and the first sitting",
        "kapitel ix, 10 kilometers, 5 km, 1990s, 3 million",
        "last week, this month, quarter 3 2025, six weeks ago",
        "letzte woche, vor drei wochen, dienstag, im letzten sommer",
    ],
)
def test_letters_equal_without_case_to_ascii_ones_never_raise(query: str) -> None:
    for letter, other in ("sſ", "iı", "iİ", "k\u212a"):  # those that match it in a pattern that ignores case
        for text in (query.replace(letter, other), query.upper().replace(letter.upper(), other)):
            assert analyse_query(text, ("german", "english")).terms
            read_times(text)
            parse_period(text)


def test_consonant_of_a_half_typed_syllable_is_left_out() -> None:
    assert analyse_query("실행 취소ㅎ", ["korean"]).terms == analyse_query("실행 취소", ["korean"]).terms
    assert analyse_query("ㅋㅋ", ["korean"]).terms
    assert analyse_query("취소ㅎ 실행", ["korean"]).terms != analyse_query("취소 실행", ["korean"]).terms


def test_any_last_hangul_sign_has_forms_that_can_be_searched() -> None:
    blocks = ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7FF), (0xFFA0, 0xFFDC))
    for sign in (chr(code) for first, last in blocks for code in range(first, last + 1)):
        for found in analyse_query(f"가{sign}", ["korean"]).terms:
            assert all(form and "".join(form).encode() for form in found.loose), ascii(sign)


def test_long_text_is_searched_without_looser_forms() -> None:
    others = " ".join(f"{first}a{last}ox" for first in "bcdfg" for last in "bcdfg")

    def forms(query: str) -> tuple[object, ...]:
        [term] = [term for term in analyse_query(query, ("english",)).terms if term.surface == "getUserName"]
        return *term.loose, *term.loose_stems, *term.irregular

    assert forms("getUserName returns nothing ")
    assert not forms(f"getUserName returns nothing {others} ")
