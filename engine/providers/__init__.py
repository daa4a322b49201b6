"""Declare each provider of embeddings in its own module: texts, hosts, key variables and models.

In: nothing; the settings list the providers, so a declaration imports no code that sends or computes anything.
Out: a `Provider` each, with its texts for the window, its hosts, key variables and models; `engine.embedding` runs it.
"""

import math
import re
from collections.abc import Sequence

import msgspec

_FEW = 100
"""Number of chunks up to which a calibration applies unchanged."""
_FOREIGN = 0.03
"""Share of letters from which a query is in the language that they belong to: a tenth of the letters of Vietnamese and
a twentieth of Romanian have marks of their own."""
_RISE = 0.7
"""Standard deviations by which the scale rises per tenfold number of chunks, as the nearest unrelated chunk does."""
_WORDS = 2.0
"""Number of further words with which the increase between single words falls to 1/e; measured up to 12 words."""


class Calibration(msgspec.Struct, frozen=True):
    """Maps cosines of one model to absolute scores, and sets their weight relative to keywords."""

    low: float
    """Cosine of unrelated texts: scores 0."""
    high: float
    """Cosine of texts with the same meaning: scores 1."""
    weight: float
    """Weight of the vector score if the keywords match well, 0 to 1."""
    spread: float = 0.0
    """Standard deviation of cosines of unrelated texts; 0 if it was not measured."""
    unknown: "re.Pattern[str] | None" = None
    """Letters of languages that the model doesn't know; None if it knows all."""
    unknown_languages: frozenset[str] = frozenset()
    """Languages that the model doesn't know although it knows their letters, by Snowball's names."""
    letters_a_piece: float = 0.0
    """Average number of letters in the pieces of its vocabulary that spell a text, below which the model hardly knows
    the language, whichever it is; 0 if it was not measured."""
    words: tuple[float, float] = (0.0, 0.0)
    """Increase of `low` and of `high` between two single words: even unrelated ones have much in common."""
    known: bool = True
    """Whether the model knows the query's language; otherwise keywords decide."""
    sentences: "Calibration | None" = None
    """Calibration for queries to single sentences, if different."""

    @property
    def for_sentences(self) -> "Calibration":
        """The calibration for facts, which are shorter than passages."""
        return self.sentences or self

    def for_size(self, chunks: int) -> "Calibration":
        """The calibration for this number of chunks: with more chunks, the nearest unrelated one is nearer."""
        risen = _RISE * self.spread * math.log10(max(1.0, chunks / _FEW))
        return msgspec.structs.replace(self, low=self.low + risen, high=self.high + risen)

    def for_query(self, text: str, notes_known: bool = True) -> "Calibration":
        """The calibration for this query, with `known` from its letters.

        `notes_known`: whether the model knows the language of the notes that may answer it.
        """
        letters = sum(map(str.isalpha, text))
        unknown = self.unknown is not None and letters and len(self.unknown.findall(text)) >= _FOREIGN * letters
        return msgspec.structs.replace(self, known=notes_known and not unknown)

    def for_words(self, words: int) -> "Calibration":
        """The calibration for a query and a passage that have this number of words together, at least 2."""
        share = math.exp((2 - words) / _WORDS)
        low, high = (least + share * more for least, more in zip((self.low, self.high), self.words, strict=True))
        return msgspec.structs.replace(self, low=low, high=high)

    @property
    def between_passages(self) -> "Calibration":
        """The calibration for two passages, which are nearer than a query and its answer: identical text scores 1.

        Among the sample's passages, a tenth of all pairs score 0.35 or more, and three quarters of the pairs within a
        file.
        """
        return msgspec.structs.replace(self, high=1.0, words=(0.0, 0.0))


class ModelMetadata(msgspec.Struct, frozen=True):
    """Data of one model of one provider."""

    provider: str
    model: str
    dims: int
    """Default length of the vectors."""
    dimensions: Sequence[int]
    """Supported lengths."""
    input_tokens: int
    """Maximum tokens of one text."""
    price: float | None
    """US dollars per million tokens; None if it depends on the server."""
    batch_price: float | None
    """Price for batch jobs."""
    calibration: Calibration
    source: str
    """Source of price and sizes."""
    checked: str
    """Date of reading, YYYY-MM-DD."""


class Provider(msgspec.Struct, frozen=True, kw_only=True):
    """A provider that can be chosen in the settings."""

    name: str
    """Name of the provider in the settings."""
    label: str
    """Name to display, marked for `tr` unless it is the name of a product."""
    sentence: str
    """Description in one sentence, marked for `tr`."""
    aliases: tuple[str, ...] = ()
    """Its names in other programs; the settings refuse them and suggest the right one."""
    module: str
    """Module of `engine.embedding` whose `make(settings, key)` creates it."""
    owner: str = ""
    """Company that receives the texts, as in "May send to …"; empty if they stay on this machine."""
    hosts: tuple[str, ...] = ()
    """Hosts of its servers, the usual one first."""
    key_variables: tuple[str, ...] = ()
    """Environment variables of its API key, in the order in which they are read."""
    models: tuple[ModelMetadata, ...] = ()
    """Its known models, the default first."""
