import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.text.tokens import RUN, groups, pieces
from engine.text.tokens_and_stems import analyse
from engine.text.writing_systems import MARK, shape


def words(text: str) -> str:
    return analyse(text, "").words


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("The quick, (brown) fox.", "the quick brown fox"),
        ("foo_bar-baz", "foo_bar-baz foo bar baz"),
        ("os.replace(a)", "os.replace os replace a"),
        ("std::vector", "std::vector std vector"),
        ("see path/to/file.py:12.", "see path/to/file.py:12 path to file py 12"),
        ("~/.config/app", "config/app config app"),
        ("user@host.org", "user@host.org user host org"),
        ("https://example.org/a?b=c", "https://example.org/a https example org a b c"),
        ("#tag @person #5", "#tag tag @person person #5 5"),
        ("# Heading", "heading"),
        ("C++ C# F#, c++17", "c++ c# f# c++ 17"),
        ("a+b i++", "a+b a b i++"),
        ("E0432 v2 AB12", "e0432 v2 ab12"),
        ("v1.4.2", "v1.4.2 1 4 2"),
        ("2.0rc1 v3.12.0B4", "2.0rc1 2 0 rc1 v3.12.0b4 3 12 0 b4"),
        ("802.11n 1.5x2 a.0rc1", "802.11n 802 11n 1.5x2 1 5x2 a.0rc1 a 0rc1"),
        ("2026-02-08T06:10 3.14", "2026-02-08t06:10 2026 02 08t06 10 3.14 3 14"),
        ("camelCase HTTPServer getURLs utf8Decoder", "camelcase httpserver geturls utf8decoder "
         "/ camel case / http server / get urls / utf8 decoder"),
        ("GitHub URLs NASA NASA's", "github urls nasa nasa / git hub"),
        ("__init__ _private _emphasis_ __x", "__init__ init private emphasis x"),
        ("aGVsbG8gd29ybGQgaGVsbG8gd29ybGQ", "agvsbg8gd29ybgqgagvsbg8gd29ybgq"),
        ("--flag -v", "flag v"),
        ("and/or", "and/or and or"),
        ("___ -- ... ' _", ""),
        ("non\u2011breaking", "non-breaking non breaking"),
        ("été/hiver", "ete/hiver ete hiver"),
        ("größeÄndern", "grosseandern / grosse andern"),
        ("👍🏽 done ✅", "👍 done ✅"),
        ("5㎞ x² ㎏", "5km x2 kg"),
        ("🇩🇪🇫🇷 🇩", "🇩🇪 🇫🇷 🇩"),
        ("exa\u200bmple foo.\u200bbar \ufeffword\u202c", "example foo.bar foo bar word"),
        ("зв’язок обʼєкт", "звязок обєкт"),
        ("a\x00b\ud800c", "a b c"),
    ],
)  # fmt: skip
def test_words_and_identifiers_become_tokens(text: str, stream: str) -> None:
    assert words(text) == stream


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("don't can’t", "dont cant"),
        ("we'll I'm they've", "we i they"),
        ("the dog's dogs' 'quoted'", "the dog dogs quoted"),
        ("l'eau d’accord qu'il dell'acqua", "eau accord il acqua"),
        ("O'Brien aujourd’hui", "obrien o brien aujourdhui aujourd hui"),
        ("п’ять Д’Артаньян", "пять дартаньян д артаньян"),
    ],
)
def test_apostrophes_join_or_separate_words(text: str, stream: str) -> None:
    assert words(text) == stream


@pytest.mark.parametrize(
    ("text", "stream"),
    [
        ("東京都", "東京 京都 都"),
        ("木", "木"),
        ("API設計v2", "api 設計 計 v2"),
        ("データベース", "デー ータ タベ ベー ース ス"),
        ("カ\u3099ス", "ガス ス"),
        ("ｶﾞｽ", "ガス ス"),
        ("会议，三月8日", "会议 议 三月 月 8 日"),
        ("⾦曜", "金曜 曜"),
        ("ภาษาไทย", "ภา าษ ษา าไ ไท ทย ย"),
        ("ที่นี่", "ที่นี่ นี่"),
        ("ພາສາລາວ", "ພາ າສ ສາ າລ ລາ າວ ວ"),
        ("ខ្មែរ", "ខ្មែ មែរ រ"),
        ("학교에서", "학교 교에 에서 서"),
        ("한국", "한국 국"),
    ],
)
def test_scripts_without_spaces_and_korean_become_pairs(text: str, stream: str) -> None:
    assert words(text) == unicodedata.normalize("NFC", stream)
    assert words(unicodedata.normalize("NFD", text)) == unicodedata.normalize("NFC", stream)


def test_long_words_are_cut_and_long_identifiers_have_only_parts() -> None:
    assert words("x" * 130) == f"{'x' * 64} {'x' * 64} xx"
    path = "/".join(["folder"] * 30)
    assert words(path) == path.replace("/", " ")


@pytest.mark.parametrize(
    "word", ["os.replace", "GitHub", "l'eau", "O'Brien", "__init__", "x" * 100, "größeÄndern", "C#"]
)
def test_pieces_have_positions_of_their_tokens(word: str) -> None:
    found = pieces(word)
    assert found
    for piece in found:
        assert words(word[piece.start : piece.end]).split(" ")[0] == piece.token


@given(st.text())
def test_a_shape_is_as_long_as_its_text_and_ascii(text: str) -> None:
    shaped = shape(text)
    assert len(shaped) == len(text)
    assert shaped.isascii()


@given(st.text(st.characters(categories=("L", "N", "P", "Z"))))
def test_no_letter_or_digit_is_lost(text: str) -> None:
    """Runs and groups together cover every letter and number, whatever separates them."""
    covered = set()
    for run in RUN.finditer(text):
        for group in groups(run[0]):
            covered |= set(range(run.start() + group.start, run.start() + group.end))
    lost = [c for i, c in enumerate(text) if c.isalnum() and i not in covered and shape(c) not in (MARK, "'")]
    assert lost == []


@given(st.text(st.characters(exclude_categories=("Cc",))))
def test_groups_of_a_text_equal_groups_of_its_runs(text: str) -> None:
    whole = [(group.start, group.end) for group in groups(text)]
    parts = [(run.start() + g.start, run.start() + g.end) for run in RUN.finditer(text) for g in groups(run[0])]
    assert whole == parts
