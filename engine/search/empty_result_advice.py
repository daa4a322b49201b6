"""Finds remedies for an empty answer: each is tried or looked up before it is offered."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any

import msgspec

from engine.base import skip_reasons
from engine.base.formatting import any_of, floored, in_quotes
from engine.base.language import marked, tr, tr_count
from engine.records import FileIssue, RemedyName, SearchExplanation, SearchOutcome, SearchRemedy, SearchStage
from engine.records.explanations import UNMATCHED
from engine.search.chunk_filter import Filter
from engine.search.named_in_query import excluded_files, session_conditions, tool_texts, unlisted_extension
from engine.search.parsed_query_description import rest_unmatched
from engine.search.pipeline_stages import RaisedMinimum, Terms, short_of
from engine.search.result_reasons import UNKNOWN_LANGUAGE
from engine.search.search_context import SearchContext, SearchRequest
from engine.search.stage_notes import keywords_only_advice
from engine.settings import Settings
from engine.store import stored_models
from engine.store.snapshot import Snapshot
from engine.text import spelling
from engine.text.operators import SOURCE_NAMES
from engine.text.parsed_query import Clause, Field, Phrase, Query, Word
from engine.text.query_parser import parse_query
from engine.text.time_expressions import PREPOSITIONS, read_times

RunQuery = Callable[[SearchRequest], SearchOutcome]

_MAX_DEMANDS = 4
"""Maximum number of conditions that are dropped one at a time, since each needs a search."""
_MAX_WITHOUT = 2
"""Maximum number of suggested queries with one word left out."""
_MAX_TYPES = 8
_SELDOM_NOTES = ("", ".json", ".html", ".htm", ".log", ".csv")
_WORDS_APART = marked("Without the quotation marks, the query finds {results}.")
_WITHOUT = marked("Without {condition}, the query finds {results}.")
_AS_WORDS = marked("Searched as words, {condition} finds {results}.")
_VALUES_ARE_WORDS = ("path", "title", "tag", "links", "backlinks", "project")
"""Operators whose values may be in a text."""
_SIGNS = "-#"
"""Signs before a word that make it an exclusion or a tag."""
_UNKNOWN = marked(
    "Words and meaning of the best match reach {best:.2f} together; the minimum is {least:.2f} because nothing "
    "contains {words}."
)
_UNRELATED = marked("Words and meaning of the best match reach {best:.2f} together; the minimum is {least:.2f}.")
_UNTRANSLATED = marked(
    "Best match {best:.2f}; the minimum is {least:.2f} because no passage in another language has words that translate "
    "the query."
)
_THE_REST = marked("The rest of the query finds {results}.")
_IN_ITS_TIME = marked("With its time as a condition, this query finds {results}.")
_IN_ITS_SESSIONS = marked("As {condition}, this query finds {results}.")
_LEGS = ("embedding", "words", "keywords", "vectors")
_HIDDEN = marked("Hidden folders are not indexed: {files}.")
_TOO_LARGE = marked("Too large to be indexed: {files}.")
_UNREAD = marked("Could not be read: {files}.")
_MAX_NAMED = 3
"""Maximum number of files or folders that an advice names."""
_OF_PROGRAMS = frozenset(
    """.obsidian .trash .logseq .foam .dendron .zk .vscode .idea .vs .settings .github .gitlab .circleci .husky .config
    .cache .local .venv .tox .nox .mypy_cache .pytest_cache .ruff_cache .stfolder .stversions .sync .dropbox.cache
    .smart-env .makemd .space .silverbullet .quartz-cache .claude .cursor .codex .gemini .devcontainer .yarn .next
    .docusaurus .jekyll-cache .sass-cache .bundle .gradle .ipynb_checkpoints .quarto .Trash .Trashes .Spotlight-V100
    .fseventsd .DocumentRevisions-V100 .TemporaryItems .attachments .assets .img .images""".split()
)
"""Hidden folders in which programs store their data, not notes."""
_LIMITS: tuple[tuple[RemedyName, str, dict[str, Any]], ...] = (
    ("sources", marked("In all sources, this query finds {results}."), {"sources": None}),
    ("period", marked("Without a date limit, this query finds {results}."), {"since": None, "until": None}),
    ("scope", marked("In all files, this query finds {results}."), {"path_glob": None}),
)
"""For each limit: the name of its remedy, the advice, and the filter's fields without the limit."""


def with_remedies(
    outcome: SearchOutcome,
    context: SearchContext,
    snapshot: Snapshot,
    run_query: RunQuery,
    settings: Settings | None = None,
) -> SearchOutcome:
    """Return an empty answer with remedies that the user can try, and the name of the stage that removed all results.

    `run_query` runs another query on the same snapshot. `settings` name the folders of sessions.
    """
    explanation = outcome.explanation
    if explanation is None:
        return outcome
    stage = emptied_by(explanation.stages)
    remedies = (
        *_Advice(context, stage, snapshot, run_query).remedies(),
        *tool_texts(context, stage, snapshot, settings),
    )
    advice = SearchExplanation(stages=explanation.stages, results=(), emptied_by=stage, remedies=remedies)
    unmatched = stage in UNMATCHED and context.query.required
    understood = rest_unmatched(context.query) if unmatched else outcome.understood
    return msgspec.structs.replace(outcome, explanation=advice, understood=understood)


def emptied_by(stages: tuple[SearchStage, ...]) -> str:
    """Return the name of the first search stage that removed all results.

    Keywords and vectors count as one stage. Returns `index` for an empty index, whatever the filters, and `words` if no
    word of the query is in the index.
    """
    if any(stage.name == "index" for stage in stages):
        return "index"
    for stage in stages:
        if stage.after or stage.name in _LEGS:
            continue
        if stage.name == "scores":
            legs = {leg.name: leg.after for leg in stages if leg.name in _LEGS}
            return "words" if not legs.get("words") else "keywords" if "keywords" in legs else "vectors"
        return stage.name
    return ""


def first_update() -> SearchRemedy:
    """Return the remedy for an index that was never updated."""
    return SearchRemedy(name="sync", stage="index", advice=tr("Update now to read this folder."))


class _Advice:
    """Finds remedies for one empty answer by trying changed queries."""

    def __init__(self, context: SearchContext, stage: str, snapshot: Snapshot, run_query: RunQuery) -> None:
        self._context = context
        self._request = context.request
        self._stage = stage
        self._snapshot = snapshot
        self._run_query = run_query

    def remedies(self) -> Iterator[SearchRemedy]:
        if self._stage == "index":
            wrong = tr("Wrong folder?")
            if self._snapshot.meta("fingerprint") is None:
                yield first_update()
            elif self._snapshot.issues("failed") or self._snapshot.issues("skipped"):
                yield self._of_index("skipped", tr("The last update found no note."))
            else:
                wrong = tr("The last update found no file. Wrong folder?")
            yield self._of_index("folder", wrong)
            return
        if self._context.understood is not None and self._context.understood.tags_wait:
            yield self._of_index("sync", tr("Tags are incomplete until the next update has read all notes."))
        yield from self._named_sessions()
        yield from self._similar_values()
        cut = self._stage in ("threshold", "unknown", "unrelated", "age")
        if cut:
            yield from self._named_time()
            yield from self._with_fewer_words()
            yield from self._without_ageing()
            yield from self._weak()
        yield from [*self._limits(), *self._outside_scope(), *self._conditions()] or self._all_limits()
        if not cut:
            yield from self._weak()
        yield from self._unindexed()
        yield from self._vectors()

    def _of_index(self, name: RemedyName, advice: str, path: str = "") -> SearchRemedy:
        return SearchRemedy(name=name, stage=self._stage, advice=advice, path=path)

    def _weak(self) -> Iterator[SearchRemedy]:
        best, least = self._context.best, self._request.min_score
        raised = [stage.details for stage in self._context.stages.found if isinstance(stage.details, RaisedMinimum)]
        if raised:
            higher = raised[-1]
            template = _UNTRANSLATED if higher.untranslated else _UNKNOWN if higher.unknown else _UNRELATED
            advice = tr(
                template,
                best=short_of(higher.best or 0.0, higher.least),
                least=higher.least,
                words=any_of(map(in_quotes, higher.unknown)) if higher.unknown else "",
            )
            yield self._of_index("weak", advice)
        elif 0.005 <= best < least:
            advice = tr("Best match {best:.2f}; the minimum is {least:g}.", best=short_of(best, least), least=least)
            yield self._of_index("weak", advice)

    def _with_fewer_words(self) -> Iterator[SearchRemedy]:
        """Suggest the query without the words that occur nowhere, or else with one word less, if that has results."""
        if not self._context.query.plain:
            return
        counts: dict[str, int] = {}
        for stage in self._context.stages.found:
            if isinstance(stage.details, Terms):
                counts.update(stage.details.chunks)
        missing = [word for word, count in counts.items() if not count]
        if len(missing) == len(counts):
            return  # only function words remain
        if missing:
            reason = tr("Nothing contains {words}.", words=any_of(map(in_quotes, missing)))
            for remedy in self._without_words(missing, counts, _THE_REST):
                yield msgspec.structs.replace(remedy, advice=f"{reason} {remedy.advice}")
        elif 1 < len(counts) <= _MAX_DEMANDS:
            fewer = (
                self._without_words([word], counts, _WITHOUT)
                for word in sorted(counts, key=counts.__getitem__, reverse=True)
            )
            yield from islice(chain.from_iterable(fewer), _MAX_WITHOUT)

    def _without_words(self, words: list[str], searched: Iterable[str], advice: str) -> Iterator[SearchRemedy]:
        """Suggest the query without some of its searched words, and without its function words, if it has results."""
        other = self._request.query
        for word in words:
            other = spelling.with_word_replaced(other, word, " ")
        rest = [word.casefold() for word in searched if word not in words]
        # The rest of a word with a hyphen must not become an exclusion.
        parts = (part.strip("-") for part in other.split())
        other = " ".join(part for part in parts if any(word in part.casefold() for word in rest))
        if other and other != self._request.query:
            yield from self._tried("condition", advice, query=other, condition=any_of(map(in_quotes, words)))

    def _named_time(self) -> Iterator[SearchRemedy]:
        """Suggest the query with its named time as a condition instead of words, if that has results."""
        times = read_times(self._request.query) if self._context.query.plain else ()
        if len(times) != 1:
            return
        before, _, after = self._request.query.partition(times[0].text)
        words = before.split()
        if words and words[-1].casefold() in PREPOSITIONS:
            words.pop()
        if words or after.split():
            time = f'on:"{times[0].text}"' if " " in times[0].text else f"on:{times[0].text}"
            yield from self._tried("condition", _IN_ITS_TIME, query=" ".join((*words, *after.split(), time)))

    def _named_sessions(self) -> Iterator[SearchRemedy]:
        """Suggest the query with its named agent and project as conditions instead of words, or only these conditions,
        if that has results."""
        if not self._context.query.plain:
            return
        conditions, rest = session_conditions(self._snapshot, self._request.query)
        for query in dict.fromkeys(filter(None, (f"{rest} {conditions}".strip(), conditions)) if conditions else ()):
            if remedies := list(self._tried("condition", _IN_ITS_SESSIONS, condition=in_quotes(query), query=query)):
                yield from remedies
                return

    def _similar_values(self) -> Iterator[SearchRemedy]:
        """Suggest the query with similar values of its operators, if nothing satisfies these."""
        unmet = () if self._context.understood is None else self._context.understood.unmet
        if not unmet:
            return
        from engine.search.completion import similar_values

        for clause in unmet:
            atoms = () if clause.negated else clause.alternatives
            fields = [(atom.name, atom.value) for atom in atoms if isinstance(atom, Field)]
            similar = [Field(name, of) for name, value in fields for of in similar_values(self._snapshot, name, value)]
            for condition in map(str, similar):
                other = f"{_text_without(self._context.query, clause)} {condition}".strip()
                yield from self._tried("condition", _IN_ITS_SESSIONS, condition=in_quotes(condition), query=other)

    def _without_ageing(self) -> Iterator[SearchRemedy]:
        """Suggest the same query without ageing, if that has results."""
        if self._request.half_life_days:
            advice = marked("If older results keep their score, this query finds {results}.")
            yield from self._tried("age", advice, half_life_days=0.0)

    # --- limits of the request --------------------------------------------------------------------------------------

    def _limits(self) -> Iterator[SearchRemedy]:
        """Suggest the query without one of its limits (sources, period, scope), if that has results."""
        limits = self._request.filter
        active = [limit for limit in _LIMITS if any(getattr(limits, field) is not None for field in limit[2])]
        for name, advice, freed in active:
            yield from self._tried(name, advice, filter=msgspec.structs.replace(limits, **freed))

    def _all_limits(self) -> Iterator[SearchRemedy]:
        """Suggest the query without any limit, or also without any condition, if that has results."""
        query, restricted = self._context.query, self._request.filter.active or self._request.within is not None
        free: dict[str, Any] = {"filter": Filter(hide_memory=self._request.filter.hide_memory), "within": None}
        found: list[SearchRemedy] = []
        if restricted:
            found += self._tried("limits", marked("Without any limit, this query finds {results}."), **free)
        if not found and query.free_text.strip() and len(query.required) + restricted > 1:
            advice = marked("Without operators and limits, the words of this query find {results}.")
            found += self._tried("words", advice, query=query.free_text, **free)
        yield from found

    def _outside_scope(self) -> Iterator[SearchRemedy]:
        """Suggest the query outside the results of the earlier query that it is limited to."""
        if self._request.within is not None:
            advice = marked("Outside these results, this query finds {results}.")
            yield from self._tried("within", advice, within=None)

    def _conditions(self) -> Iterator[SearchRemedy]:
        """Suggest the query without one of its conditions, if that has results; a phrase becomes separate words."""
        query = self._context.query
        for clause in query.required[:_MAX_DEMANDS]:
            other = _text_without(query, clause)
            if not other.strip():
                yield from self._as_words(clause)
                continue
            unphrased = not clause.negated and isinstance(clause.alternatives[0], Phrase)
            advice = _WORDS_APART if unphrased else _WITHOUT
            yield from self._tried("condition", advice, condition=in_quotes(str(clause)), query=other)

    def _as_words(self, clause: Clause) -> Iterator[SearchRemedy]:
        """Suggest the values of operators as words, for a query that has nothing else."""
        fields = [atom for atom in clause.alternatives if isinstance(atom, Field) and atom.name in _VALUES_ARE_WORDS]
        values = [value for field in fields if (value := field.value.lstrip(_SIGNS))]
        query = " ".join(values)
        if values and not clause.negated and not parse_query(query).required:
            yield from self._tried("condition", _AS_WORDS, condition=any_of(map(in_quotes, values)), query=query)

    def _tried(self, name: RemedyName, advice: str, *, condition: str = "", **changes: Any) -> Iterator[SearchRemedy]:
        """Run the query with `changes`, and yield a remedy if it has results.

        `advice` is the remedy's message, with the placeholders {results} and perhaps {condition}.
        """
        # A trial query is not sent anywhere, and a failing provider is not called again.
        keyword_only = self._request.keyword_only or self._context.keywords_only is not None or "query" in changes
        other = msgspec.structs.replace(
            self._request, explain=False, max_results=1, keyword_only=keyword_only, **changes
        )
        outcome = self._run_query(other)
        if not outcome.results or (outcome.corrected is not None and outcome.corrected.is_shorter):
            return
        yield SearchRemedy(
            name=name,
            stage=self._stage,
            advice=tr(advice, results=_results(outcome), condition=condition),
            finds=outcome.total,
            finds_at_least=outcome.total_is_least,
            query=other.query if other.query != self._request.query else "",
        )

    # --- missing data -----------------------------------------------------------------------------------------------

    def _unindexed(self) -> Iterator[SearchRemedy]:
        """Yield remedies for sources without files, and for excluded or failed files named like words of the query."""
        if self._request.filter.hide_memory:
            return  # others may not know of these files
        sources = {count.source for count in self._snapshot.source_counts()}
        limited_to: set[str] = {*(self._request.filter.sources or ())}
        limited_to.update(SOURCE_NAMES[value.casefold()] for value in self._context.query.values_of_required("source"))
        if "sessions" in limited_to - sources:
            yield self._of_index("add-sessions", tr("No sessions are indexed. Add the folders that contain them."))
        excluded = list(excluded_files(self._snapshot, self._context))
        yield from (msgspec.structs.replace(remedy, stage=self._stage) for remedy in excluded)
        if not excluded and self._stage in UNMATCHED and limited_to != {"sessions"}:
            yield from self._left_out(self._snapshot.issues("skipped"))

    def _left_out(self, skipped: Sequence[FileIssue]) -> Iterator[SearchRemedy]:
        """Yield remedies for documents of types that are not indexed, hidden folders of the user and unread files."""
        types = [extension for issue in skipped if (extension := unlisted_extension(issue)) not in _SELDOM_NOTES]
        if types:
            text = ", ".join(types[:_MAX_TYPES])
            yield self._of_index("skipped", tr("The settings exclude files of these types: {types}.", types=text))
        hidden = [issue.path for issue in skipped if issue.detail == skip_reasons.HIDDEN_FOLDER.message()]
        folders = [path for path in hidden if path.rpartition("/")[2] not in _OF_PROGRAMS]
        too_large = [issue.path for issue in skipped if issue.rule == "too-large"]
        unread = [issue.path for issue in skipped if issue.rule == "unreadable"]
        unread += [issue.path for issue in self._snapshot.issues("failed")]
        for advice, paths in ((_HIDDEN, folders), (_TOO_LARGE, too_large), (_UNREAD, unread)):
            if paths and self._stage == "words":
                text = ", ".join([*paths[:_MAX_NAMED], *["…"] * (len(paths) > _MAX_NAMED)])
                yield self._of_index("excluded", tr(advice, files=text), paths[0])

    def _vectors(self) -> Iterator[SearchRemedy]:
        """Suggest how to get vectors, if some or all are missing."""
        context = self._context
        name: RemedyName
        if (reason := context.keywords_only) is not None:
            yield self._of_index(reason.remedy, keywords_only_advice(reason))
        elif not context.language_known:
            yield self._of_index("settings", tr(UNKNOWN_LANGUAGE))
        elif (ready := context.vectors_ready) is not None:
            name = "sync" if stored_models.unapproved_embedding(self._snapshot) is None else "embed"
            advice = tr(
                "{share} of the passages have a vector; the others are found by words only.",
                share=floored(ready.ready, ready.total),
            )
            yield self._of_index(name, advice)


def _results(outcome: SearchOutcome) -> str:
    """Return the number of results as text, such as "3 results"."""
    if outcome.total_is_least:
        return tr_count("{count:,}+ result", "{count:,}+ results", outcome.total)
    return tr_count("{count:,} result", "{count:,} results", outcome.total)


def _text_without(query: Query, left_out: Clause) -> str:
    clauses = list[Clause]()
    for clause in query.clauses:
        if clause != left_out:
            clauses.append(clause)
        elif not clause.negated:
            phrases = (atom for atom in clause.alternatives if isinstance(atom, Phrase))
            clauses += [Clause((Word(phrase.text, phrase.start, phrase.end),)) for phrase in phrases]
    return str(Query("", tuple(clauses)))
