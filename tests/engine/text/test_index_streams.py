"""The analyser's streams in the real keyword index: its tokens must be tokens of FTS5, too."""

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.languages import detect_language
from engine.text.query_analysis import analyse_query
from engine.text.stems import stems_of
from engine.text.tokens_and_stems import PIECE_LENGTH, Analysis, analyse, clear_word_caches, text_pieces

MIXED = (
    "Skipping C++ and C# for os.replace; E0432 at 06:10 on 2026-02-08, user@host #tag path/to/file.py v1.4.2 — "
    "GitHub’s API設計、データ 학교에서 ที่นี่ किताबें Größe ½ x² 👍 don't l'eau 'tis ﷺ ⑴ \ud800 \x00"
)


class KeywordIndex:
    """One-row contentless FTS5 table with the index's tokenizer."""

    def __init__(self) -> None:
        self._db = apsw.Connection(":memory:")
        for statement in (
            "CREATE VIRTUAL TABLE f USING fts5(words, stems, content='', contentless_delete=1,"
            " tokenize=\"ascii tokenchars '._-+#/@:'\")",
            "CREATE VIRTUAL TABLE v USING fts5vocab(f, 'instance')",
        ):
            self._db.execute(statement)

    def put(self, analysed: Analysis) -> None:
        self._db.execute("DELETE FROM f WHERE rowid = 1")
        self._db.execute("INSERT INTO f(rowid, words, stems) VALUES (1, ?, ?)", (analysed.words, analysed.stems))

    def tokens(self, column: str) -> list[str]:
        rows = self._db.execute('SELECT term FROM v WHERE col = ? ORDER BY "offset"', (column,))
        return [str(term) for (term,) in rows]

    def finds(self, expression: str) -> bool:
        return bool(self._db.execute("SELECT 1 FROM f WHERE f MATCH ?", (expression,)).fetchall())

    def close(self) -> None:
        self._db.close()


@pytest.fixture(scope="module")
def index() -> Iterator[KeywordIndex]:
    opened = KeywordIndex()
    yield opened
    opened.close()


def check_round_trip(index: KeywordIndex, text: str, language: str) -> None:
    analysed = analyse(text, language)
    words, stems = analysed.words, analysed.stems
    index.put(analysed)
    assert index.tokens("words") == words.split()
    assert index.tokens("stems") == stems.split()
    for stream in (words, stems):
        assert stream == " ".join(stream.split())


@pytest.mark.parametrize("language", ["english", "german", "russian", "hindi", ""])
def test_every_token_survives_the_tokenizer(index: KeywordIndex, language: str) -> None:
    check_round_trip(index, MIXED, language)


@given(
    st.text(st.characters(exclude_categories=()), max_size=60), st.sampled_from(["english", "turkish", "arabic", ""])
)
def test_every_token_of_any_text_survives_the_tokenizer(index: KeywordIndex, text: str, language: str) -> None:
    check_round_trip(index, text, language)


@given(st.text(st.sampled_from("aBcÉßж'’._-+#/@:0 \n東カ\u3099한ที่👍"), max_size=40))
def test_every_token_of_text_full_of_connectors_survives(index: KeywordIndex, text: str) -> None:
    check_round_trip(index, text, "english")


@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("skipping", "They skipped lines."),
        ("os.replace", "the os replaces it"),
        ("os replace", "call os.replace(a, b)"),
        ("github", "on GitHub"),
        ("GitHub", "on github"),
        ("git hub", "on GitHub"),
        ("1.4.2", "since v1.4.2"),
        ("rc1", "since 2.0rc1"),
        ("1.13.1", "since torch-1.13.1rc2"),
        ("2.0rc1", "since 2.0-RC1"),
        ("dont", "don't"),
        ("brien", "O'Brien"),
        ("Größe", "die GRÖSSEN"),
        ("cafe", "le Café"),
        ("книга", "с книгами"),
        ("島", "広島"),
        ("島", "島国"),
        ("広島", "広島市"),
        ("データベース", "新しいデータベースだ"),
        ("会議はどこ", "次の会議"),
        ("如何备份数据", "数据都要备份"),
        ("학교는", "학교에서"),
        ("베이스", "데이터베이스"),
        ("กรุงเทพ", "ไปกรุงเทพแล้ว"),
        ("किताब", "किताबें"),
        ("كتاب", "الكتاب"),
        ("άνθρωπος", "των ανθρώπων"),
        ("✅", "done ✅"),
        ("deplo", "a deployment"),
    ],
)
def test_a_query_finds_the_text(index: KeywordIndex, query: str, text: str) -> None:
    """Every term except function words is in one of the streams; of an unspaced question some are."""
    index.put(analyse(text, "german" if "GRÖSSEN" in text else detect_language(text)))
    terms = [term for term in analyse_query(query, ["german", "english"]).terms if not term.stop]
    found = []
    for term in terms:
        tokens = (term.word,) if isinstance(term.word, str) else term.word
        phrase = f'"{" ".join(tokens)}"' + ("*" if term.is_prefix else "")
        found.append(index.finds(" OR ".join([f"words : {phrase}", *(f'stems : "{stem}"' for stem in term.stems)])))
    assert any(found)
    assert all(found) or "如何" in query


def test_a_phrase_is_found_by_its_stream(index: KeywordIndex) -> None:
    index.put(analyse("They kept skipping os.replace on GitHub, 東京タワー too.", "english"))
    for phrase in ("kept skipping os.replace on", "skipping os.replace", "GitHub, 東京タワー too"):
        analysed = analyse(phrase, "english")
        assert index.finds(f'words : "{analysed.words}"')
        assert index.finds(f'stems : "{analysed.stems}"')
    assert not index.finds('words : "skipping kept"')


@pytest.mark.parametrize("colour", ["\x1b[1;32m", "\x1b[m", "\x1b[38;2;9;9;9m", "\x1b[2K", "\x1b[?25h"])
def test_colours_of_a_terminal_join_no_word(colour: str) -> None:
    assert analyse(f"{colour}plumbing{colour} done", "english") == analyse("plumbing done", "english")
    assert analyse(f"{colour[1:]}plumbing", "english") != analyse("plumbing", "english")


def test_long_text_is_cut_at_spaces_and_loses_nothing() -> None:
    text = "word-" * 10 + " lorem ipsum\n" * PIECE_LENGTH
    parts = list(text_pieces(text))
    assert "".join(piece for _, piece in parts) == text
    assert [offset for offset, _ in parts] == [sum(len(p) for _, p in parts[:n]) for n in range(len(parts))]
    assert max(len(piece) for _, piece in parts) <= PIECE_LENGTH
    assert analyse(text, "english").words.count("ipsum") == PIECE_LENGTH


def test_long_text_without_spaces_is_split() -> None:
    text = "東京" * PIECE_LENGTH
    assert max(len(piece) for _, piece in text_pieces(text)) == PIECE_LENGTH
    assert analyse(text, "").words.count("東京") == PIECE_LENGTH


def test_forgotten_words_are_analysed_again() -> None:
    before = analyse("Deploying os.replace", "english")
    stems = stems_of("english")  # a matcher keeps the same ones
    assert "deploying" in stems
    clear_word_caches()
    assert not stems
    assert analyse("Deploying os.replace", "english") == before
    assert "deploying" in stems
