"""Makes the file name of a note after its date: a few distinctive words as `a-z0-9-`, which every file system
accepts."""

import math
import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence

from engine.agent.last_messages import LastMessages
from engine.text.folding import fold
from engine.text.languages import detect_language
from engine.text.stopwords import stop_words

LONGEST = 30
_MOST_WORDS = 4
_LEAST_LETTERS = 3
_ALIKE = 4
"""Words that share at least this many first characters are treated as forms of one word."""
_OF_PERSON, _OF_AGENT, _OF_TITLE = 2.0, 1.0, 8.0
_READ = 8000
"""Characters of a message that count."""

# Code, addresses, and masked secrets: their visible characters must not be in a file name.
_NO_WORDS = re.compile(r"```.*?(?:```|\Z)|\S*(?:://|…|\*\*\*)\S*", re.DOTALL)
_WORD = re.compile(r"[^\W\d_][^\W_]*")
_NOT_IN_SLUG = re.compile("[^a-z0-9]+")
_CYRILLIC = "абвгдежзийклмнопрстуфхцчшщыэюяіїєґўјљњћђџ"
_AS_SAID = "a b v g d e zh z i i k l m n o p r s t u f kh ts ch sh shch y e yu ya i yi ye g u j lj nj c dj dz"
_GREEK = "αβγδεζηθικλμνξοπρσςτυφχψω"
_AS_WRITTEN = "a b g d e z i th i k l m n x o p r s s t y f ch ps o"
_LATIN = str.maketrans(
    dict(zip(_CYRILLIC + _GREEK, [*_AS_SAID.split(), *_AS_WRITTEN.split()], strict=True)) | {"ъ": "", "ь": ""}
)

Counts = Callable[[Sequence[str]], tuple[int, Mapping[str, int]]]
"""For folded words: how many chunks there are, and how many of them hold each word."""


def to_slug(text: str) -> str:
    """At most 30 of `a-z0-9-`, cut between words; empty if nothing of the text can be written so.

    Accents are removed, Cyrillic and Greek are transliterated, other scripts are left out.
    """
    plain = fold(text).replace("ß", "ss").translate(_LATIN)
    bare = "".join(sign for sign in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(sign))
    slug = _NOT_IN_SLUG.sub("-", bare).strip("-")
    if len(slug) <= LONGEST:
        return slug
    return slug[: LONGEST + 1].rpartition("-")[0] or slug[:LONGEST]


def slug_of_words(title: str, messages: Sequence[LastMessages], counts: Counts | None) -> str:
    """The words that tell a session from what else is indexed, in the order in which they first occur.

    `counts`: None where nothing is known of the index. Empty where no word can be written as a slug.
    """
    weights, seen = _weighed(title, messages)
    chunks, holding = counts(list(weights)) if counts is not None and weights else (0, {})
    scores = {
        word: math.log1p(weight) * math.log(2 + chunks / (1 + holding.get(word, 0))) for word, weight in weights.items()
    }
    chosen: list[str] = []
    for word in sorted(scores, key=lambda word: (-scores[word], seen[word])):
        fits = len("-".join([*map(to_slug, chosen), to_slug(word)])) <= LONGEST
        if fits and not any(_are_alike(word, other) for other in chosen):
            chosen.append(word)
        if len(chosen) == _MOST_WORDS:
            break
    return "-".join(map(to_slug, sorted(chosen, key=seen.__getitem__)))


def _weighed(title: str, messages: Sequence[LastMessages]) -> tuple[dict[str, float], dict[str, int]]:
    """What each word counts, and its place in the order of the words; without those that no slug can have."""
    texts = [(title, _OF_TITLE)]
    texts += [(text[:_READ], _OF_PERSON if speaker == "user" else _OF_AGENT) for speaker, text in messages]
    texts = [(_NO_WORDS.sub(" ", text), weight) for text, weight in texts]
    language = detect_language(" ".join(text for text, _ in texts))
    left_out = stop_words(language) | stop_words("english")
    weights: dict[str, float] = {}
    seen: dict[str, int] = {}
    for text, weight in texts:
        for word in map(fold, _WORD.findall(text)):
            if word not in left_out and len(to_slug(word)) >= _LEAST_LETTERS and "-" not in to_slug(word):
                weights[word] = weights.get(word, 0.0) + weight
                seen.setdefault(word, len(seen))
    return weights, seen


def _are_alike(one: str, other: str) -> bool:
    shorter, longer = sorted((one, other), key=len)
    return longer.startswith(shorter[: max(_ALIKE, len(shorter) - 2)])
