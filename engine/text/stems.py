"""Stems: inflected forms of a word become one, by the language of the text and the script of the word."""

import threading
from functools import cache

import Stemmer

from engine.text.folding import fold
from engine.text.scripts import script_of

_OTHER_SCRIPTS = {
    "russian": "cyrillic",
    "serbian": "cyrillic",
    "greek": "greek",
    "arabic": "arabic",
    "persian": "arabic",
    "hindi": "devanagari",
    "nepali": "devanagari",
    "armenian": "armenian",
    "tamil": "tamil",
    "yiddish": "hebrew",
}
"""Languages that are not written in Latin letters."""
_DEFAULTS = {
    "latin": "english",
    "cyrillic": "russian",
    "greek": "greek",
    "arabic": "arabic",
    "devanagari": "hindi",
    "armenian": "armenian",
    "tamil": "tamil",
}
"""Who stems the words of a script in a text of another script."""

# Longest first; several may follow one another (사람들에게는).
_PARTICLES = (
    *("으로서", "으로써", "이라고"),
    *("에서", "으로", "에게", "한테", "께서", "처럼", "같이", "보다", "까지", "부터", "마다", "밖에", "대로", "조차"),
    *("마저", "이나", "이랑", "하고", "라고"),
    *("은", "는", "이", "가", "을", "를", "의", "에", "로", "와", "과", "도", "만", "들", "랑", "나"),
)
_SHORTEST_NOUN = 2
_ARABIC_ARTICLES = ("وال", "بال", "لل", "ال")
_SHORTEST_BARE = 3
_MOST_REMEMBERED = 1 << 15

_lock = threading.Lock()


class Stems(dict[str, str]):
    """The folded stem of each lower-case word met so far in texts of one language."""

    def __init__(self, language: str) -> None:
        super().__init__()
        self._language = language

    def __missing__(self, root: str) -> str:
        if len(self) >= _MOST_REMEMBERED:
            self.clear()
        found = self[root] = _stem(root, self._language)
        return found


_by_language: dict[str, Stems] = {}


def stems_of(language: str) -> Stems:
    """Stems of words in texts of `language` (a Snowball name, "" for unknown), found by `stems_of(language)[root]`.

    A word in another script than the language's is stemmed by the usual language of its own script; Korean words lose
    their particles; numbers, codes and words in texts of unknown languages are only folded: Russian rules would maim
    a Ukrainian text.
    """
    return _by_language.setdefault(language, Stems(language))


def forms_of(root: str, language: str) -> tuple[str, ...]:
    """The forms of a word of a question whose stems are looked for, itself first.

    Snowball's rules for Arabic leave a word with its article, or with a preposition and the article, another stem than
    without; the index holds what the notes have.
    """
    if language != "arabic" or script_of(root[0]) != "arabic":
        return (root,)
    article = next((before for before in _ARABIC_ARTICLES if root.startswith(before)), "")
    bare = root[len(article) :] if len(root) - len(article) >= _SHORTEST_BARE else root
    return (root, bare, *(before + bare for before in _ARABIC_ARTICLES))


def forget_stems() -> None:
    """Give back the memory of the words met so far."""
    for stems in list(_by_language.values()):
        stems.clear()


def _stem(root: str, language: str) -> str:
    script = script_of(root[0]) if root.isalpha() or not root.isascii() else ""
    if script == "hangul":
        return _without_particles(root)
    stemmer = _stemmer_for(script, language)
    if stemmer is None:
        return fold(root)
    with _lock:  # a Snowball stemmer has one buffer
        stemmed = stemmer.stemWord(root)
    return fold(stemmed) or fold(root)


@cache
def _stemmer_for(script: str, language: str) -> Stemmer.Stemmer | None:
    if language and _OTHER_SCRIPTS.get(language, "latin") != script:
        language = _DEFAULTS.get(script, "")
    return Stemmer.Stemmer(language, 0) if language in Stemmer.algorithms() else None


def _without_particles(word: str) -> str:
    def fits(particle: str) -> bool:
        return word.endswith(particle) and len(word) - len(particle) >= _SHORTEST_NOUN

    while particle := next(filter(fits, _PARTICLES), ""):
        word = word[: -len(particle)]
    return word
