"""Translates a query for `qmd` and sends it, by keywords or with its models; recent answers are cached for a moment."""

import re
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

from engine.backends.qmd.command import QmdCommand, QmdError, QmdFailed, QmdMissing
from engine.backends.qmd.output_parsing import Hit, parse_hits
from engine.base import lazy_logger
from engine.base.cancellation import CancelToken
from engine.base.language import marked, tr
from engine.settings import Settings
from engine.settings.backend_settings import QmdSearchMode
from engine.settings.search_settings import ResultCacheSettings
from engine.text import Query, QueryAnalysis, analyse_query, highlight_ranges, parse_query
from engine.text.parsed_query import Clause, Field, Phrase, Word
from engine.text.writing_systems import UNSPACED, shape

_FIRST_PAUSE = 60.0
_LONGEST_PAUSE = 3600.0

log = lazy_logger(__name__)

MAX_HITS = 100
"""Maximum number of hits of one search; more could exceed the size limit of the output."""
_MAX_EXPLAINED = 30
_NO_COLLECTION = re.compile(r"collection not found|failed to parse|no collections? found", re.IGNORECASE)
_NO_OPTION = re.compile(r"(?:unknown|unrecognized|invalid|unexpected) (?:option|flag|argument|command)", re.IGNORECASE)

Verb = Literal["search", "vsearch", "query"]

_MAX_VARIANTS = 4
"""Maximum number of lines in one search, one per alternative, since `qmd` has no OR."""
_MAX_LOOSE = 12
"""Maximum number of words that are searched one by one if no document has all, as in the reference."""
_LETTERS = re.compile(r"[^\W_]")
_SIGNS = re.compile(r"[^\w'.\-]+")
_ENDS = re.compile(r"^[^\w]+|[^\w]+$")
_SIGNED = re.compile(r'\s-+(?=[\w"])')
_PAIR = 2
_TYPED = re.compile(r"^\s*(lex|vec|hyde|intent|expand)\s*:", re.IGNORECASE)
_LONGEST_WORD = 120
UNKNOWN_TO_QMD = {
    "tag": marked("filters by tag"),
    "role": marked("filters by speaker"),
    "file": marked("filters by changed file"),
    "command": marked("filters by command"),
}


# --- Pauses between retries after failures ---------------------------------------------------------------------------


class RetryPause:
    """Pause after a failure: a minute, doubled with each failure in a row, up to an hour."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._failures = 0
        self._until = 0.0

    @property
    def active(self) -> bool:
        return self._clock() < self._until

    def begin(self) -> None:
        """Start a pause, since another attempt failed."""
        self._until = self._clock() + min(_LONGEST_PAUSE, _FIRST_PAUSE * 2**self._failures)
        self._failures = min(self._failures + 1, 16)

    def end(self) -> None:
        """End the pause, since an attempt succeeded; the next one is short again."""
        self._failures, self._until = 0, 0.0


# ---------------------------------------------------------------------------------------------------------------------


class QueryOutcome(NamedTuple):
    """Result of a query to `qmd`."""

    hits: tuple[Hit, ...]
    mode: QmdSearchMode
    """The search mode used."""
    loose: bool
    """Whether no document has all of the words."""
    notice: str
    """Why its models were not used; empty if they were, or were not requested."""
    cut: bool
    """Whether there may be more."""


@dataclass(frozen=True)
class QueryText:
    """A query in the forms that qmd takes: keyword searches, and a sentence for the models."""

    query: Query
    analysis: QueryAnalysis
    variants: tuple[str, ...]
    """Alternative keyword searches; empty if there are no search words."""
    loose: tuple[str, ...]
    """Each word as a separate search, longest first, if no document has all; empty for a single word."""
    sentence: str
    """Query text for the models."""
    remarks: tuple[str, ...]

    @property
    def plain_sentence(self) -> str:
        """Query text without characters that `qmd` refuses before a word."""
        return _SIGNED.sub(" ", f" {self.sentence}").strip()

    def is_satisfied_by(self, text: str) -> bool:
        """Whether a text has the required phrases and none of the excluded words; qmd's models don't check that."""
        for clause in _with_search_words(self.query):
            if clause.required:
                # With a space after it, a word doesn't match as a prefix.
                atoms = (parse_query(f"{atom} ") for atom in clause.alternatives)
                if any(highlight_ranges(text, atom, self.analysis.languages) for atom in atoms) == clause.negated:
                    return False
        return True

    @property
    def fields(self) -> tuple[Clause, ...]:
        """Conditions of the query on files, which are checked on the results of `qmd`."""
        return tuple(
            clause
            for clause in self.query.clauses
            if all(isinstance(atom, Field) and atom.name not in UNKNOWN_TO_QMD for atom in clause.alternatives)
        )


class _Request(NamedTuple):
    """The values that all commands of one query share."""

    collections: Sequence[str]
    most: int
    """Maximum number of documents."""
    cancel: CancelToken | None


class QueryRunner:
    """Runs queries with `qmd`, caches recent answers, and pauses its models after failures. Thread-safe."""

    def __init__(
        self,
        command: QmdCommand,
        settings: Settings,
        why_keywords_only: Callable[[], str],
        restore: Callable[[], bool],
        moment: Callable[[], object],
    ) -> None:
        """`why_keywords_only` returns why the models can't be used; empty if they can.

        `restore` restores qmd's lost collections; it returns False if there are none. `moment`: a value that differs
        after its index has changed.
        """
        self._command = command
        self._settings = settings
        self._no_models = why_keywords_only
        self._restore = restore
        self._moment = moment
        self._model_pause, self._vector_pause = RetryPause(), RetryPause()
        self._answers = _RecentAnswers(settings.query.cache)

    def apply_query_settings(self, settings: Settings) -> None:
        """Apply settings of cache and timeouts."""
        self._settings = settings
        self._answers.reset(settings.query.cache)

    def run_query(
        self,
        query_text: QueryText,
        collections: Sequence[str],
        most: int,
        *,
        keyword_only: bool,
        cancel: CancelToken | None,
    ) -> QueryOutcome:
        """The best documents of these collections. Raises `QmdError`, `Cancelled`."""
        request = _Request(collections, most, cancel)
        verb = "search" if keyword_only else self._settings.qmd.search_mode
        notice = ""
        if verb != "search" and query_text.sentence:
            notice = self._no_models()
            if not notice:
                outcome = self._semantic_search(verb, query_text, request)
                if isinstance(outcome, QueryOutcome):
                    return outcome
                notice = outcome
        deadline = time.monotonic() + self._seconds()
        hits = self._search_keywords(query_text.variants, request, deadline, every=False) if query_text.variants else ()
        loose = bool(not hits and query_text.loose)
        if loose:
            hits = self._search_keywords(query_text.loose, request, deadline, every=True)
        return QueryOutcome(hits, "search", loose and bool(hits), notice, len(hits) >= min(most, MAX_HITS))

    def _semantic_search(self, mode: Verb, query_text: QueryText, request: _Request) -> QueryOutcome | str:
        """Search in the requested mode, else by vectors alone (without larger models); or say why neither works now."""
        explain = ["--explain"] if mode == "query" else []
        request = request._replace(most=min(request.most, _MAX_EXPLAINED))
        lines = [
            *(f"lex: {variant}" for variant in query_text.variants if mode == "query"),
            f"vec: {query_text.plain_sentence}",
        ]
        variants: tuple[tuple[RetryPause, Verb, str, list[str]], ...] = (
            (self._model_pause, mode, query_text.sentence, explain),
            (self._vector_pause, "query", "\n".join(lines), ["--no-rerank", "--explain"]),
        )
        failure = ""
        for pause, verb, text, options in variants:
            if pause.active:
                continue
            try:
                hits = self._run(verb, text, request, options, self._seconds())
            except QmdMissing:
                raise
            except QmdError as error:
                pause.begin()
                failure = str(error)
                continue
            pause.end()
            if pause is self._model_pause:
                return QueryOutcome(hits, mode, False, "", len(hits) >= request.most)
            scored = sorted((hit._replace(score=_combined_score(hit, 0)) for hit in hits), key=lambda hit: -hit.score)
            return QueryOutcome(tuple(scored), mode, False, _without_larger_models(failure), len(hits) >= request.most)
        if failure:
            return tr("{failure} For a while, only keywords are searched.", failure=failure)
        return tr("qmd's models failed recently, so only keywords are searched.")

    def _search_keywords(
        self,
        lines: Sequence[str],
        request: _Request,
        deadline: float,
        *,
        every: bool,
    ) -> tuple[Hit, ...]:
        """Results of these lines, each searched separately.

        With `every`, documents found by more of them rank higher.
        """
        seconds = max(0.1, deadline - time.monotonic())
        if len(lines) == 1:
            request = request._replace(most=min(request.most, MAX_HITS))
            return self._run("search", lines[0], request, [], seconds)
        # Typed lines need no model, and one command runs them all.
        text = "\n".join(f"lex: {line}" for line in lines)
        options = ["--no-rerank", "--explain"]
        request = request._replace(most=min(request.most, _MAX_EXPLAINED))
        hits = self._run("query", text, request, options, seconds)
        scored = (hit._replace(score=_combined_score(hit, len(lines) if every else 0)) for hit in hits)
        return tuple(sorted(scored, key=lambda hit: -hit.score))

    def _run(
        self,
        verb: Verb,
        text: str,
        request: _Request,
        options: Sequence[str],
        seconds: float,
    ) -> tuple[Hit, ...]:
        collections, most, cancel = request
        key = (verb, text, tuple(collections), most, self._moment())
        known = self._answers.get(key)
        if known is not None:
            return known
        self._command.check(self._seconds(), cancel)
        arguments = ["--json", "-n", str(most), *options]
        arguments += [part for name in collections for part in ("-c", name)]

        def run(verb: Verb) -> list[Hit]:
            finished = self._command.run([verb], options=arguments, operand=text, seconds=seconds, cancel=cancel)
            return parse_hits(finished.output, finished.errors)

        try:
            hits = run(verb)
        except QmdFailed as failure:
            if _NO_COLLECTION.search(failure.errors) and self._restore():
                log.info("qmd had lost its collections")
                hits = run(verb)
            elif _NO_OPTION.search(failure.errors) and verb != "query":
                hits = run("query")  # in some versions, only this verb supports all options
            else:
                raise
        self._answers.put(key, tuple(hits))
        return tuple(hits)

    def _seconds(self) -> float:
        return self._settings.qmd.limits.timeout_ms / 1000


class _RecentAnswers:
    """Recent answers: the window requests keywords first, and then everything."""

    def __init__(self, settings: ResultCacheSettings) -> None:
        self._settings = settings
        self._lock = threading.Lock()
        self._cached: OrderedDict[object, tuple[float, tuple[Hit, ...]]] = OrderedDict()

    def reset(self, settings: ResultCacheSettings) -> None:
        """Apply cache settings, and drop all answers."""
        with self._lock:
            self._settings = settings
            self._cached.clear()

    def get(self, key: object) -> tuple[Hit, ...] | None:
        with self._lock:
            since, hits = self._cached.get(key, (0.0, None))
            return hits if time.monotonic() - since < self._settings.ttl_seconds else None

    def put(self, key: object, hits: tuple[Hit, ...]) -> None:
        if self._settings.enabled:
            with self._lock:
                self._cached[key] = time.monotonic(), hits
                while len(self._cached) > self._settings.max_entries:
                    self._cached.popitem(last=False)


def _combined_score(hit: Hit, parts: int) -> float:
    """Return the score of a result found by several lines: the mean over all `parts`, or the best for 0."""
    scores = [leg.score for leg in hit.legs] or [0.0]
    return min(1.0, sum(scores) / parts) if parts else max(scores)


def _without_larger_models(failure: str) -> str:
    """Return a notice that qmd's larger models are not used; `failure`: the error, empty if it was reported before."""
    if failure:
        return tr("{failure} For a while, queries are not expanded and results are not re-ranked.", failure=failure)
    return tr("qmd's models failed recently, so the query is not expanded and results are not re-ranked.")


def read_query_text(text: str) -> QueryText:
    """Parse a query. Every text is valid."""
    query = parse_query(text.encode("utf-8", "replace").decode().replace("\0", " "))
    analysis = analyse_query(query)
    options = (term for term in analysis.terms if term.filler and len(term.surface) == 1)
    needless = frozenset(term.surface for term in (*options, *(term for term in analysis.terms if term.stop)))
    required, excluded = _wanted_and_excluded(query, needless)
    variants = tuple(
        " ".join((*chosen, *excluded))
        for chosen, _ in zip(product(*required), range(_MAX_VARIANTS), strict=False)
        if chosen
    )
    words = dict.fromkeys(part for words_of_part in required for word in words_of_part for part in _parts(word))
    singles = sorted(words, key=lambda word: -len(word))[:_MAX_LOOSE]
    loose = tuple(" ".join((word, *excluded)) for word in singles) if len(words) > 1 else ()
    sentence = _TYPED.sub(r"\1", " ".join(query.free_text.split()))
    return QueryText(query, analysis, variants, loose, sentence, tuple(_remarks(query, required)))


def _wanted_and_excluded(query: Query, needless: Collection[str]) -> tuple[list[tuple[str, ...]], list[str]]:
    """Return the alternatives of each clause to find, without single `needless` words, and the terms to exclude."""
    required, excluded = list[tuple[str, ...]](), list[str]()
    for clause in _with_search_words(query):
        written = [_written(atom) for atom in clause.alternatives if not isinstance(atom, Field)]
        if clause.negated:
            excluded += [f"-{form}" for form in filter(None, written)]
        elif len(written) > 1 or written[0] not in needless or isinstance(clause.alternatives[0], Phrase):
            required.append(tuple(filter(None, written)))
    return [alternatives for alternatives in required if alternatives], excluded


def _with_search_words(query: Query) -> Iterator[Clause]:
    """Return the clauses with search words."""
    if not query.clauses:  # a pasted file, all of it words
        yield from (Clause((Word(word, 0, 0),)) for word in query.text[: 10 * _LONGEST_WORD].split())
    for clause in query.clauses:
        if not any(isinstance(atom, Field) for atom in clause.alternatives):
            yield clause


def _written(atom: Word | Phrase) -> str:
    """Return a term in qmd's syntax; empty if it has nothing to search."""
    # Characters that qmd would delete from a word become separators.
    words = (_ENDS.sub("", word) for word in _SIGNS.sub(" ", atom.text).split())
    text = " ".join(filter(_LETTERS.search, words))[:_LONGEST_WORD].rstrip()
    return f'"{text}"' if isinstance(atom, Phrase) or " " in text else text


def _parts(word: str) -> list[str]:
    """Return the character pairs of a word in a script without spaces, which may be a whole sentence."""
    if word.startswith('"') or UNSPACED not in shape(word) or len(word) <= _PAIR:
        return [word]
    return [word[at : at + _PAIR] for at in range(len(word) - _PAIR + 1)]


def _remarks(query: Query, required: list[tuple[str, ...]]) -> Iterator[str]:
    for clause in query.clauses:
        names = [atom.name for atom in clause.alternatives if isinstance(atom, Field)]
        if names and len(names) < len(clause.alternatives):
            yield tr("qmd can't search for alternatives ({part}): this part was left out.", part=str(clause))
        for name in names:
            if name in UNKNOWN_TO_QMD:
                feature = tr(UNKNOWN_TO_QMD[name])
                yield tr("qmd does not support {what}: {part} was left out.", what=feature, part=str(clause))
    variants = 1
    for alternatives in required:
        variants *= len(alternatives)
    if variants > _MAX_VARIANTS:
        yield tr(
            "qmd searches for one combination of alternatives at a time: only the first {asked} of {ways} "
            "were searched.",
            asked=_MAX_VARIANTS,
            ways=variants,
        )
