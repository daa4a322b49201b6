from concurrent.futures import ThreadPoolExecutor

import pytest

from engine.text.folding import fold
from engine.text.languages import detect_language, language_of_note
from engine.text.query_analysis import analyse_query
from engine.text.stems import korean_phrases, stems_of
from engine.text.stopwords import stop_words
from engine.text.tokens_and_stems import analyse, phrase_tokens

SENTENCES = {
    "english": "The meeting moved to Tuesday because the venue was full.",
    "german": "Wir haben die Sitzung auf Dienstag verschoben, weil der Raum nicht frei war.",
    "french": "La réunion est déplacée à mardi parce que la salle n’était pas libre.",
    "spanish": "La reunión se movió al martes porque la sala no estaba libre.",
    "italian": "La riunione è stata spostata a martedì perché la sala non era libera.",
    "portuguese": "A reunião foi adiada para terça porque a sala não estava livre.",
    "dutch": "De vergadering is verplaatst naar dinsdag omdat de zaal niet vrij was.",
    "swedish": "Mötet flyttades till tisdag för att salen inte var ledig och vi inte kan vänta.",
    "danish": "Mødet blev flyttet til tirsdag, fordi lokalet ikke var ledigt, og hvad nu?",
    "norwegian": "Møtet ble flyttet til tirsdag fordi rommet ikke var ledig og jeg må noe annet.",
    "finnish": "Kokous siirrettiin tiistaille, koska sali ei ollut vapaa.",
    "romanian": "Ședința a fost mutată marți pentru că sala nu era liberă.",
    "hungarian": "Az ülést keddre tettük át, mert a terem nem volt szabad.",
    "turkish": "Toplantı salı gününe alındı çünkü salon boş değildi.",
    "polish": "Spotkanie przeniesiono na wtorek, ponieważ sala nie była wolna.",
    "czech": "Schůzka byla přesunuta na úterý, protože sál nebyl volný.",
    "russian": "Встреча перенесена на вторник, потому что зал был занят.",
    "serbian": "Састанак је померен за уторак јер је сала била заузета.",
    "greek": "Η συνάντηση μεταφέρθηκε την Τρίτη γιατί η αίθουσα ήταν γεμάτη.",
    "arabic": "تم نقل الاجتماع إلى يوم الثلاثاء لأن القاعة كانت مشغولة.",
    "persian": "جلسه به سه‌شنبه منتقل شد چون سالن خالی نبود.",
    "hindi": "बैठक मंगलवार को होगी क्योंकि कमरा खाली नहीं था।",
}


@pytest.mark.parametrize(("language", "sentence"), SENTENCES.items())
def test_sentence_language_detected(language: str, sentence: str) -> None:
    assert detect_language(sentence) == language


@pytest.mark.parametrize(
    "text",
    ["", "12:30 – 14:00", "会议改到星期二", "회의는 화요일로", "การประชุมเลื่อนไป", "Cuộc họp được dời sang thứ ba"],
)
def test_text_that_no_stemmer_knows_has_no_language(text: str) -> None:
    assert detect_language(text) == ""


CYRILLIC_WITHOUT_A_STEMMER = {
    "ukrainian": "Зустріч перенесли на вівторок, бо зала була зайнята.",
    "belarusian": "Сустрэчу перанеслі на аўторак, бо зала была занятая.",
    "bulgarian": "Срещата е преместена за вторник, защото залата беше заета.",
    "macedonian": "Состанокот ќе биде во вторник бидејќи салата беше зафатена.",
    "kazakh": "Кездесу сейсенбіге ауыстырылды, өйткені зал бос емес еді.",
}


@pytest.mark.parametrize("sentence", CYRILLIC_WITHOUT_A_STEMMER.values(), ids=CYRILLIC_WITHOUT_A_STEMMER.keys())
def test_cyrillic_text_is_not_taken_for_russian(sentence: str) -> None:
    assert detect_language(sentence) == ""
    analysed = analyse(sentence, "")
    assert analysed.stems == analysed.words


def test_a_quoted_name_does_not_change_the_language() -> None:
    assert detect_language(f"{SENTENCES['russian']} {SENTENCES['russian']} Так сказал Андрій.") == "russian"


def test_ukrainian_forms_found_next_to_russian() -> None:
    term = analyse_query("книгами", ("russian", "")).terms[0]
    assert {"книгами", "книг"} <= set(term.stems)


@pytest.mark.parametrize("text", ["hello", "kubectl get pods", "die hard", "café", "用 kubectl 部署"])
def test_short_latin_text_counts_as_english(text: str) -> None:
    assert detect_language(text) == "english"


@pytest.mark.parametrize(
    "text",
    [
        "KDE information center to show system information",
        "Convert another package manager's lockfile",
        "Move revisions to different parent(s)",
        "View CI checks for a request",
        "kubectl get pods -o json | grep [s]tuck; see docs.example.com",
        "L'Oreal shop, d'Artagnan statue",
        "printf l'x' d'oh",
    ],
)
def test_acronyms_and_parts_of_names_show_no_language(text: str) -> None:
    likely = ["czech", "hungarian", "italian", "portuguese", "catalan"]
    assert detect_language(text, likely) == "english"
    assert language_of_note(text) in {"english", "undecided"}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("c'era una volta", "italian"),
        ("C’era una volta", "italian"),
        ("cos'è un container", "italian"),
        ("dov’è la stazione", "italian"),
        ("l'école à midi", "french"),
        ("l'eau d'une source", "french"),
        ("à la gare", "french"),
        ("às vezes vou à praia", "portuguese"),
    ],
)
def test_shortened_words_show_the_language(text: str, language: str) -> None:
    assert detect_language(text, ["catalan", "french", "italian", "portuguese", "spanish"]) == language
    assert language in language_of_note(text)


def test_text_in_capitals_detects_language() -> None:
    assert detect_language(SENTENCES["german"].upper()) == "german"


def test_specific_letter_detects_language() -> None:
    assert [detect_language(word) for word in ("Größe", "łódź", "ğüzel")] == ["german", "polish", "turkish"]


def test_a_likely_language_needs_less_evidence() -> None:
    assert detect_language("der Plan", ["german"]) == "german"
    assert detect_language("the plan", ["german"]) == "english"


def test_names_in_long_text_do_not_decide_language() -> None:
    people = "Thanks to João, Simões, Conceição and Magalhães. "
    assert detect_language(people) == "portuguese"
    assert detect_language(people + " ".join(f"contributor{chr(97 + n % 26)}{n}" for n in range(200))) == "english"


def test_short_note_is_undecided_with_likelier_languages() -> None:
    assert language_of_note("Der Kurs beginnt am Montag") == "undecided german"
    assert language_of_note("Puse la mesa") == "undecided french spanish italian"
    assert language_of_note("a seat in the van") == "english"


def test_short_note_without_function_words_is_undecided() -> None:
    assert language_of_note("Stromrechnung bezahlen") == "undecided"
    assert language_of_note("pay the power bill") == "english"
    assert language_of_note("Größe prüfen") == "german"
    assert language_of_note("Stromrechnung " * 99) == "english"


def test_decomposed_text_detects_language() -> None:
    assert detect_language("Sch\u030cu\u030azka Pr\u030cesunuta r\u030cada") == "czech"


def test_only_the_beginning_is_looked_at() -> None:
    assert detect_language(SENTENCES["english"] * 200 + SENTENCES["german"] * 2000) == "english"


@pytest.mark.parametrize(
    ("language", "forms"),
    [
        ("english", ["skip", "skipped", "skipping", "skips"]),
        ("german", ["häuser", "häusern", "hauses"]),
        ("german", ["größe", "größen", "grösse"]),
        ("french", ["réservation", "réservations"]),
        ("spanish", ["reunión", "reuniones"]),
        ("russian", ["книга", "книги", "книгами"]),
        ("greek", ["άνθρωπος", "ανθρώπου"]),
        ("arabic", ["كتاب", "الكتاب"]),
        ("hindi", ["किताब", "किताबें", "किताबों"]),
        ("korean", ["학교", "학교에서", "학교는", "학교에서는"]),
        ("turkish", ["kitap", "kitaplar"]),
    ],
)
def test_forms_of_a_word_have_one_stem(language: str, forms: list[str]) -> None:
    stems = stems_of(language)
    assert len({stems[form] for form in forms}) == 1


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("바꾸기", "이름을 바꿉니다"),
        ("바꾸기", "이름을 바꿔서 저장한다"),
        ("바꿨습니다", "이름 바꾸기"),
        ("고치려면", "오류를 고쳤다"),
        ("만들기", "새 문서를 만든다"),
        ("만듭니다", "새 문서 만들기"),
        ("찾기", "파일을 찾을 때"),
        ("닫습니다", "창을 닫으려면"),
        ("가상호스트", "가상 호스트에 이름을 준다"),
        ("가상 호스트", "가상호스트에 이름을 준다"),
    ],
)
def test_korean_forms_and_compounds_match(query: str, text: str) -> None:
    words = f" {analyse(text, 'korean').words} "
    terms = analyse_query(query, ("korean",)).terms
    forms = [[" ".join(form) for form in term.loose] for term in terms]
    assert forms
    assert all(any(f" {form.removesuffix('*')}" in words for form in of_term) for of_term in forms)


@pytest.mark.parametrize(
    "word", [*"이미지 문서 바다 화면 ㅋㅋ다 프로그램 비행기 사진기 세탁기 청소기 이야기 설명서 증명서".split()]
)
def test_korean_nouns_have_no_forms_of_verbs(word: str) -> None:
    assert next(korean_phrases(fold(word))) == phrase_tokens(word).tokens


@pytest.mark.parametrize(
    ("language", "word", "stem"),
    [
        ("russian", "deploying", "deploy"),
        ("english", "книгами", "книг"),
        ("german", "किताबें", "किताब"),
        ("", "running", "running"),
        ("", "книгами", "книгами"),
        ("english", "e0432s", "e0432s"),
        ("english", "שלום", "שלום"),
        ("no such language", "running", "running"),
    ],
)
def test_script_of_word_selects_stemmer(language: str, word: str, stem: str) -> None:
    assert stems_of(language)[word] == stem


def test_korean_nouns_keep_two_syllables() -> None:
    stems = stems_of("")
    assert [stems[word] for word in ("회의", "회의를", "사람들에게는")] == ["회의", "회의", "사람"]


@pytest.mark.parametrize(
    "language", [*sorted(SENTENCES.keys() - {"serbian"}), "catalan", "indonesian", "korean", "japanese"]
)
def test_stop_words_are_tokens_as_the_analyser_makes_them(language: str) -> None:
    words = stop_words(language)
    assert len(words) > 30
    for word in words:
        assert fold(word) == word
        assert language in ("korean", "japanese") or analyse(word, "").words == word


def test_threads_share_stemmers_and_caches() -> None:
    texts = [f"{sentence} skipping{n} skipping" for n in range(20) for sentence in SENTENCES.values()]
    alone = [analyse(text, "english") for text in texts]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: analyse(text, "english"), texts * 3)) == alone * 3
