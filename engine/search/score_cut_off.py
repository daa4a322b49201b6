"""Applies the threshold to scored results, raised for unknown words or subjects, and adds variety if requested."""

import math
from collections import Counter
from collections.abc import Collection, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING

from msgspec.structs import replace

from engine.search.keyword_scores import KeywordScores, Scored
from engine.search.pipeline_stages import Best, Moved, RaisedMinimum, Stages, Term
from engine.search.scoring import FOR_UNKNOWN, LONG_QUERY, within_limits
from engine.search.search_context import SearchContext, SearchRequest
from engine.store.connection import id_array
from engine.store.snapshot import Snapshot
from engine.text import QueryAnalysis
from engine.text.folding import fold
from engine.text.languages import language_of_note
from engine.text.query_analysis import is_written_as_name
from engine.text.spelling import typos
from engine.text.stems import UNDECIDED, counted_as
from engine.text.time_expressions import read_times
from engine.text.writing_systems import UNSPACED, shape

if TYPE_CHECKING:
    from engine.search.diversity import Similarity

COMPARED = 20
"""Most results whose language is looked up and whose words are compared with the query's; others stay in place, below.
"""
_COPIED = 80
"""Fewest characters of a text that counts as a copy if it is in several files."""
_FOR_UNKNOWN_NAME = 2.0
"""Increase of the minimum if a name in the query occurs nowhere, as a share of the minimum: passages about other names
are as near in meaning as the answer would be.
"""
_OTHER_WORDS = 1.5
"""Least keyword score, relative to the minimum, of results without that name and other words of the query: passages
about other names share everyday words.
"""
_FOR_FEW_WORDS = 2.5
"""Increase of the minimum for a long query if no passage has enough of its words, as a share of the minimum: notes on
its subject would use more of them.
"""
_MANY = 8
"""Number of indexed words of a query from which the full increase is applied."""
_LIGHT_NAME = 0.1
"""Share of the query from which names that occur nowhere count in full: in a long query, they are incidental."""
_COVERED, _NOT_COVERED = 0.45, 0.15
"""Coverage of the query, by its words or similar ones, below which the minimum begins to rise, and below which it rises
no further. Frequent words count less. Passages on any subject cover a part of most queries.
"""
_FOR_LOW_COVERAGE = 1.5
"""Highest increase of the minimum for low coverage, as a share of the minimum. The nearest of many passages is near
enough for the usual minimum, and a passage has some words of most queries.
"""
_TRANSLATED, _TRANSLATED_UNSPACED = 0.64, 0.23
"""Similarity of the query's words to a passage in another language below which the minimum rises; the second is for
queries in a script without spaces, where several words are often compared as one.
"""
_FOR_OTHER_WORDS, _BELOW = 1.0, 0.1
"""Highest increase of the minimum, as a share of it, and how far below these similarities it is reached."""


def least_by_keywords(analysis: QueryAnalysis, context: SearchContext) -> float:
    """Return the minimum for keyword scores, lower for a long query, whose answer holds only some of its words."""
    return context.request.min_score * min(1.0, math.sqrt(LONG_QUERY / max(1, analysis.word_count)))


def cut(ranked: list[Scored], others: int, least: float, by_keywords: float, stages: Stages) -> list[Scored]:
    """Remove the results whose score is below the minimum `least` and whose keyword score is below `by_keywords`.

    `others`: number of further candidates, whose scores are known to be below both.

    The score includes ageing, as in the reference. The keyword score doesn't: a search for the words or the name of an
    old note finds it, though below newer ones. A result that stays for its keyword score alone gets at least `least` as
    score, so that no displayed score is below it. A time that the query names only changes the order: with raised
    scores, twice as many off-topic results would pass.
    """
    results = []
    for scored in ranked:
        if scored.unboosted >= least:
            results.append(scored)
        elif scored.fresh >= least if scored.named else scored.keywords >= by_keywords:
            results.append(replace(scored, score=max(least, scored.score), by_keywords=not scored.named))
    # A note whose name matches the query stays first, whatever its age.
    results.sort(key=lambda scored: (not scored.named, -scored.score))
    remaining = {scored.id for scored in results}
    out = [scored for scored in ranked if scored.id not in remaining]
    aged = [scored.fresh for scored in out if scored.fresh >= least]
    if any(scored.age is not None for scored in ranked):
        stages.add(
            "age", len(ranked), len(ranked) - len(aged), Best(least, None if results else max(aged, default=None))
        )
    below = [scored.fresh for scored in out if scored.fresh < least]
    best = Best(least, None if results else max(below, default=None))
    stages.add("threshold", len(ranked) + others - len(aged), len(results), best)
    return results


def without_unrelated(
    snapshot: Snapshot,
    results: list[Scored],
    foreign: Set[int],
    words: KeywordScores,
    analysis: QueryAnalysis,
    context: SearchContext,
) -> list[Scored]:
    """Remove weak results if the passages have too few of the query's words, or similar ones, to be on its subject.

    `foreign`: the results in another language among the first.
    """
    if not words.groups and any(scored.coverage is not None for scored in results):
        return _without_low_coverage(results, words, analysis, context)
    results = _without_chance_matches(snapshot, results, words, analysis, context)
    return _without_untranslated(snapshot, results, foreign, analysis, context)


def _without_chance_matches(
    snapshot: Snapshot, results: list[Scored], words: KeywordScores, analysis: QueryAnalysis, context: SearchContext
) -> list[Scored]:
    """Remove weak results that match by vectors alone, if words of the query occur nowhere in the index, or if it is
    long and no passage has enough of them.

    Applies only to results in the query's language, since notes in another one can't have its words. Results with all
    other words stay, since the unknown word may be a typing error. If it is a name, their keyword score must reach the
    minimum; the score of results without some of the other words must be clearly above it.
    """
    least, by_keywords = context.request.min_score, least_by_keywords(analysis, context)
    missing, language = words.unknown, analysis.languages[0]
    few = _FOR_FEW_WORDS * _shortfall(results, words, by_keywords)
    if not (missing or few) or not language or words.groups or not words.scale.total:
        return results
    share = sum(term.idf for term in missing) / words.scale.total
    name = _share_of_unknown_names(words, analysis, context)
    times = _times(words, context) if name else frozenset[int]()
    raised = min(1.0, least * (1 + FOR_UNKNOWN * share + _FOR_UNKNOWN_NAME * name + few))

    def stays(scored: Scored) -> bool:
        if scored.unboosted >= raised or scored.named or scored.evidence.vector is None:
            return True
        known = _holds_known(words, scored.id)
        if not name:
            return scored.keywords >= by_keywords or known
        from_others = scored.keywords * (1 - _share_of(times, words, scored.id))
        return from_others >= by_keywords * (1.0 if known else 1 + (_OTHER_WORDS - 1) * name)

    doubted = {scored.id for scored in results if not stays(scored)}
    left_out = {id_ for id_, other in languages_of(snapshot, doubted).items() if other == language}
    kept_results = [scored for scored in results if scored.id not in left_out]
    best = None if kept_results else max((scored.unboosted for scored in results), default=None)
    if left_out:
        unknown = [term.surface for term in missing]
        stage = "unknown" if unknown else "unrelated"
        context.stages.add(stage, len(results), len(kept_results), RaisedMinimum(raised, best, unknown))
    return kept_results


def _without_low_coverage(
    results: list[Scored], words: KeywordScores, analysis: QueryAnalysis, context: SearchContext
) -> list[Scored]:
    """Remove weak results if no passage covers enough of the query, by its words or similar ones.

    Applies to results whose words were compared line by line. Results with all words stay, as do results named like the
    query. If a name in the query occurs nowhere, the minimum rises further: passages about other names cover the rest.
    """
    least, by_keywords = context.request.min_score, least_by_keywords(analysis, context)
    compared = {scored.id: scored.coverage for scored in results if scored.coverage is not None}
    coverage = max(compared.values())
    if coverage < _COVERED:  # similar words don't include numbers and words that are being typed
        coverage = max(coverage, *(words.parts(id_).covered for id_ in compared))
    missing = within_limits((_COVERED - coverage) / (_COVERED - _NOT_COVERED))
    name = _share_of_unknown_names(words, analysis, context)
    factor = 1 + _FOR_LOW_COVERAGE * missing + _FOR_UNKNOWN_NAME * name
    kept_results = [
        scored for scored in results if scored.unclamped >= least * factor or _is_certain(scored, by_keywords * factor)
    ]
    if len(kept_results) < len(results):
        raised = min(1.0, least * factor)
        best = None if kept_results else min(raised - 0.01, max(scored.unclamped for scored in results))
        unknown = [term.surface for term in words.unknown] if name else []
        stage = "unknown" if unknown else "unrelated"
        context.stages.add(stage, len(results), len(kept_results), RaisedMinimum(raised, best, unknown))
    return kept_results


def _shortfall(results: list[Scored], words: KeywordScores, by_keywords: float) -> float:
    """Return the share of the minimum for keyword scores, `by_keywords`, by which the best one is below it.

    It is less for a query with few words that the index has, 0 without enough: the answer may use other words.
    """
    known = sum(term.chunks > 0 for term in words.terms)
    if known < LONG_QUERY or not by_keywords:
        return 0.0
    best = max((1.0 if scored.evidence.complete else scored.keywords for scored in results), default=0.0)
    return within_limits(1 - best / by_keywords) * within_limits((known - LONG_QUERY + 1) / (_MANY - LONG_QUERY + 1))


def _share_of_unknown_names(words: KeywordScores, analysis: QueryAnalysis, context: SearchContext) -> float:
    """Return how much the names in the query that occur nowhere count, 0 to 1: less in a long query."""
    names = _unknown_names(words, analysis, context) if words.unknown else []
    total = _LIGHT_NAME * words.scale.total
    return min(1.0, sum(term.idf for term in names) / total) if total else float(bool(names))


def _unknown_names(words: KeywordScores, analysis: QueryAnalysis, context: SearchContext) -> list[Term]:
    """Return the terms that occur nowhere and are names; empty if all are probable typing errors or times."""
    query, language = context.query.searched_text, analysis.languages[0]
    missing = {term.surface for term in words.unknown}
    names = {
        term.surface
        for term in analysis.terms
        if term.surface in missing and is_written_as_name(term.surface, term.start, query, language)
    }
    if not names or not _is_in(language, query, words):
        return []
    corrections = chain.from_iterable(suggestion.words for suggestion in context.suggestions)
    others = {word for word, other in corrections if " " in other or typos(fold(word), fold(other), 1) is not None}
    others.update(word for time in read_times(query) for word in time.text.split())
    return [] if others.issuperset(names) else [term for term in words.unknown if term.surface in names]


def _is_in(language: str, query: str, words: KeywordScores) -> bool:
    """Return whether a query with names is in its detected language, which is uncertain for a short one.

    It is certain if the query has function words of the language, or if the index contains most of the words that are
    in lower case.
    """
    plain = [bool(term.chunks) for term in words.terms if term.surface.islower()]
    return language_of_note(query) == language or 2 * sum(plain) > len(plain)


def _holds_known(words: KeywordScores, id_: int) -> bool:
    """Return whether a chunk contains every counted term that occurs in the index, and there is at least one."""
    contributions = words.contributions.get(id_, ())
    counted = words.counted(id_, contributions) if contributions else ()
    scores = [contributions[index] for index in counted if words.terms[index].chunks]
    return bool(scores) and all(scores)


def _times(words: KeywordScores, context: SearchContext) -> Set[int]:
    """Return the positions of the terms that name a time: passages about other names have the same dates."""
    named = {fold(word) for time in read_times(context.query.searched_text) for word in time.text.split()}
    return {index for index, term in enumerate(words.terms) if fold(term.surface) in named}


def _share_of(terms: Set[int], words: KeywordScores, id_: int) -> float:
    """Return the share of a chunk's BM25 sum that the terms at these positions contribute."""
    contributions = words.contributions.get(id_, ())
    total = sum(contributions)
    return sum(contributions[index] for index in terms) / total if terms and total else 0.0


def _without_untranslated(
    snapshot: Snapshot, results: list[Scored], foreign: Set[int], analysis: QueryAnalysis, context: SearchContext
) -> list[Scored]:
    """Remove weak results if the words of no passage in another language (`foreign`) translate the query.

    Compared passages that may be in the query's language stay. A query without a function word may be in the language
    of the others after all.
    """
    least, by_keywords = context.request.min_score, least_by_keywords(analysis, context)
    compared = [scored for scored in results if scored.word_similarity is not None]
    query = context.query.searched_text
    similar = _TRANSLATED_UNSPACED if UNSPACED in shape(query) else _TRANSLATED
    undecided = similar == _TRANSLATED and language_of_note(query).startswith(UNDECIDED)
    if not compared or undecided or any(_is_certain(scored, by_keywords) for scored in results):
        return results
    best = max(scored.word_similarity or 0.0 for scored in compared)
    raised = min(1.0, least * (1 + _FOR_OTHER_WORDS * within_limits((similar - best) / _BELOW)))
    if raised <= least:
        return results
    own = _maybe_own(snapshot, results[:COMPARED], foreign)
    translated = [scored for scored in results if scored.id in own or scored.unboosted >= raised]
    if len(translated) < len(results):
        highest = None if translated else max(scored.unboosted for scored in results)
        details = RaisedMinimum(raised, highest, (), untranslated=True)
        context.stages.add("unrelated", len(results), len(translated), details)
    return translated


def _is_certain(scored: Scored, by_keywords: float) -> bool:
    """Return whether a result matches by its words or its name, or has no vector yet."""
    return scored.keywords >= by_keywords or scored.named or scored.evidence.complete or scored.evidence.vector is None


def languages_of(snapshot: Snapshot, ids: Collection[int]) -> dict[int, str]:
    """Return the language of each chunk's file."""
    return {id_: counted_as(stored) for id_, stored in _stored_languages(snapshot, ids).items()}


def _maybe_own(snapshot: Snapshot, results: Collection[Scored], foreign: Set[int]) -> set[int]:
    """Return the ids of results that may be in the query's language: those not in `foreign`, and those in files that
    don't show their language, such as a list of a few words.
    """
    stored = _stored_languages(snapshot, foreign)
    return {scored.id for scored in results if stored.get(scored.id, UNDECIDED).startswith(UNDECIDED)}


def _stored_languages(snapshot: Snapshot, ids: Collection[int]) -> dict[int, str]:
    rows = snapshot.connection.execute(
        f"""SELECT c.id, f.language FROM {snapshot.tables.chunk_rows}
            CROSS JOIN {snapshot.tables.files} f ON f.id = c.file_id WHERE c.id IN (SELECT value FROM carray(?))""",
        (id_array(sorted(ids)),),
    )
    return dict(rows)


def fold_copies(snapshot: Snapshot, results: list[Scored]) -> tuple[list[Scored], dict[int, list[int]]]:
    """Keep only one of the results with the same text in several files, such as copies of a note.

    Also returns the ids of the removed results, best first, by id of the result that stays. The best one stays. Of
    several with the same score, it is one in a file that already has a result, else the one with the shortest path,
    since "note.md" is copied to "note (1).md". Texts of a few words are not joined: several files may have them without
    being copies.
    """
    repeated = snapshot.repeated_texts([scored.id for scored in results], _COPIED)
    texts = {id_: (path, hash_) for id_, path, hash_ in repeated}
    groups: dict[bytes, list[int]] = {}
    for index, scored in enumerate(results):
        if scored.id in texts:
            groups.setdefault(texts[scored.id][1], []).append(index)
    rows, copies, chosen = list(results), dict[int, list[int]](), set[str]()
    for group in groups.values():
        paths = {index: texts[results[index].id][0] for index in group}
        if len(set(paths.values())) > 1:
            first = results[group[0]]
            equal = [at for at in group if (results[at].named, results[at].score) == (first.named, first.score)]
            best = min(equal, key=lambda at: (paths[at] not in chosen, len(paths[at]), paths[at]))
            chosen.add(paths[best])
            copies[results[best].id] = [results[at].id for at in group if paths[at] != paths[best]]
            rows[group[0]], rows[best] = results[best], first
    left_out = {id_ for ids in copies.values() for id_ in ids}
    return [row for row in rows if row.id not in left_out], copies


def at_most_per_file(
    snapshot: Snapshot, results: list[Scored], request: SearchRequest
) -> tuple[list[Scored], dict[int, int]]:
    """Select the results to show, with a limit on results from the same file.

    Also returns, by id of the last shown result of a file, how many results of that file are left out. A file with more
    results than the limit makes room for others. If only one file was found, all its results are shown.
    """
    most, limit = request.per_file, request.max_results
    if not most or len(results) <= most:
        return results[:limit], {}
    listed: list[Scored] = []
    last: dict[int, int] = {}
    rows: Counter[int] = Counter()
    for start in range(0, len(results), limit):  # usually the first part suffices, and files take time to look up
        part = results[start : start + limit]
        files = dict(snapshot.files_of_chunks(sorted(scored.id for scored in part)))
        for scored in part:
            file = files.get(scored.id)
            if file is not None and rows[file] < most and len(listed) < limit:
                rows[file] += 1
                listed.append(scored)
                last[file] = scored.id
        if len(listed) == limit:
            break
    found = _rows_of_files(snapshot, list(last), results)
    if len(last) == 1 and sum(found.values()) == len(results):
        return results[:limit], {}
    return listed, {last[file]: found[file] - count for file, count in rows.items() if found[file] > count}


def _rows_of_files(snapshot: Snapshot, files: Sequence[int], results: list[Scored]) -> dict[int, int]:
    """Return the number of `results` in each file, by file id."""
    # The unary plus lets SQLite read the index of files: rows of chunks are large and far apart.
    found = snapshot.connection.execute(
        f"""SELECT file_id, count(*) FROM {snapshot.tables.chunks}
            WHERE file_id IN (SELECT value FROM carray(?)) AND +id IN (SELECT value FROM carray(?)) GROUP BY file_id""",
        (id_array(files), id_array([scored.id for scored in results])),
    )
    return dict(found)


def diverse(results: list[Scored], similarity: "Similarity", weight: float, limit: int, stages: Stages) -> list[Scored]:
    """Reorder the first `limit` results so that similar ones are apart.

    Runs after the threshold, unlike the reference: scores are unchanged, so the same results are found, and results
    below the threshold don't affect the order.
    """
    from engine.search.diversity import MAX_REORDERED, diversify  # off by default

    best = results[:MAX_REORDERED]
    chosen = diversify([scored.score for scored in best], similarity, weight, limit)
    first = [replace(best[row.by_score], chosen=row) for row in chosen]
    chosen_ids = {row.by_score for row in chosen}
    moved = sum(row.by_score != rank for rank, row in enumerate(chosen))
    stages.add("diversity", len(results), len(results), Moved(moved, len(first)))
    return first + [scored for row, scored in enumerate(results) if row not in chosen_ids]
