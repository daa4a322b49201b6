import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text import analyse_query
from engine.text.operators import OPERATORS, problem_with
from engine.text.parsed_query import Clause, Field, Phrase, Query, Word
from engine.text.query_parser import LONGEST, parse_query

_BITS = st.sampled_from(
    [
        *'"“”„-*():',
        " ",
        " OR ",
        "OR",
        " NOT ",
        "NOT",
        "NULL",
        "-",
        "foo",
        "Bar",
        "東京",
        "x*",
        "last week",
        "2026-05",
        "notes",
        "user",
        "\n",
    ]
    + [f"{name}:" for name in OPERATORS]
)


def clauses_of(query: str) -> list[str]:
    return [str(clause) for clause in parse_query(query).clauses]


@pytest.mark.parametrize(
    ("text", "clauses"),
    [
        ("drip irrigation", ["drip", "irrigation"]),
        ('drip "left valve" hose', ["drip", '"left valve"', "hose"]),
        ("“left valve”", ['"left valve"']),
        ("„linkes Ventil“", ['"linkes Ventil"']),
        ("drip -hose", ["drip", "-hose"]),
        ('-"garden hose"', ['-"garden hose"']),
        ("cat OR dog OR bird fish", ["cat OR dog OR bird", "fish"]),
        ('cat OR "dog days"', ['cat OR "dog days"']),
        ("deploy*", ["deploy*"]),
        ("path:daily/*", ["path:daily/*"]),
        ("-path:daily", ["-path:daily"]),
        ('title:"reading list" x', ['title:"reading list"', "x"]),
        ("after:last week x", ['after:"last week"', "x"]),
        ('before:"last month"', ['before:"last month"']),
        ("Source:Notes", ["source:Notes"]),
        ("source:notes x source:sessions", ["source:notes OR source:sessions", "x"]),
        ("tag:a tag:b", ["tag:a", "tag:b"]),
        ("tag:a OR path:b", ["tag:a OR path:b"]),
        ("cat OR dog OR cat OR cat", ["cat OR dog"]),
        ("tag:a cat tag:a -dog tag:b -dog", ["tag:a", "cat", "-dog", "tag:b"]),
        ('"a b" cat cat "a b"', ['"a b"', "cat", "cat"]),
        ("path:x path:y path:x", ["path:x OR path:y"]),
        ("temperature -5 --flag - x", ["temperature", "-5", "--flag", "-", "x"]),
        ("-n, --limit=N rows", ["-n,", "--limit=N", "rows"]),
        ("“left”-handed", ['"left"', "handed"]),
        ("drip NOT hose", ["drip", "-hose"]),
        ("NOT hose drip", ["-hose", "drip"]),
        ("drip AND valve NOT hose", ["drip", "AND", "valve", "-hose"]),
        ('drip NOT "garden hose" NOT path:daily', ["drip", '-"garden hose"', "-path:daily"]),
        ('drip NOT "hose of the garden"', ["drip", '-"hose of the garden"']),
        ("“out of the box” NOT hose", ['"out of the box"', "-hose"]),
        ('drip NOT "PVC HOSE"', ["drip", '-"PVC HOSE"']),
        ("Ventil NOT Schlauch", ["Ventil", "-Schlauch"]),
        ("drip NOT", ["drip", "NOT"]),
        ("do NOT turn the valve", ["do", "NOT", "turn", "the", "valve"]),
    ],
)
def test_query_is_parsed_into_clauses_without_remarks(text: str, clauses: list[str]) -> None:
    assert clauses_of(text) == clauses
    assert parse_query(text).remarks == ()


def test_label_in_bold_is_not_an_operator() -> None:
    assert clauses_of("**Log file:** app.log") == ["**Log", "file:**", "app.log"]
    assert clauses_of("__Page title:__ *Hull*") == ["__Page", "title:__", "*Hull*"]
    assert [str(clause) for clause in parse_query("path:* hull").required] == ["path:*"]


@pytest.mark.parametrize(
    "question",
    [
        'What did Ada say about "left valve"?',
        'tell me what ada said about the "left valve" in spring',
        'wer hat "left valve" bestellt und warum?',
        "Wymiana zaworu w ogrodzie, czyli “left valve”",
        "Zawór ogrodowy, pompa albo “left valve”",
        '"left valve"을 어디에',
        "어제 “left valve”에서는 무엇을",
        '"left valve"はどこ',
        "如果阀门漏水，请参见第三节 “left valve”，它说明了更换的方法",
        "為了更換閥門，請參見 “left valve” 的說明。",
        "バルブの交換は、次の “left valve” の手順に従う。",
    ],
)
def test_quotation_in_whole_question_is_not_required(question: str) -> None:
    query = parse_query(question)
    assert not query.required
    assert {"left", "valve"} < set(clauses_of(question))
    assert query.remarks == (
        ("In a question, results need not contain “left valve”: to require it, search for it alone."),
    )


@pytest.mark.parametrize("text", ['"왼쪽 밸브"을 교체', unicodedata.normalize("NFD", "“왼쪽 밸브”을 교체")])
def test_particle_after_quotation_is_not_a_term(text: str) -> None:
    terms = analyse_query(parse_query(text)).terms
    assert [unicodedata.normalize("NFC", term.surface) for term in terms] == ["왼쪽", "밸브", "교체"]


@pytest.mark.parametrize(
    "keywords",
    [
        '"left valve" leak greenhouse drip hose',
        '"left valve"',
        '"left valve" what?',
        'hose, leak "left valve"',
        '"left valve", hose leak greenhouse',
        '"left valve", "drip line", hose, leak',
        'hose, leak, pump, garden "left valve"',
        '"left valve"교체',
        '"left valve" 어디에',
        '"left valve" 更换方法 备件型号 温室',
        'What did Ada say about "left valve" in path:daily?',
    ],
)
def test_phrase_with_keywords_or_operators_is_required(keywords: str) -> None:
    assert '"left valve"' in clauses_of(keywords)


@pytest.mark.parametrize(
    ("text", "remark"),
    [
        ("foo:bar", "“foo:bar” was read as words: there is no operator foo."),
        ("tags:garden", "“tags:garden” was read as words. Did you mean tag:?"),
        ("Titel:garden", "“Titel:garden” was read as words. Did you mean title:?"),
        ("path: x", "“path:” was read as words: path: needs a value, such as path:daily/*."),
        ("after:soon", "“after:soon” was read as words: after: needs a date"),
        ("on:2026-02-30", "“on:2026-02-30” was read as words"),
        ("source:mail", "“source:mail” was read as words: the sources are notes and sessions."),
        ("role:boss", "“role:boss” was read as words: the roles are"),
        ('the "never', "An unclosed quotation mark"),
        ('path:"never', "An unclosed quotation mark"),
        ("cat OR", "“OR” was read as a word"),
        ("OR cat", "“OR” was read as a word"),
        ("cat OR -dog", "“OR” was ignored: it doesn't join exclusions"),
        ("cat OR NOT dog", "“OR” was ignored"),
        ("-cat OR dog", "“OR” was ignored"),
        ("column NOT NULL", "“NOT” was read as a word: to exclude a word, write -NULL."),
        ("(cat OR dog) fish", "Brackets don't group"),
        ("a*", "“a*” was read as a word"),
        ("*foo", "“*foo” was read as words"),
    ],
)
def test_invalid_syntax_is_words_with_remark(text: str, remark: str) -> None:
    query = parse_query(text)
    assert any(found.startswith(remark) for found in query.remarks), query.remarks
    assert not any(isinstance(atom, Field) for clause in query.clauses for atom in clause.alternatives)


@pytest.mark.parametrize(
    "text",
    ["", "   ", "how do I deploy?", "https://x.de:80/a", "12:30", "std::move", "C:\\notes", '5" nails', "5 * 3", "a/b",
     "Note: buy hoses", "**bold**", "--help -- -"],
)  # fmt: skip
def test_ordinary_text_is_words_without_a_remark(text: str) -> None:
    query = parse_query(text)
    assert query.plain
    assert query.searched_text == query.free_text == text
    assert query.remarks == ()


def test_every_word_keeps_its_position_among_blanks() -> None:
    text = '-hose drip "left valve" path:x dep* cat OR dog'
    query = parse_query(text)
    assert query.searched_text == "      drip  left valve         dep  cat    dog"
    assert query.free_text == "drip left valve dep cat dog"
    assert [(clause, str(atom)) for clause, atom in query.searched_atoms()] == [
        (1, "drip"), (2, '"left valve"'), (4, "dep*"), (5, "cat"), (5, "dog"),
    ]  # fmt: skip
    assert [str(clause) for clause in query.required] == ["-hose", '"left valve"', "path:x", "cat OR dog"]


def test_the_tree_is_records() -> None:
    assert parse_query('a -"b c"') == Query(
        'a -"b c"', (Clause((Word("a", 0, 1),)), Clause((Phrase("b c", 4, 7),), negated=True))
    )


def test_a_pasted_file_is_words() -> None:
    text = '"x" path:y ' * LONGEST
    assert parse_query(text).plain
    assert parse_query(text).free_text == text


@pytest.mark.parametrize(
    "text", ['{\n  "level": "left valve"\n}', "-pump\n-valve", 'A "left valve"\r\nleaks', "a\nb OR c"]
)
def test_quotation_marks_of_several_lines_are_not_required(text: str) -> None:
    query = parse_query(text)
    assert query.plain
    assert query.free_text == text
    assert query.remarks == ("A text of several lines is read as words.",)


@pytest.mark.parametrize("text", ['\n"left valve" pump\n', 'path:a\n"left valve"', 'path:a OR "left valve"\npump'])
def test_one_line_or_an_operator_requires_a_quotation(text: str) -> None:
    assert any("left valve" in str(clause) for clause in parse_query(text).required)


@pytest.mark.parametrize("query", ["'\" “0“'", '" OR „a b”', 'path:" OR „a b”', 'tag:" -“x y”', '" path:“a b”'])
def test_unclosed_quotation_mark_survives_round_trip(query: str) -> None:
    assert parse_query(str(parse_query(query))).clauses != ()
    assert list(map(str, parse_query(str(parse_query(query))).clauses)) == list(map(str, parse_query(query).clauses))


@given(st.one_of(st.text(), st.lists(_BITS).map("".join), st.lists(_BITS).map(" ".join)))
def test_any_text_round_trips_as_query(text: str) -> None:
    query = parse_query(text)
    if (
        query.required
    ):  # else it is never written again; words of a quotation in a question would be read in another way
        again = parse_query(str(query))
        assert [str(clause) for clause in again.clauses] == [str(clause) for clause in query.clauses]
        assert str(again) == str(query)
    assert len(query.searched_text) == len(text)
    assert all(found in (" ", meant) for found, meant in zip(query.searched_text, text, strict=True))
    for _, atom in query.searched_atoms():
        assert text[atom.start : atom.end] == atom.text


@pytest.mark.parametrize(("text", "left"), [("cat OR NOT dog", ["cat", "-dog"]), ("-cat OR dog", ["-cat", "dog"])])
def test_or_next_to_an_exclusion_is_not_searched(text: str, left: list[str]) -> None:
    assert clauses_of(text) == left


@pytest.mark.parametrize("operator", OPERATORS.values(), ids=str)
def test_the_example_of_every_operator_is_right(operator) -> None:
    query = parse_query(operator.example)
    assert not query.remarks
    [clause] = query.clauses
    assert clause.alternatives[0].name == operator.name
    assert problem_with(operator.name, "")


@given(st.text().filter(lambda text: parse_query(text).plain))
def test_plain_words_keep_their_analysis(text: str) -> None:
    assert analyse_query(parse_query(text), ["english", "german"]) == analyse_query(text, ["english", "german"])


@given(st.lists(_BITS).map(" ".join))
def test_query_terms_have_correct_positions(text: str) -> None:
    analysis = analyse_query(parse_query(text), ["english"])
    assert all(text[term.start : term.end] == term.surface for term in analysis.terms)


def test_a_beginning_a_phrase_and_alternatives_mark_their_terms() -> None:
    terms = {term.surface: term for term in analyse_query(parse_query('run* "the dogs" cat OR will')).terms}
    assert terms["run"].is_prefix
    assert terms["run"].stems == ()
    assert terms["dogs"].phrased
    assert not terms["dogs"].is_prefix
    assert terms["cat"].group == terms["will"].group != 0
    assert not terms["will"].stop
    assert terms["run"].group == 0
    others = {term.surface: term for term in analyse_query(parse_query('"wet dogs" in harbour')).terms}
    assert others["harbour"].group == 0
    assert others["in"].stop
