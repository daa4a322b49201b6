"""Detects the language of a text for stemming: by script and letters first, then by function words."""

import unicodedata
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from engine.base import lazy_pattern
from engine.text.stems import UNDECIDED
from engine.text.stopwords import FUNCTION_WORD_LISTS, languages_by_word
from engine.text.writing_systems import script_of

_SAMPLE = 2048
_NOT_ASCII = lazy_pattern(r"[^\x00-\x7f]+")
_LATIN = lazy_pattern("[A-Za-z]+")
_ASCII_PUNCTUATION = r"!\"'()*,.:;<=>?\[\]`{|}~"
_PUNCTUATION = rf"{_ASCII_PUNCTUATION}\u2018-\u201f\u00ab\u00bb"
_WORD = lazy_pattern(rf"[^\s{_PUNCTUATION}]+")
_FUNCTION_WORD = lazy_pattern(
    rf"(?<!\S)\w(?![^\s,.:;!?])|(?<![^\s{_PUNCTUATION}])(?<!\.)[^\s{_PUNCTUATION}]{{2,}}|(?<=['\u2019])[èÈ](?!\w)"
)
_ASCII_FUNCTION_WORD = lazy_pattern(
    rf"(?<!\S)\w(?![^\s,.:;!?])|(?<![^\s{_ASCII_PUNCTUATION}])(?<!\.)[^\s{_ASCII_PUNCTUATION}]{{2,}}"
)
"""Matches a run of characters that may be a function word: neither the end of a name as in "host.com" nor a single
letter that is part of something else, as in "it's", "f(x)" and "[s]". "è" in "c'è" is a function word. For text in
ASCII, the second finds the same and is compiled in a fifth of the time."""
_ELIDED = lazy_pattern(r"(?<![\w'\u2019])[cdlCDL](?=['\u2019][^\W\d_A-Z]{3})")
"""A word that lost its vowel before the next one, as in "l'eau", but not before a name, as in "d'Artagnan"."""
_ELIDING = {
    "c": ("french", "italian"),
    "d": ("french", "italian", "catalan"),
    "l": ("french", "italian", "catalan"),
}
_ALSO_FUNCTION_WORDS = {"à": ("french", "portuguese")}
"""Words that are missing in a list of function words, since without accents they are other words."""

_MIN_SHARE = 0.2
"""Least share of letters for a script other than Latin, since notes are full of Latin names and code."""
_MIN_VOTES = 1.5
"""Votes that a language other than English needs; about two words of its own."""
_MIN_VOTES_WITH_LETTERS = 1.0
"""Votes needed in text with letters specific to a language: one word or letter of that language."""
_MIN_DENSITY = 0.018
"""Votes that a language other than English needs for each different word of a text: 150 words need 2.7. Real texts have
0.02 in Finnish and 0.03 or more in other languages; names and headers in English texts have up to 0.016."""
_ENOUGH_WORDS = 30
"""Least number of different words for a text without known function words to count as a language without a stemmer."""

_SHORT = 400
"""Maximum number of characters of a short note, which may have no function word."""
_MAX_LIKELIER = 3
"""Maximum number of languages that a note may have instead of English, such as French, Spanish and Italian with
"la"."""
_SAME_VOTES = 1e-9

_BY_SCRIPT = {
    "greek": "greek",
    "cyrillic": "russian",
    "arabic": "arabic",
    "devanagari": "hindi",
    "armenian": "armenian",
    "tamil": "tamil",
}
_WITHIN_SCRIPT = (
    # Letters that the script's usual language doesn't have, and their minimum share of a text: one quoted name must not
    # decide. Macedonian and Urdu have no stemmer, nor has any language with the last row's letters: Ukrainian,
    # Belarusian, Kazakh …
    ("cyrillic", frozenset("ѓќѕ"), 0.002, ""),
    ("cyrillic", frozenset("ђћљњџј"), 0.02, "serbian"),
    ("cyrillic", frozenset(map(chr, range(0x0450, 0x0530))) - {"ё"}, 0.02, ""),
    ("arabic", frozenset("ٹڈڑںے"), 0.02, ""),
    ("arabic", frozenset("پچژگک"), 0.02, "persian"),
)
# Bulgarian has no stemmer either and no letter that Russian doesn't have; but some are missing from it, and other words
# are short.
_NOT_BULGARIAN = frozenset("ыэё")
_MAX_NOT_BULGARIAN = 0.003
_BULGARIAN = frozenset(
    "аз беше бяха вече във вие дали докато е един една едно защо защото като които което която който към къде ме ми му "
    "най ние няма повече са се сега си сме със съм също тази така тези този това той тя ще че".split()
)
_MIN_BULGARIAN = 2
_LETTER_LANGUAGES = {
    letter: tuple(languages.replace("unknown", "").split(" "))
    for letters, languages in (
        ("ß", "german"),
        ("ä", "german swedish finnish"),
        ("ö", "german swedish finnish hungarian turkish"),
        ("ü", "german hungarian turkish"),
        ("å", "swedish danish norwegian"),
        ("æø", "danish norwegian"),
        ("ñ", "spanish"),
        ("áíóú", "spanish portuguese hungarian czech catalan"),
        ("ãõ", "portuguese"),
        ("ç", "french portuguese turkish catalan"),
        ("œ", "french"),
        ("é", "french spanish portuguese hungarian"),
        ("êâô", "french portuguese"),
        ("èà", "french italian catalan"),
        ("ìòù", "italian catalan"),
        ("ąęłńśźż", "polish"),
        ("ěřů", "czech"),
        ("őű", "hungarian"),
        ("ğşı", "turkish"),
        ("ășț", "romanian"),
        ("đơưðþķļņģ", "unknown"),  # Vietnamese, Croatian, Icelandic, Latvian
    )
    for letter in letters
}


def detect_language(text: str, likely: Sequence[str] = ()) -> str:
    """Return Snowball's name of the language whose rules stem the words of `text`; "" if there is none.

    Reads the first 2,048 characters. Short texts in plain Latin letters count as English unless two words, or one and a
    language of `likely` (languages in an index), indicate another.
    """
    sample = text[:_SAMPLE]
    if sample.isascii():
        return _by_stopwords(sample, likely, set()) if any(map(str.isalpha, sample)) else ""
    sample = unicodedata.normalize("NFC", sample)
    beyond = "".join(_NOT_ASCII.findall(sample)).lower()
    scripts = Counter(map(script_of, beyond))
    latin = sum(map(len, _LATIN.findall(sample))) + scripts["latin"]
    script = max(_BY_SCRIPT, key=scripts.__getitem__)
    if scripts[script] > (latin + scripts[script]) * _MIN_SHARE:
        return _by_letters(script, beyond, sample)
    letters = {letter for letter in beyond if letter.isalpha() and script_of(letter) == "latin"}
    return _by_stopwords(sample, likely, letters) if latin else ""


def language_of_note(text: str) -> str:
    """Return the language of a note. A short one may count as English although it has no function word of English, or
    rather some of other languages: then return `UNDECIDED` with these languages.

    For example, "Stromrechnung bezahlen" is undecided and "Der Kurs beginnt am Montag" is "undecided german".
    """
    language = detect_language(text)
    if language != "english" or len(text) > _SHORT:
        return language
    sample = unicodedata.normalize("NFC", text)
    votes, _ = _votes(sample, {letter for letter in sample.lower() if letter in _LETTER_LANGUAGES})
    most = max(votes.values())
    likelier = [
        candidate for candidate in FUNCTION_WORD_LISTS if most and votes.get(candidate, 0.0) > most - _SAME_VOTES
    ]
    return language if "english" in likelier else " ".join((UNDECIDED, *likelier[:_MAX_LIKELIER]))


def _by_letters(script: str, letters: str, sample: str) -> str:
    counts = Counter(letter for letter in letters if script_of(letter) == script)
    total = counts.total()

    def share(letters: frozenset[str]) -> float:
        return sum(counts[letter] for letter in letters) / total

    for of_script, distinctive, least, language in _WITHIN_SCRIPT:
        if script == of_script and share(distinctive) >= least:
            return language
    if script == "cyrillic" and share(_NOT_BULGARIAN) <= _MAX_NOT_BULGARIAN:
        words = set(_WORD.findall(sample.lower()))
        if len(words & _BULGARIAN) >= _MIN_BULGARIAN:
            return ""
    return _BY_SCRIPT[script]


@lru_cache(1)
def _languages_by_function_word() -> dict[str, tuple[str, ...]]:
    return languages_by_word() | _ALSO_FUNCTION_WORDS


def _votes(sample: str, letters: set[str]) -> tuple[dict[str, float], set[str]]:
    """Return the votes for each Latin language, and the words: each function word counts once, shared among its
    languages, and so does each of the `letters`.
    """
    owners = _languages_by_function_word()
    function_words = (_ASCII_FUNCTION_WORD if sample.isascii() else _FUNCTION_WORD).findall(sample)
    if not sample.isupper():  # "KDE" is not Czech
        function_words = [word for word in function_words if len(word) == 1 or not word.isupper()]
    words = set(map(str.lower, function_words))
    distinctive = [_LETTER_LANGUAGES[letter] for letter in _LETTER_LANGUAGES.keys() & letters]
    apostrophe = "'" in sample or "\u2019" in sample
    elided = [_ELIDING[letter] for letter in set(map(str.lower, _ELIDED.findall(sample) if apostrophe else ()))]
    votes = {"english": 0.0}
    for voters in (*(owners[word] for word in owners.keys() & words), *elided, *distinctive):
        for language in voters:
            votes[language] = votes.get(language, 0.0) + 1 / len(voters)
    return votes, words


def _by_stopwords(sample: str, likely: Sequence[str], letters: set[str]) -> str:
    """Return the Latin language with most votes, if these are enough."""
    votes, words = _votes(sample, letters)
    distinctive = _LETTER_LANGUAGES.keys() & letters
    best = max(votes, key=lambda language: (votes[language], language in likely))
    if not votes[best] and letters and len(words) >= _ENOUGH_WORDS:
        return ""
    least = 0.0 if best in likely else _MIN_VOTES_WITH_LETTERS if distinctive else _MIN_VOTES
    enough = votes[best] >= max(least, _MIN_DENSITY * len(words))
    return best if enough and votes[best] > votes["english"] else "english"
