"""Describes the stages of a search for the explanation, in one or two sentences each."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from engine.base.formatting import any_of, floored, in_quotes
from engine.base.language import marked, tr, tr_count
from engine.records import SearchStage
from engine.search.parsed_query_description import describe_understood, no_words
from engine.search.pipeline_stages import (
    Best,
    CommonWords,
    EmbeddedQuery,
    EmptyIndex,
    KeywordsOnly,
    Moved,
    RaisedMinimum,
    Scope,
    SessionsNamed,
    Stage,
    Terms,
    TimesNamed,
    UnderstoodQuery,
    UnknownWords,
    VectorsReady,
    short_of,
)
from engine.search.search_context import SearchContext
from engine.text.query_analysis import SHORTEST_PREFIX
from engine.text.time_expressions import TimeExpression

_T = TypeVar("_T")
_ADVICE = {
    "not approved": marked("Allow the embedding to search by meaning, too."),
    "no vectors": marked("Update to create the vectors for search by meaning."),
    "no vectors after failure": marked("Fix this or choose another model, then update to create the vectors."),
}
_MOVED = {
    "best": marked(
        "Several passages answer a long query, so the {first:,} after the first were compared with the best ones. "
        "Moved: {count:,}."
    ),
    "diversity": marked("Passages moved for more variety: {count:,} of the first {first:,}."),
    "language": marked(
        "The query is in another language than the notes, so each of its words was compared with those of the first "
        "{first:,} passages. Moved: {count:,}."
    ),
    "lines": marked(
        "No passage matches all words well, so similar words in adjacent lines of the first {first:,} passages were "
        "compared. Moved: {count:,}."
    ),
}
_LATER = marked("Search by meaning resumes when the configured model works again.")


def stage_record(stage: Stage) -> SearchStage:
    """Return a search stage as the public record, with a sentence that describes it."""
    return SearchStage(
        name=stage.name,
        before=stage.before,
        after=stage.after,
        note=_NOTES[stage.name](stage),
        milliseconds=stage.milliseconds,
        unit=stage.unit,
    )


def notice_on(context: SearchContext) -> str:
    """Return the notice on a search of an empty index, or by keywords alone."""
    if context.empty_index is not None:
        return _empty_index(context.empty_index)
    return "" if context.keywords_only is None else _keywords_only(context.keywords_only)


def _empty_index(index: EmptyIndex) -> str:
    return index.recovered or tr("Nothing is indexed yet.")


def _keywords_only(why: KeywordsOnly) -> str:
    match why.cause:
        case "not approved":
            reason = tr("the embedding has not been approved yet.")
        case "no vectors":
            reason = tr("nothing has been embedded yet.")
        case "no vectors after failure":
            reason = tr("nothing has been embedded yet. {failure}", failure=why.message)
        case "failure":
            reason = why.message
        case "other dimensions":
            reason = tr(
                "{model} now returns vectors of {now:,} dimensions instead of {before:,}.",
                model=why.model,
                now=why.dims,
                before=why.stored_dims,
            )
    return tr("Searched by words only: {reason}", reason=reason)


def keywords_only_advice(why: KeywordsOnly) -> str:
    """Return a sentence on what enables comparing vectors."""
    return tr(_ADVICE.get(why.cause, _LATER))


def _index(stage: Stage) -> str:
    return _empty_index(_details(stage, EmptyIndex))


def _query(stage: Stage) -> str:
    return describe_understood(_details(stage, UnderstoodQuery))


def _age(stage: Stage) -> str:
    limit = _details(stage, Best)
    removed = stage.before - stage.after
    note = tr("Passages whose score fell below {least:g} with age: {count:,}.", count=removed, least=limit.least)
    return _with_best(note, limit)


def _threshold(stage: Stage) -> str:
    limit = _details(stage, Best)
    removed = stage.before - stage.after
    return _with_best(tr("Passages that scored below {least:g}: {count:,}.", count=removed, least=limit.least), limit)


def _with_best(note: str, limit: Best | RaisedMinimum) -> str:
    if limit.best is None:
        return note
    return f"{note} {_best_score(limit)}"


def _best_score(limit: Best | RaisedMinimum) -> str:
    return tr("The best score was {score:.2f}.", score=short_of(limit.best or 0.0, limit.least))


def _keywords(stage: Stage) -> str:
    common = _details(stage, CommonWords)
    notes = [tr("Passages chosen by words: {count:,}.", count=stage.after)]
    if common.limited:
        notes.append(tr("Too many match, so only the newest and those with a word in a title were compared."))
    if common.only_exact:
        words = ", ".join(map(in_quotes, common.only_exact))
        notes.append(tr("Other forms of common words were not searched: {words}.", words=words))
    return " ".join(notes)


def _moved(stage: Stage) -> str:
    order = _details(stage, Moved)
    return tr(_MOVED[stage.name], count=order.moved, first=order.first)


def _filters(stage: Stage) -> str:
    return tr("Files that pass the filters: {count:,}.", count=stage.after)


def _limits(stage: Stage) -> str:
    return tr(
        "All passages were searched too. Results that satisfy the limits: {count:,} of {total:,}.",
        count=stage.after,
        total=stage.before,
    )


def _wordless(stage: Stage) -> str:
    return tr(
        "Files added because they satisfy the query without its words, newest first: {count:,}.", count=stage.after
    )


def _times(stage: Stage) -> str:
    named = _details(stage, TimesNamed)
    times = ", ".join(map(time_words, named.times))
    return tr(
        "Passages from the time in the query, or from days next to it, {times}: {count:,}.",
        times=times,
        count=named.boosted,
    )


def _sessions(stage: Stage) -> str:
    named = _details(stage, SessionsNamed)
    return tr(
        "Passages in sessions that the query names, {names}: {count:,}.",
        names=_quoted(named.names),
        count=named.boosted,
    )


def _title(stage: Stage) -> str:
    return tr("Passages first because a title or file name matches: {count:,}.", count=_details(stage, int))


def _scope_note(stage: Stage) -> str:
    scope = _details(stage, Scope)
    searched = tr("Only the results of {query} were searched.", query=scope.query)
    if scope.total > scope.passages:
        return (
            searched + " " + tr("Passages: {count:,}, the best of {total:,}.", count=scope.passages, total=scope.total)
        )
    return searched + " " + tr("Passages: {count:,}.", count=scope.passages)


def _newest(stage: Stage) -> str:
    return tr("The first passage of each file was chosen, newest files first.")


def _passage(stage: Stage) -> str:
    return tr("The passage that was searched for is left out.")


def _query_vector(stage: Stage) -> str:
    if stage.details is None:
        return tr("The passage's stored vector was used: nothing was embedded.")
    if isinstance(stage.details, KeywordsOnly):
        return _keywords_only(stage.details)
    if isinstance(stage.details, UnknownWords):
        words = any_of(map(in_quotes, stage.details.words))
        return tr("Not searched by meaning: the model doesn't know {words}.", words=words)
    embedded = _details(stage, EmbeddedQuery)
    return tr("{model} embedded the query in {count:,} dimensions.", model=embedded.model, count=embedded.dims)


def _results(stage: Stage) -> str:
    return tr("{shown:,} of {total:,} results are shown.", shown=stage.after, total=stage.before)


def _role(stage: Stage) -> str:
    roles = stage.details
    assert isinstance(roles, frozenset)
    return tr("The other passages match only in messages that are not by {roles}.", roles=any_of(sorted(roles)))


def _scores(stage: Stage) -> str:
    if not stage.after:
        return tr("No passage was left to score.")
    return _best_score(_details(stage, Best))


def time_words(time: TimeExpression) -> str:
    """Return a time expression of the query as typed, followed by its dates."""
    if time.yearly:
        return tr("{time} of any year", time=in_quotes(time.text))
    if time.first == time.last:
        return tr("{time} ({day})", time=in_quotes(time.text), day=time.first.isoformat())
    first, last = time.first.isoformat(), time.last.isoformat()
    return tr("{time} ({first} to {last})", time=in_quotes(time.text), first=first, last=last)


def _unknown(stage: Stage) -> str:
    raised = _details(stage, RaisedMinimum)
    note = tr_count(
        "{count:,} result was removed: words and meaning must reach {least:.2f} together if nothing contains {words}.",
        "{count:,} results were removed: words and meaning must reach {least:.2f} together if nothing contains "
        "{words}.",
        stage.before - stage.after,
        least=raised.least,
        words=any_of(list(map(in_quotes, raised.unknown))),
    )
    return _with_best(note, raised)


def _unrelated(stage: Stage) -> str:
    raised = _details(stage, RaisedMinimum)
    if raised.untranslated:
        note = tr_count(
            "{count:,} result by meaning scored below {least:.2f}, the minimum for passages in another language whose "
            "words don't translate the query.",
            "{count:,} results by meaning scored below {least:.2f}, the minimum for passages in another language whose "
            "words don't translate the query.",
            stage.before - stage.after,
            least=raised.least,
        )
        return _with_best(note, raised)
    note = tr_count(
        "{count:,} result was removed: words and meaning must reach {least:.2f} together.",
        "{count:,} results were removed: words and meaning must reach {least:.2f} together.",
        stage.before - stage.after,
        least=raised.least,
    )
    return _with_best(note, raised)


def _vectors(stage: Stage) -> str:
    note = tr("Passages chosen by meaning: {count:,}.", count=stage.after)
    if stage.details is None:
        return note
    ready = _details(stage, VectorsReady)
    share = tr(
        "{share} of the passages have a vector: {ready:,} of {total:,}.",
        share=floored(ready.ready, ready.total),
        ready=ready.ready,
        total=ready.total,
    )
    return f"{note} {share}"


def _words(stage: Stage) -> str:
    terms = _details(stage, Terms)
    known = [_count(word, chunks, terms.typed.get(word, chunks)) for word, chunks in terms.chunks.items() if chunks]
    unknown = [word for word, chunks in terms.chunks.items() if not chunks]
    notes = []
    if known:
        notes.append(tr("Passages with each word in the whole index: {words}.", words=", ".join(known)))
    if unknown:
        notes.append(tr("Not found in the index: {words}.", words=_quoted(unknown)))
        if terms.unfinished in unknown:
            longer = tr_count(
                "Type {count:,} more character to find words that begin with {word}.",
                "Type {count:,} more characters to find words that begin with {word}.",
                SHORTEST_PREFIX - len(terms.unfinished),
                word=in_quotes(terms.unfinished),
            )
            notes.append(longer)
    if terms.similar:
        notes.append(tr("Similar words were searched instead: {words}.", words=_quoted(terms.similar)))
    if terms.dropped:
        notes.append(tr("Ignored as too common: {words}.", words=_quoted(terms.dropped)))
    return " ".join(notes) or no_words()


def _count(word: str, chunks: int, typed: int) -> str:
    """Return a word with the numbers of passages that contain it as typed, and in another form."""
    if typed >= chunks:
        return tr("“{word}”: {count:,}", word=word, count=chunks)
    if not typed:
        return tr("“{word}”: {count:,} in another form", word=word, count=chunks)
    return tr("“{word}”: {count:,} and {more:,} in another form", word=word, count=typed, more=chunks - typed)


def _quoted(words: Sequence[str]) -> str:
    return ", ".join(map(in_quotes, words))


def _details(stage: Stage, kind: type[_T]) -> _T:
    assert isinstance(stage.details, kind), stage.name
    return stage.details


_NOTES: dict[str, Callable[[Stage], str]] = {
    **dict.fromkeys(_MOVED, _moved),
    "age": _age,
    "filters": _filters,
    "index": _index,
    "keywords": _keywords,
    "limits": _limits,
    "newest": _newest,
    "passage": _passage,
    "operators": _query,
    "embedding": _query_vector,
    "results": _results,
    "role": _role,
    "scores": _scores,
    "threshold": _threshold,
    "sessions": _sessions,
    "times": _times,
    "title": _title,
    "unknown": _unknown,
    "unrelated": _unrelated,
    "vectors": _vectors,
    "within": _scope_note,
    "wordless": _wordless,
    "words": _words,
}
"""Functions that describe a stage's details in a sentence, by name of the stage."""
