"""All readers of notes detect and decode encodings in the same way."""

import codecs
import time
from collections.abc import Iterable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.corpus import encodings
from engine.corpus.encodings import Binary, decoded, detect, wide_encoding
from engine.corpus.line_reader import NumberedText
from engine.corpus.note_reader import Unreadable, read_note
from tests.helpers import encoded_texts as texts
from tests.helpers.language_notes import NORTH_AND_EAST, SOUTH_AND_FAR

FINNISH, DANISH = ("\n".join(NORTH_AND_EAST[language].notes) for language in ("finnish", "danish"))
CATALAN, GREEK = ("\n".join(SOUTH_AND_FAR[language].notes) for language in ("catalan", "greek"))
LATIN = {
    "german": texts.GERMAN,
    "french": texts.FRENCH,
    "spanish": texts.SPANISH,
    "italian": texts.ITALIAN,
    "portuguese": texts.PORTUGUESE,
    "finnish": FINNISH,
    "danish": DANISH,
    "catalan": CATALAN,
    "quotation marks": texts.ENGLISH,
}
OTHERS = {
    "japanese": (texts.JAPANESE, "cp932"),
    "japanese, unix": (texts.JAPANESE, "euc_jp"),
    "chinese": (texts.CHINESE, "gb18030"),
    "taiwanese": (texts.TAIWANESE, "big5"),
    "korean": (texts.KOREAN, "cp949"),
    "russian": (texts.RUSSIAN, "cp1251"),
    "russian, unix": (texts.RUSSIAN, "koi8_r"),
    "greek": (GREEK, "cp1253"),
    "japanese words": (texts.ENGLISH_WITH_JAPANESE, "cp932"),
    "chinese words": (texts.ENGLISH_WITH_CHINESE, "gb18030"),
}
MIN_SIZES = {
    "japanese, unix": 200,
    "russian": 200,
    "russian, unix": 200,
    "greek": 60,
    "japanese words": 60,
    "chinese words": 60,
}
"""Fewest bytes for a reliable detection, if more than 20: shorter KOI8-R is taken for Windows-1251, which is more
frequent.
"""


def samples(text: str, codec: str, size: int) -> Iterable[bytes]:
    """Yield parts of a text that have at most `size` bytes, begin at different characters and aren't all ASCII."""
    long = "\n".join([text] * (1 + 2 * size // len(text)))
    for start in range(0, 200, 23):
        part = long[start : start + size].encode(codec)[:size].decode(codec, "ignore").encode(codec)
        if not part.isascii():
            yield part


@pytest.mark.parametrize("size", [20, 60, 200, 1000, 10_000])
@pytest.mark.parametrize(
    ("name", "text", "codec"),
    [*((name, text, "cp1252") for name, text in LATIN.items()), *((name, *value) for name, value in OTHERS.items())],
)
def test_text_of_each_language_and_length_is_decoded(name: str, text: str, codec: str, size: int) -> None:
    if size < MIN_SIZES.get(name, 0):
        size = MIN_SIZES[name]
    parts = list(samples(text, codec, size))
    assert parts
    for part in parts:
        assert "".join(decoded(lambda part=part: [part], detect(lambda part=part: [part]))) == part.decode(codec)


def test_two_chinese_characters_that_are_valid_utf8_stay_utf8(tmp_path: Path) -> None:
    assert written(tmp_path, "谢谢".encode("gbk")) == ("лл", "")


def written(folder: Path, data: bytes) -> tuple[str, str]:
    """Return the text that all readers agree on, and the name of its encoding."""
    path = folder / "n.md"
    path.write_bytes(data)
    text = read_note(str(path), "n.md", 10_000_000).text
    with NumberedText.open(path) as lines:
        assert lines.size == len(data)
        assert lines.full_text() == text
        expected = [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")] if text else []
        assert lines.lines(1, lines.line_count) == expected
        return text, lines.encoding


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-32-le", "utf-32-be", "utf-8"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_byte_order_mark_names_the_encoding(tmp_path: Path, codec: str, end: str) -> None:
    text = f"# Möhren{end}日本 😀{end}"
    name = codec[:6].upper() if codec != "utf-8" else ""
    assert written(tmp_path, f"\ufeff{text}".encode(codec)) == (text, name)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        "# Möhren\r\nin reih und glied\n",
        f"{GREEK}\n" * 9,
        "Привет, мир! Это заметка.\n" * 400,
        "Новая страница\n" + "Привет, мир! Это заметка.\n" * 40 + "\x7f",
        "One line, and 日本",
        "水泵坏了,需要买新的。\n",
        "펌프가 고장나서 새로 사야 한다.\r\n" * 30,
        "ポンプが壊れたので新しいのを買う。\n",
    ],
)
def test_utf16_without_a_mark_is_text(tmp_path: Path, codec: str, text: str) -> None:
    assert written(tmp_path, text.encode(codec)) == (text, "UTF-16")
    assert written(tmp_path, text.encode(codec) + b"\0")[0].startswith(text)


@pytest.mark.parametrize(
    ("codec", "text"), [("gb18030", "水泵坏了,需要买新的。"), ("cp949", "펌프가 고장나서 사야 한다.")]
)
def test_damaged_older_encodings_are_not_utf16(codec: str, text: str) -> None:
    data = f"{text}\n".encode(codec) * 9
    for at in range(len(data)):
        assert wide_encoding(data[:at] + b"\0" + data[at:]) == ""


@pytest.mark.parametrize("codec", ["utf-8", "cp1252", "cp932", "utf-16"])
def test_start_of_a_file_is_decoded_like_the_whole(codec: str) -> None:
    text = texts.JAPANESE if codec == "cp932" else texts.GERMAN
    for size in range(200, 210):
        assert text.startswith(encodings.decoded_start(text.encode(codec)[:size]).rstrip("\ufffd"))


@pytest.mark.parametrize("codec", ["utf-8", "cp1252", "utf-16"])
def test_returns_alone_end_lines(tmp_path: Path, codec: str) -> None:
    assert written(tmp_path, "eins\rzwölf\r\rvier".encode(codec))[0] == "eins\nzwölf\n\nvier"


def test_return_within_lines_stays(tmp_path: Path) -> None:
    assert written(tmp_path, b"10 %\r100 %\nend\n")[0] == "10 %\r100 %\nend\n"


def test_nul_is_one_character_of_a_note(tmp_path: Path) -> None:
    assert written(tmp_path, b"abc\0def\n")[0] == "abc\ufffddef\n"
    assert written(tmp_path, "größe\0 süß\n".encode("cp1252")) == ("größe\ufffd süß\n", "Windows-1252")


def test_broken_character_does_not_change_the_others(tmp_path: Path) -> None:
    assert written(tmp_path, "größer, süß".encode() + b"\xfc\n") == ("größer, süß\ufffd\n", "")


@pytest.mark.parametrize(
    "data",
    [
        bytes(4096),
        "UTF-16 with \x01 controls".encode("utf-16-le") * 9,
        bytes(at % 200 if at % 2 == 0 else 0 for at in range(4096)),
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x10\0\0\0\x10\x08\x06\0\0\0\x1f\xf3\xff",
        b"PK\x03\x04\x14\0\x08\0\x08\0\0\0!\0\xb7" + bytes(range(256)) * 4,
    ],
)
def test_binary_files_are_refused_but_can_be_opened(tmp_path: Path, data: bytes) -> None:
    path = tmp_path / "n.md"
    path.write_bytes(data)
    with pytest.raises(Unreadable) as refused:
        read_note(str(path), "n.md", 10_000_000)
    assert refused.value.issue.rule == "binary"
    with NumberedText.open(path) as lines:
        assert lines.encoding == ""
        assert lines.line(1) is not None


def test_list_separated_by_nul_is_text(tmp_path: Path) -> None:
    assert written(tmp_path, b"notes/1.txt\0notes/2.txt\0" * 50)[0].startswith("notes/1.txt\ufffdnotes")
    assert written(tmp_path, b"notes/one.md\0notes/two.md\0" * 50)[0].startswith("notes/one.md\ufffdnotes")


@pytest.mark.parametrize(("text", "codec"), [(texts.JAPANESE, "cp932"), (texts.GERMAN, "cp1252"), (GREEK, "utf-16")])
def test_large_file_is_copied_to_disk(tmp_path: Path, text: str, codec: str) -> None:
    long = text * 25_000
    path = tmp_path / "n.md"
    path.write_bytes(long.encode(codec))
    assert path.stat().st_size > 4 * 1024 * 1024
    with NumberedText.open(path) as lines:
        expected = long.splitlines()
        assert lines.line_count == len(expected)
        for number in (1, 2, len(expected) // 2, len(expected)):
            assert lines.line(number) == expected[number - 1]
    assert read_note(str(path), "n.md", 100_000_000).text == long


@given(
    text=st.text(st.sampled_from("aé€日本語ひらがな 한국어 привет\r\n\0"), max_size=80),
    codec=st.sampled_from(["utf-8", "utf-16", "utf-32", "cp1252", "cp932", "gb18030", "big5", "cp949", "cp1251"]),
)
def test_readers_agree_on_any_text(tmp_path_factory: pytest.TempPathFactory, text: str, codec: str) -> None:
    few = text.replace("\0", "") if text.count("\0") > 3 else text
    written(tmp_path_factory.mktemp("note"), few.encode(codec, "ignore"))


@given(data=st.binary(max_size=200), size=st.integers(4, 60))
def test_detection_does_not_depend_on_blocks(data: bytes, size: int) -> None:
    def found(blocks: list[bytes]) -> str:
        try:
            codec = detect(lambda: blocks)
        except Binary:
            return "binary"
        return codec + "".join(decoded(lambda: blocks, codec))

    assert found([data]) == found([data[at : at + size] for at in range(0, len(data), size)] or [b""])


def test_every_codec_has_a_name() -> None:
    for codec in encodings.NAMES:
        assert codecs.lookup(codec)


LATIN = (
    ("cp1250", "Příliš žluťoučký kůň úpěl ďábelské ódy. Žádný učený z nebe nespadl."),
    ("cp1250", "Sú obdarení rozumom a svedomím, čo sa týka dôstojnosti. Ďakujem, že šiel s ľuďmi; škoda, čaká."),
    ("cp1250", "Zażółć gęślą jaźń. Wszyscy ludzie rodzą się wolni i równi pod względem swej godności."),
    ("cp1250", "Chciałbym dziś napisać kilka słów. Było późno, więc wziąłem książkę; wszędzie żaby."),
    ("cp1250", "Az emberek, ésszel és lelkiismerettel bírván, egyenlő méltósága. Hűség, erő, nő, tűz."),
    ("cp1250", "Čaša žita šuma, što će biti s ljudskim bićima? Sviješću i žarom, češće."),
    ("cp1250", "Človeška družba, žoga, šola, češnja in še več."),
    ("cp1250", "Aşa este, reuşesc, oraşul, paşii, uşa; să fie în casă."),
    ("cp1254", "İnsanlar hür ve haklar bakımından eşit doğarlar. İğne, ışık, şehir."),
    ("cp1254", "Şehir çok güzeldi; yağmur yağıyordu, çocuklar dışarıda."),
    ("cp1252", "Hver maður er borinn frjáls og jafn öðrum að virðingu og réttindum. Það þýðir bróðurlega."),
    ("cp1252", "Øll menniskju eru fødd fræls og jøvn til virðingar, í bróðuranda hvørt um annað."),
    ("cp1252", "As razões, as nações, os corações; não são órfãos. Põe."),
    ("cp1252", "Où sûr, dû, mûr, goût, l'œuvre à la fenêtre, là-bas; n°3, note¹ et renvoi² à 25 m³."),
    ("cp1252", "Perché è così, più, può, città, lunedì, martedì, virtù, però. Già."),
    ("cp1252", "¿Qué? ¿Cuándo? El niño comió 1º de mayo. ¿Y si no? Pingüino, ¿será así?"),
    ("cp1252", "På øya så vi blåbær, fløte, rømme og ål; Žižek læste på øen."),
    ("cp1252", "Kõik inimesed sünnivad võrdsetena. Šokolaad, žürii, õun, tõusid, äär."),
    ("cp1250", "Dużą część pieniędzy wydał na żądanie żony. Pożądał ciszy i spokoju. Źle się czuł."),
    ("cp1250", "O naţiune şi o situaţie: condiţiile populaţiei din ţară, fără soluţii, să fie în viaţă; aşa şi acum."),
    ("cp1250", "În această situaţie, oamenii din ţară au fost nevoiţi să plece şi să caute o viaţă mai bună."),
    ("cp1250", "Stĺp a tĺk, hĺbka a jabĺk; byť, mať, ísť v noci domov."),
    ("cp1250", "Ťažký stĺp, vlhkosť, kĺb, dlhá cesta; nemá kde spať a piť."),
    ("cp1254", "São Paulo büyük bir şehir; yağmur yağıyordu, çocuklar dışarıda, 1º katta kaldılar."),
    ("cp1252", "Vienes mañana, …¿no? Y él dijo: …¿qué? La niña preguntó: —¿sí? Y luego: …¿cómo?, «¿así?»"),
    ("cp1252", "The report¹¹ rose¹² in the market¹³ as the paper¹¹ said²¹ and others¹¹ wrote."),
    ("cp1252", "Não são órfãos; as ações nº 3 e nºs 4 e 5 não estão à mão."),
    ("cp1252", "Coördinatie, reële, naïef, geïnd, één, vóór, hè, 25 m³ gas, 3 m² en 5 m³."),
)


@pytest.mark.parametrize(("codec", "text"), LATIN)
def test_latin_alphabets_are_distinguished(tmp_path: Path, codec: str, text: str) -> None:
    assert written(tmp_path, f"{text}\n".encode(codec)) == (f"{text}\n", encodings.NAMES[codec])
    assert written(tmp_path, f"{text}\n".encode(codec) * 400)[1] == encodings.NAMES[codec]


def test_quotation_marks_in_utf8_do_not_change_accents(tmp_path: Path) -> None:
    data = "Il a dit: très près, là-bas, à la fenêtre, ".encode("cp1252") + "“oui”.\n".encode()
    assert written(tmp_path, data)[0].startswith("Il a dit: très près, là-bas, à la fenêtre, ")


@pytest.mark.parametrize(("text", "codec"), [value for name, value in OTHERS.items() if "words" not in name])
def test_text_among_markup_and_code_is_decoded(text: str, codec: str) -> None:
    words = [line for line in text.split("\n") if not line.isascii()][:6]
    code = 'note["{0}"] == !(file.hasTag("{0}") && (now() - "1d") > #b{0}) || [[#^{0}|{{{{x}}}}]]: <br/>'
    note = "\n".join(f"| {line[:6]} | `{code.format(number)}` |" for number, line in enumerate(words * 4))
    assert detect(lambda: (note.encode(codec),)) == codec


def test_japanese_in_a_table_is_not_taken_for_cyrillic() -> None:
    rows = (
        f'| `file.hasTag("{number}")` | 窓ガラス{number}枚が割れた | [[計画#b{number}]] |\n' for number in range(30)
    )
    assert detect(lambda: ("".join(rows).encode("cp932"),)) == "cp932"


@pytest.mark.parametrize(
    ("text", "codecs"),
    [
        ("Позвонить врачу завтра утром", ("cp866", "iso8859_5", "koi8_r", "cp1251")),
        ("Список покупок: хліб, молоко і сир", ("cp1251", "koi8_u")),
        ("Заказать «новый» насос – и 2 шланга", ("cp1251",)),
        ("Τηλεφώνημα στον γιατρό αύριο το πρωί", ("cp1253", "iso8859_7")),
        ("אירוע אימות בלתי צפוי. נא להתחיל מחדש", ("cp1255", "iso8859_8")),
        ("קבצים שנמצאו בתיקייה\nקובץ אזכור", ("cp1255",)),
        ("قائمة المشتريات: خبز وحليب وجبن", ("cp1256", "iso8859_6")),
        ("Zakupy: chleb, ser żółty i śmietana", ("cp1250", "iso8859_2", "cp852")),
        ("Zavolat účetní v pátek ráno", ("cp1250", "iso8859_2")),
        ("Felhívni a könyvelőt pénteken", ("cp1250", "iso8859_2")),
        ("Yarın sabah doktoru ara, şifreyi değiştir", ("cp1254", "iso8859_9")),
        ("Einkauf: Käse, Brötchen, Öl und Nüsse", ("cp1252", "cp850")),
        ("Acheter du café, du thé et des pâtes", ("cp1252", "cp850")),
        ("“Señor Müller” à Paris – 20 €", ("cp1252",)),
        (".hcode ä ä\n.hcode ö ö\n.hcode ü ü\n.hcode Ä ä", ("cp1252",)),
    ],
)
def test_one_line_in_each_encoding_is_decoded(text: str, codecs: tuple[str, ...]) -> None:
    for codec in codecs:
        data = text.encode(codec)
        assert "".join(encodings.decoded(lambda data=data: [data], encodings.detect(lambda data=data: [data]))) == text


def test_one_long_line_takes_little_time() -> None:
    data = b"x" * 50_000_000
    before = time.process_time()
    assert detect(lambda: [data]) == "utf-8"
    assert time.process_time() - before < 10  # a copy of the rest for each sample takes a minute
