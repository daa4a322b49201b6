"""Detects the encoding of a text file and decodes it: UTF-8, UTF-16, UTF-32 with a byte order mark, older ones.

Everything that reads a note decodes it with this module, so that index, viewer and agents count the same lines.

* Without a mark, a file is UTF-16 if every second byte of its beginning is often NUL, the others hardly ever, and if
  it contains hardly any control characters when read so. Texts of East Asia have NUL only at line ends and digits.
  They must be invalid UTF-8, and nearly all of their characters must be East Asian or ASCII.
* Other valid UTF-8 is UTF-8. If no fewer sequences beyond ASCII are valid than invalid, it is damaged UTF-8: a broken
  character must not turn all others into those of another encoding.
* A file is binary if more than 2 % of its bytes are control characters that no text has. The limit is 30 % in valid
  UTF-8, which is itself a sign of text. Compressed data has 9 %, lists separated by NUL some 5 %, a file that a crash
  left filled with zeros 100 %. Up to three of them never make a file binary.
* If most bytes beyond ASCII are alone between ASCII ones, as accents in a word are, or if there are at most two, the
  encoding is Windows-1252, which includes Latin-1. It is Windows-1250 or Windows-1254 if bytes that are rare characters
  in Windows-1252 are common letters in these. charset-normalizer takes many such texts for Chinese.
* Words of letters beyond ASCII alone are read in each encoding of Cyrillic, Greek, Hebrew and Arabic. One of them is
  taken if nearly all of its letters are usual ones, few are capitals within words, and no other one comes near.
* If the letters of a Latin text are not those of one language in Windows-1252 but are in another encoding, it has that.
* Otherwise charset-normalizer selects one of the encodings of East Asia, Cyrillic and Greek. It rejects all of them for
  words among markup and code; where many bytes beyond ASCII follow each other, the best one is used. Of less
  than some 40 bytes it may take Chinese for Korean, so a reading has to look like its language, too.
"""

import codecs
import contextlib
import re
from collections.abc import Callable, Iterable, Iterator

from engine.base import lazy_pattern

BLOCK = 256 * 1024
"""Maximum number of bytes decoded in one call, since decoding holds the interpreter's lock."""

NAMES = {
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16",
    "utf-16-be": "UTF-16",
    "utf-32": "UTF-32",
    "cp1250": "Windows-1250",
    "cp1252": "Windows-1252",
    "cp1254": "Windows-1254",
    "latin-1": "Latin-1",
    "cp932": "Shift-JIS",
    "euc_jp": "EUC-JP",
    "gb18030": "GB18030",
    "big5": "Big5",
    "cp949": "EUC-KR",
    "cp1251": "Windows-1251",
    "koi8_r": "KOI8-R",
    "cp1253": "Windows-1253",
    "cp1255": "Windows-1255",
    "cp1256": "Windows-1256",
    "cp850": "CP850",
    "cp852": "CP852",
    "cp866": "CP866",
    "iso8859_2": "ISO-8859-2",
    "iso8859_5": "ISO-8859-5",
    "iso8859_6": "ISO-8859-6",
    "iso8859_7": "ISO-8859-7",
    "iso8859_8": "ISO-8859-8",
    "koi8_u": "KOI8-U",
    "mac_cyrillic": "Mac Cyrillic",
}
"""Names of the encodings besides UTF-8, by codec."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),  # begins with the mark of UTF-16
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_NON_LATIN = ("cp932", "euc_jp", "gb18030", "big5", "cp949", "cp1251", "koi8_r", "cp1253")
_ALPHABETS = ("cp1251", "koi8_r", "cp1253")
_WIDER = {"big5": "big5hkscs"}
"""Codecs that decode more than the detected codec does."""
_CONTROLS = bytes(code for code in range(32) if code not in b"\a\b\t\n\v\f\r\x1b") + b"\x7f"
_FEW_CONTROLS = 3
_MAX_CONTROLS, _MAX_IN_UTF8 = 0.02, 0.3
_WIDE_SAMPLE = 4096
_MIN_PAIRS = 8
_MIN_PER_CONTROL = 500
"""Characters of UTF-16 for each control character."""
_NUL_SHARE, _OTHER_NUL_SHARE = 0.1, 0.02
"""Minimum share of NUL among the upper bytes of UTF-16, from blanks and line ends if the letters are not Latin, and
maximum share among the lower bytes."""
_BEYOND_ALPHABETS, _MAX_BEYOND = 0x20, 0.3
"""First upper byte beyond the alphabets, and maximum share of characters from there on."""
_MIN_BYTES = 3
"""Bytes beyond ASCII with which an encoding other than Windows-1252 is possible."""
_SAMPLE = 32 * 1024
_LONE = lazy_pattern(rb"(?<![\x80-\xff])[\x80-\xff](?![\x80-\xff])")
_RUN = lazy_pattern(rb"[\x80-\xff]{4,}")
_MIN_IN_RUNS = 12
_NOISE = 0.2
"""Share of implausible characters up to which charset-normalizer accepts an encoding by default."""
_BEYOND_ASCII = lazy_pattern(rb"[\x80-\xff]")
_KANA = lazy_pattern(rb"[\x82\x83]")
"""First bytes of kana in Shift-JIS, whose second bytes may be ASCII; rare marks in Windows-1252."""
_HANGUL = lazy_pattern(rb"[\xb0-\xc8][\xa1-\xfe]")
_EUC_KANA = lazy_pattern(rb"[\xa4\xa5][\xa1-\xf6]")
_SIGNS_IN_WORDS = lazy_pattern(
    rb"(?<=[A-Za-z\x9a\x9c-\x9f\xb3\xb9\xc0-\xff])[\x9d\x9f\xb3\xb9\xba\xbe\xbf](?=[a-z\x9a\x9c-\x9f\xc0-\xff])|\xbf\xb9"
)
"""Signs of Windows-1252, such as a raised 3, where Windows-1250 has letters. They count next to letters, not in
"…¿no?" or "rose¹²", and as the "żą" of Polish."""
_PARTS_OF_UTF8 = lazy_pattern(rb"[\x80\xc2-\xdf][\x8d\x8f\x9d]")
"""Ends of quotation marks and capitals in UTF-8, which damaged texts have; no letters of Windows-1250."""
_WORD_BEYOND_ASCII = lazy_pattern(r"[^\W\d_\x00-\x7f]+")
_CAPITAL_INSIDE = lazy_pattern("(?<=[\u0430-\u044f\u0451\u03ac-\u03ce])[\u0410-\u042f\u0401\u0391-\u03a9]")
"""A Cyrillic or Greek capital after a small letter, as East Asian text has many of when read in these alphabets."""
_PAIRS = lazy_pattern(rb"[\x80-\xff]{2}")
_NARROW_KANA = lazy_pattern("[\uff61-\uff9f]")

_EAST_ASIAN = lazy_pattern(
    "[\u2014\u2018-\u201d\u2026\u3000-\u30ff\u3105-\u318e\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff01-\uffee]"
)
_MIN_EAST_ASIAN, _MIN_KNOWN = 0.3, 0.95
"""Shares of the characters of East Asia, and of these and ASCII, in a text in UTF-16 without a mark."""

Blocks = Callable[[], Iterable[bytes]]
"""Function that reads a file from its start, in blocks of at most `BLOCK` bytes."""


class Binary(Exception):
    """Raised if a file is not text."""


def wide_encoding(start: bytes) -> str:
    """Return the codec of a file in UTF-16 or UTF-32 from its first block, or "" for any other."""
    marked = next((codec for mark, codec in _MARKS if start.startswith(mark)), "")
    return marked or _unmarked_utf16(start[:_WIDE_SAMPLE])


def _unmarked_utf16(sample: bytes) -> str:
    """Return the codec of a text in UTF-16 without a byte order mark; "" if it is not UTF-16."""
    pairs = len(sample) // 2
    if pairs < _MIN_PAIRS or b"\0" not in sample:
        return ""
    first, second = (sample[at : 2 * pairs : 2].count(0) / pairs for at in (0, 1))
    for codec, upper, lower in (("utf-16-le", second, first), ("utf-16-be", first, second)):
        if not upper:
            continue
        text = codecs.getincrementaldecoder(codec)("replace").decode(sample)
        if "\ufffd" in text or count_controls(text.encode("utf-8")) * _MIN_PER_CONTROL > pairs:
            continue
        high = sample[codec == "utf-16-le" : 2 * pairs : 2]
        if sum(byte >= _BEYOND_ALPHABETS for byte in high) > _MAX_BEYOND * pairs:
            is_text = _is_east_asian(sample, text)  # not names of even length, each with a NUL after it
        else:
            is_text = upper >= _NUL_SHARE and lower <= _OTHER_NUL_SHARE
        if is_text:
            return codec
    return ""


def _is_east_asian(sample: bytes, text: str) -> bool:
    """Return whether a sample, decoded to `text`, has the characters of East Asia, and can't be UTF-8."""
    with contextlib.suppress(UnicodeDecodeError):
        codecs.getincrementaldecoder("utf-8")().decode(sample)
        return False
    letters, known = len(_EAST_ASIAN.findall(text)), len(text.encode("ascii", "ignore"))
    return letters >= _MIN_EAST_ASIAN * len(text) and letters + known >= _MIN_KNOWN * len(text)


class Utf8Check:
    """Checks block by block whether a file is valid UTF-8, at the speed of the disk for ASCII."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")()
        self._begun = self._failed = False

    def add(self, block: bytes) -> None:
        self._failed = self._failed or (not self._begun and wide_encoding(block) != "")
        self._begun = True
        if not self._failed and not (block.isascii() and not self._decoder.getstate()[0]):
            self._decode(block)

    def is_valid(self, *, whole: bool = True) -> bool:
        """Whether all blocks so far are valid UTF-8.

        Unless they are the `whole` file, the last block may end within a character.
        """
        if whole:
            self._decode(b"", final=True)
        return not self._failed

    def _decode(self, block: bytes, *, final: bool = False) -> None:
        try:
            self._decoder.decode(block, final)
        except UnicodeDecodeError:
            self._failed = True


def detect(blocks: Blocks) -> str:
    """Return the codec of a file, "utf-8" also for damaged UTF-8. Raises `Binary`, and the errors of `blocks`."""
    size = controls = valid = invalid = 0
    sample = _Sample()
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    for block in blocks():
        if not size and (marked := wide_encoding(block)):
            return marked
        size += len(block)
        controls += count_controls(block)
        text = decoder.decode(block)
        replacements = text.count("\ufffd")
        invalid += replacements
        valid += len(text) - replacements - len(text.encode("ascii", "ignore"))
        sample.add(block)
    sample.add(b"", last=True)
    invalid += decoder.decode(b"", True).count("\ufffd")
    if is_binary(size, controls, utf8=not invalid):
        raise Binary
    return "utf-8" if 0 < valid >= invalid or not invalid else _legacy_codec(sample.lines)


def decoded(blocks: Blocks, codec: str) -> Iterator[str]:
    """Yield the file's text, without a byte order mark; invalid bytes become U+FFFD."""
    decoder = codecs.getincrementaldecoder("utf-8-sig" if codec == "utf-8" else _WIDER.get(codec, codec))("replace")
    for block in blocks():
        yield decoder.decode(block)
    yield decoder.decode(b"", True)


def decoded_start(start: bytes) -> str:
    """Decode the first bytes of a file, which may end within a character."""
    check = Utf8Check()
    check.add(start)
    try:
        lines = start[: start.rfind(b"\n") + 1] or start
        codec = "utf-8" if check.is_valid(whole=False) else detect(lambda: (lines,))
    except Binary:
        codec = "utf-8"
    return as_text("".join(decoded(lambda: (start,), codec)))


def count_controls(block: bytes) -> int:
    """Return the number of control characters that don't occur in text."""
    return len(block) - len(block.translate(None, _CONTROLS))


def is_binary(size: int, controls: int, *, utf8: bool) -> bool:
    """Return whether a file of `size` bytes is not text. `utf8`: whether all of it is valid UTF-8."""
    return controls > max(_FEW_CONTROLS, size * (_MAX_IN_UTF8 if utf8 else _MAX_CONTROLS))


def as_text(decoded: str) -> str:
    """Decode a file to the text that is indexed and shown.

    NUL becomes U+FFFD, as in CommonMark; "\\r" becomes "\\n" if there is no "\\n", as in old Macintosh files.
    """
    if "\n" not in decoded and "\r" in decoded:
        decoded = decoded.replace("\r", "\n")
    return decoded.replace("\0", "\ufffd") if "\0" in decoded else decoded


class _Sample:
    """Collects the first lines with bytes beyond ASCII, up to a limit, however the file is cut into blocks."""

    def __init__(self) -> None:
        self.lines = b""
        self._line = b""
        self._full = False

    def add(self, block: bytes, *, last: bool = False) -> None:
        if self._full:
            return
        *lines, self._line = (self._line + block).split(b"\n")
        end = len(self._line) - len(self._line) % _SAMPLE
        lines += (self._line[start : start + _SAMPLE] for start in range(0, end, _SAMPLE))
        self._line = self._line[end:]
        for line in [*lines, self._line] if last else lines:
            if not line.isascii():
                room = _SAMPLE - len(self.lines)
                if len(line) < room:
                    self.lines += line + b"\n"
                    continue
                self._full = True
                cut = _cut(line[:room])
                self.lines += cut if cut or self.lines else line[:room]
                break


def _cut(line: bytes) -> bytes:
    """Return the line up to its last byte that is never part of a multi-byte character."""
    return line[: max(map(line.rfind, (b" ", b"\t", b"\r", b",", b"."))) + 1]


def _legacy_codec(sample: bytes) -> str:
    """Return the codec of a text that is not Unicode, from its lines with bytes beyond ASCII."""
    if alphabet := _alphabet(sample):
        return alphabet
    if _is_latin(sample):
        return _written_latin(sample)
    from charset_normalizer import from_bytes  # takes 25 ms to import, and most folders have UTF-8 alone

    for noise in (_NOISE, 1.0) if _has_other_words(sample) else (_NOISE,):  # markup and code count as noise
        matches = from_bytes(
            sample,
            threshold=noise,
            cp_isolation=list(_NON_LATIN),
            preemptive_behaviour=False,
            enable_fallback=False,
        )
        for match in matches:
            if _is_plausible(sample, match.encoding):
                return match.encoding
    return _written_latin(sample)


_SCRIPTS = {
    ("cp1251", "koi8_r", "cp866", "iso8859_5", "koi8_u", "mac_cyrillic"): (
        "абвгдежзийклмнопрстуфхцчшщъыьэюяёієїўґ",
        "оеаинтсрвлкмдпуяыьгзбчй",
        r"\b[ъыьЪЫЬ]|(?<=[бвгджзклмнпрстфхцчшщъь])й",
    ),
    ("cp1253", "iso8859_7"): (
        "αβγδεζηθικλμνξοπρστυφχψωςάέήίόύώϊϋΐΰ",
        "αοιετσνηυρπκμλωςάέίόή",
        r"ς\B|\u03c3\b|\b[ΰϋϊΐ]",
    ),
    ("cp1255", "iso8859_8"): ("אבגדהוזחטיךכלםמןנסעףפץצקרשת", "יוהלארמתשבנכםד", r"[ךםןףץ]\B"),
    ("cp1256", "iso8859_6"): ("ابتثجحخدذرزسشصضطظعغفقكلمنهويءآأؤإئةىپچژگ", "اليمونرتبةعدسفهكقح", r"[ةى]\B"),
}
"""For the codecs of each alphabet: its letters, those usual in its languages, and a pattern of misplaced letters.
The first of codecs with the same result is taken."""
_MISPLACED = 3
"""Penalty for a misplaced letter: a final letter within a word, or a ь at its beginning."""
_MIN_LETTERS = 5
_MIN_LIKELY, _MIN_LEAD, _MIN_IN_SCRIPT = 0.6, 0.12, 0.04
_HIGH_WORD = lazy_pattern(rb"[A-Za-z\x80-\xff]*[\x80-\xff][A-Za-z\x80-\xff]*")


def _alphabet(sample: bytes) -> str:
    """Return the codec that decodes to words of one alphabet with its usual letters, such as Cyrillic; "" for none."""
    words = b" ".join(word for word in _HIGH_WORD.findall(sample) if not re.search(rb"[A-Za-z]", word))
    high = len(_BEYOND_ASCII.findall(words))
    # Lists of single letters are often those with accents.
    in_words = sum(len(word) for word in words.split() if len(word) > 2)
    if high < max(_MIN_LETTERS, 0.8 * len(_BEYOND_ASCII.findall(sample))) or in_words < 0.6 * high:
        return ""
    readings: dict[str, tuple[float, str, str]] = {}
    for codecs_of_script, script in _SCRIPTS.items():
        for codec in codecs_of_script:
            text = words.decode(codec, "replace")
            readings.setdefault(text, (_likelihood(text, *script) / high, script[1], codec))
    (best, script_of_best, codec), second = sorted(readings.values(), key=lambda reading: -reading[0])[:2]
    lead = _MIN_IN_SCRIPT if second[1] == script_of_best else _MIN_LEAD
    return codec if best >= _MIN_LIKELY and best - second[0] >= lead else ""


def _likelihood(text: str, letters: str, usual: str, misplaced: str) -> float:
    """Return how much a text looks like words of an alphabet: up to 1 for each letter."""
    points, before = -_MISPLACED * float(len(re.findall(misplaced, text))), " "
    for sign in text:
        small = sign.lower()
        if small not in letters:
            points -= sign != " " and not (before == " " and sign in "«»—–„“”№…")
        elif sign != small and before != " ":  # a capital within a word, or a word of capitals
            points -= 1 if before == before.lower() else -0.3
        else:
            points += 1 if small in usual else 0.3
        before = sign
    return points


_LATIN_CODECS = ("cp1252", "cp1250", "iso8859_2", "cp1254", "cp850", "cp852")
_LATIN_LETTERS = (
    "äöüß áéíóúñü àâçèéêëîïôùûüÿœæ àèéìîòóù áâãàçéêíóôõúü åäöé æøåé áæðéíóöþúý áéíóöőúüű ąćęłńóśźż"
    " áčďéěíňóřšťúůýž áäčďéíĺľňóôŕšťúýž čćđšž ăâîşţ çğıöşüâî àéèíïóòúüç ëïéèöüáó äöõüšž"
).split()
"""Letters beyond ASCII of languages in Latin script."""
_SAME_READING = 0.95


def _written_latin(sample: bytes) -> str:
    """Return the codec of a Latin text: that of `_latin`, unless only another one yields letters of one language."""
    known = _latin(sample)
    before = _coverage(sample, known) if known in _LATIN_CODECS else 0.0
    if before >= _SAME_READING or len(_BEYOND_ASCII.findall(sample)) < _MIN_BYTES:
        return known
    best = max(_LATIN_CODECS, key=lambda codec: _coverage(sample, codec))
    return best if _coverage(sample, best) >= _SAME_READING else known


_BETWEEN_WORDS = frozenset("\xa0«»°§©®™€£–—\u2018’\u201a“”„†•…\xb4·×½¼¾²³¡¿±")


def _coverage(sample: bytes, codec: str) -> float:
    """Return the share of the characters beyond ASCII that are letters of one language, or signs between words."""
    text = sample.decode(codec, "replace")
    signs, letters, beyond = 0, list[str](), 0
    for at, sign in enumerate(text):
        if sign <= "\x7f":
            continue
        beyond += 1
        before, after = text[at - 1 : at] or " ", text[at + 1 : at + 2] or " "
        if sign.isalpha():
            inside = sign.isupper() and before.islower()
            letters.append("" if inside else sign.lower())
        else:
            signs += sign in _BETWEEN_WORDS and (sign == "\u2019" or not (before.isalpha() and after.isalpha()))
    best = max(sum(letter != "" and letter in language for letter in letters) for language in _LATIN_LETTERS)
    return (signs + best) / beyond if beyond else 1.0


def _is_latin(sample: bytes) -> bool:
    """Return whether the bytes beyond ASCII look like accents and quotation marks in words of Latin letters."""
    high, alone = (len(pattern.findall(sample)) for pattern in (_BEYOND_ASCII, _LONE))
    if high < _MIN_BYTES:
        return True
    if 8 * len(_KANA.findall(sample)) > high or _has_other_words(sample):
        return False
    return alone > 0 and high < len(sample) / (4 if 2 * alone > high else 8)


def _has_other_words(sample: bytes) -> bool:
    """Return whether many bytes beyond ASCII follow each other, as in words of other scripts, but not as accents do."""
    in_runs = sum(map(len, _RUN.findall(sample)))
    return in_runs >= _MIN_IN_RUNS and 3 * in_runs > len(_BEYOND_ASCII.findall(sample))


def _latin(sample: bytes) -> str:
    """Return the codec of a text in Latin letters."""
    # Windows-1250 has letters, such as ť, where Windows-1252 has nothing and Latin-1 has control characters.
    last = "" if _PARTS_OF_UTF8.search(sample) else "cp1250"
    for codec in filter(None, (_central_european(sample), _turkish(sample), "cp1252", last)):
        with contextlib.suppress(UnicodeDecodeError):
            sample.decode(codec)
            return codec
    return "latin-1"


def _central_european(sample: bytes) -> str:
    """Return "cp1250" for a text in Polish, Romanian, Hungarian, Czech or a language written like it, else ""."""
    carons, others = _count(sample, b"\x8a\x8e\x9a\x9e"), _count(sample, b"\xbe\x9d\xc8\xe6\xe8\xec\xef\xf2\xf8\xf9")
    # Š and ž with è or ø: no language of Windows-1252 has both, but a Danish text, with its å, may have a Czech name.
    czech = carons * 6 >= others >= 2 and carons + others >= 5 and 4 * _count(sample, b"\xe5") <= carons
    long_ones = _count(sample, b"\xf5\xfb")
    hungarian = b"\xfb" in sample and long_ones >= 3 and _count(sample, b"\xe1\xe9") > long_ones
    hungarian = hungarian and not _count(sample, b"\xe2\xe3\xe4\xe7\xea")  # letters of Portuguese, French and Estonian
    signs = len(_SIGNS_IN_WORDS.findall(sample))
    polish = signs >= 3 and 10 * signs >= len(_BEYOND_ASCII.findall(sample))
    # ă, ţ and ş; a Turkish text may have a Portuguese name, but has more of its own letters.
    romanian = b"\xba" in sample and b"\xfe" in sample and _count(sample, b"\xe3") > _count(sample, b"\xf0\xfd")
    return "cp1250" if czech or hungarian or polish or romanian else ""


def _turkish(sample: bytes) -> str:
    """Return "cp1254" for a text in Turkish, whose own letters are Icelandic ones in Windows-1252, else ""."""
    turkish = _count(sample, b"\xd0\xdd\xde\xf0\xfd\xfe")
    others = _count(sample, b"\xe1\xe3\xe6\xe9\xed\xf3\xfa")  # letters of Icelandic, and the ă of Romanian
    return "cp1254" if turkish >= 3 and 5 * others <= turkish else ""


def _count(sample: bytes, characters: bytes) -> int:
    return len(sample) - len(sample.translate(None, characters))


def _is_plausible(sample: bytes, codec: str) -> bool:
    """Return whether the sample, decoded with this codec, has as many usual characters as text normally has."""
    high, text = len(_BEYOND_ASCII.findall(sample)), sample.decode(codec, "replace")
    if codec == "cp949":
        return 2 * len(_HANGUL.findall(sample)) > 0.8 * high
    if codec == "cp932":
        return 2 * len(_NARROW_KANA.findall(text)) < high
    if codec == "big5":
        return 2 * len(_PAIRS.findall(sample)) < high
    if codec == "euc_jp":
        return 20 * len(_EUC_KANA.findall(sample)) > high
    if codec not in _ALPHABETS:
        return True
    words = _WORD_BEYOND_ASCII.findall(text)
    letters, capitals_inside = sum(map(len, words)), sum(len(_CAPITAL_INSIDE.findall(word)) for word in words)
    few_latin = _has_other_words(sample) or 2 * sum(map(str.isalpha, text)) < 5 * high
    return few_latin and 10 * letters > 8 * high and 10 * capitals_inside < letters
